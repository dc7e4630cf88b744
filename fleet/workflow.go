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
// of its history, so that it can be replayed, and on no rule that is not in decide.
type loop struct {
	ctx    workflow.Context
	driver core.Driver // its methods that record events run in decide
	made   *decision   // of the step that is being decided
	handed int         // how often workers handed something back, since an iteration ended or a question was put
	state  core.State
	in     Loop
	active time.Duration // as the workers measured it; time in a queue is not in it
	fresh  bool          // no iteration has run yet

	shown string
	told  *Note
	why   string // it does not run
	asked string
}

// builtIn returns the question templates. They are the same wherever the workflow runs.
var builtIn = sync.OnceValues(func() (*templates.Set, error) { return templates.Load() })

// Run is the workflow of one loop.
func Run(ctx workflow.Context, in Loop) (core.Result, error) {
	return runUnder(ctx, in, guards.Default())
}

// runUnder runs a loop under those rules.
func runUnder(ctx workflow.Context, in Loop, rules []core.Guard) (core.Result, error) {
	set, err := builtIn()
	if err != nil {
		return core.Result{}, err
	}
	l := &loop{ctx: ctx, in: in, fresh: true}
	l.driver = core.Driver{
		State: &l.state, Record: l.record, Now: func() time.Time { return workflow.Now(ctx) }, Guards: rules,
		Questions: set.WithDebug(in.Work.Debug), Debug: in.Work.Debug, WaitDelay: in.Work.WaitDelay,
	}
	if in.State != nil {
		l.state, l.active, l.fresh = *in.State, in.State.Elapsed, false
	}
	if err := l.handle(); err != nil {
		return core.Result{}, err
	}
	if in.State == nil {
		if err := l.settle(func() error { return l.driver.Start(in.Started) }); err != nil {
			return core.Result{}, temporal.NewNonRetryableApplicationError("the loop cannot start: "+err.Error(), "Start", nil)
		}
	}
	return l.run()
}

// run takes one step after another until the run has ended, or its history is cut.
func (l *loop) run() (core.Result, error) {
	for {
		made, err := l.decide(l.ctx, func(made *decision) (err error) {
			made.Next, err = l.driver.Next()
			return err
		})
		if err != nil {
			return core.Result{}, err
		}
		switch made.Next {
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
		case core.NextWait:
			err = l.wait()
		case core.NextEnd:
			return l.end()
		default:
			panic(fmt.Sprintf("step %q is not known here", made.Next)) // as in decide
		}
		if l.interrupted() && l.state.Interrupt == nil { // the step was cut short; no history is cut before that is recorded
			err = l.stop()
		}
		if err != nil {
			return core.Result{}, err
		}
	}
}

// decision is what the rules decided in a step, in the form that the history has.
type decision struct {
	Events []json.RawMessage `json:"events,omitempty"`
	Next   core.Next         `json:"next,omitempty"`
	Begun  core.Iteration    `json:"begun,omitzero"`
	Pause  time.Duration     `json:"pause,omitempty"`
	Wrong  string            `json:"wrong,omitempty"` // an error
}

// decide returns what do decided. The history keeps it, and a replay takes it from there: a
// version with other rules continues from the same state.
func (l *loop) decide(ctx workflow.Context, do func(made *decision) error) (made decision, err error) {
	replayed := true
	kept := workflow.SideEffect(ctx, func(workflow.Context) any {
		replayed, l.made = false, &decision{}
		if err := do(l.made); err != nil {
			l.made.Wrong = err.Error()
		}
		return *l.made
	})
	err = kept.Get(&made)
	for i := 0; err == nil && replayed && i < len(made.Events); i++ {
		err = l.fold(made.Events[i])
	}
	if err != nil {
		panic(err) // fails the task, and not the loop: a worker of another version can take it
	}
	if made.Wrong != "" {
		err = errors.New(made.Wrong)
	}
	return made, err
}

// settle lets the driver record something.
func (l *loop) settle(do func() error) error {
	_, err := l.decide(l.ctx, func(*decision) error { return do() })
	return err
}

// record records an event of the current decision, and folds it into the state.
func (l *loop) record(d core.Data) error {
	raw, err := json.Marshal(core.Event{
		Seq: l.state.Seq + 1, Time: workflow.Now(l.ctx).UTC().Truncate(time.Millisecond),
		Elapsed: l.active.Truncate(time.Millisecond), Data: d,
	})
	if err == nil {
		err = l.fold(raw)
	}
	if err == nil {
		l.made.Events = append(l.made.Events, raw)
	}
	return err
}

// fold folds an event into the state, in the form that the history has.
func (l *loop) fold(raw json.RawMessage) error {
	var e core.Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	return l.state.Apply(e)
}

// handle installs the handler through which others answer the loop.
func (l *loop) handle() error {
	return workflow.SetUpdateHandlerWithOptions(l.ctx, updateAnswer, func(ctx workflow.Context, g Given) (Taken, error) {
		_, err := l.decide(ctx, func(*decision) error { return l.driver.Answer(g.QuestionID, g.Answer) })
		return Taken{l.state.Seq, g.Answer}, err
	}, workflow.UpdateHandlerOptions{Validator: func(_ workflow.Context, g Given) error {
		return l.driver.Acceptable(g.QuestionID, g.Answer)
	}})
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
	made, err := l.decide(l.ctx, func(made *decision) (err error) {
		made.Begun, err = l.driver.Begin(n, l.fresh)
		return err
	})
	if err != nil {
		return err
	}
	it := made.Begun
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
	failed := l.onHost(most, (*Worker).Iterate, Iterate{
		Loop: l.in.Started.RunID, State: l.state, Iteration: it, Left: left, Commit: l.in.Place.Commit,
	}, &out)
	before, free := l.state.Cost, unbegun(failed)
	if out.Away != "" {
		failed = l.push(out)
	}
	if err := l.over(it, out, failed); err != nil {
		return err
	}
	cost := l.state.Cost - before
	l.in.Dear = max(l.in.Dear, cost)
	if failed == nil || free { // else it may have cost as much as it reserved
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

// handedMost is how often workers may hand an iteration back, or the help with a question, before
// each time counts as a lost worker: more often than any upgrade does.
const handedMost = 10

// over records how the iteration ended: as the worker reports, or by losing the worker.
func (l *loop) over(it core.Iteration, out Iterated, err error) error {
	if l.interrupted() {
		if err := l.stop(); err != nil {
			return err
		}
	}
	why, back := "it was cancelled", true
	switch {
	case err == nil:
		l.fresh, l.handed = false, 0
		l.active += time.Duration(out.Result.DurationMS) * time.Millisecond
		if out.Commit != "" {
			l.in.Place.Commit = out.Commit
		}
		if out.Stopping { // it takes no further iteration
			l.lost()
		}
		return l.settle(func() error { return l.driver.Finish(it, out.Result) })
	case l.interrupted():
	default:
		if why, back = cause(err), handedBack(err); back {
			l.handed++
		}
		if !back || untaken(err) {
			why = "worker " + l.in.Place.Host + " was lost: " + why
		}
		back = back && l.handed <= handedMost
		l.lost()
	}
	return l.settle(func() error { return l.driver.Withdraw(why, back) })
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
	l.handed = 0
	answered, err := true, error(nil)
	if d := l.in.Work.WaitAnswer; d > 0 {
		answered, err = workflow.AwaitWithTimeout(l.ctx, d, func() bool { return !l.waits(q.ID) })
	} else {
		err = workflow.Await(l.ctx, func() bool { return !l.waits(q.ID) })
	}
	if err == nil && !answered {
		err = l.settle(func() error {
			return l.driver.Unanswered(q.ID, fmt.Sprintf("nobody answered within %s", l.in.Work.WaitAnswer))
		})
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
		l.asked, l.handed = q.ID, 0
		return l.settle(func() error { return l.responded(q, out) })
	})
}

// responded records what the worker reports.
func (l *loop) responded(q core.Question, out Responded) error {
	for _, e := range out.Events {
		if err := l.record(e.Data); err != nil {
			return err
		}
	}
	switch {
	case !l.waits(q.ID): // a person was quicker
		return nil
	case out.Answer != nil:
		if err := l.driver.Acceptable(q.ID, *out.Answer); err != nil {
			return l.record(core.AnswerInvalid{QuestionID: q.ID, Responder: out.Answer.Responder, Reason: err.Error()})
		}
		return l.driver.Answer(q.ID, *out.Answer)
	case out.Unanswered != "":
		return l.driver.Unanswered(q.ID, out.Unanswered)
	}
	return nil
}

// waits reports whether the question is open.
func (l *loop) waits(id string) bool {
	return slices.ContainsFunc(l.state.Pending(), func(q core.Question) bool { return q.ID == id })
}

// help runs what helps with a question on a worker, and then calls done, with the reason if it
// has no result. It does not if the run must check again, as where a worker handed it back.
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
		if l.handed++; handedBack(failed) && l.handed <= handedMost {
			return nil
		}
	}
	return done(failed)
}

// debug runs the command of an answer on a worker.
func (l *loop) debug() error {
	var out Debugged
	return l.help((*Worker).Debug, Respond{Loop: l.in.Started.RunID, State: l.state}, &out, func(failed error) error {
		if failed != nil {
			out.End = core.DebugFinished{ExitCode: -1, Findings: "the command could not be run: " + cause(failed)}
		}
		l.active += out.Took
		return l.settle(func() error { return l.driver.Debugged(out.End) })
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
	return l.settle(func() error { return l.record(core.WaitFinished{}) })
}

// pace waits between two iterations, according to --delay and --backoff.
func (l *loop) pace() error {
	b := l.in.Work.Backoff
	d := b.Initial
	if !l.fresh && b.Base > 0 {
		made, err := l.decide(l.ctx, func(made *decision) error {
			made.Pause = b.Delay(l.state.SinceAnswer)
			return nil
		})
		if err != nil {
			return err
		}
		d = made.Pause
	} else if !l.fresh {
		d = 0
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
	return l.settle(func() error { return l.record(core.InterruptReceived{Reason: "it was cancelled", Code: 143}) })
}

// end releases the run's resources.
func (l *loop) end() (core.Result, error) {
	r := l.state.Result()
	err := errors.Join(l.show(string(r.Status)), l.tell())
	// A worker that does not receive this keeps the tree as long as a failed loop's.
	l.leave(r.Status)
	return r, err
}
