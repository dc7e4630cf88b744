package looprun

import (
	"context"
	"iter"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
)

// The inputs and outputs of a run. These are the names from packages core and engine that most
// programs need; the rest, such as the events of a journal and the parts of a [State], is
// there.
type (
	// Limits sets when the guards trip; see [core.Limits]. The first four must be set, or be
	// [Off]; the others but Weakened are off when zero.
	//
	//	Iterations      int           // iterations that may be run
	//	Runtime         time.Duration // active time: questions and pauses do not count
	//	Loop            int           // the same signature, or a cycle, so many times (2 or more)
	//	Errors          int           // iterations in a row that ended as an error
	//	Cost            float64       // reported cost in USD
	//	Tokens          int64         // reported tokens
	//	IdleIterations  int           // in a row that leave signature and work tree as they were
	//	WorkspaceCycles int           // returns of the work tree to an earlier state
	//	TurnLoop        int           // the same calls, or text, of an agent within one turn (2 or more)
	//	Weakened        Weakening     // what a judge that passed does if it checked less than before
	Limits = core.Limits
	// Caps limit how much answers can add to the limits; see [core.Caps].
	//
	//	Iterations int
	//	Runtime    time.Duration
	//	Cost       float64
	//	Tokens     int64
	Caps = core.Caps
	// Guard watches the state of a run and trips when it has gone on for too long; see
	// [core.Guard].
	Guard = core.Guard
	// GuardID names a guard, in questions, policies, results and the journal.
	GuardID = core.GuardID
	// Trip is the result of a guard that stops the run; see [core.Trip].
	//
	//	Guard     GuardID // empty in what a guard returns: its ID
	//	Iteration int
	//	Also      []GuardID
	//	Reason    string
	//	Window    int
	//	Period    int
	//	Repeats   int
	//	Confirmed Confirmation
	//	Known     bool
	//	During    bool
	//	Mandatory bool
	//	Output    string
	//	QuietMS   int64
	Trip = core.Trip
	// State is everything known about a run; see [core.State].
	State = core.State
	// Iteration describes to a step the iteration that it runs in; see [core.Iteration].
	//
	//	Number    int
	//	Limit     int
	//	First     bool
	//	Guidance  string
	//	Last      *IterationFinished
	//	Answers   []Asked
	//	Task      string
	//	Subtasks  *Subtasks
	//	Tasks     []string
	//	TurnLoop  int
	//	Session   string
	//	Escalated bool
	//	MayTrip   bool
	//	Judging   bool
	Iteration = core.Iteration
	// IterationResult is how an iteration ended; see [core.IterationResult].
	//
	//	IterationFinished
	//	Said              []Data
	//	Printed           signature.Signature
	//	Err               error
	IterationResult = core.IterationResult
	// CostReported is the work's cost since the last report; see [core.CostReported].
	//
	//	USD    float64
	//	Tokens int64
	//	Via    string // socket, text or output
	CostReported = core.CostReported
	// Backoff is the delay between two iterations; see [engine.Backoff].
	//
	//	Initial     time.Duration
	//	Base        time.Duration
	//	Exponential bool
	//	Max         time.Duration // 0: engine.MaxDelay, or Base where that is longer
	Backoff = engine.Backoff
	// Result is the outcome of a run; see [core.Result].
	//
	//	RunID          string
	//	Ending
	//	Iterations     int
	//	Runtime        time.Duration
	//	RuntimeSeconds float64
	//	Signature      string
	//	Says           string
	//	Trips          int
	//	CostUSD        float64
	//	Tokens         int64
	//	Progress       *Progress
	//	Subtasks       *Subtasks
	//	Pending        bool
	//	Warnings       []string
	//	Cause          error
	Result = core.Result
	// Status is the status of a run, or how it ended.
	Status = core.Status
	// Stopped is the error for a run that ended any other way than done or accepted; see
	// [core.Stopped].
	Stopped = core.Stopped
	// Handle is a run in progress, to inspect with Snapshot, Questions and NextQuestion, to
	// answer, to stop, and to wait for; see [engine.Handle].
	Handle = engine.Handle
	// Panic is a panic from a part of a run; see [engine.Panic].
	Panic = engine.Panic
)

// Questions to ask when a guard trips, and who answers them.
type (
	// Question is a question for the responders; see [core.Question].
	//
	//	ID          string
	//	Guard       GuardID
	//	Kind        Kind
	//	Header      string
	//	Short       string
	//	Text        string
	//	Details     []string
	//	Evidence    *Evidence
	//	Options     []Option
	//	Default     string
	//	Never       []Action
	//	Exclusive   bool
	//	Mandatory   bool
	//	From        string
	//	AskID       string
	//	Path        []string
	//	Returned    bool
	//	To          string
	//	Multi       bool
	//	AllowText   bool
	//	AllowCancel bool
	//	Open        bool
	//	Again       bool
	//	Advice      *Advice
	//	CI          CI
	//	Given       []Given
	Question = core.Question
	// Option is one answer that a question allows; see [core.Option].
	//
	//	ID          string
	//	Label       string
	//	Description string
	//	Action      Action
	//	Key         string
	//	Extend      Extend
	//	Guidance    string
	//	Command     string
	//	Restore     int
	//	Shell       bool
	Option = core.Option
	// Answer is an answer to a question; see [core.Answer].
	//
	//	Option    string
	//	Options   []string
	//	Text      *string
	//	Cancelled bool
	//	Responder string
	//	Reason    string
	//	Escalate  int
	//	Rule      string
	//	Assistant Assistant
	//	Notify    bool
	//	Guidance  string
	//	OwnWords  bool
	//	Person    bool
	//	Via       string
	//	Mandatory bool
	//	Unlisted  bool
	Answer = core.Answer
	// Responder answers questions; see [core.Responder].
	Responder = core.Responder
	// ResponderFunc is a function that acts as a [Responder].
	ResponderFunc = core.ResponderFunc
)

// The records kept about a run.
type (
	// Event is something that happened to a run; see [core.Event].
	//
	//	Seq     int64     // from 1, without gaps
	//	Time    time.Time // wall clock, for people; nothing is computed from it
	//	Elapsed time.Duration
	//	Data    Data
	Event = core.Event
	// Observer receives every event once it is in the journal; see [engine.Observer].
	Observer = engine.Observer
	// Journal keeps the events of a run; see [core.Journal].
	Journal = core.Journal
	// MemoryJournal keeps all events in memory; see [core.MemoryJournal].
	MemoryJournal = core.MemoryJournal
)

// Replay returns the state that results from the events of a journal; see [core.Replay].
func Replay(events iter.Seq2[Event, error]) (*State, error) { return core.Replay(events) }

// The steps that a run executes.
type (
	// Step is one half of an iteration: the work, or the check that judges it; see
	// [engine.Step].
	Step = engine.Step
	// Invocation is the input with which a [Step] runs; see [engine.Invocation].
	//
	//	Iteration      core.Iteration
	//	Dir            string
	//	Env            []string // the whole environment; nil is the caller's
	//	Stdin          *os.File // nil: nothing to read
	//	Stdout, Stderr func([]byte)
	//	PTY            bool     // output through a pseudo terminal, merged to Stdout
	//	Interactive    bool     // the step talks to the person at the terminal
	//	Timeout        time.Duration
	//	IdleTimeout    time.Duration
	//	KillAfter      time.Duration
	//	KeepBackground bool
	//	Ending         func()
	//	Started        func(Stopper)
	Invocation = engine.Invocation
	// Exit describes how a step ended; see [engine.Exit].
	//
	//	Code      int
	//	Signal    syscall.Signal // zero: no signal killed it
	//	Cause     core.Cause     // why it ended, when not by itself
	//	Detail    string         // the cause in words
	//	Failure   string
	//	Turn      Turn
	//	Warnings  []string
	//	Tasks     *core.TaskChanges
	//	OpenTasks bool
	//	Err       error
	//	Fatal     bool
	Exit = engine.Exit
)

// Argv returns a step that runs a command with its arguments; no shell is involved.
func Argv(argv ...string) Step { return engine.Argv(argv...) }

// Shell returns a step that runs a line under sh -c.
func Shell(line string) Step { return engine.Shell(line) }

// Func returns a step that calls a function. A nil error is exit 0; any other is exit 1 with
// the error as output. The function must return soon after ctx ends; [Fatal] ends the run. It
// cannot be suspended, and continues while a question is asked. Output from its goroutines
// after it has returned is dropped.
func Func(f func(context.Context, Invocation) error) Step { return engine.Func(f) }

// Fatal wraps an error so that a [Func] that returns it ends the run as failed, without a
// retry. Result.Err wraps err.
func Fatal(err error) error { return engine.Fatal(err) }

// Guardian reports whether this process was started to guard a command. If so, it has guarded
// it by the time it returns, and returns the code to exit with. A program whose steps are
// commands ([Argv], [Shell]) calls it before anything else:
//
//	if code, ok := looprun.Guardian(); ok {
//		os.Exit(code)
//	}
//
// From then on the loop starts the program a second time, between itself and the command, and
// nothing that an iteration starts outlives it, not even if the program is killed. Without
// this call process groups are used, and a process that leaves its group survives. A guardian
// without a command waits for the next one, and ends with the program. Only Linux has
// guardians; elsewhere Guardian returns false. A program whose steps are functions does not
// need it.
func Guardian() (code int, ok bool) { return engine.Guardian() }

// Off turns a limit off. The zero value never does: a forgotten limit must not mean “no
// limit”.
const Off = core.Off

// DefaultLimits returns the defaults of the command line: 10 iterations, 15 minutes, the same
// signature 3 times, 3 errors in a row.
func DefaultLimits() Limits { return core.DefaultLimits() }

// The status of a run, or how it ended. [core.Status.Resumable] reports whether it can be
// resumed.
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
	StatusSuperseded  = core.StatusSuperseded
)

// How an iteration ended.
const (
	OutcomeDone        = core.OutcomeDone
	OutcomeNotDone     = core.OutcomeNotDone
	OutcomeError       = core.OutcomeError
	OutcomeInterrupted = core.OutcomeInterrupted
	OutcomeWaiting     = core.OutcomeWaiting
)

// The built-in guards, in the order in which they ask.
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

// Errors from [Run], [Handle.Answer] and a [Responder].
var (
	// ErrNoGuards means that nothing could ever stop the loop.
	ErrNoGuards = core.ErrNoGuards
	// ErrNoAnswer means that the responder has no answer; the next one is asked.
	ErrNoAnswer = core.ErrNoAnswer
	// ErrDeferred means that the responder keeps the question for later, and the run pauses.
	ErrDeferred = core.ErrDeferred
	// ErrAnswered means that another answer came first.
	ErrAnswered = core.ErrAnswered
	// ErrEnded means that the run has ended.
	ErrEnded = core.ErrEnded
)
