//go:build unix

package session

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/looprun/looprun/internal/proc"
)

// keepPipes makes a write to a pipe that nobody reads an error instead of the
// end of looprun, from here on. The signal is caught, not ignored: commands would inherit that.
func keepPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// Self sends looprun the signal and waits for its end. The first process of a
// container is not ended by its own signals: its exit code has to do.
func (r Raise) Self() {
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

// watchStops makes Ctrl-Z stop the command together with looprun, which runs
// in another process group, and fg let both go on.
func (s *Session) watchStops() (stop func()) {
	signals, continued := make(chan os.Signal, 1), make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, syscall.SIGTSTP)
	signal.Notify(continued, syscall.SIGCONT)
	go func() {
		for {
			select {
			case <-signals:
				if proc.InOrphanedGroup() {
					s.app.Say.Warn("Ctrl-Z (SIGTSTP) stops nothing here: no shell is there that could let looprun go on again")
					continue
				}
				if arrived(continued) && proc.JobGoesOn() {
					continue // the shell has let all of the job go on since
				}
				s.executor.Suspend()
				s.display.Leave()
				standStill(signals, continued)
				s.display.Retake()
				s.executor.Resume()
			case <-continued: // an earlier one
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

// standStill stops this process until it is continued. A shell that saw the rest
// of the job stop may have continued all of it by now, and does not do so again. Which
// of two signals came first is not known: where both have, the rest of the job says it.
func standStill(stops, continued <-chan os.Signal) {
	for again := arrived(stops); !arrived(continued) || again && !proc.JobGoesOn(); {
		if syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) != nil {
			return
		}
		// This thread may run on for a moment before the stop reaches it. A stop that
		// comes before the news that the last one is over has taken that news away.
		select {
		case <-continued:
			return
		case <-stops:
			again = true
		}
	}
}

func arrived(c <-chan os.Signal) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
