package looprun

import (
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

// ExitFailed is the exit code when looprun itself failed.
const ExitFailed = 125

const exitInterrupted = 130

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
func (id GuardID) ExitCode() int {
	switch id {
	case MaxIterations:
		return 110
	case LoopDetected:
		return 111
	case ConsecutiveErrors:
		return 112
	case MaxCost, MaxTokens:
		return 113
	case NoProgress, WorkspaceCycle:
		return 114
	case MaxRuntime:
		return 124
	}
	return StatusTripped.ExitCode()
}

// Result is the verdict on a run.
type Result struct {
	RunID string `json:"run_id"`
	Ending
	Iterations int `json:"iterations"`
	// Runtime is active time; RuntimeSeconds is the same, to the millisecond.
	Runtime        time.Duration `json:"-"`
	RuntimeSeconds float64       `json:"runtime_seconds"`
	Signature      string        `json:"signature"`
	Trips          int           `json:"trips"`
	CostUSD        float64       `json:"cost_usd"`
	Tokens         int64         `json:"tokens"`
	// Subtasks is how far a task is that was taken apart; nil: none was.
	Subtasks *Subtasks `json:"subtasks,omitempty"`
	// Pending says that a question waits for its answer.
	Pending bool `json:"pending,omitempty"`
	// Warnings are what somebody should know of the run though its status is as it
	// is; nil: nothing.
	Warnings []string `json:"warnings,omitempty"`
}

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
		r.Signature = s.Last.Signature.Label
	}
	return r
}

// seconds is a duration in seconds, to the millisecond. The division keeps it
// short in JSON: [time.Duration.Seconds] gives 1.2349999999999999 for 1.235 s.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}
