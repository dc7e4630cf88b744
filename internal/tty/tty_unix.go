//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Terminal is an open terminal. Only one goroutine at a time may call Read; all other methods
// are safe for concurrent use.
type Terminal struct {
	fd    int
	alarm *os.File // the reading end; a byte in it ends a wait
	bell  *os.File

	mu        sync.Mutex
	saved     *unix.Termios // nil while the state is as it was found
	cancelled bool
	woken     bool
	closed    bool
}

// Open opens the terminal at path. It fails if that is not a terminal, or, for [Path], if the
// process has none. It does not change the terminal's state. The terminal does not become the
// controlling one, except that [Path] adopts the terminal on standard input.
func Open(path string) (*Terminal, error) {
	fd, err := open(path)
	if err != nil && path == Path && adopt() {
		fd, err = open(path)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if _, err := unix.IoctlGetTermios(fd, getTermios); err != nil {
		unix.Close(fd)
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	alarm, bell, err := os.Pipe()
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Terminal{fd: fd, alarm: alarm, bell: bell}, nil
}

// adopt makes the terminal on standard input the controlling one, if the process leads a
// session that has none: the first process on a console, or one that setsid started. The
// system refuses if the terminal belongs to another session, whose shell reads the same keys.
func adopt() bool {
	pid := unix.Getpid()
	if session, err := unix.Getsid(0); err != nil || session != pid || !term.IsTerminal(int(os.Stdin.Fd())) {
		return false
	}
	return unix.IoctlSetInt(int(os.Stdin.Fd()), unix.TIOCSCTTY, 0) == nil
}

// open opens the terminal without blocking: the flag affects only this descriptor, not others
// who have the terminal open.
func open(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// Fd returns the descriptor, for querying its size.
func (t *Terminal) Fd() uintptr { return uintptr(t.fd) }

// Gone reports whether the terminal was closed: an empty read from a terminal that still
// exists is a Ctrl-D.
func (t *Terminal) Gone() bool {
	_, err := unix.IoctlGetTermios(t.fd, getTermios)
	return err != nil
}

// Foreground reports whether the terminal is the controlling one of the process, and the
// process is in its foreground group.
func (t *Terminal) Foreground() bool {
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Raw makes the terminal deliver every key as it is pressed, without echo, with Ctrl-C and
// Ctrl-Z as bytes, and with output processed as usual. It discards what was typed before. The
// first call saves the state for [Terminal.Restore].
func (t *Terminal) Raw() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, err := unix.IoctlGetTermios(t.fd, getTermios)
	if err != nil {
		return fmt.Errorf("read the state of the terminal: %w", err)
	}
	if t.saved == nil {
		saved := *now
		t.saved = &saved
		remember(t)
	}
	now.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	now.Iflag &^= unix.IXON | unix.ISTRIP | unix.INLCR | unix.IGNCR
	now.Oflag |= unix.OPOST | unix.ONLCR
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(t.fd, setTermios, now); err != nil {
		return fmt.Errorf("set the state of the terminal: %w", err)
	}
	return t.flush()
}

// Draws reports whether menus can be drawn on this system's terminals.
const Draws = true

// Discard discards typed input that was not read.
func (t *Terminal) Discard() error { return t.flush() }

// Lend restores the saved state, so that another program can use the terminal, except that
// Ctrl-C and Ctrl-Z reach that program as keys and not the whole process group as signals. The
// state saved for [Terminal.Restore] does not change.
func (t *Terminal) Lend() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved == nil {
		return nil
	}
	lent := *t.saved
	lent.Lflag &^= unix.ISIG
	return unix.IoctlSetTermios(t.fd, setTermios, &lent)
}

// Restore restores the state that the first [Terminal.Raw] saved, and discards typed input
// that was not read. It does nothing if there is nothing to restore, or if another program now
// controls the terminal and so its state.
func (t *Terminal) Restore() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved == nil || t.closed {
		return nil
	}
	saved := t.saved
	t.saved = nil
	forget(t)
	if !t.Foreground() {
		return nil
	}
	if err := t.flush(); err != nil {
		return err
	}
	if err := unix.IoctlSetTermios(t.fd, setTermios, saved); err != nil {
		return fmt.Errorf("put back the state of the terminal: %w", err)
	}
	return nil
}

// Read waits for bytes until the deadline; zero waits forever. It returns [io.EOF] if the
// terminal is gone, [os.ErrDeadlineExceeded], [ErrWoken] or [ErrCancelled].
func (t *Terminal) Read(b []byte, deadline time.Time) (int, error) {
	for {
		if err := t.heard(); err != nil {
			return 0, err
		}
		left := time.Duration(-1)
		if !deadline.IsZero() {
			if left = time.Until(deadline); left <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
		}
		ready, err := t.wait(false, left)
		if err != nil {
			return 0, fmt.Errorf("wait for the terminal: %w", err)
		}
		if !ready {
			continue
		}
		switch n, err := unix.Read(t.fd, b); {
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EIO): // it was closed while this waited
			return 0, io.EOF
		case err != nil:
			return 0, fmt.Errorf("read from the terminal: %w", err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Write writes all of b, or returns [ErrCancelled].
func (t *Terminal) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		n, err := unix.Write(t.fd, b[written:])
		written += max(0, n)
		switch {
		case err == nil || errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			if t.isCancelled() {
				return written, ErrCancelled
			}
			if _, err := t.wait(true, -1); err != nil {
				return written, fmt.Errorf("wait for the terminal: %w", err)
			}
		default:
			return written, fmt.Errorf("write to the terminal: %w", err)
		}
	}
	return written, nil
}

// Wake makes the waiting Read, or the next one, return [ErrWoken].
func (t *Terminal) Wake() { t.ring(false) }

// Cancel ends every wait, now and later, with [ErrCancelled].
func (t *Terminal) Cancel() { t.ring(true) }

func (t *Terminal) ring(cancel bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.cancelled || (t.woken && !cancel) {
		return
	}
	t.cancelled, t.woken = cancel, true
	if cancel {
		t.bell.Close() // the alarm rings from now on
		return
	}
	t.bell.Write([]byte{0}) //nolint:errcheck // a pipe takes one byte
}

// heard returns and clears a pending wake-up or cancellation, as an error.
func (t *Terminal) heard() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.cancelled:
		return ErrCancelled
	case t.woken:
		t.woken = false
		return ErrWoken
	}
	return nil
}

func (t *Terminal) isCancelled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cancelled
}

// wait waits until the terminal is ready, Wake or Cancel is called, or the time is up; it may
// return early for no reason.
func (t *Terminal) wait(write bool, timeout time.Duration) (ready bool, err error) {
	alarm := int(t.alarm.Fd())
	ready, rung, err := waitFor(t.fd, write, alarm, timeout)
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	if rung {
		var b [8]byte
		unix.Read(alarm, b[:]) //nolint:errcheck // what was rung is in the fields
	}
	return ready, err
}

// Close restores the terminal and closes it.
func (t *Terminal) Close() error {
	err := t.Restore()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	t.alarm.Close()
	t.bell.Close() // a second time after Cancel; that does no harm
	return errors.Join(err, unix.Close(t.fd))
}
