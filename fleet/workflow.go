package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/templates"
)

// loop is a run whose steps a workflow takes. It depends on no time and no order except those
// of its history, so that it can be replayed.
type loop struct {
	ctx    workflow.Context
	driver core.Driver
	state  core.State
	in     Loop
	active time.Duration // as the workers measured it; time in a queue is not in it
	fresh  bool          // no iteration has run yet

	events []json.RawMessage
	from   int64
	shown  string
	told   *Note
	why    string // it does not run
	asked  string
}

// builtIn returns the question templates. They are the same wherever the workflow runs.
var builtIn = sync.OnceValues(func() (*templates.Set, error) { return templates.Load() })

// Run is the workflow of one loop.
func Run(ctx workflow.Context, in Loop) (core.Result, error) {
	set, err := builtIn()
	if err != nil {
		return core.Result{}, err
	}
	l := &loop{ctx: ctx, in: in, fresh: true}
	l.driver = core.Driver{
		State: &l.state, Record: l.record, Now: func() time.Time { return workflow.Now(ctx) }, Guards: guards.Default(),
		Questions: set.WithDebug(in.Work.Debug), Debug: in.Work.Debug, WaitDelay: in.Work.WaitDelay,
	}
	if in.State != nil {
		l.state, l.active, l.fresh = *in.State, in.State.Elapsed, false
	}
	l.from = l.state.Seq + 1
	if err := l.handle(); err != nil {
		return core.Result{}, err
	}
	if in.State == nil {
		if err := l.driver.Start(in.Started); err != nil {
			return core.Result{}, temporal.NewNonRetryableApplicationError("the loop cannot start: "+err.Error(), "Start", nil)
		}
	}
	return l.run()
}

// run takes one step after another until the run has ended, or its history is cut.
func (l *loop) run() (core.Result, error) {
	for {
		next, err := l.driver.Next()
		if err != nil {
			return core.Result{}, err
		}
		switch next {
		case core.NextPrecheck:
			err = l.iterate(0)
		case core.NextIterate:
			if workflow.GetInfo(l.ctx).GetContinueAsNewSuggested() {
				err = l.continued()
			} else {
				err = l.iterate(l.state.NextIteration())
			}
		case core.NextAsk, core.NextAsked:
			err = l.ask(l.state.Pending()[0])
		case core.NextAct:
			err = l.debug()
		case core.NextExpert:
			err = l.expert()
		case core.NextWait:
			err = l.wait()
		case core.NextEnd:
			return l.end()
		default:
			err = fmt.Errorf("an iteration runs that nobody started (%s)", next)
		}
		if l.interrupted() && l.state.Interrupt == nil { // the step was cut short; no history is cut before that is recorded
			err = l.stop()
		}
		if err != nil {
			return core.Result{}, err
		}
	}
}

// record records an event and folds it into the state.
func (l *loop) record(d core.Data) error {
	e := core.Event{
		Seq: l.state.Seq + 1, Time: workflow.Now(l.ctx).UTC().Truncate(time.Millisecond),
		Elapsed: l.active.Truncate(time.Millisecond), Data: d,
	}
	raw, err := json.Marshal(e)
	if err == nil {
		err = l.state.Apply(e)
	}
	if err == nil {
		l.events = append(l.events, raw)
	}
	return err
}

// handle installs the handlers through which others view the loop and answer it.
func (l *loop) handle() error {
	return errors.Join(
		workflow.SetQueryHandler(l.ctx, queryState, func() (core.State, error) { return l.state, nil }),
		workflow.SetQueryHandler(l.ctx, queryEvents, l.page),
		workflow.SetUpdateHandlerWithOptions(l.ctx, updateAnswer, func(_ workflow.Context, g Given) (Taken, error) {
			err := l.driver.Answer(g.QuestionID, g.Answer)
			return Taken{l.state.Seq, g.Answer}, err
		}, workflow.UpdateHandlerOptions{Validator: func(_ workflow.Context, g Given) error {
			return l.driver.Acceptable(g.QuestionID, g.Answer)
		}}),
	)
}

// pageBytes is the maximum size of a page of events, since the result of a query is limited.
const pageBytes = 512 << 10

// page returns the events after the one with that number.
func (l *loop) page(after int64) (Page, error) {
	p := Page{From: l.from}
	bytes := 0
	for _, e := range l.events[min(max(0, after-l.from+1), int64(len(l.events))):] {
		if bytes += len(e); bytes > pageBytes && len(p.Events) > 0 {
			p.More = true
			break
		}
		p.Events = append(p.Events, e)
	}
	return p, nil
}

// continued starts a new history, from the state.
func (l *loop) continued() error {
	if err := workflow.Await(l.ctx, func() bool { return workflow.AllHandlersFinished(l.ctx) }); err != nil {
		return err
	}
	l.in.State = &l.state
	return workflow.NewContinueAsNewError(l.ctx, Run, l.in)
}

// show stores the data for lists where they find it.
func (l *loop) show(status string) error {
	guard := ""
	if l.state.Question != nil {
		guard = string(l.state.Question.Guard)
	}
	now := fmt.Sprint(status, guard, l.state.Iterations, l.state.Cost)
	if now == l.shown {
		return nil
	}
	l.shown = now
	return workflow.UpsertTypedSearchAttributes(
		l.ctx,
		temporal.NewSearchAttributeKeyKeyword(AttrStatus).ValueSet(status),
		temporal.NewSearchAttributeKeyKeyword(AttrQuestion).ValueSet(guard),
		temporal.NewSearchAttributeKeyInt64(AttrIteration).ValueSet(int64(l.state.Iterations)),
		temporal.NewSearchAttributeKeyFloat64(AttrCost).ValueSet(l.state.Cost),
	)
}

// iterate runs one iteration on a worker.
func (l *loop) iterate(n int) error {
	if err := l.pace(); err != nil {
		return err
	}
	if ok, err := l.acquire(); !ok || err != nil {
		return err
	}
	reserved, err := l.reserve(n)
	if reserved == nil || err != nil {
		return err
	}
	it, err := l.driver.Begin(n, l.fresh)
	if err != nil {
		return err
	}
	l.why, l.in.Place.Tries = "", 0
	if err := errors.Join(l.show(Running), l.tell()); err != nil {
		return err
	}
	left, limited := l.driver.Remaining(l.active)
	most := left + time.Hour // the worker ends it; this is for a worker that does not
	if !limited {
		left, most = 0, forever
	}
	var out Iterated
	err = l.onHost(most, (*Worker).Iterate, Iterate{
		Loop: l.in.Started.RunID, State: l.state, Iteration: it, Left: left, Commit: l.in.Place.Commit,
	}, &out)
	if err == nil && out.Away != "" {
		err = l.push(out)
	}
	before, failed := l.state.Cost, err
	if err := l.over(it, out, failed); err != nil {
		return err
	}
	cost := l.state.Cost - before
	l.in.Dear = max(l.in.Dear, cost)
	if failed == nil || unbegun(failed) { // else it may have cost as much as it reserved
		reserved.USD, reserved.Silent = cost, failed == nil && cost == 0 && l.state.Iterations > 0
	}
	return l.commit(*reserved)
}

// push lets the worker store the checkpoint of an iteration whose repository is away.
func (l *loop) push(out Iterated) error {
	l.why = out.Away
	if err := errors.Join(l.show(Waiting), l.tell()); err != nil {
		return err
	}
	err := l.do(workflow.ActivityOptions{
		TaskQueue: l.queueOf(l.in.Place.Host), ScheduleToStartTimeout: idle, ScheduleToCloseTimeout: l.in.Work.retryFor(),
		HeartbeatTimeout: beat, WaitForCancellation: true, RetryPolicy: &temporal.RetryPolicy{MaximumInterval: time.Minute},
	}, (*Worker).Push, Push{Loop: l.in.Started.RunID, Commit: out.Commit, Last: l.in.Place.Commit}, nil)
	l.why = ""
	return err
}

// over records how the iteration ended: as the worker reports, or by losing the worker.
func (l *loop) over(it core.Iteration, out Iterated, err error) error {
	if l.interrupted() {
		if err := l.stop(); err != nil {
			return err
		}
		if err != nil {
			return l.driver.Withdraw("it was cancelled", true)
		}
	}
	if err == nil {
		l.fresh = false
		l.active += time.Duration(out.Result.DurationMS) * time.Millisecond
		if out.Commit != "" {
			l.in.Place.Commit = out.Commit
		}
		if out.Stopping { // it takes no further iteration
			l.lost()
		}
		return l.driver.Finish(it, out.Result)
	}
	host := l.in.Place.Host
	l.lost()
	if handedBack(err) { // an older version counted it
		return l.driver.Withdraw(cause(err), workflow.GetVersion(l.ctx, "handed back", workflow.DefaultVersion, 1) == 1)
	}
	return l.driver.Withdraw("worker "+host+" was lost: "+cause(err), false)
}

// cause shortens an error of the engine.
func cause(err error) string {
	if timeout, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return timeout.TimeoutType().String() + " timeout"
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Message()
	}
	return err.Error()
}

// ask puts a question to the policy and the assistant, and then waits for a person, without a
// slot.
func (l *loop) ask(q core.Question) error {
	if l.in.Work.Responds && l.asked != q.ID {
		return l.respond(q)
	}
	if err := errors.Join(l.show(Asking), l.tell()); err != nil {
		return err
	}
	l.release()
	answered, err := true, error(nil)
	if d := l.in.Work.WaitAnswer; d > 0 {
		answered, err = workflow.AwaitWithTimeout(l.ctx, d, func() bool { return !l.waits(q.ID) })
	} else {
		err = workflow.Await(l.ctx, func() bool { return !l.waits(q.ID) })
	}
	if err == nil && !answered {
		err = l.driver.Unanswered(q.ID, fmt.Sprintf("nobody answered within %s", l.in.Work.WaitAnswer))
	}
	return errors.Join(err, l.tell())
}

// tell makes the open question, the worker and the reason for a wait visible in lists.
func (l *loop) tell() error {
	note := Note{Worker: l.in.Place.Host, Reason: l.why}
	if list := l.state.Pending(); len(list) > 0 {
		options := slices.DeleteFunc(session.OptionsOf(list[0]), func(id string) bool {
			o, _ := list[0].Option(id)
			return o.Shell // it needs a terminal
		})
		note.Question = &Asked{ID: list[0].ID, Header: list[0].Header, Options: options, More: len(list) - 1}
	}
	if reflect.DeepEqual(&note, l.told) {
		return nil
	}
	l.told = &note
	return workflow.UpsertMemo(l.ctx, map[string]any{memoNote: note})
}

// respond lets a worker answer. If it does not, a person is asked next.
func (l *loop) respond(q core.Question) error {
	var out Responded
	return l.help((*Worker).Respond, Respond{Loop: l.in.Started.RunID, State: l.state, Question: q}, &out, func(error) error {
		l.asked = q.ID
		for _, e := range out.Events {
			if err := l.driver.Record(e.Data); err != nil {
				return err
			}
		}
		switch {
		case !l.waits(q.ID): // a person was quicker
			return nil
		case out.Answer != nil:
			if err := l.driver.Acceptable(q.ID, *out.Answer); err != nil {
				return l.driver.Record(core.AnswerInvalid{QuestionID: q.ID, Responder: out.Answer.Responder, Reason: err.Error()})
			}
			return l.driver.Answer(q.ID, *out.Answer)
		case out.Unanswered != "":
			return l.driver.Unanswered(q.ID, out.Unanswered)
		}
		return nil
	})
}

// waits reports whether the question is open.
func (l *loop) waits(id string) bool {
	return slices.ContainsFunc(l.state.Pending(), func(q core.Question) bool { return q.ID == id })
}

// help runs what helps with a question on a worker, and then calls done, with the reason if it
// has no result. It does not if the run must check again.
func (l *loop) help(activity, in, out any, done func(failed error) error) error {
	if ok, err := l.acquire(); !ok || err != nil {
		return err
	}
	failed := l.onHost(time.Hour, activity, in, out)
	if l.interrupted() {
		return nil
	}
	if failed != nil {
		l.lost()
	}
	if handedBack(failed) {
		return nil
	}
	return done(failed)
}

// debug runs the command of an answer on a worker.
func (l *loop) debug() error {
	var out Debugged
	return l.help((*Worker).Debug, Help{Loop: l.in.Started.RunID, State: l.state}, &out, func(failed error) error {
		if failed != nil {
			out.End = core.DebugFinished{ExitCode: -1, Findings: "the command could not be run: " + cause(failed)}
		}
		l.active += out.Took
		return l.driver.Debugged(out.End)
	})
}

func (l *loop) expert() error {
	var out Advised
	return l.help((*Worker).Expert, Help{Loop: l.in.Started.RunID, State: l.state}, &out, func(failed error) error {
		if failed != nil {
			out.End = core.ExpertFinished{ExitCode: -1, Why: cause(failed)}
		}
		l.active += out.Took
		return l.driver.Advised(out.End)
	})
}

// patience is how long a slot is kept while nothing is running.
const patience = 30 * time.Second

// wait waits until the run may continue.
func (l *loop) wait() error {
	d := l.state.Until.Sub(workflow.Now(l.ctx))
	if d > patience {
		l.release()
	}
	if err := l.show(Waiting); err != nil {
		return err
	}
	if err := workflow.Sleep(l.ctx, d); err != nil {
		return err
	}
	return l.driver.Record(core.WaitFinished{})
}

// pace waits between two iterations, according to --delay and --backoff.
func (l *loop) pace() error {
	b := l.in.Work.Backoff
	d := b.Initial
	if !l.fresh && b.Base > 0 {
		drawn := workflow.SideEffect(l.ctx, func(workflow.Context) any { return b.Delay(l.state.SinceAnswer) })
		if err := drawn.Get(&d); err != nil {
			return err
		}
	} else if !l.fresh {
		d = 0
	}
	if d <= 0 {
		return nil
	}
	if d > patience {
		l.release()
	}
	return workflow.Sleep(l.ctx, d)
}

// interrupted reports whether the loop was cancelled.
func (l *loop) interrupted() bool { return l.ctx.Err() != nil }

// stop records that the loop was cancelled.
func (l *loop) stop() error {
	return l.driver.Record(core.InterruptReceived{Reason: "it was cancelled", Code: 143})
}

// end releases the run's resources.
func (l *loop) end() (core.Result, error) {
	r := l.state.Result()
	err := errors.Join(l.show(string(r.Status)), l.tell())
	// A worker that does not receive this keeps the tree as long as a failed loop's.
	l.leave(r.Status)
	return r, err
}
