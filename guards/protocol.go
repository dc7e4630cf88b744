package guards

import (
	"fmt"

	"github.com/looprun/looprun"
)

// Rejection trips when the command has rejected its task with a valid reason.
type Rejection struct{}

// ID is rejection.
func (Rejection) ID() looprun.GuardID { return looprun.Rejection }

// Check trips as long as the rejection waits for its decision.
func (Rejection) Check(s *looprun.State) *looprun.Trip {
	if s.Rejected == nil {
		return nil
	}
	r := s.Rejected.Rejection
	return &looprun.Trip{
		Guard: looprun.Rejection, Iteration: s.Iterations,
		Reason: fmt.Sprintf("the task was rejected (%s): %s", r.ReasonType, r.Headline()),
	}
}

// Blocked trips when the command has said that it cannot go on.
type Blocked struct{}

// ID is blocked.
func (Blocked) ID() looprun.GuardID { return looprun.Blocked }

// Check trips as long as the signal waits for its answer.
func (Blocked) Check(s *looprun.State) *looprun.Trip { return signalled(s, looprun.Blocked, "blocked") }

// Clarification trips when the command has said that it cannot understand its
// task. A person has to answer.
type Clarification struct{}

// ID is clarification.
func (Clarification) ID() looprun.GuardID { return looprun.Clarification }

// Check trips as long as the signal waits for its answer.
func (Clarification) Check(s *looprun.State) *looprun.Trip {
	t := signalled(s, looprun.Clarification, "clarify")
	if t != nil {
		t.Mandatory = t.Guard.Mandatory()
	}
	return t
}

func signalled(s *looprun.State, id looprun.GuardID, name string) *looprun.Trip {
	if s.Signal == nil || string(s.Signal.Name) != name {
		return nil
	}
	reason := "the command said " + name
	for _, text := range []string{s.Signal.Question, s.Signal.Text} {
		if text != "" {
			reason += ": " + text
			break
		}
	}
	return &looprun.Trip{Guard: id, Iteration: s.Iterations, Reason: reason}
}

// Ladder trips when the escalation ladder is at its end: a person has to decide
// before the next attempt.
type Ladder struct{}

// ID is ladder_exhausted.
func (Ladder) ID() looprun.GuardID { return looprun.LadderExhausted }

// Check trips as long as the decision is due.
func (Ladder) Check(s *looprun.State) *looprun.Trip {
	reason := s.MandatoryReason()
	if reason == "" {
		return nil
	}
	return &looprun.Trip{Guard: looprun.LadderExhausted, Iteration: s.Iterations, Reason: reason, Mandatory: looprun.LadderExhausted.Mandatory()}
}
