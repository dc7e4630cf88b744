//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// watchStops makes Ctrl-Z stop the command together with looprun, which runs
// in another process group, and fg let both go on.
func (s *session) watchStops() (stop func()) {
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, syscall.SIGTSTP)
	go func() {
		for {
			select {
			case <-signals:
				s.executor.Suspend()
				_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) // returns when it goes on
				s.executor.Resume()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
