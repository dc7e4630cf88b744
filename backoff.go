package looprun

import (
	"math/rand/v2"
	"time"
)

// maxDelay bounds what exponential backoff grows to.
const maxDelay = 15 * time.Minute

// Backoff is the time between two iterations. The zero value waits for nothing.
type Backoff struct {
	Base time.Duration
	// Exponential doubles Base with every iteration since the start or the last
	// continuing answer, up to 15 minutes, and shortens or lengthens each delay
	// by up to a quarter so that many loops do not keep step.
	Exponential bool
}

// Delay is the time to wait after so many iterations; 0 before the first.
func (b Backoff) Delay(iterations int) time.Duration {
	if b.Base <= 0 || iterations <= 0 {
		return 0
	}
	if !b.Exponential {
		return b.Base
	}
	d := b.Base
	for i := 1; i < iterations && d < maxDelay; i++ {
		d *= 2
	}
	d = max(b.Base, min(d, maxDelay))
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2)) //nolint:gosec // jitter needs no secrecy
}
