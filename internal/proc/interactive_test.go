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
	signal.Notify(asked, unix.SIGUSR1, unix.SIGUSR2, unix.SIGTERM, unix.SIGHUP) // before the command can be seen
	p := Start(Spec{
		Argv: sh(script), Interactive: true, KillAfter: 100 * time.Millisecond,
		Stdout: func(b []byte) { _, _ = os.Stdout.Write(b) },
	})
	go func() {
		for s := range asked {
			switch s {
			case unix.SIGUSR1:
				fmt.Printf("suspended %v\r\n", p.Suspend())
			case unix.SIGUSR2:
				fmt.Printf("resumed %v\r\n", p.Resume())
			case unix.SIGHUP:
				RestoreTerminal()
				fmt.Println("hung up")
				os.Exit(129)
			default:
				p.Stop(unix.SIGTERM)
			}
		}
	}()
	e := p.Wait()
	fmt.Printf("ended: %v, code %d\n", e.Cause, e.Code)
	if e.StartErr != nil {
		fmt.Println(e.StartErr)
	}
	e = Start(Spec{Argv: sh(`echo "below $PPID."; exit 5`), Stdout: func(b []byte) { _, _ = os.Stdout.Write(b) }}).Wait()
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

func interactiveScreen(t *testing.T, script string, env ...string) *screen {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), interactiveScript+"="+script), env...)
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
	for _, c := range []struct {
		size pty.Winsize
		want string
	}{{pty.Winsize{Rows: 0, Cols: 34}, "24 80"}, {pty.Winsize{Rows: 13, Cols: 35}, "13 35"}, {pty.Winsize{Rows: 13, Cols: 0}, "24 80"}} {
		if err := pty.Setsize(s.master, &c.size); err != nil {
			t.Fatal(err)
		}
		eventually.Holds(t, "the size is "+c.want, func() bool { return strings.HasSuffix(s.String(), c.want+"\r\n") })
	}
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

// A program that cannot have a guardian joins its command to the terminal all the same, and
// leaves it as it was when a signal ends it: its command ends with its own terminal.
func TestInteractiveWithoutAGuardian(t *testing.T) {
	n := nonce()
	s := interactiveScreen(t, `echo ready; read -r x </dev/tty; echo "got $x"; exec sleep `+n, groupOnly+"=1")
	s.ready(t)
	s.press(t, "hello\r")
	s.shows(t, "got hello")
	_ = s.cmd.Process.Signal(unix.SIGHUP)
	s.shows(t, "hung up")
	eventually.Holds(t, "the terminal is as it was", s.restored(t))
}

// The terminal of the program is that of its standard input, or else the one that controls it.
func TestInteractiveWhichTerminal(t *testing.T) {
	for name, script := range map[string]string{
		"standard input":  `exec setsid -w "$0"`,
		"the controlling": `exec "$0" </dev/null`,
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", script, os.Args[0])
			cmd.Env = append(os.Environ(), interactiveScript+`=echo ready; read -r x; echo "got $x"`)
			s := newScreen(t, cmd)
			s.ready(t)
			s.press(t, "hello\r")
			s.shows(t, "got hello")
			s.shows(t, "the next: exited, code 5")
			eventually.Holds(t, "the terminal is as it was", s.restored(t))
		})
	}
}

// outerOf returns a terminal as a program has it, and where keys are typed.
func outerOf(t *testing.T) (o *outerTerminal, keys *os.File) {
	t.Helper()
	keys, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	o = &outerTerminal{fd: int(slave.Fd())}
	if o.saved, err = term.GetState(o.fd); err != nil {
		t.Fatal(err)
	}
	if o.wake[0], o.wake[1], err = newPipe(); err != nil {
		t.Fatal(err)
	}
	for _, fd := range []int{o.fd, o.wake[0]} {
		if err := unix.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		slave.Close()
		keys.Close()
		unix.Close(o.wake[0])
		unix.Close(o.wake[1])
	})
	return o, keys
}

func stateOf(t *testing.T, fd int) term.State {
	t.Helper()
	s, err := term.GetState(fd)
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

// A program that has the terminal does not take it again, one that has left it does not restore
// it again, and a tree that stands still does not get it.
func TestInteractiveTurnsOfTheTerminal(t *testing.T) {
	o, _ := outerOf(t)
	p := &Process{suspended: true, terminal: &terminal{outer: o}}
	if p.rejoin(); o.joined {
		t.Error("what is suspended has the terminal")
	}
	p.suspended = false
	p.rejoin()
	p.rejoin()
	if n, _ := unix.Read(o.wake[0], make([]byte, 8)); n != 1 || stateOf(t, o.fd) == *o.saved {
		t.Errorf("the pump is woken %d times, want 1; raw: %v", n, stateOf(t, o.fd) != *o.saved)
	}
	o.leave()
	if stateOf(t, o.fd) != *o.saved {
		t.Error("the terminal is not as it was")
	}
	if _, err := term.MakeRaw(o.fd); err != nil { // another program's settings
		t.Fatal(err)
	}
	if o.leave(); stateOf(t, o.fd) == *o.saved {
		t.Error("another program's settings are lost")
	}
}

// More keys than the command takes wait, and none is lost or changes its place. Keys of a
// program that does not have the terminal are not the command's.
func TestInteractiveKeysWait(t *testing.T) {
	o, typist := outerOf(t)
	inner, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	defer slave.Close()
	master, command := int(inner.Fd()), int(slave.Fd())
	for _, fd := range []int{o.fd, command} {
		if _, err := term.MakeRaw(fd); err != nil {
			t.Fatal(err)
		}
	}
	for _, fd := range []int{master, command} {
		if err := unix.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
	}
	waits := func(what string, fd int, events int16) {
		t.Helper()
		if f, e := o.events(); f != fd || e != events {
			t.Errorf("%s: waits for %d, %d, want %d, %d", what, f, e, fd, events)
		}
	}
	waits("it has not joined", -1, unix.POLLIN)
	line := strings.Repeat("0123456789abcdef", 32)
	if _, err := typist.WriteString(line); err != nil {
		t.Fatal(err)
	}
	if o.passKeys(master, true); len(o.pending) > 0 {
		t.Error("keys are taken from another program")
	}
	o.joined = true
	waits("it has joined", o.fd, unix.POLLIN)
	want := line
	for o.passKeys(master, true); len(o.pending) == 0; o.passKeys(master, true) {
		if _, err := typist.WriteString(line); err != nil {
			t.Fatal(err)
		}
		want += line
		if len(want) > 1<<20 {
			t.Fatal("the command's terminal holds a megabyte")
		}
	}
	waits("some wait", -1, unix.POLLIN|unix.POLLOUT)
	if _, err := typist.WriteString(line); err != nil {
		t.Fatal(err)
	}
	want += line
	held := string(o.pending)
	if o.passKeys(master, true); !strings.HasSuffix(held, string(o.pending)) {
		t.Error("others are read before they are passed on")
	}
	var got strings.Builder
	buf := make([]byte, 256)
	eventually.Holds(t, "all keys arrive", func() bool {
		for n := 1; n > 0; {
			if n, _ = unix.Read(command, buf); n > 0 {
				got.Write(buf[:n])
			}
		}
		typed := []unix.PollFd{{Fd: int32(o.fd), Events: unix.POLLIN}}
		n, _ := unix.Poll(typed, 0)
		o.passKeys(master, n > 0)
		return got.Len() >= len(want)
	})
	if got.String() != want {
		t.Error("they are others")
	}
	if o.passKeys(master, true); !o.joined {
		t.Error("a terminal without keys is left")
	}
	_ = typist.Close()
	if o.passKeys(master, true); o.joined {
		t.Error("a terminal that has hung up is still joined")
	}
}

// sized is a tree that counts what it is told.
type sized struct {
	tree
	told int
}

func (s *sized) notify(syscall.Signal) { s.told++ }

// A command learns once of a new size, and nothing is told to one that is gone.
func TestInteractiveNewSize(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	p := &Process{terminal: &terminal{master: int(master.Fd())}}
	p.resize()
	here := new(sized)
	p.tree = here
	p.resize()
	p.resize()
	if here.told != 1 {
		t.Errorf("it is told %d times, want 1", here.told)
	}
}
