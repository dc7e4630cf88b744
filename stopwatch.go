package looprun

import (
	"sync"
	"time"
)

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
