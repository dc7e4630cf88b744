package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Status is how a run stands or ended.
type Status string

// The statuses. Running, awaiting an answer and crashed are never in the
// journal: they are what a reader sees of a run that has not ended.
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
)

// Statuses returns those that a run can end with.
func Statuses() []Status {
	return []Status{
		StatusDone, StatusAccepted, StatusCancelled, StatusPaused,
		StatusRejected, StatusTripped, StatusFailed, StatusInterrupted,
	}
}

// MayExitZero reports whether a run with this status may be given the exit code 0: the judge
// passed the work, or somebody accepted it as it is.
func (s Status) MayExitZero() bool { return s == StatusDone || s == StatusAccepted }

// ExitFailed is the exit code when looprun itself failed.
const ExitFailed = 125

const exitInterrupted = 130

// The exit codes by which shells say that a command cannot be run.
const (
	ExitNotExecutable = 126
	ExitNotFound      = 127
)

// ExitCode is the code of a status. Tripped runs have their guard's and
// interrupted ones their signal's; here they get the general one.
func (s Status) ExitCode() int {
	switch s {
	case StatusDone:
		return 0
	case StatusAccepted:
		return 100
	case StatusCancelled:
		return 101
	case StatusPaused:
		return 102
	case StatusRejected:
		return 103
	case StatusTripped:
		return 115
	case StatusInterrupted:
		return exitInterrupted
	}
	return ExitFailed
}

// Resumable reports whether a run that ended so can go on.
func (s Status) Resumable() bool {
	switch s {
	case StatusDone, StatusAccepted, StatusCancelled, StatusRejected:
		return false
	}
	return true
}

// Reopens reports whether a run that somebody ended so can be taken up again, when a
// person says so ([RunResumed.Reopen]).
func (s Status) Reopens() bool { return s == StatusCancelled || s == StatusAccepted }

// ExitCode is the code of a run that this guard stopped and nobody answered for.
func (id GuardID) ExitCode() int { return cmp.Or(id.Spec().ExitCode, StatusTripped.ExitCode()) }

// Result is the verdict on a run.
type Result struct {
	RunID string `json:"run_id"`
	Ending
	Iterations int `json:"iterations"`
	// Runtime is active time; RuntimeSeconds is the same, to the millisecond.
	Runtime        time.Duration `json:"-"`
	RuntimeSeconds float64       `json:"runtime_seconds"`
	Signature      string        `json:"signature"`
	// Says is what the last iteration came to, in words for a person; empty where it
	// passed.
	Says    string  `json:"says,omitempty"`
	Trips   int     `json:"trips"`
	CostUSD float64 `json:"cost_usd"`
	Tokens  int64   `json:"tokens"`
	// Progress is what the last iteration's output said of its checks; nil: nothing.
	Progress *Progress `json:"progress,omitempty"`
	// Subtasks is how far a task is that was taken apart; nil: none was.
	Subtasks *Subtasks `json:"subtasks,omitempty"`
	// Pending says that a question waits for its answer.
	Pending bool `json:"pending,omitempty"`
	// Warnings are what somebody should know of the run though its status is as it
	// is; nil: nothing.
	Warnings []string `json:"warnings,omitempty"`

	// Cause is why the run ended, as an error, for [Result.Err]; nil: none is known.
	Cause error `json:"-"`
}

// Err is nil for a run that is done or accepted, and a [*Stopped] for all others.
func (r Result) Err() error {
	if r.Status == StatusDone || r.Status == StatusAccepted {
		return nil
	}
	return &Stopped{Result: r, Cause: r.Cause}
}

// Stopped is a run that ended otherwise than well, as an error. Its cause is that of the
// context where that ended, else the error of the last iteration's work or check, where
// it is an engine.Func: [errors.Is] finds both.
type Stopped struct {
	Result Result
	Cause  error // nil: none is known
}

// Error says how the run ended, and why.
func (s *Stopped) Error() string {
	if s.Result.Status == "" {
		return "the run did not start"
	}
	text := "the run ended as " + string(s.Result.Status)
	if s.Result.Guard != "" {
		text += " (" + string(s.Result.Guard) + ")"
	}
	if why := s.Result.Reason; why != "" {
		text += ": " + why
	}
	if s.Cause != nil && s.Result.Status == StatusTripped { // for others it is the reason
		text += ": " + s.Cause.Error()
	}
	return text
}

// Unwrap is the cause.
func (s *Stopped) Unwrap() error { return s.Cause }

// Result is the verdict as far as the state knows it.
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

// seconds is a duration in seconds, to the millisecond. The division keeps it
// short in JSON: [time.Duration.Seconds] gives 1.2349999999999999 for 1.235 s.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

// ErrNoGuards is returned by looprun.Run and engine.Loop.Run when nothing could ever stop
// the loop: no guards were given, or a limit is neither stated nor [Off].
var ErrNoGuards = errors.New("no guards")

// ErrNoAnswer is returned by a [Responder] that has no answer to a question.
// The next responder is asked; when none is left the run ends with the guard's
// exit code.
var ErrNoAnswer = errors.New("no answer")

// ErrAdvised is in the error of engine.Loop.Ask when nobody answered a question that an
// assistant recommended rejecting: no default of the asker's may let it through. It
// is an [ErrNoAnswer].
var ErrAdvised = errors.New("an assistant recommended rejecting it")

// ErrDeferred is returned by a [Responder] that keeps the question for later.
// The run pauses with the question pending.
var ErrDeferred = errors.New("question deferred")

// ErrInterrupted is returned by a [Responder] when a person interrupted the
// prompt. The run ends as interrupted and its question is kept. An engine.Interrupt beside
// it says by which signal; without one it is SIGINT.
var ErrInterrupted = errors.New("interrupted")

// ErrEvent is returned by [State.Apply] for an event that cannot happen in
// that state. The state is left as it was.
var ErrEvent = errors.New("event out of order")

// Refusal is an [ErrEvent] that says in words why the event cannot happen.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return ErrEvent.Error() + ": " + r.Why }

// Unwrap returns [ErrEvent].
func (r *Refusal) Unwrap() error { return ErrEvent }

func refusal(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// ErrUnknownEvent is returned when an event of an unknown type is decoded: the
// journal was written by a newer looprun.
var ErrUnknownEvent = errors.New("unknown event type")

// ErrAnswered is in the error of an answer that came second.
var ErrAnswered = errors.New("the question was answered already")

// ErrEnded is returned to who speaks to a loop that has ended.
var ErrEnded = errors.New("the run has ended")

// ErrUnknownFormat is returned when the first event of a journal names a format that this
// program does not read: a newer looprun wrote it.
var ErrUnknownFormat = errors.New("unknown format")
