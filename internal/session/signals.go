package session

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/console"
)

// Raise is the signal by which looprun ends itself, so that its parent sees
// that it was interrupted; zero: it exits.
type Raise syscall.Signal

// interrupts are the signals that end a run, and their names.
var interrupts = map[os.Signal]string{
	syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP", syscall.SIGQUIT: "SIGQUIT",
}

// Hosted runners kill a job about 7.5 seconds after they told it to end. So in CI
// what still runs is killed after ciKill, and from ciEnd on nothing is begun: hooks
// then have their second to clean up.
const (
	ciKill = 5 * time.Second
	ciEnd  = 5500 * time.Millisecond
)

// WatchSignals cancels the context with an [engine.Interrupt] at the first
// signal and calls kill at every further one. stop ends the watch.
func WatchSignals(parent context.Context, kill func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 8)
	done := make(chan struct{})
	for s := range interrupts {
		if !signal.Ignored(s) { // nohup: who started looprun does not want it to end by that
			signal.Notify(signals, s)
		}
	}
	go func() {
		for first := true; ; first = false {
			select {
			case s := <-signals:
				if !first {
					kill()
					continue
				}
				if console.InCI() {
					time.AfterFunc(ciKill, kill)
				}
				cancel(&engine.Interrupt{Signal: interrupts[s], Code: 128 + int(s.(syscall.Signal))})
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// raiseFor is the signal that a run which ended with this code ends itself by.
func raiseFor(status core.Status, code int) Raise {
	if status != core.StatusInterrupted {
		return 0
	}
	switch s := syscall.Signal(code - 128); s {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return Raise(s)
	}
	return 0
}
