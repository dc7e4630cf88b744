package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/core"
)

// A terminal that is closed under its shell loses no question, though looprun may read the
// end of the terminal before its own signal comes: only --detached deny ends the run.
func TestClosedTerminalKeepsTheQuestion(t *testing.T) {
	t.Parallel()
	tries := 6
	if testing.Short() {
		tries = 2
	}
	for flags, kept := range map[string]bool{"": true, "--detached defer": true, "--detached defaults": true, "--detached deny": false, "--detached deny,loop_detected=defer": true, "--prompt plain": true} {
		t.Run(flags, func(t *testing.T) {
			for range tries {
				dir := t.TempDir()
				file, err := binary()
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command("bash", "--norc", "-i")
				s := display(t, dir, cmd)
				s.keys(t, file+" "+flags+` -c 'echo FAIL: TestX; exit 1'`+"\r")
				until(t, "the question is asked", func() bool { return s.shows(cancelOption)() || s.shows("Answer:")() })
				s.hangUp(t)
				until(t, "the run ends", func() bool { return s.state(t).Ending != nil })
				st := s.state(t)
				if kept && (st.Ending.Status != core.StatusPaused && st.Ending.Status != core.StatusInterrupted || len(st.Answerable()) != 1) {
					t.Fatalf("ended as %+v, and %d questions wait", st.Ending, len(st.Answerable()))
				}
				if !kept && st.Ending.Status != core.StatusTripped && st.Ending.Status != core.StatusInterrupted {
					t.Fatalf("ended as %+v", st.Ending)
				}
			}
		})
	}
}

// hangUp closes the terminal's window. Whatever reads the terminal for the test lets go of
// it when it has read something more.
func (s *screen) hangUp(t *testing.T) {
	t.Helper()
	n, err := unix.IoctlGetInt(int(s.tty.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	last, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	_ = s.tty.Close()
	_, _ = last.WriteString("gone")
}
