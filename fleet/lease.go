package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/looprun/looprun/core"
)

const (
	// beat is how long a worker that runs something may be silent: commands can keep a machine
	// so busy that a shorter time would lose it.
	beat = 30 * time.Second
	// forever is longer than any queue: a busy fleet is not a broken one.
	forever = 10 * 365 * 24 * time.Hour
	// again is how long a loop waits for a slot on its previous worker.
	again = 10 * time.Second
	// turn is how long a loop waits for a slot of a worker that offers what it needs: polls for
	// other loops hold one for up to a minute each, and two of them may be before it.
	turn = 150 * time.Second
	// retryFor is how long a loop that no worker could place is tried again, by default.
	retryFor = 24 * time.Hour
)

// acquire takes a slot of a worker and prepares the loop's work tree there, unless the loop
// already has both. false without an error means that the run must end, or check again.
func (l *loop) acquire() (bool, error) {
	if l.in.Place.Held {
		return true, nil
	}
	if err := l.show(Queued); err != nil {
		return false, err
	}
	placed, err := l.slot()
	if err == nil {
		l.why, l.in.Place = "", Place{Host: placed.Host, Held: true, Commit: cmp.Or(placed.Commit, l.in.Place.Commit), Tries: l.in.Place.Tries}
	}
	switch {
	case l.interrupted():
		return false, nil
	case err == nil:
		return true, nil
	case typeOf(err) == errRefused:
		return false, l.refused(cause(err))
	}
	return false, l.later(err)
}

// slot places the loop: on its previous worker if that has a slot soon, and then on any.
func (l *loop) slot() (placed Placed, err error) {
	in := Prepare{Started: l.in.Started, Work: l.in.Work, Commit: l.in.Place.Commit}
	o := workflow.ActivityOptions{
		StartToCloseTimeout: 2 * time.Hour, HeartbeatTimeout: beat, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}
	if host := l.in.Place.Host; host != "" {
		in.Back, o.TaskQueue, o.ScheduleToStartTimeout = true, l.queueOf(host), again
		if err = l.do(o, (*Worker).Place, in, &placed); err == nil {
			return placed, nil
		}
		l.lost()
		in.Back, o.TaskQueue = false, ""
	}
	o.ScheduleToStartTimeout = forever
	needs := l.in.Work.Needs
	if len(needs) > 0 { // only workers that do not offer it leave it in its queue
		o.TaskQueue, o.ScheduleToStartTimeout = offerQueue(workflow.GetInfo(l.ctx).TaskQueueName, needs[0]), beat
	}
	if err = l.do(o, (*Worker).Place, in, &placed); len(needs) > 0 && untaken(err) {
		err = temporal.NewNonRetryableApplicationError("no worker offers "+needs[0], errGone, nil)
	}
	return placed, err
}

func (l *loop) do(o workflow.ActivityOptions, activity, in, out any) error {
	return workflow.ExecuteActivity(workflow.WithActivityOptions(l.ctx, o), activity, in).Get(l.ctx, out)
}

// queueOf returns the task queue of a worker.
func (l *loop) queueOf(host string) string {
	return ownQueue(workflow.GetInfo(l.ctx).TaskQueueName, host)
}

// later waits before the loop is tried again, on another worker if there is one: for a minute
// at most, and until it has been tried for long enough.
func (l *loop) later(failed error) error {
	p, now := &l.in.Place, workflow.Now(l.ctx)
	if most := l.in.Work.retryFor(); p.Tried >= most {
		return l.refused(fmt.Sprintf("no worker could take it for %s; the last reason: %s", most, cause(failed)))
	}
	err := l.pause(Queued, cause(failed))
	if app, ok := errors.AsType[*temporal.ApplicationError](failed); ok && !handedBack(failed) {
		var took time.Duration
		_ = app.Details(&took) // an older worker does not say it
		p.Tried += took + workflow.Now(l.ctx).Sub(now)
	}
	return err
}

// pause shows why the loop does not run, and waits: longer each time until it has a slot again,
// for a minute at most.
func (l *loop) pause(status, why string) error {
	l.why = why
	if err := errors.Join(l.show(status), l.tell()); err != nil {
		return err
	}
	l.in.Place.Tries++
	return workflow.Sleep(l.ctx, min(time.Second<<min(l.in.Place.Tries-1, 6), time.Minute))
}

// refused ends the run, also while a question is open: no worker accepts it.
func (l *loop) refused(why string) error {
	return l.settle(func() error {
		return l.record(core.RunFinished{Ending: core.Ending{Status: core.StatusFailed, ExitCode: core.ExitFailed, Reason: why}})
	})
}

// release returns the slot. The work tree stays. A worker that does not receive this takes the
// slot back by itself.
func (l *loop) release() { l.leave("") }

// leave returns the slot, and closes the place of a loop that has ended.
func (l *loop) leave(status core.Status) {
	if !l.in.Place.Held {
		return
	}
	l.in.Place.Held = false
	ctx, _ := workflow.NewDisconnectedContext(l.ctx)
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: l.queueOf(l.in.Place.Host), ScheduleToStartTimeout: again, StartToCloseTimeout: time.Minute,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	_ = workflow.ExecuteActivity(ctx, (*Worker).Leave, Leave{Loop: l.in.Started.RunID, Status: status}).Get(ctx, nil)
}

// lost forgets a worker that is gone or unreachable.
func (l *loop) lost() { l.in.Place.Host, l.in.Place.Held = "", false }

// onHost runs an activity on the worker whose slot the loop has: with a single attempt, since
// it is unknown whether a failed one ran.
func (l *loop) onHost(most time.Duration, activity, in, out any) error {
	return l.do(workflow.ActivityOptions{
		TaskQueue: l.queueOf(l.in.Place.Host), ScheduleToStartTimeout: beat, StartToCloseTimeout: most,
		HeartbeatTimeout: beat, WaitForCancellation: true, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}, activity, in, out)
}

// typeOf returns the type of a worker's error; empty if it has none.
func typeOf(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Type()
	}
	return ""
}

// untaken reports whether the error says that no worker took it in time.
func untaken(err error) bool {
	timeout, late := errors.AsType[*temporal.TimeoutError](err)
	return late && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// unbegun reports whether the error says that the worker ran nothing.
func unbegun(err error) bool {
	return typeOf(err) == errGone || typeOf(err) == errUnknown || untaken(err)
}

// handedBack reports whether the error says that the worker ran nothing, or ended what it ran
// because it stops: another one can run it.
func handedBack(err error) bool {
	return unbegun(err) || typeOf(err) == errStopped
}
