//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Endings returns the signals that ask a process to end.
func Endings() []os.Signal {
	return []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT}
}

// Changes returns the signals after which the screen must be redrawn: the window was resized,
// or the process was stopped and continued.
func Changes() []os.Signal { return []os.Signal{unix.SIGWINCH, unix.SIGCONT} }

// Continued reports whether the signal means that the process was stopped and continued.
func Continued(s os.Signal) bool { return s == unix.SIGCONT }

// stopGrace is how long Suspend waits for a stop that may never come.
const stopGrace = 300 * time.Millisecond

// Suspend does what Ctrl-Z does: it restores the terminal, stops the process group, and
// returns when the caller is notified that it was continued (see [Continued]). If nobody could
// continue it, Suspend returns after a moment without having stopped. The caller must call
// [Terminal.Raw] again.
func (t *Terminal) Suspend(continued <-chan struct{}) error {
	if err := t.Restore(); err != nil {
		return err
	}
	if err := unix.Kill(0, unix.SIGTSTP); err != nil {
		return err
	}
	select {
	case <-continued:
	case <-time.After(stopGrace):
	}
	return nil
}
