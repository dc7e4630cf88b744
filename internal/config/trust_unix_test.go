//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Consent counts where nobody else could have put it.
func TestOnlyOnesOwnConsentCounts(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	dir := filepath.Join(state, "looprun", "trust")
	const digest = "0123456789abcdef"
	file := filepath.Join(dir, digest)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "consent")
	if err := os.WriteFile(elsewhere, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(what string, want bool) {
		t.Helper()
		if got := trusted(digest); got != want {
			t.Errorf("%s: trusted is %v", what, got)
		}
	}
	check("recorded", true)
	for mode, want := range map[os.FileMode]bool{0o755: true, 0o720: false, 0o702: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		check(mode.String(), want)
	}
	if err := errors.Join(os.Chmod(dir, 0o700), os.Remove(file)); err != nil {
		t.Fatal(err)
	}
	check("not recorded", false)
	if err := os.Symlink(elsewhere, file); err != nil {
		t.Fatal(err)
	}
	check("a link", false)
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	check("a folder", false)
	if err := errors.Join(os.Remove(file), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if os.Chown(dir, 12345, -1) == nil { // as root alone
		check("in a folder of another user", false)
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "")
	check("without a home", false)
}
