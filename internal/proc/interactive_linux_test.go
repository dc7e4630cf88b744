package proc

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// shellScreen is a shell with job control that has the program as a job.
func shellScreen(t *testing.T, script string) *screen {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash for job control")
	}
	cmd := exec.Command("bash", "--norc", "--noediting", "-i")
	cmd.Env = append(os.Environ(), "PS1=prompt> ", "PROGRAM="+os.Args[0], "SCRIPT="+script)
	s := newScreen(t, cmd)
	s.shows(t, "prompt> ")
	s.press(t, interactiveScript+`="$SCRIPT" "$PROGRAM"`+"\r")
	return s
}

// Ctrl-Z stops the program's whole job, and fg lets it go on.
func TestInteractiveJobControl(t *testing.T) {
	s := shellScreen(t, `echo ready; while read -r x; do echo "got $x"; done`)
	s.ready(t)
	for _, word := range []string{"one", "two", "three"} {
		s.press(t, word+"\r")
		s.shows(t, "got "+word)
		n := strings.Count(s.String(), "Stopped")
		s.press(t, "\x1a")
		eventually(t, "stopped", func() bool { return strings.Count(s.String(), "Stopped") > n })
		eventually(t, "the terminal is as it was", s.restored(t))
		s.press(t, "echo shell $((40+2))"+word+"\r")
		s.shows(t, "shell 42"+word)
		s.press(t, "fg\r")
		eventually(t, "the terminal is raw", func() bool { return !s.restored(t)() })
	}
	s.press(t, "\x04")
	s.shows(t, "ended: exited, code 0")
	s.press(t, "echo back $?\r")
	s.shows(t, "back 0")
}

// In the background the program does not touch the terminal, nor does it hang.
func TestInteractiveBackground(t *testing.T) {
	s := shellScreen(t, `echo ready; while :; do i=$((i+1)); [ $i -lt 20000 ] || { echo tick; i=0; }; done`)
	s.ready(t)
	s.press(t, "\x1a")
	s.shows(t, "Stopped")
	s.press(t, "bg\r")
	n := strings.Count(s.String(), "tick")
	eventually(t, "it runs", func() bool { return strings.Count(s.String(), "tick") > n+3 })
	if !s.restored(t)() {
		t.Error("the terminal is not the shell's")
	}
	s.press(t, "fg\r")
	eventually(t, "the terminal is raw", func() bool { return !s.restored(t)() })
	s.press(t, "\x03")
	s.shows(t, "ended: exited, code 130")
	eventually(t, "the terminal is as it was", s.restored(t))
}

// Kill -9 of the program leaves a usable terminal and no process.
func TestInteractiveProgramIsKilled(t *testing.T) {
	n := nonce()
	s := interactiveScreen(t, "setsid sleep "+n+" & echo ready; exec sleep "+n)
	s.ready(t)
	started(t, n, 2)
	_ = s.cmd.Process.Kill()
	eventually(t, "nothing is left", func() bool { return len(sleeping(n)) == 0 })
	eventually(t, "the terminal is as it was", s.restored(t))
}
