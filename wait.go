package looprun

import (
	"context"
	"time"
)

// wait lets the time before an iteration pass: since the one before it ended, so
// that the time in which somebody thought of an answer counts. It returns true when
// the run has to look at its state again instead of iterating.
func (l *Loop) wait(ctx context.Context, n int) (bool, error) {
	if ctx.Err() != nil {
		return true, l.durable(interrupted(ctx))
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
	return l.pass(ctx, left)
}

// pass lets time pass until none is left, and listens meanwhile. It returns true
// when the run has to look at its state again.
func (l *Loop) pass(ctx context.Context, left func() time.Duration) (bool, error) {
	alive := time.NewTicker(aliveEvery)
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
			return true, l.durable(interrupted(ctx))
		case <-alive.C:
			heard = false
		case <-deadline:
			heard = false
		case f := <-l.ears.posts:
			err = f()
		case a := <-l.asking():
			err = l.converse(ctx, a)
		case e := <-l.ears.answers:
			e.told <- l.state.late(e.questionID)
		}
		release()
		if err == nil && !heard { // on record, so that max_runtime sees the time that has passed
			err = l.record(RunAlive{})
		}
		if err != nil || passed {
			return err != nil || Evaluate(l.Guards, &l.state) != nil, err
		}
		if l.state.Interrupt != nil || Evaluate(l.Guards, &l.state) != nil {
			return true, nil
		}
		over.Reset(max(0, min(left(), aliveEvery))) // the wall clock can jump
	}
}

// How long a limit that names no moment is waited out: the first time and at
// most, where the backoff says nothing else.
const (
	waitFirst = 30 * time.Second
	waitMost  = 15 * time.Minute
)

// waitUntil is the moment up to which the iteration that just ended as waiting
// has to be waited out: the one that its output names, else 30 seconds from
// now, doubled with each one in a row up to 15 minutes.
func (l *Loop) waitUntil(end IterationFinished) time.Time {
	now := time.Now()
	if end.Until != nil && end.Until.After(now) {
		return *end.Until
	}
	d := l.WaitDelay
	if d <= 0 {
		d = waitFirst
	}
	for range min(l.state.Waits, 16) {
		d = min(2*d, max(waitMost, l.WaitDelay))
	}
	return now.Add(d)
}

// waitOut lets the time pass until somebody else's limit is over. The clock
// runs: max_runtime sees it.
func (l *Loop) waitOut(ctx context.Context) error {
	until := *l.state.Until
	if l.announced != until {
		l.announced = until
		match := ""
		if l.state.Ran != nil {
			match = l.state.Ran.Match
		}
		if err := l.record(WaitStarted{Match: match, Until: until}); err != nil {
			return err
		}
	}
	stop, err := l.pass(ctx, func() time.Duration { return time.Until(until) })
	if err != nil || stop {
		return err
	}
	return l.record(WaitFinished{})
}
