package engine

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
)

// MaxDelay is what exponential backoff grows to where [Backoff] says nothing else.
const MaxDelay = 15 * time.Minute

// Backoff is the time between two iterations. The zero value waits for nothing.
type Backoff struct {
	// Initial is the time before the first iteration of a run.
	Initial time.Duration
	// Base is the time between the end of an iteration and the next one.
	Base time.Duration
	// Exponential doubles Base with every iteration since the start or the last
	// continuing answer, up to Max, and shortens or lengthens each delay by up to a
	// quarter so that many loops do not keep step. No delay is longer than Max.
	Exponential bool
	Max         time.Duration // 0: [MaxDelay], or Base where that is longer
}

// Delay is the time between two iterations, after so many since the start or the
// last continuing answer; behind that answer it is as after the first.
func (b Backoff) Delay(iterations int) time.Duration {
	if b.Base <= 0 {
		return 0
	}
	if !b.Exponential {
		return b.Base
	}
	most := b.Max
	if most <= 0 {
		most = max(b.Base, MaxDelay)
	}
	d := min(b.Base, most)
	for i := 1; i < iterations && d < most; i++ {
		d += min(d, most-d)
	}
	shortest, longest := d-d/4, d+min(d/4, most-d)
	return shortest + rand.N(longest-shortest+1) //nolint:gosec // jitter needs no secrecy
}

// wait lets the time before an iteration pass: since the one before it ended, so
// that the time in which somebody thought of an answer counts. It returns true when
// the run has to look at its state again instead of iterating.
func (l *Loop) wait(ctx context.Context, n int) (bool, error) {
	if ctx.Err() != nil {
		return true, l.record(interrupted(ctx))
	}
	delay, since := l.Backoff.Delay(l.state.SinceAnswer), l.ended
	if l.fresh {
		delay, since = 0, time.Now()
		if n > 0 && l.state.Iterations == 0 {
			delay = l.Backoff.Initial
		}
	}
	left := func() time.Duration { return delay - time.Since(since) }
	if left() <= 0 {
		return false, nil
	}
	l.next.Store(new(since.Add(delay)))
	defer l.next.Store(nil)
	return l.pass(ctx, left)
}

// Next is when the next iteration begins, while the delay before it passes; zero: none
// does. Any goroutine may call it.
func (l *Loop) Next() time.Time {
	if at := l.next.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// pass lets time pass until none is left, and listens meanwhile. It returns true
// when the run has to look at its state again.
func (l *Loop) pass(ctx context.Context, left func() time.Duration) (bool, error) {
	alive := time.NewTicker(heartbeatEvery)
	defer alive.Stop()
	over := time.NewTimer(left())
	defer over.Stop()
	for {
		deadline, release := l.deadline()
		passed, heard := false, true
		var err error
		select {
		case <-over.C:
			passed, heard = left() <= 0, false
		case <-ctx.Done():
			release()
			return true, l.record(interrupted(ctx))
		case <-alive.C:
			heard = false
		case <-deadline:
			heard = false
		case m := <-l.inbox.next():
			err = l.handle(ctx, m)
		}
		release()
		if err == nil && !heard { // on record, so that max_runtime sees the time that has passed
			err = l.record(core.RunAlive{})
		}
		if err != nil || passed {
			return err != nil || core.Evaluate(l.Guards, &l.state) != nil, err
		}
		if l.state.Interrupt != nil || l.state.Ending != nil || core.Evaluate(l.Guards, &l.state) != nil {
			return true, nil
		}
		over.Reset(max(0, min(left(), heartbeatEvery))) // the wall clock can jump
	}
}

// waitOut lets the time pass until a rate limit is over. The clock
// runs: max_runtime sees it.
func (l *Loop) waitOut(ctx context.Context) error {
	stop, err := l.pass(ctx, func() time.Duration {
		if l.state.Until == nil { // somebody let it go on
			return 0
		}
		return time.Until(*l.state.Until)
	})
	if err != nil || stop || l.state.Until == nil {
		return err
	}
	return l.record(core.WaitFinished{})
}

// GoOn ends the wait for a limit of others early. It returns when that is on record;
// [core.ErrEvent] says that nothing is being waited for, or nothing that a person may cut short,
// [core.ErrEnded] that the loop has ended. Any goroutine may call it once Start or Resume has
// returned.
func (l *Loop) GoOn(ctx context.Context) error {
	return l.request(ctx, l.driver.GoOn)
}

// How the stopwatch tells standing still from running: it looks at the clock
// every tick, and a gap of more than gapLimit means that the process did not
// run either (system suspend, SIGSTOP), so only gapLimit of it counts.
const (
	tickEvery = time.Second
	gapLimit  = 5 * time.Second
)

// stopwatch measures the active time of a run. It is monotonic, stands still
// while paused, and does not count time in which the process itself was
// stopped. Safe for use by several goroutines.
type stopwatch struct {
	mu      sync.Mutex
	elapsed time.Duration
	seen    time.Time // zero while paused
	done    chan struct{}
}

// startStopwatch goes on from what had elapsed before.
func startStopwatch(elapsed time.Duration) *stopwatch {
	w := &stopwatch{elapsed: elapsed, seen: time.Now(), done: make(chan struct{})}
	go func() {
		tick := time.NewTicker(tickEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.Elapsed()
			case <-w.done:
				return
			}
		}
	}()
	return w
}

// Elapsed is the active time so far.
func (w *stopwatch) Elapsed() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seen.IsZero() {
		now := time.Now()
		w.elapsed += min(now.Sub(w.seen), gapLimit)
		w.seen = now
	}
	return w.elapsed
}

// Pause stands the watch still until Continue.
func (w *stopwatch) Pause() {
	w.Elapsed()
	w.mu.Lock()
	w.seen = time.Time{}
	w.mu.Unlock()
}

// Continue lets the watch run on.
func (w *stopwatch) Continue() {
	w.mu.Lock()
	if w.seen.IsZero() {
		w.seen = time.Now()
	}
	w.mu.Unlock()
}

// Stop ends the watch.
func (w *stopwatch) Stop() { close(w.done) }
