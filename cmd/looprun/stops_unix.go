//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/looprun/looprun/internal/proc"
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
				if proc.InOrphanedGroup() {
					s.app.say.warn("Ctrl-Z (SIGTSTP) stops nothing here: no shell is there that could let looprun go on again")
					continue
				}
				s.executor.Suspend()
				s.display.Leave()
				standStill(signals, continued)
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

// standStill stops this process until it is continued.
func standStill(stops, continued <-chan os.Signal) {
	for _, earlier := range []<-chan os.Signal{stops, continued} {
		select {
		case <-earlier:
		default:
		}
	}
	for syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) == nil {
		// This thread may run on for a moment before the stop reaches it. A stop that
		// comes before the news that the last one is over has taken that news away.
		select {
		case <-continued:
			return
		case <-stops:
		}
	}
}
