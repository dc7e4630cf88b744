package tty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/windows"
)

// Terminal is the console of the process. It is read by lines, which the console itself edits.
type Terminal struct {
	out    *os.File
	cancel chan struct{}
	once   sync.Once
}

// Draws reports whether menus can be drawn: not on a console.
const Draws = false

// console is read a line at a time, on request: a console read cannot be cancelled, so its
// result goes to the next caller.
var console struct {
	sync.Mutex
	in      *os.File
	lines   chan []byte // an empty one is the end of the input
	reading bool
}

// fetch reads a line, unless a read is already in progress.
func fetch() {
	console.Lock()
	defer console.Unlock()
	if console.reading {
		return
	}
	console.reading = true
	go func() {
		b := make([]byte, 4096)
		n, err := console.in.Read(b)
		if err != nil {
			n = 0
		}
		console.lines <- b[:n]
		console.Lock()
		console.reading = false
		console.Unlock()
	}()
}

// Open opens the console; it fails if the process has none. It ignores the path.
func Open(path string) (*Terminal, error) {
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	console.Lock()
	defer console.Unlock()
	if console.in == nil {
		in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
		if err != nil {
			return nil, errors.Join(err, out.Close())
		}
		console.in, console.lines = in, make(chan []byte, 1)
	}
	return &Terminal{out: out, cancel: make(chan struct{})}, nil
}

// Fd returns the descriptor of the screen.
func (t *Terminal) Fd() uintptr { return t.out.Fd() }

// Foreground returns true: a console has no groups.
func (t *Terminal) Foreground() bool { return true }

// Gone returns false: the process does not outlive its console.
func (t *Terminal) Gone() bool { return false }

// Discard discards typed input that was not read.
func (t *Terminal) Discard() error {
	for {
		select {
		case <-console.lines:
		default:
			if err := windows.FlushConsoleInputBuffer(windows.Handle(console.in.Fd())); err != nil {
				return fmt.Errorf("throw away what was typed: %w", err)
			}
			return nil
		}
	}
}

// Read waits for a line until the deadline; zero waits forever.
func (t *Terminal) Read(b []byte, deadline time.Time) (int, error) {
	var late <-chan time.Time
	if !deadline.IsZero() {
		late = time.After(time.Until(deadline))
	}
	fetch()
	select {
	case line := <-console.lines:
		if len(line) == 0 {
			return 0, io.EOF
		}
		return copy(b, line), nil
	case <-late:
		return 0, os.ErrDeadlineExceeded
	case <-t.cancel:
		return 0, ErrCancelled
	}
}

// Write writes to the screen.
func (t *Terminal) Write(b []byte) (int, error) { return t.out.Write(b) }

// Cancel ends every wait, now and later, with [ErrCancelled].
func (t *Terminal) Cancel() { t.once.Do(func() { close(t.cancel) }) }

// Close closes the screen.
func (t *Terminal) Close() error { return t.out.Close() }

// Raw fails: keys are not delivered one by one.
func (t *Terminal) Raw() error { return errors.ErrUnsupported }

// Restore does nothing.
func (t *Terminal) Restore() error { return nil }

// Lend does nothing.
func (t *Terminal) Lend() error { return nil }

// Suspend fails.
func (t *Terminal) Suspend(<-chan struct{}) error { return errors.ErrUnsupported }

// Wake does nothing.
func (t *Terminal) Wake() {}

// Endings returns the signals that ask a process to end.
func Endings() []os.Signal { return []os.Signal{os.Interrupt} }

// Changes returns none.
func Changes() []os.Signal { return nil }

// Continued returns false.
func Continued(os.Signal) bool { return false }
