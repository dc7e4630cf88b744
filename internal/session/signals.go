package session

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/console"
)

// Raise is the signal with which looprun ends itself, so that its parent sees that it was
// interrupted; zero means a normal exit.
type Raise syscall.Signal

// interrupts maps the signals that end a run to their names.
var interrupts = map[os.Signal]string{
	syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP", syscall.SIGQUIT: "SIGQUIT",
}

// Hosted runners kill a job about 7.5 seconds after asking it to stop. So in CI looprun kills
// running processes after [console.CIKill], and starts nothing new after ciEnd; hooks then have
// their second to clean up.
const ciEnd = 5500 * time.Millisecond

// WatchSignals cancels the context with an [engine.Interrupt] at the first signal and calls
// kill at every later one. stop ends the watch.
func WatchSignals(parent context.Context, kill func()) (ctx context.Context, stop func()) {
	ctx, interrupt, over := interruptible(parent, kill)
	signals := make(chan os.Signal, 8)
	catchInterrupts(signals)
	go func() {
		for s := range signals {
			interrupt(interruptBy(s))
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		over()
	}
}

// catchInterrupts sends these signals to the channel instead of letting them take their
// default action.
func catchInterrupts(to chan<- os.Signal) {
	for s := range interrupts {
		if !signal.Ignored(s) { // nohup: who started looprun does not want it to end by that
			signal.Notify(to, s)
		}
	}
}

// interruptible returns a context that the first call of interrupt cancels; every further call
// kills.
func interruptible(parent context.Context, kill func()) (ctx context.Context, interrupt func(*engine.Interrupt), over func()) {
	ctx, cancel := context.WithCancelCause(parent)
	var again atomic.Bool
	return ctx, func(i *engine.Interrupt) {
		if again.Swap(true) {
			kill()
			return
		}
		if console.InCI() {
			time.AfterFunc(console.CIKill, kill)
		}
		cancel(i)
	}, func() { cancel(nil) }
}

func interruptBy(s os.Signal) *engine.Interrupt {
	return &engine.Interrupt{Signal: interrupts[s], Code: 128 + int(s.(syscall.Signal))}
}

// catchSignals catches, in the background and until looprun exits, the signals that end or
// stop it: each signal caught or released makes threads wait for each other. While no run is
// in progress the signals have their default effect, but for the first one that comes while the
// verdict is written.
func (s *Session) catchSignals() {
	s.caught = make(chan struct{})
	go func() {
		signals := make(chan os.Signal, 8)
		catchInterrupts(signals)
		go func() {
			for sig := range signals {
				if sig == syscall.SIGHUP && s.prompts.Load() {
					continue
				}
				if interrupt := s.interrupt.Load(); interrupt != nil {
					(*interrupt)(interruptBy(sig))
					continue
				}
				if s.settles.Swap(false) {
					continue
				}
				code := sig.(syscall.Signal)
				Raise(code).Self()
				os.Exit(128 + int(code))
			}
		}()
		s.catchStops()
		close(s.caught)
	}()
}

// raiseFor returns the signal with which looprun ends itself after a run with this status and
// code.
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
