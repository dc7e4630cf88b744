package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Status is the status of a run, or how it ended.
type Status string

// The statuses. Running, awaiting an answer and crashed never appear in the journal: a reader
// derives them for a run that has not ended. A run is superseded while it rests ([RunSuperseded]).
const (
	StatusRunning     Status = "running"
	StatusAwaiting    Status = "awaiting_answer"
	StatusCrashed     Status = "crashed"
	StatusDone        Status = "done"
	StatusAccepted    Status = "accepted"
	StatusCancelled   Status = "cancelled"
	StatusPaused      Status = "paused"
	StatusRejected    Status = "rejected"
	StatusTripped     Status = "tripped"
	StatusFailed      Status = "failed"
	StatusInterrupted Status = "interrupted"
	StatusSuperseded  Status = "superseded"
)

// Statuses returns the statuses with which an active run can end.
func Statuses() []Status {
	return []Status{
		StatusDone, StatusAccepted, StatusCancelled, StatusPaused,
		StatusRejected, StatusTripped, StatusFailed, StatusInterrupted,
	}
}

// MayExitZero reports whether a run with this status may exit with code 0: the judge passed
// the work, or somebody accepted it as it is.
func (s Status) MayExitZero() bool { return s == StatusDone || s == StatusAccepted }

// ExitFailed is the exit code for a failure of looprun itself.
const ExitFailed = 125

const exitInterrupted = 130

// The exit codes with which shells report that a command cannot be run.
const (
	ExitNotExecutable = 126
	ExitNotFound      = 127
)

// ExitCode returns the exit code for a status. A tripped run exits with its guard's code and
// an interrupted one with its signal's; this method returns the general code for them.
func (s Status) ExitCode() int {
	codes := map[Status]int{
		StatusDone: 0, StatusAccepted: 100, StatusCancelled: 101, StatusSuperseded: 101,
		StatusPaused: 102, StatusRejected: 103, StatusTripped: 115, StatusInterrupted: exitInterrupted,
	}
	if code, ok := codes[s]; ok {
		return code
	}
	return ExitFailed
}

// Resumable reports whether a run with this final status can be resumed.
func (s Status) Resumable() bool {
	return !slices.Contains([]Status{StatusDone, StatusAccepted, StatusCancelled, StatusRejected, StatusSuperseded}, s)
}

// Reopens reports whether a run with this final status can be reopened if a person asks for it
// ([RunResumed.Reopen]).
func (s Status) Reopens() bool {
	return s == StatusCancelled || s == StatusAccepted || s == StatusSuperseded
}

// ExitCode returns the exit code of a run that this guard stopped without an answer.
func (id GuardID) ExitCode() int { return cmp.Or(id.Spec().ExitCode, StatusTripped.ExitCode()) }

// Result is the outcome of a run.
type Result struct {
	RunID string `json:"run_id"`
	Ending
	Iterations int `json:"iterations"`
	// Runtime is the active time; RuntimeSeconds is the same in seconds, rounded to the
	// millisecond.
	Runtime        time.Duration `json:"-"`
	RuntimeSeconds float64       `json:"runtime_seconds"`
	Signature      string        `json:"signature"`
	// Says is the last iteration's failure in words; empty if it passed.
	Says    string  `json:"says,omitempty"`
	Trips   int     `json:"trips"`
	CostUSD float64 `json:"cost_usd"`
	Tokens  int64   `json:"tokens"`
	// Progress is what the last iteration's output reports about its checks; nil if nothing.
	Progress *Progress `json:"progress,omitempty"`
	// Subtasks is the progress through a split task; nil if the task was not split.
	Subtasks *Subtasks `json:"subtasks,omitempty"`
	// Pending reports whether a question waits for an answer.
	Pending bool `json:"pending,omitempty"`
	// Warnings are sentences about the run that a person should read although they do not
	// change its status; nil if there are none.
	Warnings []string `json:"warnings,omitempty"`

	// Cause is the error that ended the run, for [Result.Err]; nil if unknown.
	Cause error `json:"-"`
}

// Err returns nil for a run that is done or accepted, and a [*Stopped] for any other.
func (r Result) Err() error {
	if r.Status.MayExitZero() {
		return nil
	}
	return &Stopped{Result: r, Cause: r.Cause}
}

// Stopped is the error for a run that ended any other way than done or accepted. It wraps the
// cause of the context if the context ended, or else the error of the last iteration's work or
// check if that is an engine.Func; [errors.Is] finds both.
type Stopped struct {
	Result Result
	Cause  error // nil: none is known
}

// Error describes how the run ended, and why.
func (s *Stopped) Error() string {
	if s.Result.Status == "" {
		return "the run did not start"
	}
	text := "the run ended as " + s.Result.String()
	if why := s.Result.Reason; why != "" {
		text += ": " + why
	}
	if s.Cause != nil && s.Result.Status == StatusTripped { // for others it is the reason
		text += ": " + s.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (s *Stopped) Unwrap() error { return s.Cause }

// Result returns the outcome as far as the state contains it.
func (s *State) Result() Result {
	r := Result{
		RunID: s.RunID, Iterations: s.Iterations, Trips: s.Trips,
		Runtime: s.Elapsed, RuntimeSeconds: seconds(s.Elapsed),
		Pending: len(s.Pending()) > 0 || s.Question != nil,
		CostUSD: s.Cost, Tokens: s.Tokens, Subtasks: s.Decomposed(), Warnings: slices.Clone(s.Warnings),
		Ending: Ending{Status: StatusRunning},
	}
	if s.Ending != nil {
		r.Ending = *s.Ending
	}
	if s.Last != nil {
		r.Progress = s.Last.Progress()
		r.Signature, r.Says = s.Last.Signature.Label, s.Last.Says()
	}
	return r
}

// seconds returns a duration in seconds, rounded to the millisecond. The division keeps it
// short in JSON: [time.Duration.Seconds] gives 1.2349999999999999 for 1.235 s.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

// ErrNoGuards is returned by looprun.Run and engine.Loop.Run if nothing could ever stop the
// loop: no guards were given, or a limit is neither set nor [Off].
var ErrNoGuards = errors.New("no guards")

// ErrNoAnswer is returned by a [Responder] that has no answer to a question. The next
// responder is asked; if there is none left, the run ends with the guard's exit code.
var ErrNoAnswer = errors.New("no answer")

// ErrAdvised is wrapped by the error of engine.Loop.Ask if nobody answered a question that an
// assistant recommended rejecting: the asker must not let it through by a default of its own.
// It is also an [ErrNoAnswer].
var ErrAdvised = errors.New("an assistant recommended rejecting it")

// ErrDeferred is returned by a [Responder] to keep the question for later. The run pauses with
// the question pending.
var ErrDeferred = errors.New("question deferred")

// ErrInterrupted is returned by a [Responder] when a person interrupted the prompt. The run
// ends as interrupted and its question is kept. An engine.Interrupt in the same error names
// the signal; without one it is SIGINT.
var ErrInterrupted = errors.New("interrupted")

// ErrEvent is returned by [State.Apply] for an event that cannot happen in the current state.
// The state is left unchanged.
var ErrEvent = errors.New("event out of order")

// Refusal is an [ErrEvent] with the reason why the event cannot happen.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return ErrEvent.Error() + ": " + r.Why }

// Unwrap returns [ErrEvent].
func (r *Refusal) Unwrap() error { return ErrEvent }

func refusal(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// ErrUnknownEvent is returned when an event of an unknown type is decoded: a newer looprun
// wrote the journal.
var ErrUnknownEvent = errors.New("unknown event type")

// ErrAnswered is wrapped by the error for an answer that came second.
var ErrAnswered = errors.New("the question was answered already")

// ErrEnded is returned to callers of a loop that has ended.
var ErrEnded = errors.New("the run has ended")

// ErrUnknownFormat is returned if the first event of a journal has a format that this program
// cannot read: a newer looprun wrote it.
var ErrUnknownFormat = errors.New("unknown format")
