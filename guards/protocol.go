package guards

import (
	"fmt"

	"github.com/looprun/looprun/core"
)

// Rejection trips when the command has rejected its task with a valid reason.
type Rejection struct{}

// ID returns rejection.
func (Rejection) ID() core.GuardID { return core.Rejection }

// Check trips as long as the rejection waits for its decision.
func (Rejection) Check(s *core.State) *core.Trip {
	if s.Rejected == nil {
		return nil
	}
	r := s.Rejected.Rejection
	return &core.Trip{
		Guard: core.Rejection, Iteration: s.Iterations,
		Reason: fmt.Sprintf("the task was rejected (%s): %s", r.ReasonType, r.Headline()),
	}
}

// Blocked trips when the command has reported that it cannot continue.
type Blocked struct{}

// ID returns blocked.
func (Blocked) ID() core.GuardID { return core.Blocked }

// Check trips as long as the signal waits for its answer.
func (Blocked) Check(s *core.State) *core.Trip { return signalled(s, core.Blocked, "blocked") }

// Clarification trips when the command has reported that it cannot understand its task. A
// person must answer.
type Clarification struct{}

// ID returns clarification.
func (Clarification) ID() core.GuardID { return core.Clarification }

// Check trips as long as the signal waits for its answer.
func (Clarification) Check(s *core.State) *core.Trip {
	t := signalled(s, core.Clarification, "clarify")
	if t != nil {
		t.Mandatory = t.Guard.Mandatory()
	}
	return t
}

func signalled(s *core.State, id core.GuardID, name string) *core.Trip {
	if s.Signal == nil || string(s.Signal.Name) != name {
		return nil
	}
	reason := "the command signalled " + name
	for _, text := range []string{s.Signal.Question, s.Signal.Text} {
		if text != "" {
			reason += ": " + text
			break
		}
	}
	return &core.Trip{Guard: id, Iteration: s.Iterations, Reason: reason}
}

// Ladder trips when the escalation ladder is exhausted: a person must decide before the next
// attempt.
type Ladder struct{}

// ID returns ladder_exhausted.
func (Ladder) ID() core.GuardID { return core.LadderExhausted }

// Check trips as long as the decision is due.
func (Ladder) Check(s *core.State) *core.Trip {
	reason := s.MandatoryReason()
	if reason == "" {
		return nil
	}
	return &core.Trip{Guard: core.LadderExhausted, Iteration: s.Iterations, Reason: reason, Mandatory: core.LadderExhausted.Mandatory()}
}
