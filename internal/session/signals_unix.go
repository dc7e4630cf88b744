//go:build unix

package session

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/looprun/looprun/internal/proc"
)

// keepPipes makes a write to a closed pipe return an error from now on instead of killing
// looprun. The signal is caught, not ignored, because commands would inherit an ignored one.
func keepPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// Self ends looprun by the signal. It does nothing in the first process of a container, which
// its own signals do not end; there only the exit code shows how looprun ended.
func (r Raise) Self() {
	if r == 0 || os.Getpid() == 1 {
		return
	}
	s := syscall.Signal(r)
	if s == syscall.SIGQUIT {
		// A Go program prints its stacks and exits with 2; a shell in its place ends by the
		// signal. Without a shell the exit code must do.
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -QUIT $$"}, os.Environ())
		return
	}
	signal.Reset(s)
	if syscall.Kill(syscall.Getpid(), s) == nil {
		time.Sleep(time.Second) // the signal ends the process meanwhile
	}
}

// catchStops makes Ctrl-Z stop the command together with looprun, which runs in another
// process group, and fg continue both.
func (s *Session) catchStops() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTSTP)
	go func() {
		for range signals {
			s.stop(signals)
		}
	}()
}

func (s *Session) stop(signals <-chan os.Signal) {
	runs := s.interrupt.Load() != nil
	switch {
	case proc.InOrphanedGroup():
		if runs {
			s.app.Say.Warn("Ctrl-Z (SIGTSTP) is ignored: no shell could continue looprun")
		}
		return
	case !runs:
		standStill(signals)
		return
	}
	s.executor.Suspend()
	s.display.Lend()
	standStill(signals)
	s.display.Retake()
	s.executor.Resume()
}

// standStill stops this process until it is continued.
func standStill(stops <-chan os.Signal) {
	if head := proc.JobHead(); head != 0 {
		standWith(head)
		return
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	select {
	case <-stops: // of one stop
	default:
	}
	for syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) == nil {
		// This thread may run on for a moment before the stop takes effect. A new stop that
		// arrives before the continue notification of the last one has discarded that
		// notification.
		select {
		case <-continued:
			return
		case <-stops:
		}
	}
}

// standWith waits while the head of the job is stopped; the shell watches and continues only
// the head. The shell may already have done both, and it does not look at this process: if
// this process were stopped when the job continues, it would stay stopped forever.
func standWith(head int) {
	const soon, pause = time.Second, 10 * time.Millisecond
	for since := time.Now(); !proc.StandsStill(head); time.Sleep(pause) {
		if time.Since(since) > soon { // the signal was sent to both
			return
		}
	}
	for proc.StandsStill(head) {
		time.Sleep(pause)
	}
}
