//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/scratchpad"
)

// limited is a looprun whose command meets a limit once.
var limited = []string{
	"--wait-on", "SLOW DOWN", "--wait-delay", "1h", "--max-runtime", "2h", "--check", "test -e done", "--",
	"sh", "-c", "if test -e again; then touch done; else touch again; echo SLOW DOWN; exit 1; fi",
}

func (s *started) waits() bool {
	dir, err := scratchpad.Find(s.file("state"), "")
	if err != nil {
		return false
	}
	state, _, err := scratchpad.Load(dir)
	return err == nil && state.Until != nil
}

// The Enter key ends a wait for somebody else's limit; what was typed before does not.
func TestEnterGoesOnEarly(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), limited...)
	until(t, "it says how to go on", s.shows("press Enter to continue now"))
	s.keys(t, "words\r")
	until(t, "the words are there", s.shows("words"))
	if !s.waits() {
		t.Error("words have ended the wait")
	}
	s.press(t, "\r", "the wait ends", s.shows("the wait is cut short"))
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
}

// looprun answer ends it from anywhere, and answers nothing else then.
func TestAnswerGoesOnEarly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begin(t, dir, append([]string{"--non-interactive"}, limited...)...)
	until(t, "the wait", s.waits)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"answer", "cancel"}, 125, "asks nothing and waits until"},
		{[]string{"answer", "--text", "x"}, 125, "the answer continue ends the wait now"},
		{[]string{"answer", "continue"}, 0, "continues now"},
	} {
		a := begin(t, dir, c.args...)
		if got := a.ended(t); got != c.code || !strings.Contains(a.stderr.String(), c.says) {
			t.Errorf("%v: ended with %d: %s", c.args, got, a.stderr.String())
		}
	}
	if got := s.ended(t); got != 0 || !strings.Contains(s.stderr.String(), "the wait is cut short") {
		t.Errorf("ended with %d: %s", got, s.stderr.String())
	}
}
