//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/scratchpad"
)

// found starts looprun where it looks for its state directory itself, in a
// repository that just came from somewhere.
func found(t *testing.T, dir string, args ...string) *started {
	t.Helper()
	s := ready(t, dir, args...)
	s.Env = append(s.Env, "LOOPRUN_STATE_DIR=", "LOOPRUN_DIR=")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// A .looprun that came with a repository is not followed to where it leads.
func TestALinkedStateDirectory(t *testing.T) {
	t.Parallel()
	dir, target := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".git"), 0o700), os.Symlink(target, filepath.Join(dir, scratchpad.StateDirName))); err != nil {
		t.Fatal(err)
	}
	s := found(t, dir, "--", "touch", "ran")
	if got := s.ended(t); got != 125 || s.has("ran")() {
		t.Errorf("ended with %d, want 125", got)
	}
	if said := s.stderr.String(); !strings.Contains(said, "is a symbolic link") || !strings.Contains(said, "--state-dir") {
		t.Error("it does not say why, and what to do")
	}
	if entries, err := os.ReadDir(target); err != nil || len(entries) > 0 {
		t.Errorf("written there: %v, %v", entries, err)
	}
}

// A run that came with a repository is not gone on with: that would run the
// commands of its journal.
func TestARunFromARepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := found(t, dir, "--max-iterations", "1", "--", "sh", "-c", "echo x >> ran; exit 1").ended(t); got != 110 {
		t.Fatalf("ended with %d", got)
	}
	// As git would check it out.
	if out, err := exec.Command("chmod", "-R", "u=rwX,go=rX", filepath.Join(dir, scratchpad.StateDirName)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := found(t, dir, "resume", "--max-iterations", "5")
	if got := s.ended(t); got != 125 || len(lines(t, s.file("ran"))) != 1 {
		t.Errorf("ended with %d, want 125; ran %v", got, lines(t, s.file("ran")))
	}
	if !strings.Contains(s.stderr.String(), "open to others") {
		t.Error("it does not say why")
	}
}

// The name of a run is looked up, and never a path.
func TestARunIsNoPath(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	if got := begin(t, other, "--max-iterations", "1", "--", "sh", "-c", "echo x >> ran; exit 1").ended(t); got != 110 {
		t.Fatalf("ended with %d", got)
	}
	run, err := scratchpad.Find(filepath.Join(other, "state"), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := begin(t, dir, "--", "true").ended(t); got != 0 {
		t.Fatalf("ended with %d", got)
	}
	relative, err := filepath.Rel(filepath.Join(dir, "state"), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{run, relative, "..", ".", "../state", "/", "*"} {
		for _, command := range []string{"show", "explain", "resume"} {
			s := begin(t, dir, command, name)
			if got := s.ended(t); got != 125 || !strings.Contains(s.stderr.String(), "no run") {
				t.Errorf("looprun %s %s ended with %d", command, name, got)
			}
		}
	}
	if ran := lines(t, filepath.Join(other, "ran")); len(ran) != 1 {
		t.Errorf("ran %v", ran)
	}
}
