//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/looprun/looprun/core"
)

// stubborn ignores every signal that it can.
const stubborn = `trap '' INT TERM HUP QUIT; echo $$ > pid; touch here; while :; do sleep 0.1; done`

// A command that does not want to end is killed after a time, and looprun's own
// end comes last: by the signal, when all is on record and in the result.
func TestTheEndOfAStubbornCommand(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := begin(t, t.TempDir(), "--kill-after", "200ms", "--result", "verdict.json", "--", "sh", "-c", stubborn)
			until(t, "the command runs", s.has("here"))
			_ = s.Process.Signal(sig)
			if got := s.ended(t); got != -int(sig) {
				t.Errorf("ended with %d, want the signal %d", got, sig)
			}
			if s.alive(t, "pid") {
				t.Error("the command is still there")
			}
			st := s.state(t)
			if !st.Ended || st.Ending.Status != core.StatusInterrupted || !s.has("verdict.json")() {
				t.Errorf("ended as %+v", st.Ending)
			}
		})
	}
}

// The command gets the signal, and time to end by itself.
func TestTheCommandIsToldToEnd(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--kill-after", "60s", "--", "sh", "-c", `trap 'echo over > told; exit 7' TERM; touch here; while :; do sleep 0.02; done`)
	until(t, "the command runs", s.has("here"))
	_ = s.Process.Signal(syscall.SIGTERM)
	if got := s.ended(t); got != -int(syscall.SIGTERM) || !s.has("told")() {
		t.Errorf("ended with %d", got)
	}
}

// SIGQUIT ends a run as the others do, and looprun too, without the stacks that a
// Go program prints.
func TestQuit(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--kill-after", "1s", "--", "sh", "-c", "echo $$ > pid; touch here; sleep 60")
	until(t, "the command runs", s.has("here"))
	_ = s.Process.Signal(syscall.SIGQUIT)
	if got := s.ended(t); got != -int(syscall.SIGQUIT) {
		t.Errorf("ended with %d, want by SIGQUIT", got)
	}
	if st := s.state(t); !st.Ended || st.Ending.Status != core.StatusInterrupted {
		t.Errorf("ended as %+v", st.Ending)
	}
	if s.alive(t, "pid") || strings.Contains(s.stderr.String(), "goroutine") {
		t.Error("the command is still there, or looprun printed its stacks")
	}
}

// A command that ends by SIGINT was interrupted by a person, who wants the run to
// end; one that ends by another signal has failed, and is tried again.
func TestACommandThatEndsByASignal(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--", "sh", "-c", "kill -INT $$")
	if got := s.ended(t); got != -int(syscall.SIGINT) {
		t.Errorf("ended with %d, want SIGINT", got)
	}
	if st := s.state(t); st.Ending.Status != core.StatusInterrupted || st.ErrorRun != 0 {
		t.Errorf("ended as %+v with %d errors", st.Ending, st.ErrorRun)
	}
	other := begin(t, t.TempDir(), "--max-errors", "2", "--loop-threshold", "off", "--", "sh", "-c", "kill -TERM $$")
	if got := other.ended(t); got != 112 {
		t.Errorf("ended with %d, want 112", got)
	}
}
