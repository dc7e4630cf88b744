//go:build unix

package proc

import (
	"fmt"
	"os"
	"os/signal"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Terminals reports whether commands can have a pseudo terminal here.
const Terminals = true

// terminal is a pseudo terminal for a command.
type terminal struct {
	master int
	// slave is kept open while the command runs, so that the master does not end when the
	// command temporarily closes its side.
	slave int
	outer *outerTerminal // the caller's, of an interactive command; else nil
}

func newTerminal(interactive bool) (*terminal, error) {
	m, s, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("pseudo terminal: %w", err)
	}
	defer m.Close()
	defer s.Close()
	t := &terminal{master: -1, slave: -1}
	if err := t.take(m, s, interactive); err != nil {
		t.close()
		return nil, fmt.Errorf("pseudo terminal: %w", err)
	}
	if interactive {
		if t.outer, err = openOuter(); err != nil {
			t.close()
			return nil, err
		}
	}
	return t, nil
}

// take duplicates the descriptors, so that the runtime does not watch them.
func (t *terminal) take(m, s *os.File, interactive bool) (err error) {
	if t.master, err = unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 3); err != nil {
		return err
	}
	if err = unix.SetNonblock(t.master, true); err != nil {
		return err
	}
	if interactive {
		t.slave, err = unix.FcntlInt(s.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	} else {
		// Nobody types: if it were readable, a pager that reads keys from its standard error
		// would wait forever.
		t.slave, err = unix.Open(s.Name(), unix.O_WRONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return err
	}
	if !interactive {
		// Output must arrive as it was written, without added carriage returns.
		if _, err = term.MakeRaw(t.slave); err != nil {
			return err
		}
	}
	t.resize()
	return nil
}

// resize gives the terminal the size of the caller's, and reports whether the size has
// changed.
func (t *terminal) resize() (changed bool) {
	want := outerSize()
	have, err := unix.IoctlGetWinsize(t.master, unix.TIOCGWINSZ)
	if err != nil || *have == *want {
		return false
	}
	_ = unix.IoctlSetWinsize(t.master, unix.TIOCSWINSZ, want)
	return true
}

// outerSize returns the size of the first of stdout, stderr and stdin that is a terminal with
// a known size, or else 80 × 24.
func outerSize() *unix.Winsize {
	for _, fd := range []int{1, 2, 0} {
		if ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil && ws.Row > 0 && ws.Col > 0 {
			return ws
		}
	}
	return &unix.Winsize{Row: 24, Col: 80}
}

func (t *terminal) closeSlave() {
	if t.slave >= 0 {
		unix.Close(t.slave)
		t.slave = -1
	}
}

func (t *terminal) closeOuter() {
	if t.outer != nil {
		t.outer.close()
		t.outer = nil
	}
}

func (t *terminal) close() {
	t.closeOuter()
	t.closeSlave()
	if t.master >= 0 {
		unix.Close(t.master)
		t.master = -1
	}
}

// resize gives the command's pseudo terminal the size of the caller's.
func (p *Process) resize() {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The kernel notifies only the foreground group of a controlling terminal.
	if p.tree != nil && p.terminal.resize() {
		p.tree.notify(unix.SIGWINCH)
	}
}

// attach joins the command's terminal to the caller's, and follows the caller's size until
// stop is called.
func (p *Process) attach(s *streams) (stop func()) {
	if s.terminal == nil {
		return func() {}
	}
	changes := make(chan os.Signal, 2)
	signal.Notify(changes, unix.SIGWINCH, unix.SIGCONT) // in the background it learns of no change
	s.terminal.join()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range changes {
			p.resize()
		}
	}()
	p.resize() // a change before Notify
	return func() {
		signal.Stop(changes)
		close(changes)
		<-done
	}
}
