package engine

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
)

// MaxDelay is the upper limit of exponential backoff unless [Backoff] sets another.
const MaxDelay = 15 * time.Minute

// Backoff is the delay between two iterations. The zero value means no delay.
type Backoff struct {
	// Initial is the delay before the first iteration of a run.
	Initial time.Duration
	// Base is the delay between the end of an iteration and the next one.
	Base time.Duration
	// Exponential doubles Base with every iteration since the start or the last continuing
	// answer, up to Max. It also shortens or lengthens each delay by up to a quarter, so that
	// many loops do not run in step. No delay is longer than Max.
	Exponential bool
	Max         time.Duration // 0: [MaxDelay], or Base where that is longer
}

// Delay returns the delay between two iterations, after that many since the start or the last
// continuing answer. Directly after such an answer it is the same as after the first
// iteration.
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

// wait waits for the delay before an iteration. The delay counts from the end of the one
// before, so the time spent on an answer is included. It returns true if the run must look at
// its state again instead of iterating.
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

// Next returns when the next iteration begins, during the delay before it; otherwise zero. It
// may be called from any goroutine.
func (l *Loop) Next() time.Time {
	if at := l.next.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// pass waits until no time is left, and handles messages meanwhile. It returns true if the run
// must look at its state again.
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
		if !heard { // on record, so that max_runtime sees the time that has passed
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

// waitOut waits until a rate limit is over. The clock keeps running, so this time counts
// towards max_runtime.
func (l *Loop) waitOut(ctx context.Context) error {
	stop, err := l.pass(ctx, func() time.Duration {
		if l.state.Until == nil { // somebody let it go on
			return 0
		}
		return time.Until(*l.state.Until)
	})
	if stop || l.state.Until == nil {
		return err
	}
	return l.record(core.WaitFinished{})
}

// GoOn ends the wait for an external limit early. It returns when that is recorded. It returns
// [core.ErrEvent] if the run is not waiting, or not for something that a person may cut short,
// and [core.ErrEnded] if the loop has ended. It may be called from any goroutine once Start or
// Resume has returned.
func (l *Loop) GoOn(ctx context.Context) error {
	return l.request(ctx, l.driver.GoOn)
}

// The stopwatch must detect when the process was not running. It looks at the clock every
// tick, and a gap of more than gapLimit means that the process was stopped (system suspend,
// SIGSTOP), so only gapLimit of it counts.
const (
	tickEvery = time.Second
	gapLimit  = 5 * time.Second
)

// stopwatch measures the active time of a run. It is monotonic, stops while paused, and does
// not count time in which the process itself was stopped. It is safe for concurrent use.
type stopwatch struct {
	mu      sync.Mutex
	elapsed time.Duration
	seen    time.Time // zero while paused
	done    chan struct{}
}

// startStopwatch starts a stopwatch at the time already elapsed.
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

// Elapsed returns the active time so far.
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

// Pause stops the watch until Continue.
func (w *stopwatch) Pause() {
	w.Elapsed()
	w.mu.Lock()
	w.seen = time.Time{}
	w.mu.Unlock()
}

// Continue starts the watch again.
func (w *stopwatch) Continue() {
	w.mu.Lock()
	if w.seen.IsZero() {
		w.seen = time.Now()
	}
	w.mu.Unlock()
}

// Stop ends the watch.
func (w *stopwatch) Stop() { close(w.done) }
