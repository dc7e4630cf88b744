//go:build unix

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/looprun/looprun/internal/eventually"
)

// interactiveScript, in the environment, makes the test binary a program that
// runs it as an interactive command.
const interactiveScript = "PROC_TEST_INTERACTIVE"

func interactiveRunner(script string) int {
	defer RestoreTerminal()
	asked := make(chan os.Signal, 4)
	signal.Notify(asked, unix.SIGUSR1, unix.SIGUSR2, unix.SIGTERM) // before the command can be seen
	p, err := Start(Spec{
		Argv: sh(script), Interactive: true, KillAfter: 100 * time.Millisecond,
		Stdout: func(b []byte) { _, _ = os.Stdout.Write(b) },
	})
	if err != nil {
		fmt.Println(err)
		return 125
	}
	go func() {
		for s := range asked {
			switch s {
			case unix.SIGUSR1:
				fmt.Printf("suspended %v\r\n", p.Suspend())
			case unix.SIGUSR2:
				fmt.Printf("resumed %v\r\n", p.Resume())
			default:
				p.Stop(unix.SIGTERM)
			}
		}
	}()
	e := p.Wait()
	fmt.Printf("ended: %v, code %d\n", e.Cause, e.Code)
	if p, err = Start(Spec{Argv: sh("exit 5")}); err != nil {
		fmt.Println(err)
		return 125
	}
	e = p.Wait()
	fmt.Printf("the next: %v, code %d\n", e.Cause, e.Code)
	return 0
}

// screen is a terminal with a program on it.
type screen struct {
	sink
	master *os.File
	cmd    *exec.Cmd
	before *term.State
}

func newScreen(t *testing.T, cmd *exec.Cmd) *screen {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 31, Cols: 97}); err != nil {
		t.Fatal(err)
	}
	s := &screen{master: master, cmd: cmd}
	s.before = s.state(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			s.write(buf[:n])
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		master.Close()
		<-read
		if t.Failed() {
			t.Logf("the screen:\n%s", s)
		}
	})
	return s
}

func interactiveScreen(t *testing.T, script string) *screen {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), interactiveScript+"="+script)
	return newScreen(t, cmd)
}

func (s *screen) state(t *testing.T) *term.State {
	t.Helper()
	st, err := term.GetState(int(s.master.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func (s *screen) restored(t *testing.T) func() bool {
	return func() bool { return *s.state(t) == *s.before }
}

func (s *screen) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	eventually.Holds(t, "the screen shows "+text, s.has(text))
}

// ready waits until keys pass through.
func (s *screen) ready(t *testing.T) {
	t.Helper()
	s.shows(t, "ready")
	eventually.Holds(t, "the terminal is raw", func() bool { return !s.restored(t)() })
}

func TestInteractive(t *testing.T) {
	s := interactiveScreen(t, `[ -t 0 ] && [ -t 1 ] && stty size; echo ready; read -r x </dev/tty; echo "got $x"; exit 3`)
	s.ready(t)
	s.shows(t, "31 97")
	s.press(t, "hello\r")
	s.shows(t, "got hello")
	s.shows(t, "ended: exited, code 3")
	s.shows(t, "the next: exited, code 5")
	eventually.Holds(t, "the terminal is as it was", s.restored(t))
}

func TestInteractivePassword(t *testing.T) {
	s := interactiveScreen(t, `stty -echo; echo ready; read -r x; stty echo; echo "it has ${#x} letters"`)
	s.ready(t)
	s.press(t, "secret\r")
	s.shows(t, "it has 6 letters")
	if strings.Contains(s.String(), "secret") {
		t.Error("the password is on the screen")
	}
}

func TestInteractiveInterruptKey(t *testing.T) {
	s := interactiveScreen(t, `trap 'echo interrupted' INT; echo ready; while :; do sleep 0.01; done`)
	s.ready(t)
	s.press(t, "\x03")
	s.shows(t, "interrupted\r\n")
	s.press(t, "\x03\x03")
	s.shows(t, "ended: interrupted, code 143")
	eventually.Holds(t, "the terminal is as it was", s.restored(t))
}

func TestInteractiveSize(t *testing.T) {
	s := interactiveScreen(t, `trap 'stty size' WINCH; echo ready; while :; do sleep 0.01; done`)
	s.ready(t)
	if err := pty.Setsize(s.master, &pty.Winsize{Rows: 12, Cols: 34}); err != nil {
		t.Fatal(err)
	}
	s.shows(t, "12 34")
}

// While the tree is suspended the terminal is the program's, and what is typed
// is not the command's.
func TestInteractiveSuspend(t *testing.T) {
	s := interactiveScreen(t, `echo ready; read -r x; echo "got $x"`)
	s.ready(t)
	_ = s.cmd.Process.Signal(unix.SIGUSR1)
	s.shows(t, "suspended <nil>")
	if !s.restored(t)() {
		t.Error("the terminal is not as it was")
	}
	_ = s.cmd.Process.Signal(unix.SIGUSR2)
	s.shows(t, "resumed <nil>")
	eventually.Holds(t, "the terminal is raw", func() bool { return !s.restored(t)() })
	s.press(t, "again\r")
	s.shows(t, "got again")
}

func TestInteractiveStop(t *testing.T) {
	s := interactiveScreen(t, `trap '' TERM; echo ready; while :; do sleep 0.01; done`)
	s.ready(t)
	_ = s.cmd.Process.Signal(unix.SIGTERM)
	s.shows(t, "ended: stopped, code 137")
	eventually.Holds(t, "the terminal is as it was", s.restored(t))
}

func TestInteractiveFullScreen(t *testing.T) {
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("needs less")
	}
	s := interactiveScreen(t, `seq 1000 | LESS= TERM=xterm less; echo "left $?"`)
	s.shows(t, "\n30")
	s.press(t, "G")
	s.shows(t, "1000")
	s.press(t, "q")
	s.shows(t, "left 0")
	s.shows(t, "ended: exited, code 0")
	eventually.Holds(t, "the terminal is as it was", s.restored(t))
}

func TestInteractiveNeedsATerminal(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), interactiveScript+"=true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, _ := cmd.CombinedOutput()
	if !strings.Contains(string(out), "has no terminal") {
		t.Errorf("%q", out)
	}
}
