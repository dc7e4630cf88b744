package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
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
				until(t, "the run ends", s.over(t))
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

// That the terminal closed at one question says nothing of the next: one for the assistant
// alone is answered as if no person had been there.
func TestClosedTerminalKeepsOnlyItsQuestion(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := `trap '' HUP
` + file + ` ask 'Which place?' --option here=Here --option there=There; echo $? >first
` + file + ` ask 'And then?' --to assistant --option stay=Stay --option go=Go --default go >second
`
	if err := os.WriteFile(filepath.Join(dir, "asks.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	s := display(t, dir, exec.Command("sh", "-c", "trap '' HUP; "+file+" --detached defaults -- sh asks.sh"))
	until(t, "the question is asked", s.shows("Which place?"))
	s.hangUp(t)
	until(t, "the run ends", s.over(t))
	if first, second := lines(t, s.file("first")), lines(t, s.file("second")); len(first) != 1 || first[0] != "75" || len(second) != 1 || second[0] != "go" {
		t.Errorf("the first question ended with %q, the second was answered %q", first, second)
	}
	if st := s.state(t); len(st.Answerable()) != 1 {
		t.Errorf("%d questions wait", len(st.Answerable()))
	}
}

// over reports whether the run has ended, and nothing of it is written any more.
func (s *screen) over(t *testing.T) func() bool {
	return func() bool {
		dir, err := scratchpad.Find(s.file("state"), "")
		return err == nil && s.state(t).Ending != nil && !scratchpad.Locked(dir)
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
