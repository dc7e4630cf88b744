package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/protocol/ladder"
)

// heartbeatEvery is how often a run that waits for its command records its elapsed time. A
// crash loses no more than that much time.
const heartbeatEvery = 10 * time.Second

// Loop drives a run. Set its fields before [Loop.Run] and do not change them afterwards.
type Loop struct {
	Guards  []core.Guard // at least one
	Runner  Runner
	Journal core.Journal // nil: events are kept nowhere, and the state has the last of them
	// Questions turns a trip into a question; if nil, no questions are asked about trips.
	Questions core.Questions
	// Responders are asked in this order. Their answers state who gave them, and that is
	// believed: use [core.OfProgram] for a responder that reads answers from a wire. Answers
	// that do not state it count as a program's.
	Responders []core.Responder
	// Debug is run by the answer debug; if nil, that answer is refused.
	Debug Debugger
	// Experts runs the experts of the ladder; if nil, each is unsuccessful.
	Experts Experts
	// Backoff is the delay between iterations; the zero value means no delay.
	Backoff Backoff
	// WaitDelay is the first wait for a limit that names no time; zero means 30 seconds. It
	// doubles up to 15 minutes.
	WaitDelay time.Duration
	// OutageLimit is the OutageLimit of [core.Driver].
	OutageLimit time.Duration
	// Mask removes secrets from texts before they are recorded; nil means that there are none.
	Mask func(string) string
	// Once pauses the run before a second iteration; resuming it continues.
	Once bool
	// Took is active time before [Loop.Resume] that was not measured: the run counts it as its
	// own.
	Took time.Duration
	// Observe receives every event; nil means no observer.
	Observe Observer

	mu      sync.Mutex // is held while state changes
	state   core.State
	driver  core.Driver // of the state
	watch   *stopwatch
	ready   bool      // it was started or resumed and has not been run since
	fresh   bool      // no iteration has run since the start or the resume
	ended   time.Time // when the last one ended
	workErr error     // why the work failed in it, where it says so
	end     func()    // ends the iteration that stands still; nil: there is none
	inbox   inbox
	prompt  *prompt                       // the question that a responder is asked; nil: none is
	next    atomic.Pointer[time.Time]     // see Next
	askers  *askers                       // who waits for the question that is asked now
	asked   atomic.Pointer[chan struct{}] // closed at the next question
}

// Experts runs an expert's command. The error is why it could not be run.
type Experts interface {
	Expert(context.Context, *core.State, ladder.Expert) (core.ExpertFinished, error)
}

// Debugger runs the debug command, or the command of an option whose action is
// run. An error means that it could not be run.
type Debugger interface {
	Debug(context.Context, *core.State, core.Option, core.Answer) (core.DebugFinished, error)
}

// Start begins a new run. Before [Loop.Run], call either Start or [Loop.Resume] once.
func (l *Loop) Start(d core.RunStarted) error {
	if err := l.check(); err != nil {
		return err
	}
	return l.begin(0, func() error { return l.driver.Start(d) })
}

// begin starts the clock and the run, and stops the clock again if that fails.
func (l *Loop) begin(elapsed time.Duration, start func() error) error {
	if l.ready {
		l.watch.Stop()
	}
	l.watch, l.ready = startStopwatch(elapsed), false
	defer func() {
		if !l.ready { // also where an observer panics
			l.watch.Stop()
		}
		if p := recovered(recover()); p != nil {
			panic(p)
		}
	}()
	err := start()
	l.ready = err == nil
	return err
}

// Resume resumes the run whose events led to this state. An iteration in which looprun died
// for the third time is not run again: it counts as an error.
func (l *Loop) Resume(s core.State, d core.RunResumed) error {
	if err := l.check(); err != nil {
		return err
	}
	l.state = *s.Clone()
	return l.begin(s.Elapsed+max(0, l.Took), func() error { return l.driver.Resume(d) })
}

func (l *Loop) check() error {
	switch {
	case len(l.Guards) == 0:
		return fmt.Errorf("%w: Guards is empty", core.ErrNoGuards)
	case slices.ContainsFunc(l.Responders, missing):
		return errors.New("one of the responders is nil")
	case missing(l.Runner):
		return errors.New("no Runner: there is nothing to run")
	}
	ids := map[core.GuardID]bool{}
	for _, g := range l.Guards {
		if missing(g) {
			return errors.New("one of the guards is nil")
		}
		if ids[g.ID()] {
			return fmt.Errorf("two guards are called %s; give yours another ID, or take the other one out", g.ID())
		}
		ids[g.ID()] = true
	}
	if l.Journal == nil {
		l.Journal = noJournal{}
	}
	l.fresh = true
	l.inbox = newInbox()
	l.asked.Store(new(make(chan struct{})))
	l.drive()
	return nil
}

// missing reports whether a value is nil, or is a nil pointer or function, which would panic
// when it is called.
func missing[T any](value T) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}

// drive creates the driver from the loop's fields.
func (l *Loop) drive() {
	witness, _ := l.Runner.(core.Witness)
	l.driver = core.Driver{
		Witness: witness,
		State:   &l.state, Record: l.record, Now: time.Now, Guards: l.Guards, Questions: l.Questions,
		Debug: l.Debug != nil, WaitDelay: l.WaitDelay, OutageLimit: l.OutageLimit, Mask: l.Mask,
	}
}

// State returns a copy of the run's current state. It may be called from any goroutine once
// Start or Resume has returned.
func (l *Loop) State() *core.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Clone()
}

// Elapsed returns the run's active time so far; zero before [Loop.Start] or [Loop.Resume].
// Once one of them has returned it may be called from any goroutine.
func (l *Loop) Elapsed() time.Duration {
	if l.watch == nil {
		return 0
	}
	return l.watch.Elapsed()
}

// Run is [Go] followed by [Handle.Wait].
func (l *Loop) Run(ctx context.Context) (core.Result, error) { return Go(ctx, l).Wait() }

// run takes one step after another until the run has ended, and returns the result.
func (l *Loop) run(ctx context.Context) (core.Result, error) {
	if !l.ready {
		return core.Result{}, errors.New("Loop.Run before Start or Resume")
	}
	l.ready = false
	l.drive()
	defer l.watch.Stop()
	defer close(l.inbox.over)
	for ran := false; ; {
		next, err := l.driver.Next()
		if next == core.NextIterate && l.Once {
			if ran {
				next, err = core.NextEnd, l.record(core.RunPaused{Reason: "one iteration at a time"})
			}
			ran = true
		}
		if err != nil {
			return l.failed(err)
		}
		switch next {
		case core.NextPrecheck:
			err = l.iterate(ctx, 0)
		case core.NextIterate:
			err = l.iterate(ctx, l.state.NextIteration())
		case core.NextAsk:
			err = l.ask(ctx, *l.state.Question)
		case core.NextAsked:
			if len(l.inbox.waiting) > 0 { // the command may still wait for its answer
				err = l.drain(ctx)
			} else {
				err = l.ask(ctx, *l.state.Unanswered())
			}
		case core.NextAct:
			err = l.debug(ctx)
		case core.NextExpert:
			err = l.expert(ctx)
		case core.NextConfirm:
			err = l.confirm(ctx)
		case core.NextWait:
			err = l.waitOut(ctx)
		case core.NextEnd:
			r := l.state.Result()
			r.Cause = l.cause(ctx, r)
			return r, nil
		default:
			err = &core.Refusal{Why: "an iteration runs that nobody started"}
		}
		if err != nil {
			return l.failed(err)
		}
	}
}

// cause returns the error that made the run end.
func (l *Loop) cause(ctx context.Context, r core.Result) error {
	if r.Status == core.StatusInterrupted {
		return cmp.Or(context.Cause(ctx), l.workErr)
	}
	return l.workErr
}

// record writes the event before its effect can be seen, and syncs the journal if the event
// must survive a power loss.
func (l *Loop) record(d core.Data) error {
	l.mu.Lock()
	e, err := core.Record(&l.state, l.Journal, l.Mask, l.watch.Elapsed(), d)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if l.Observe != nil {
		l.Observe(e, &l.state)
	}
	if d.Type() == core.TypeQuestionAsked {
		close(*l.asked.Swap(new(make(chan struct{}))))
	}
	if !survives(d) {
		return nil
	}
	if err := l.Journal.Sync(); err != nil {
		return fmt.Errorf("the journal cannot be synced: %w", err)
	}
	return nil
}

// noJournal discards events: a run that nobody resumes needs only its state.
type noJournal struct{}

func (noJournal) Append(core.Event) error { return nil }
func (noJournal) Sync() error             { return nil }

// survives reports whether the event must survive a power loss before its effect is seen. All
// do, except those that are frequent or follow from others.
func survives(d core.Data) bool {
	switch d.(type) {
	case core.RunStarted, core.RunResumed, core.IterationStarted, core.IterationFinished, core.GuardTripped, core.RunAlive, core.VerifyFinished,
		core.SignalReceived, core.MessageRefused, core.CostReported, core.QuestionDelivered, core.RejectionSubmitted, core.RejectionInvalid,
		core.RejectionDecided, core.CountersReset, core.AttemptRecorded, core.SubtaskFinished, core.WaitStarted, core.WaitFinished, core.TurnRepeated:
		return false
	}
	return true
}

// BeforeVerify is called by a responder before it runs a command of its own. It ends an
// iteration that is suspended while its question is asked, because the command needs the files
// that the iteration has open; the iteration runs again under its own number. The clock runs
// until AfterVerify. Both may only be called by the responder being asked.
func (l *Loop) BeforeVerify() {
	if l.end != nil {
		l.end()
	}
	l.watch.Continue()
}

// AfterVerify records the end of that command.
func (l *Loop) AfterVerify(d core.VerifyFinished) error {
	record := func() error { return l.record(d) }
	err := l.await(context.Background(), &post{do: record, done: make(chan error, 1), urgent: true})
	l.watch.Pause()
	return err
}

// failed ends the run because looprun itself failed. The journal may be what failed, so
// anything that can no longer be written is only returned.
func (l *Loop) failed(err error) (core.Result, error) {
	r := l.state.Result()
	r.Cause = err
	r.Ending = core.Ending{Status: core.StatusFailed, ExitCode: core.ExitFailed, Reason: err.Error()}
	_ = l.record(core.RunFinished{Ending: r.Ending}) // refused where the run has not begun, or has ended
	return r, err
}

// Interrupt is the cause of a context that was cancelled because looprun itself was told to
// stop. Code is the exit code: 128 plus the signal's number.
type Interrupt struct {
	Signal string
	Code   int
	// Order is the stop order from outside that cancels the run; nil if the cause was the
	// signal.
	Order *core.OrderReceived
}

// Error implements error, so that an Interrupt can be the cause of a context's end.
func (i *Interrupt) Error() string {
	if i.Order != nil {
		return "stopped by " + i.Order.Who()
	}
	return "interrupted by " + i.Signal
}

// interrupted returns the event that records why the context ended.
func interrupted(ctx context.Context) core.Data {
	return interruptedBy(context.Cause(ctx))
}

// interruptedBy returns the event for an error: a signal, a key that a person pressed at a
// prompt, or any other cause of a context's end.
func interruptedBy(err error) core.Data {
	i, ok := errors.AsType[*Interrupt](err)
	switch {
	case ok && i.Order != nil:
		return *i.Order
	case ok:
		return core.InterruptReceived{Signal: i.Signal, Code: i.Code}
	case errors.Is(err, core.ErrInterrupted):
		return core.InterruptReceived{Signal: "SIGINT", Code: core.StatusInterrupted.ExitCode()}
	}
	return core.InterruptReceived{Reason: err.Error(), Code: core.StatusInterrupted.ExitCode()}
}
