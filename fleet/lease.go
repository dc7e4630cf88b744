package fleet

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

const (
	// beat is how long a worker that runs something may be silent: commands can keep a machine
	// so busy that a shorter time would lose it.
	beat = 30 * time.Second
	// forever is longer than any queue: a busy fleet is not a broken one.
	forever = 10 * 365 * 24 * time.Hour
	// again is how long a loop waits for a slot on its previous worker.
	again = 10 * time.Second
	// retryFor is how long a loop that no worker could place is tried again.
	retryFor = 24 * time.Hour
)

// acquire takes a slot of a worker and prepares the loop's work tree there, unless the loop
// already has both. false without an error means that the run must end, or check again.
func (l *loop) acquire() (bool, error) {
	if l.lease != nil && l.lease.Err() == nil {
		return true, nil
	}
	l.lease = nil
	if l.state.Iterations == 0 || l.shown == "" {
		if err := l.show(Queued); err != nil {
			return false, err
		}
	}
	if err := l.slot(); err != nil {
		if l.interrupted() {
			return false, l.stop()
		}
		return false, err
	}
	var placed Placed
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(l.lease, workflow.ActivityOptions{
		StartToCloseTimeout: 2 * time.Hour, HeartbeatTimeout: beat, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}), (*Worker).Place, Prepare{Started: l.in.Started, Work: l.in.Work, Commit: l.in.Place.Commit}).Get(l.lease, &placed)
	var app *temporal.ApplicationError
	switch {
	case l.interrupted():
		return false, l.stop()
	case errors.As(err, &app) && app.Type() == errRefused:
		l.release()
		return false, l.refused(app.Message())
	case errors.As(err, &app): // another one can, or this one later
		l.lost()
		return false, l.later(app.Message())
	case err != nil: // the worker is gone: nothing had begun
		l.lost()
		return false, workflow.Sleep(l.ctx, time.Second)
	}
	l.in.Place.Host, l.in.Place.Since, l.in.Place.Tries = placed.Host, time.Time{}, 0
	if placed.Commit != "" {
		l.in.Place.Commit = placed.Commit
	}
	return true, nil
}

// later waits before the loop is tried again, on another worker if there is one: for a minute
// at most, and until it has been tried for long enough. Lists show why.
func (l *loop) later(why string) error {
	p := &l.in.Place
	now := workflow.Now(l.ctx)
	if p.Since.IsZero() {
		p.Since = now
	}
	if now.Sub(p.Since) >= retryFor {
		return l.refused(fmt.Sprintf("no worker could take it for %s; the last reason: %s", retryFor, why))
	}
	if err := errors.Join(l.show(Queued), workflow.UpsertMemo(l.ctx, map[string]any{memoReason: why})); err != nil {
		return err
	}
	err := workflow.Sleep(l.ctx, min(time.Second<<min(p.Tries, 6), time.Minute))
	p.Tries++
	if l.interrupted() {
		return l.stop()
	}
	return err
}

// refused ends the run: no worker accepts it.
func (l *loop) refused(why string) error {
	it, err := l.driver.Begin(l.state.NextIteration(), false)
	if err != nil {
		return err
	}
	return l.driver.Finish(it, refusedBy(it, why))
}

// slot waits for a slot: briefly for one on the loop's previous worker, and then for any.
func (l *loop) slot() error {
	if token := l.in.Place.Token; token != nil {
		ctx, err := workflow.RecreateSession(l.ctx, token, &workflow.SessionOptions{CreationTimeout: again, ExecutionTimeout: forever, HeartbeatTimeout: beat})
		if err == nil {
			l.lease = ctx
			return nil
		}
		if l.interrupted() {
			return err
		}
		l.in.Place.Token = nil
	}
	for {
		ctx, err := workflow.CreateSession(l.ctx, &workflow.SessionOptions{CreationTimeout: forever, ExecutionTimeout: forever, HeartbeatTimeout: beat})
		if err == nil {
			l.lease = ctx
			l.in.Place.Token = workflow.GetSessionInfo(ctx).GetRecreateToken()
			return nil
		}
		if l.interrupted() {
			return err
		}
		// The worker that was about to take the loop was lost before anything had begun.
		if err := workflow.Sleep(l.ctx, time.Second); err != nil {
			return err
		}
	}
}

// release returns the slot. The work tree stays.
func (l *loop) release() {
	if l.lease != nil {
		workflow.CompleteSession(l.lease)
		l.lease = nil
	}
}

// lost forgets a worker that is gone or unreachable.
func (l *loop) lost() {
	l.release()
	l.in.Place.Host, l.in.Place.Token = "", nil
}

// options returns the options for running commands on the lease's worker: with a single
// attempt, since it is unknown whether a failed one ran.
func (l *loop) options(most time.Duration) workflow.Context {
	return workflow.WithActivityOptions(l.lease, workflow.ActivityOptions{
		StartToCloseTimeout: most, HeartbeatTimeout: beat, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
}
