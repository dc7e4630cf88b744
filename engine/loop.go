package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/protocol/ladder"
)

// heartbeatEvery is how often a run that waits for its command puts its elapsed
// time on record, so that a crash loses no more of it than that.
const heartbeatEvery = 10 * time.Second

// Loop drives a run. Fields are set before [Loop.Run] and not changed after.
type Loop struct {
	Guards  []core.Guard // at least one
	Runner  Runner
	Journal core.Journal // nil: events are kept nowhere, and the state has the last of them
	// Questions turns a trip into a question; nil: trips are not asked about.
	Questions core.Questions
	// Responders are asked in this order. What their answers say of who gave them counts:
	// [core.OfProgram] is for one that reads answers from a wire. Where they say nothing
	// they are a program's.
	Responders []core.Responder
	// Debug is run by the answer debug; nil: the answer is refused.
	Debug Debugger
	// Experts runs those of the ladder; nil: each is unsuccessful.
	Experts Experts
	// Backoff is the time between iterations; the zero value waits for nothing.
	Backoff Backoff
	// WaitDelay is how long a limit that names no moment is waited out at first;
	// zero is 30 seconds. It doubles up to 15 minutes.
	WaitDelay time.Duration
	// OutageLimit is [core.Driver]'s.
	OutageLimit time.Duration
	// Mask takes secrets out of texts before they are on record; nil: there are
	// none.
	Mask func(string) string
	// Once pauses the run before a second iteration: who resumes it goes on.
	Once bool
	// Took is active time that passed before [Loop.Resume] and was not measured: the
	// run counts it as its own.
	Took time.Duration
	// Observe is told of every event; nil: nobody is.
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

// Experts runs an expert's command. The error says why it could not be run.
type Experts interface {
	Expert(context.Context, *core.State, ladder.Expert) (core.ExpertFinished, error)
}

// Debugger runs the debug command, or the command of an option whose action is
// run. An error means that it could not be run.
type Debugger interface {
	Debug(context.Context, *core.State, core.Option, core.Answer) (core.DebugFinished, error)
}

// Start begins a new run. It must be called once before [Loop.Run], unless
// [Loop.Resume] is.
func (l *Loop) Start(d core.RunStarted) error {
	if err := l.check(); err != nil {
		return err
	}
	return l.begin(0, func() error { return l.driver.Start(d) })
}

// begin starts the clock and the run, and stops the clock again where that fails.
func (l *Loop) begin(elapsed time.Duration, start func() error) error {
	if l.ready {
		l.watch.Stop()
	}
	l.watch, l.ready = startStopwatch(elapsed), false
	defer func() {
		if !l.ready { // also where an observer panics
			l.watch.Stop()
		}
	}()
	err := start()
	l.ready = err == nil
	return err
}

// Resume goes on with the run whose events made this state. An iteration that
// looprun died in for the third time is not run again: it is an error.
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
	case slices.Contains(l.Guards, nil):
		return errors.New("one of the guards is nil")
	case slices.Contains(l.Responders, nil):
		return errors.New("one of the responders is nil")
	case l.Runner == nil:
		return errors.New("no Runner: there is nothing to run")
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

// drive makes the driver of what the loop has been given.
func (l *Loop) drive() {
	witness, _ := l.Runner.(core.Witness)
	if r, ok := l.Runner.(Repeater); ok {
		r.Repeats() // from the first moment on
	}
	l.driver = core.Driver{
		Witness: witness,
		State:   &l.state, Record: l.record, Now: time.Now, Guards: l.Guards, Questions: l.Questions,
		Debug: l.Debug != nil, WaitDelay: l.WaitDelay, OutageLimit: l.OutageLimit, Mask: l.Mask,
	}
}

// State is a copy of what is known about the run so far. Any goroutine may call it once
// Start or Resume has returned.
func (l *Loop) State() *core.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Clone()
}

// Elapsed is the run's active time so far; zero before [Loop.Start] or
// [Loop.Resume]. Once one of them has returned it may be called from any
// goroutine.
func (l *Loop) Elapsed() time.Duration {
	if l.watch == nil {
		return 0
	}
	return l.watch.Elapsed()
}

// Run is [Go] and [Handle.Wait].
func (l *Loop) Run(ctx context.Context) (core.Result, error) { return Go(ctx, l).Wait() }

// run takes step after step until the run has ended, and returns the verdict.
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
		if err != nil {
			return l.failed(err)
		}
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
			err = l.ask(ctx, *l.state.Unanswered())
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

// cause is why the run ended, in the words of who caused it.
func (l *Loop) cause(ctx context.Context, r core.Result) error {
	if r.Status == core.StatusInterrupted && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return l.workErr
}

// record writes the event before its effect can be seen, and has it survive a power
// loss where that is for a person to rely on.
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

// noJournal keeps nothing: a run that nobody resumes needs no more than its state.
type noJournal struct{}

func (noJournal) Append(core.Event) error { return nil }
func (noJournal) Sync() error             { return nil }

// survives reports whether the event has to survive a power loss before its effect is
// seen: all do but those that are frequent, or follow from others.
func survives(d core.Data) bool {
	switch d.(type) {
	case core.RunStarted, core.RunResumed, core.IterationStarted, core.IterationFinished, core.GuardTripped, core.RunAlive, core.VerifyFinished,
		core.SignalReceived, core.MessageRefused, core.CostReported, core.QuestionDelivered, core.RejectionSubmitted, core.RejectionInvalid,
		core.RejectionDecided, core.CountersReset, core.AttemptRecorded, core.SubtaskFinished, core.WaitStarted, core.WaitFinished, core.TurnRepeated:
		return false
	}
	return true
}

// BeforeVerify is called by a responder before it runs a command of its own. It
// ends an iteration that stands still while its question is asked, since the
// command needs the files that it has open; the iteration runs again under its
// own number. The clock runs until AfterVerify. Both are for the responder that
// is being asked.
func (l *Loop) BeforeVerify() {
	if l.end != nil {
		l.end()
	}
	l.watch.Continue()
}

// AfterVerify puts the end of that command on record.
func (l *Loop) AfterVerify(d core.VerifyFinished) error {
	record := func() error { return l.record(d) }
	err := l.await(context.Background(), &post{do: record, done: make(chan error, 1), urgent: true})
	l.watch.Pause()
	return err
}

// failed ends the run on looprun's own failure. The journal may be the thing
// that failed, so what cannot be written any more is only returned.
func (l *Loop) failed(err error) (core.Result, error) {
	r := l.state.Result()
	r.Cause = err
	r.Ending = core.Ending{Status: core.StatusFailed, ExitCode: core.ExitFailed, Reason: err.Error()}
	_ = l.record(core.RunFinished{Ending: r.Ending}) // refused where the run has not begun, or has ended
	return r, err
}

// Interrupt is the cause with which a context is cancelled when looprun itself
// is told to stop. Code is the exit code: 128 and the signal's number.
type Interrupt struct {
	Signal string
	Code   int
	// Order is the stop that somebody outside asked for, which cancels the run; nil: it was
	// the signal.
	Order *core.OrderReceived
}

// Error makes an Interrupt usable as a cause.
func (i *Interrupt) Error() string {
	if i.Order != nil {
		return "stopped by " + i.Order.Who()
	}
	return "interrupted by " + i.Signal
}

// interrupted says why the context ended.
func interrupted(ctx context.Context) core.Data {
	return interruptedBy(context.Cause(ctx))
}

// interruptedBy says what the error is about: a signal, what a person pressed at a prompt,
// or whatever else ended a context.
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
