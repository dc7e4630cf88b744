package looprun

import (
	"context"
	"iter"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
)

// What a run is told and what it tells. These are the names of packages core and engine that
// most programs need; the rest, such as the events of a journal and the parts of a [State],
// is there.
type (
	// Limits say when the guards trip; see [core.Limits].
	Limits = core.Limits
	// Caps bound what answers can add to the limits; see [core.Caps].
	Caps = core.Caps
	// Guard watches the state of a run and trips when it has gone on for too long; see
	// [core.Guard].
	Guard = core.Guard
	// GuardID names a guard, in questions, policies, results and the journal.
	GuardID = core.GuardID
	// Trip is what a guard says when it stops the run; see [core.Trip].
	Trip = core.Trip
	// State is all that is known about a run; see [core.State].
	State = core.State
	// Iteration is what a step is told about the iteration that it runs in; see
	// [core.Iteration].
	Iteration = core.Iteration
	// IterationResult is how an iteration ended; see [core.IterationResult].
	IterationResult = core.IterationResult
	// CostReported is what the work has cost since it was last said; see [core.CostReported].
	CostReported = core.CostReported
	// Backoff is the time between two iterations; see [engine.Backoff].
	Backoff = engine.Backoff
	// Result is the verdict on a run; see [core.Result].
	Result = core.Result
	// Status is how a run stands or ended.
	Status = core.Status
	// Stopped is a run that ended otherwise than well, as an error; see [core.Stopped].
	Stopped = core.Stopped
	// Handle is a run that goes on, to look at with Snapshot, Questions and NextQuestion, to
	// answer and to stop, and to wait for; see [engine.Handle].
	Handle = engine.Handle
	// Panic is a panic of a part of a run; see [engine.Panic].
	Panic = engine.Panic
)

// Who is asked when a guard trips, and what.
type (
	// Question is what is asked; see [core.Question].
	Question = core.Question
	// Option is one answer that a question allows; see [core.Option].
	Option = core.Option
	// Answer is an answer to a question; see [core.Answer].
	Answer = core.Answer
	// Responder answers questions; see [core.Responder].
	Responder = core.Responder
	// ResponderFunc is a function that answers them.
	ResponderFunc = core.ResponderFunc
)

// What is kept of a run.
type (
	// Event is something that happened to a run; see [core.Event].
	Event = core.Event
	// Observer is told of every event once it is in the journal; see [engine.Observer].
	Observer = engine.Observer
	// Journal keeps the events of a run; see [core.Journal].
	Journal = core.Journal
	// MemoryJournal keeps them in memory; see [core.MemoryJournal].
	MemoryJournal = core.MemoryJournal
)

// Replay is the state that the events of a journal make; see [core.Replay].
func Replay(events iter.Seq2[Event, error]) (*State, error) { return core.Replay(events) }

// What runs.
type (
	// Step is one half of an iteration: the work, or the check that judges it; see
	// [engine.Step].
	Step = engine.Step
	// Invocation is what a [Step] runs with; see [engine.Invocation].
	Invocation = engine.Invocation
	// Exit says how a step ended; see [engine.Exit].
	Exit = engine.Exit
)

// Argv is a step that runs a command with its arguments; no shell is involved.
func Argv(argv ...string) Step { return engine.Argv(argv...) }

// Shell is a step that runs a line under sh -c.
func Shell(line string) Step { return engine.Shell(line) }

// Func is a step that calls a function. A nil error is exit 0, any other is
// exit 1 with the error as output. The function has to return soon after ctx
// ends; [Fatal] ends the run. It cannot be suspended, and goes on while somebody is asked. What its
// goroutines print after that is dropped.
func Func(f func(context.Context, Invocation) error) Step { return engine.Func(f) }

// Fatal is the error as one with which a [Func] ends the run: it ends as failed, and is
// not tried again. Result.Err finds err.
func Fatal(err error) error { return engine.Fatal(err) }

// Guardian reports whether this process was started to guard a command, has
// guarded it then, and returns the code to exit with. A program whose steps are
// commands ([Argv], [Shell]) calls it before anything else:
//
//	if code, ok := looprun.Guardian(); ok {
//		os.Exit(code)
//	}
//
// From then on the loop starts the program a second time, between itself and the
// command, and nothing that an iteration starts outlives it, not even when the
// program is killed. Without the call process groups are used, and a process that
// leaves its group survives. A guardian without a command waits for the next one,
// and ends with the program. Only Linux has guardians; elsewhere it returns false.
// A program whose steps are functions has no use for it.
func Guardian() (code int, ok bool) { return engine.Guardian() }

// Off turns a limit off. The zero value never does: a limit nobody thought of
// must not read as “no limit”.
const Off = core.Off

// DefaultLimits are those of the command line: 10 iterations, 15 minutes, the
// same signature 3 times, 3 errors in a row.
func DefaultLimits() Limits { return core.DefaultLimits() }

// How a run stands or ended. [core.Status.Resumable] says whether it can go on.
const (
	StatusRunning     = core.StatusRunning
	StatusAwaiting    = core.StatusAwaiting
	StatusCrashed     = core.StatusCrashed
	StatusDone        = core.StatusDone
	StatusAccepted    = core.StatusAccepted
	StatusCancelled   = core.StatusCancelled
	StatusPaused      = core.StatusPaused
	StatusRejected    = core.StatusRejected
	StatusTripped     = core.StatusTripped
	StatusFailed      = core.StatusFailed
	StatusInterrupted = core.StatusInterrupted
)

// How an iteration ended.
const (
	OutcomeDone        = core.OutcomeDone
	OutcomeNotDone     = core.OutcomeNotDone
	OutcomeError       = core.OutcomeError
	OutcomeInterrupted = core.OutcomeInterrupted
	OutcomeWaiting     = core.OutcomeWaiting
)

// The guards that looprun brings along, in the order in which they ask.
const (
	MaxIterations     = core.MaxIterations
	MaxRuntime        = core.MaxRuntime
	LoopDetected      = core.LoopDetected
	ConsecutiveErrors = core.ConsecutiveErrors
	MaxCost           = core.MaxCost
	MaxTokens         = core.MaxTokens
	NoProgress        = core.NoProgress
	WorkspaceCycle    = core.WorkspaceCycle
	TurnLoop          = core.TurnLoop
	Weakened          = core.Weakened
)

// What [Run], [Handle.Answer] and a [Responder] say when there is nothing more to say.
var (
	// ErrNoGuards: nothing could ever stop the loop.
	ErrNoGuards = core.ErrNoGuards
	// ErrNoAnswer: the responder has no answer; the next is asked.
	ErrNoAnswer = core.ErrNoAnswer
	// ErrDeferred: the responder keeps the question for later, and the run pauses.
	ErrDeferred = core.ErrDeferred
	// ErrAnswered: another answer came first.
	ErrAnswered = core.ErrAnswered
	// ErrEnded: the run has ended.
	ErrEnded = core.ErrEnded
)
