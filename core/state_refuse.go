package core

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// refuse returns why the event cannot happen now; "" if it can.
func (s *State) refuse(d Data) string {
	_, starts := d.(RunStarted)
	_, resumes := d.(RunResumed)
	_, atRest := d.(QuestionAnswered) // from elsewhere, while the run rests
	if _, ok := d.(RunSuperseded); ok {
		atRest = true
	}
	switch {
	case starts && s.Seq > 0:
		return "the run has started already"
	case !starts && s.Seq == 0:
		return "the run has not started"
	case s.Ended && !resumes && !(atRest && s.Ending.Status.Resumable()):
		return "the run has ended"
	}
	switch d := d.(type) {
	case IterationStarted:
		switch {
		case s.Running:
			return fmt.Sprintf("iteration %d is still running", s.Open)
		case s.Ending != nil || s.Trip != nil || s.Advance:
			return "the run waits for something else"
		case d.Iteration != s.NextIteration() && !(d.Iteration == 0 && s.Precheck):
			return fmt.Sprintf("iteration %d is next", s.NextIteration())
		}
	case IterationFinished:
		if !s.Running || d.Iteration != s.Open {
			return fmt.Sprintf("iteration %d is not running", d.Iteration)
		}
	case CheckRerun:
		if s.Running || s.Trip != nil || s.Ending != nil || s.Last == nil || d.Iteration != s.Iterations || s.ConfirmedAt == s.Iterations {
			return "there is no check to run once more"
		}
	case IterationWithdrawn:
		if !s.Running || d.Iteration != s.Open {
			return fmt.Sprintf("iteration %d is not running", d.Iteration)
		}
	case GuardTripped:
		if s.Trip != nil || s.Ending != nil {
			return "the run waits for something else"
		}
	case QuestionAsked:
		if d.From == FromCommand {
			return s.refuseAsked(d.Question)
		}
		if s.Trip == nil || s.Question != nil {
			return "there is nothing to ask"
		}
	case QuestionAnswered:
		if a := s.asked(d.QuestionID); a != nil && a.Answer == nil {
			return ""
		}
		if s.Question == nil || s.Question.ID != d.QuestionID || s.Answer != nil {
			return "no such question waits for an answer"
		}
	case QuestionClosed:
		if s.Trip == nil && s.asked(d.QuestionID) == nil {
			return "no question is open"
		}
	case ActionApplied:
		if d.Pending && s.Unanswered() != nil && !s.Running {
			return ""
		}
		if s.Trip == nil || (s.Answer == nil && !d.Pending) {
			return "no answer is to be carried out"
		}
		if d.Action == ActionDecompose && d.Subtask == nil {
			return "a split task needs its list" // or the first part would be the whole
		}
		if d.Restore != 0 && (s.Best == nil || d.Checkpoint == "" || s.Best.Iteration != d.Restore || s.Best.Checkpoint != d.Checkpoint) {
			return fmt.Sprintf("the files of iteration %d are not kept", d.Restore)
		}
	case DebugFinished:
		if s.Answer == nil {
			return "no answer is to be carried out"
		}
	case OrderReceived:
		return s.refuseOrder(d)
	case RunFinished:
		if s.Running && d.Status != StatusFailed {
			return fmt.Sprintf("iteration %d is still running", s.Open)
		}
	case RunPaused:
		if s.Running {
			return fmt.Sprintf("iteration %d is still running", s.Open)
		}
	case RunSuperseded:
		switch {
		case !s.Ended || s.Ending.Status != StatusPaused || s.Question == nil || s.Answer != nil:
			return "no question waits in a run at rest"
		case len(s.Asked) > 0:
			return "a question of the command waits"
		}
	case RunResumed:
		if s.Ended && !s.Ending.Status.Resumable() && !(d.Reopen && s.Ending.Status.Reopens()) {
			return "the run ended as " + string(s.Ending.Status)
		}
	default:
		return s.refuseProtocol(d)
	}
	return ""
}

// refuseOrder returns why a run cannot take the order now; empty if it can.
func (s *State) refuseOrder(d OrderReceived) string {
	switch {
	case d.Order == OrderStop:
		return ""
	case s.Ending != nil:
		return "the run ends already"
	case d.Order == OrderSay && strings.TrimSpace(d.Words) == "":
		return "there are no words"
	case d.Order == OrderPause && s.Pause != nil:
		return "it pauses already after this iteration"
	case d.Order != OrderSay && d.Order != OrderPause:
		return fmt.Sprintf("the orders of a run are %s, %s and %s, not %q", OrderSay, OrderPause, OrderStop, d.Order)
	}
	return ""
}

// refuseProtocol returns why an event caused by the command cannot happen now.
func (s *State) refuseProtocol(d Data) string {
	switch d := d.(type) {
	case SignalReceived:
		switch {
		case d.Problem != "" && s.Unread >= unreadKept:
			return fmt.Sprintf("%d signals of this iteration could not be read already", unreadKept)
		case d.Problem == "" && s.said(d.Name) >= signalsKept:
			return fmt.Sprintf("%d signals %s came in this iteration already", signalsKept, d.Name)
		}
	case QuestionDelivered:
		a, given := s.asked(d.QuestionID), func(a Answered) bool { return a.Asked != nil && a.QuestionID == d.QuestionID }
		if (a == nil || a.Answer == nil) && (d.QuestionID == "" || d.QuestionID != s.Undelivered) && !(d.Earlier && slices.ContainsFunc(s.Answered, given)) {
			return "there is no such answer to deliver"
		}
	case RejectionSubmitted:
		if s.Rejected != nil {
			return "a rejection waits for its decision already"
		}
	case RejectionDecided:
		switch {
		case s.Rejected == nil || s.Rejected.RejectionID != d.RejectionID:
			return "no such rejection waits for its decision"
		case s.Decided:
			return "it was decided already"
		}
	case CountersReset:
		if s.Answer == nil || s.Restarted {
			return "no answer starts the attempts over"
		}
	case AttemptRecorded:
		if !s.Weigh {
			return "no iteration is to be weighed"
		}
		if d.Counted {
			return s.Ladder.Refuse(d.Attempt)
		}
	case ExpertFinished:
		if e, ok := s.NextExpert(); !ok || e.Name != d.Expert {
			return "that expert is not the next"
		}
	case CostReported:
		if !(d.USD >= 0) || math.IsInf(d.USD, 0) || d.Tokens < 0 {
			return "a cost is negative, or no number"
		}
	case SubtaskFinished:
		if !s.Advance {
			return "no sub-task has ended"
		}
	case TurnRepeated:
		if !s.Running || s.Open == 0 || d.Iteration != s.Open {
			return fmt.Sprintf("iteration %d is not running", d.Iteration)
		}
	case WaitFinished:
		if s.Until == nil {
			return "nothing is being waited for"
		}
	case RunStarted, InterruptReceived, RunAlive, AnswerInvalid, AdviceGiven, MessageRefused, VerifyFinished, RejectionInvalid, WaitStarted:
	default: // a pointer, too: what it says would be on record and not in the state
		return fmt.Sprintf("%T is not an event of a run", d)
	}
	return ""
}

// refuseAsked returns why an event about a question of the command cannot happen.
func (s *State) refuseAsked(q Question) string {
	switch {
	case s.asked(q.ID) != nil:
		return "a question with that id waits already"
	case len(s.Asked) >= askedKept && s.unfetched() < 0:
		return fmt.Sprintf("%d questions wait for their answers already; answer those first", askedKept)
	}
	for i, o := range q.Options { // of two that are masked nobody could tell which was chosen
		if slices.ContainsFunc(q.Options[:i], func(p Option) bool { return p.ID == o.ID }) {
			return fmt.Sprintf("two of its options are recorded as %q; give each an id that holds no secret", o.ID)
		}
	}
	return ""
}
