//go:build unix

package main

import (
	"os/signal"
	"syscall"
	"time"
)

// self sends looprun the signal and waits for its end.
func (r raise) self() {
	if r == 0 {
		return
	}
	s := syscall.Signal(r)
	signal.Reset(s)
	if syscall.Kill(syscall.Getpid(), s) == nil {
		time.Sleep(time.Second) // the signal ends the process meanwhile
	}
}
