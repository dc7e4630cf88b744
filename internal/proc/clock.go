package proc

import "time"

// stopwatch measures the time during which a tree was not suspended.
type stopwatch struct {
	start  time.Time
	paused time.Duration // up to the last pause
	since  time.Time     // of the pause that is under way; zero while it runs
}

func newStopwatch() stopwatch { return stopwatch{start: time.Now()} }

func (s *stopwatch) elapsed() time.Duration {
	until := time.Now()
	if !s.since.IsZero() {
		until = s.since
	}
	return until.Sub(s.start) - s.paused
}

func (s *stopwatch) pause() {
	if s.since.IsZero() {
		s.since = time.Now()
	}
}

func (s *stopwatch) resume() {
	if !s.since.IsZero() {
		s.paused += time.Since(s.since)
		s.since = time.Time{}
	}
}
