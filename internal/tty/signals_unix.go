//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Endings are the signals that tell a process to end.
func Endings() []os.Signal {
	return []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT}
}

// Changes are the signals after which the screen has to be drawn anew: the
// window has another size, or the process was stopped and goes on.
func Changes() []os.Signal { return []os.Signal{unix.SIGWINCH, unix.SIGCONT} }

// Continued reports whether the signal says that the process was stopped.
func Continued(s os.Signal) bool { return s == unix.SIGCONT }

// stopGrace is how long Suspend waits for a stop that may never come.
const stopGrace = 300 * time.Millisecond

// Suspend does what Ctrl-Z does: it puts the terminal back as it was, stops the
// process group, and returns when the caller hears that it was continued (see
// [Continued]). Where nobody could continue it, it returns after a moment
// without having stopped. The caller calls [Terminal.Raw] again.
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
