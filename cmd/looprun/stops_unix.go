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
	signals, continued := make(chan os.Signal, 1), make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, syscall.SIGTSTP)
	signal.Notify(continued, syscall.SIGCONT)
	go func() {
		for {
			select {
			case <-signals:
				s.executor.Suspend()
				s.display.Leave()
				select { // one from an earlier stop
				case <-continued:
				default:
				}
				// This thread may run on for a moment before the stop reaches it.
				if syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) == nil {
					<-continued
				}
				s.display.Retake()
				s.executor.Resume()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		signal.Stop(continued)
		close(done)
	}
}
