package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A folder that is gone does not read as if git were.
func TestTheFolderIsGone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	dir := filepath.Join(t.TempDir(), "tree")
	if out, err := Run(t.Context(), dir, nil, "diff"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "git diff: the folder "+dir+" is gone" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestEnvironment(t *testing.T) {
	got := Environ([]string{"A=b", "GIT_DIR=x", "git_index_file=x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=k", "GIT_CONFIG=x", "LC_ALL=de", "GIT_TERMINAL_PROMPT=1"})
	want := []string{"A=b", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=k", "LC_ALL=de", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=file", "LC_ALL=C", "LANGUAGE="}
	if !slices.Equal(got, want) { // of two with one name the last counts
		t.Errorf("%q, want %q", got, want)
	}
}

// Each name has its answer, also one that stands for nothing.
func TestObjects(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := Run(t.Context(), dir, Own, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	git("init", "-q")
	if got, err := Objects(t.Context(), dir, "HEAD^{commit}"); err != nil || !slices.Equal(got, []string{""}) {
		t.Errorf("without a commit: %q, %v", got, err)
	}
	git("commit", "-q", "--allow-empty", "-m", "one")
	want := []string{"", git("rev-parse", "HEAD"), "", git("rev-parse", "HEAD^{tree}")}
	got, err := Objects(t.Context(), dir, "refs/looprun/x^{commit}", "HEAD^{commit}", "^{tree}", "HEAD^{tree}")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if got, err := Objects(t.Context(), dir, "a\nb"); err == nil {
		t.Errorf("two lines are one name: %q", got)
	}
	if got, err := Objects(t.Context(), t.TempDir(), "HEAD"); err == nil {
		t.Errorf("there is no repository: %q", got)
	}
}

// Records come while git still runs, which here never ends by itself: an error ends it.
func TestRecords(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	var got []string
	enough := errors.New("enough")
	err := Records(t.Context(), t.TempDir(), func(record string) error {
		if got = append(got, record); len(got) == 3 {
			return enough
		}
		return nil
	}, "-c", `alias.endless=!while printf 'a\nb\0'; do :; done`, "endless")
	if err != enough || !slices.Equal(got, []string{"a\nb", "a\nb", "a\nb"}) {
		t.Errorf("%q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = Records(ctx, t.TempDir(), func(string) error { cancel(); return nil }, "-c", `alias.held=!>here; while [ -e here ]; do sleep 0.1; done & printf 'a\0'`, "held")
	if !errors.Is(err, context.Canceled) {
		t.Error("a child of git holds its output:", err)
	}
	err = Records(t.Context(), t.TempDir(), func(string) error { return nil }, "-c", `alias.half=!printf 'a\0b'`, "half")
	if !errors.Is(err, io.EOF) {
		t.Error("a record without its end:", err)
	}
}

// A commit of the same second as the time may be one of before it or of after it.
func TestLastBefore(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	dir, at := t.TempDir(), time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	commit := func(second int) {
		t.Helper()
		date := fmt.Sprintf("GIT_COMMITTER_DATE=2026-01-02T03:04:%02dZ", second)
		if _, err := Run(t.Context(), dir, append(slices.Clone(Own), date), "commit", "-q", "--allow-empty", "-m", "one"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Run(t.Context(), dir, nil, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	if got, _, err := LastBefore(t.Context(), dir, at); got != "" || err == nil {
		t.Errorf("without a commit: %q, %v", got, err)
	}
	commit(4)
	first, unsure, err := LastBefore(t.Context(), dir, at)
	if first == "" || unsure || err != nil {
		t.Errorf("%q, unsure %t, %v", first, unsure, err)
	}
	commit(6)
	if got, unsure, err := LastBefore(t.Context(), dir, at); got != first || unsure || err != nil {
		t.Errorf("with a later commit: %q, unsure %t, %v, want %q", got, unsure, err, first)
	}
	if got, unsure, err := LastBefore(t.Context(), dir, at.Add(-time.Second)); got != first || !unsure || err != nil {
		t.Errorf("in the same second: %q, unsure %t, %v, want %q", got, unsure, err, first)
	}
}
