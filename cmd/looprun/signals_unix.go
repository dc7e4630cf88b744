//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// keepPipes makes a write to a pipe that nobody reads an error instead of the
// end of looprun, from here on. The signal is caught, not ignored: commands would inherit that.
func keepPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// self sends looprun the signal and waits for its end. The first process of a
// container is not ended by its own signals: its exit code has to do.
func (r raise) self() {
	if r == 0 || os.Getpid() == 1 {
		return
	}
	s := syscall.Signal(r)
	if s == syscall.SIGQUIT {
		// A Go program prints its stacks and exits with 2; a shell in its place ends
		// by the signal. When there is none the exit code has to do.
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -QUIT $$"}, os.Environ())
		return
	}
	signal.Reset(s)
	if syscall.Kill(syscall.Getpid(), s) == nil {
		time.Sleep(time.Second) // the signal ends the process meanwhile
	}
}
