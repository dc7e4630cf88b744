//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// modes are those of the screen's terminal.
func (s *screen) modes(t *testing.T) term.State {
	t.Helper()
	st, err := term.GetState(int(s.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return *st
}

// fresh are the modes of a terminal that nobody has changed.
func fresh(t *testing.T) term.State {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	st, err := term.GetState(int(master.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return *st
}

// underShell is a shell with job control, on a terminal, into which the line was
// typed; $LR in it is looprun.
func underShell(t *testing.T, dir, line string) *screen {
	t.Helper()
	needs(t, "bash")
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--norc", "--noediting", "-i")
	cmd.Env = []string{"PS1=prompt> ", "LR=" + file}
	s := display(t, dir, cmd)
	until(t, "the shell is there", s.shows("prompt> "))
	s.keys(t, line+"\r")
	return s
}

// A pager in the loop has the whole terminal, and the question behind it too.
func TestAPagerInTheLoop(t *testing.T) {
	needs(t, "less")
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "-i", "--max-iterations", "1", "--", "sh", "-c", "seq 1 1000 | LESS= less; exit 1")
	until(t, "the pager is there", s.shows("38"))
	s.press(t, "G", "it goes to the end", s.shows("1000"))
	s.keys(t, "q")
	until(t, "the question is asked", s.shows(cancelOption))
	if got := s.answer(t, cancelKey); got != 101 {
		t.Errorf("ended with %d, want 101", got)
	}
	until(t, "the terminal is as it was", func() bool { return s.modes(t) == fresh(t) })
}

// An editor writes what was typed into it.
func TestAnEditorInTheLoop(t *testing.T) {
	needs(t, "vi")
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "-i", "--", "vi", "-u", "NONE", "text")
	until(t, "the editor is there", s.shows("~"))
	s.keys(t, "iwritten here\x1b")
	until(t, "it is shown", s.shows("written here"))
	s.keys(t, ":wq\r")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
	if b, err := os.ReadFile(s.file("text")); err != nil || string(b) != "written here\n" {
		t.Errorf("wrote %q, %v", b, err)
	}
}

// What is typed into a password prompt is neither on the screen nor on record.
func TestAPasswordInTheLoop(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "-i", "--", "sh", "-c", `stty -echo; printf 'Password: '; read -r word; stty echo; echo; echo "it has ${#word} letters"`)
	until(t, "it asks", s.shows("Password: "))
	s.keys(t, "correct horse\r")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
	until(t, "it was read", s.shows("it has 13 letters"))
	if strings.Contains(s.stdout.String(), "correct horse") {
		t.Error("the password is on the screen")
	}
	err := filepath.WalkDir(s.file("state"), func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if strings.Contains(string(b), "correct horse") {
			t.Errorf("the password is in %s", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A command learns the terminal's new size, with -i and without.
func TestTheSizeInTheLoop(t *testing.T) {
	t.Parallel()
	for name, flag := range map[string][]string{"interactive": {"-i"}, "output only": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onTerminal(t, t.TempDir(), append(flag, "--", "sh", "-c", `exec 3<&1; touch here; while [ "$(stty size <&3)" != "12 34" ]; do sleep 0.01; done; echo resized`)...)
			until(t, "the command runs", s.has("here"))
			if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 12, Cols: 34}); err != nil {
				t.Fatal(err)
			}
			if got := s.ended(t); got != 0 {
				t.Errorf("ended with %d", got)
			}
		})
	}
}

// Ctrl-Z stops looprun and its command, the shell has the terminal as it was, and
// fg gives it back to them.
func TestStopAndForeground(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{
		"interactive": `"$LR" -i`, "output only": `"$LR" `, "from a script": `sh -c '"$0" "$@"; exit $?' "$LR" `,
	} {
		t.Run(name, func(t *testing.T) {
			work := `echo begun; while [ ! -e go ]; do sleep 0.02; done; echo over`
			s := underShell(t, t.TempDir(), start+` -- sh -c '`+work+`'`)
			until(t, "the command runs", func() bool { return strings.Contains(s.stdout.String(), "begun\r\n") })
			for n := range 3 {
				s.press(t, "\x1a", "it is stopped", func() bool { return strings.Count(s.stdout.String(), "Stopped") > n })
				s.keys(t, "stty -a | grep -q ' icanon' && echo shell-$((40+2))\r")
				until(t, "the shell has the terminal as it was", func() bool { return strings.Count(s.stdout.String(), "shell-42") > n })
				s.keys(t, "fg\r")
				// The shell names what it runs, stops and continues. Before that, Ctrl-Z would take back the line typed.
				until(t, "it is in the foreground", func() bool { return strings.Count(s.stdout.String(), `"$LR" `) > 2*n+2 })
			}
			if err := os.WriteFile(s.file("go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			until(t, "looprun ends", s.closed)
			s.keys(t, "echo code-$?\r")
			until(t, "the shell goes on", s.shows("code-0"))
			if strings.Contains(s.stdout.String(), ctrlZIgnored) {
				t.Error("looprun went on")
			}
		})
	}
}

// Whatever kills looprun, or its guardian, the terminal is as it was and nothing
// is left.
func TestTheTerminalAfterAKill(t *testing.T) {
	for _, whom := range []string{"looprun", "guardian"} {
		t.Run(whom, func(t *testing.T) {
			t.Parallel()
			s := onTerminal(t, t.TempDir(), "-i", "--max-iterations", "1", "--non-interactive", "--", "sh", "-c", `stty raw -echo; setsid sleep 60 & echo $! > pid; echo ready; exec sleep 60`)
			until(t, "the command runs", s.shows("ready"))
			until(t, "the terminal is raw", func() bool { return s.modes(t) != fresh(t) })
			if whom == "looprun" {
				_ = s.Process.Kill()
			} else {
				for _, pid := range childrenOf(s.Process.Pid) {
					_ = syscall.Kill(pid, syscall.SIGKILL) // it is there: looprun waits for it
				}
			}
			s.ended(t)
			until(t, "nothing is left", func() bool { return !s.alive(t, "pid") })
			until(t, "the terminal is as it was", func() bool { return s.modes(t) == fresh(t) })
		})
	}
}
