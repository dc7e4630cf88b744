package looprun

import (
	"syscall"
	"time"
)

func (x *Executor) started(s Stopper) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = s
	if x.killed {
		x.killed = false
		x.killLocked()
		return
	}
	if x.holds > 0 {
		_ = s.Suspend()
	}
	if p, ok := s.(clocked); ok && x.asked {
		p.HoldClocks()
	}
}

// Hold lets the time limits of the running step stand still and holds its output
// back, since somebody is asked what the command wants to know. With Interactive
// the command stands still as well: the terminal is for the answer.
func (x *Executor) Hold() {
	if x.Interactive {
		x.Suspend()
		return
	}
	x.held.Store(new(make(chan struct{})))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = true
	x.pause()
	if p, ok := x.running.(clocked); ok {
		p.HoldClocks()
	}
}

// Release ends what Hold began.
func (x *Executor) Release() {
	if x.Interactive {
		x.Resume()
		return
	}
	x.mu.Lock()
	x.asked = false
	x.goOn()
	if p, ok := x.running.(clocked); ok {
		p.ReleaseClocks()
	}
	x.mu.Unlock()
	close(*x.held.Swap(nil))
}

// Suspend stops the running step with all that it started, until Resume was
// called as often as Suspend.
func (x *Executor) Suspend() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.holds++; x.holds > 1 {
		return
	}
	x.pause()
	if x.running != nil {
		_ = x.running.Suspend() // when it is ending already it stands still soon
	}
}

// Resume lets it go on.
func (x *Executor) Resume() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.holds == 0 {
		return
	}
	if x.holds--; x.holds > 0 {
		return
	}
	x.turn.known = false
	x.goOn()
	if x.running != nil {
		_ = x.running.Resume()
	}
}

// Kill ends the running step at once, or the one that is about to start, without
// the time that KillAfter gives it.
func (x *Executor) Kill() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.running == nil {
		x.killed = true
		return
	}
	x.killLocked()
}

func (x *Executor) killLocked() {
	x.running.Stop(syscall.SIGKILL)
	x.running.Stop(syscall.SIGKILL)
}

// pause lets the iteration's time stand still until goOn was called as often.
func (x *Executor) pause() {
	if x.still++; x.still == 1 {
		x.since = time.Now()
	}
}

func (x *Executor) goOn() {
	if x.still--; x.still == 0 {
		x.stood += time.Since(x.since)
	}
}

// restart begins the iteration's time anew.
func (x *Executor) restart() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	x.stood, x.since = 0, now
	return now
}

func (x *Executor) stoodStill() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.still > 0 {
		return x.stood + time.Since(x.since)
	}
	return x.stood
}

// clocked is a running step whose time limits can stand still.
type clocked interface {
	HoldClocks()
	ReleaseClocks()
}
