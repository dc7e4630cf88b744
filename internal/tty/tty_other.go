//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package tty

import (
	"errors"
	"os"
	"time"
)

// Terminal is an open terminal; there is none on this platform.
type Terminal struct{}

// Open fails with [errors.ErrUnsupported].
func Open(path string) (*Terminal, error) {
	return nil, &os.PathError{Op: "open", Path: path, Err: errors.ErrUnsupported}
}

// Fd returns an invalid descriptor.
func (t *Terminal) Fd() uintptr { return ^uintptr(0) }

// Foreground returns false.
func (t *Terminal) Foreground() bool { return false }

// Raw fails.
func (t *Terminal) Raw() error { return errors.ErrUnsupported }

// Draws reports whether menus can be drawn: not here.
const Draws = false

// Gone returns true: there is no terminal.
func (t *Terminal) Gone() bool { return true }

// Discard does nothing.
func (t *Terminal) Discard() error { return nil }

// Restore does nothing.
func (t *Terminal) Restore() error { return nil }

// Lend does nothing.
func (t *Terminal) Lend() error { return nil }

// Suspend fails.
func (t *Terminal) Suspend(<-chan struct{}) error { return errors.ErrUnsupported }

// Read fails.
func (t *Terminal) Read([]byte, time.Time) (int, error) { return 0, errors.ErrUnsupported }

// Write fails.
func (t *Terminal) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Wake does nothing.
func (t *Terminal) Wake() {}

// Cancel does nothing.
func (t *Terminal) Cancel() {}

// Close does nothing.
func (t *Terminal) Close() error { return nil }

// Endings returns the signals that ask a process to end.
func Endings() []os.Signal { return []os.Signal{os.Interrupt} }

// Changes returns none.
func Changes() []os.Signal { return nil }

// Continued returns false.
func Continued(os.Signal) bool { return false }
