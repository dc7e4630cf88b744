package looprun

import (
	"sync"
	"time"
)

// attention calls for somebody who looks after an iteration that goes on for a
// while. Its timer goes on from one iteration to the next: to set one for each
// would wake a thread for each.
type attention struct {
	mu    sync.Mutex
	timer *time.Timer
	fires time.Time // when the timer does; zero: it does not run
	run   *running  // nil: none runs, or it is looked after
	due   time.Time // when it is to be looked after
}

// begin has the iteration looked after when so much time has passed.
func (a *attention) begin(r *running, after time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.run, a.due = r, time.Now().Add(after)
	if a.fires.IsZero() || a.due.Before(a.fires) {
		a.setTimer(after)
	}
}

// end reports whether the iteration ended without having been looked after.
func (a *attention) end() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	unattended := a.run != nil
	a.run = nil
	return unattended
}

func (a *attention) setTimer(after time.Duration) {
	a.fires = time.Now().Add(after)
	if a.timer == nil {
		a.timer = time.AfterFunc(after, a.fire)
		return
	}
	a.timer.Reset(after)
}

func (a *attention) fire() {
	a.mu.Lock()
	a.fires = time.Time{}
	r := a.run
	if r == nil {
		a.mu.Unlock()
		return
	}
	if left := time.Until(a.due); left > 0 { // it was set for an earlier one
		a.setTimer(left)
		a.mu.Unlock()
		return
	}
	a.run = nil
	a.mu.Unlock()
	r.late()
}

// stop is for the end of the loop.
func (a *attention) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
	a.fires = time.Time{}
}
