//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"
)

// Nobody is asked where that was ruled out, also when a person sits there.
func TestNobodyIsAskedWhereThatWasRuledOut(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"--non-interactive", []string{"--non-interactive", "--", "sh", "-c", stuckWork}, 111},
		{"--wait", []string{"--wait", "--delay", "10ms", "--max-runtime", "100ms", "--", "false"}, 124},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := onTerminal(t, t.TempDir(), c.args...)
			if got := s.ended(t); got != c.want {
				t.Errorf("ended with %d, want %d", got, c.want)
			}
		})
	}
}

// Who resumes a run can rule it out too.
func TestNobodyIsAskedOnResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := begin(t, dir, "--", "sh", "-c", stuckWork).ended(t); got != 111 {
		t.Errorf("ended with %d, want 111", got)
	}
	if got := onTerminal(t, dir, "resume", "--non-interactive").ended(t); got != 111 {
		t.Errorf("the resumed run ended with %d, want 111", got)
	}
}

// What --keep-background left is gone when the run has ended.
func TestNothingOutlivesTheRun(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--keep-background", "--kill-after", "1s", "--", "sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $! > pid")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
	until(t, "the background process is gone", func() bool { return !s.alive(t, "pid") })
}

// A run that ends by a remapped code exits with it and raises no signal.
func TestAnInterruptCanHaveAnotherCode(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--exit-code", "interrupted=9", "--", "sh", "-c", "touch here; sleep 60")
	until(t, "the command runs", s.has("here"))
	_ = s.Process.Signal(syscall.SIGTERM)
	if got := s.ended(t); got != 9 || !strings.Contains(s.stderr.String(), "exit 9; next: ") {
		t.Errorf("ended with %d, want 9", got)
	}
}
