package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/looprun/looprun/core"
)

// iterate runs one iteration (0 is the precheck) and records its end.
func (l *Loop) iterate(ctx context.Context, n int) error {
	if stop, err := l.wait(ctx, n); stop {
		return err
	}
	it, err := l.driver.Begin(n, l.fresh)
	if err != nil {
		return err
	}
	l.fresh = n == 0
	end, err := l.runIteration(ctx, it)
	l.ended, l.workErr = time.Now(), end.Err
	if err != nil {
		return err
	}
	return l.driver.Finish(it, end)
}

// ended is the result of an iteration.
type ended struct {
	core.IterationResult
	err      error
	panicked *Panic // of its supervisor
}

// running is an iteration in progress.
type running struct {
	number  int
	stop    context.CancelCauseFunc
	done    chan ended // one value, also after it was looked at
	stopped bool       // it was told to end
}

// wait returns the runner's result. It may be called more than once.
func (r *running) wait() ended {
	end := <-r.done
	r.done <- end
	end.Iteration = r.number
	return end
}

// over reports whether the iteration has ended without being told to.
func (r *running) over() bool {
	select {
	case end := <-r.done:
		r.done <- end
		return !r.stopped
	default:
		return false
	}
}

// halt ends the iteration.
func (r *running) halt(why error) ended {
	r.stopped = true
	r.stop(why)
	return r.wait()
}

// cut ends the iteration and sets its outcome and cause.
func (r *running) cut(why error, o core.Outcome, c core.Cause) (core.IterationResult, error) {
	end := r.halt(why)
	end.Outcome, end.Cause = o, c
	return end.IterationResult, end.err
}

// runIteration runs the iteration in this goroutine, so that [Handle.Wait] receives its
// panics. Until the iteration has ended, the state belongs to the supervising goroutine.
func (l *Loop) runIteration(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	runCtx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	r := &running{number: it.Number, stop: stop, done: make(chan ended, 1)}
	supervised := make(chan ended, 1)
	repeats := l.repeats() // from the first moment on
	go func() {
		e := ended{err: errGoexit}
		defer func() {
			e.panicked = recovered(recover())
			r.stop(errGoexit) // it has ended, or there is nobody left to end it
			supervised <- e
		}()
		end, err := l.supervise(ctx, r, repeats)
		e = ended{IterationResult: end, err: err}
	}()
	began := l.watch.Elapsed()
	returned := false
	defer func() {
		if !returned { // it panics: its supervisor has to know that it is over
			r.done <- ended{}
			<-supervised
		}
	}()
	end, err := l.Runner.Run(runCtx, it)
	returned = true
	r.done <- ended{IterationResult: end, err: err}
	e := <-supervised
	if e.panicked != nil {
		panic(e.panicked)
	}
	// The time spent waiting for an answer is not the iteration's.
	e.DurationMS = min(e.DurationMS, (l.watch.Elapsed() - began).Milliseconds())
	return e.IterationResult, e.err
}

// supervise interrupts the iteration when ctx ends, asks when a deadline passes, answers the
// command, and regularly records the elapsed time.
func (l *Loop) supervise(ctx context.Context, r *running, repeats <-chan core.TurnRepeated) (core.IterationResult, error) {
	alive := time.NewTicker(heartbeatEvery)
	defer alive.Stop()
	var repeat repeatedTurn
	for {
		var err error
		goOn := true
		deadline, release := l.deadline()
		select {
		case end := <-r.done:
			r.done <- end
			release()
			if end = r.wait(); end.err == nil {
				end.err = l.drain(ctx)
			}
			return end.IterationResult, end.err
		case <-ctx.Done():
			err = l.record(interrupted(ctx))
		case m := <-l.inbox.next():
			err = l.handle(ctx, m)
		case <-alive.C:
			err = l.record(core.RunAlive{})
		case <-deadline:
			goOn, err = l.overtime(ctx, r)
		case repeat.TurnRepeated = <-repeats:
			goOn, err = l.repeated(ctx, r, repeat.TurnRepeated)
		}
		release()
		switch {
		case err != nil:
			_, _ = r.cut(err, core.OutcomeError, core.CauseExited) // err says why
			return core.IterationResult{}, err
		case l.state.Interrupt != nil:
			return r.cut(l.interruption(ctx), core.OutcomeInterrupted, core.CauseInterrupt)
		case !goOn && r.over(): // while somebody was asked: what cannot be suspended goes on
			end := r.wait()
			return end.IterationResult, end.err
		case !goOn && l.state.LastTrip.Guard == core.TurnLoop:
			return r.cut(&repeat, core.OutcomeError, core.CauseTurnLoop)
		case !goOn:
			return r.cut(core.ErrRuntime, core.OutcomeError, core.CauseMaxRuntime)
		}
	}
}

// interruption returns the cause with which to end the iteration.
func (l *Loop) interruption(ctx context.Context) error {
	return cmp.Or(context.Cause(ctx), error(&Interrupt{Signal: l.state.Interrupt.Signal, Code: l.state.Interrupt.Code}))
}

// deadline returns a channel that fires when the first guard with a deadline may trip.
func (l *Loop) deadline() (<-chan time.Time, func()) {
	left, ok := l.driver.Remaining(l.watch.Elapsed())
	if !ok {
		return nil, func() {}
	}
	t := time.NewTimer(left)
	return t.C, func() { t.Stop() }
}

// overtime suspends the running iteration, puts the trip to the responders, and reports
// whether the iteration may continue. A deadline that fired too early, because the process was
// stopped meanwhile, is not a trip.
func (l *Loop) overtime(ctx context.Context, r *running) (bool, error) {
	if err := l.record(core.RunAlive{}); err != nil {
		return false, err
	}
	s, suspends := l.Runner.(Suspender)
	if suspends {
		s.Suspend()
	}
	gone := false
	l.end = func() {
		if !r.over() {
			gone = true
			r.halt(core.ErrRuntime)
		}
	}
	defer func() { l.end = nil }()
	if _, err := l.driver.Overdue(); err != nil {
		return false, err
	}
	if err := l.settle(ctx); err != nil {
		return false, err
	}
	goOn := l.state.Ending == nil && !gone
	if goOn && suspends {
		s.Resume()
	}
	return goOn, nil
}

// settle takes steps until the trip is settled.
func (l *Loop) settle(ctx context.Context) error {
	for l.state.Interrupt == nil {
		next, err := l.driver.Next()
		switch {
		case err != nil:
			return err
		case next == core.NextAsk:
			err = l.ask(ctx, *l.state.Question)
		case next == core.NextAct:
			err = l.debug(ctx)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
