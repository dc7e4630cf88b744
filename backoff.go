package looprun

import (
	"math/rand/v2"
	"time"
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
