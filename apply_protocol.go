package looprun

import (
	"fmt"
	"math"
	"slices"

	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// How much of what the command says is kept.
const (
	signalsKept   = 64 // of each name, in an iteration
	unreadKept    = 20
	malformedOver = 3 // malformed signals in a row that make an iteration an error
	treesKept     = 256
	blockersKept  = 50
)

// Tree is a state of the work tree that was seen.
type Tree struct {
	Content signature.Hash `json:"content"`
	// Returns is how often the tree came back to it after it had left it.
	Returns int `json:"returns,omitempty"`
}

// refuseProtocol says why an event that the command caused cannot happen now.
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
		if a := s.asked(d.QuestionID); (a == nil || a.Answer == nil) && (d.QuestionID == "" || d.QuestionID != s.Undelivered) {
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
	case WaitFinished:
		if s.Until == nil {
			return "nothing is being waited for"
		}
	case RunStarted, InterruptReceived, RunAlive, AnswerInvalid, VerifyFinished, RejectionInvalid, WaitStarted:
	default: // a pointer, too: what it says would be on record and not in the state
		return fmt.Sprintf("%T is no event of a run", d)
	}
	return ""
}

func (s *State) foldProtocol(d Data) {
	switch d := d.(type) {
	case AnswerInvalid:
		s.foldAdvice(d)
		if s.Answer != nil && s.Question != nil && s.Question.ID == d.QuestionID && !d.Advice && !d.Told {
			s.takeBack()
			s.Question = nil // what can be chosen now is another question
		}
	case SignalReceived:
		s.foldSignal(d)
	case QuestionDelivered:
		s.unask(d.QuestionID)
		if d.QuestionID == s.Undelivered {
			s.Undelivered = ""
		}
	case RejectionSubmitted:
		s.Rejected, s.Decided = &d, false
	case RejectionInvalid:
		s.Objects = "the command rejected the task, in a way that breaks the rules"
		for _, i := range d.Issues {
			s.notice(fmt.Sprintf("Your rejection was not valid: %s: %s", i.Problem, i.Remedy))
		}
	case RejectionDecided:
		s.Decided = true
	case CountersReset:
		s.Ladder.Reset(d.Task)
		s.Restarted = true
	case AttemptRecorded:
		s.foldAttempt(d)
	case ExpertFinished:
		s.foldExpert(d)
	case CostReported:
		s.spend(d.USD, d.Tokens)
	case WaitStarted:
		s.Until = &d.Until
	case SubtaskFinished:
		s.foldSubtask()
	case WaitFinished:
		s.Until = nil
	}
}

// notice tells the next iteration something.
func (s *State) notice(text string) {
	if !slices.Contains(s.Notices, text) {
		s.Notices = append(slices.Clone(s.Notices), text)
	}
}

func (s *State) foldSignal(d SignalReceived) {
	if d.Problem != "" {
		s.Malformed++
		s.Unread++
		s.notice(unread(d))
		switch d.Name {
		case signal.Blocked, signal.Clarify, NameChoices, NameRejection:
			s.Objects = "what the command said could not be read"
		}
		return
	}
	s.Malformed = 0
	if d.Name == signal.Cost { // as often as there is something to report
		s.spend(d.USD, d.Tokens)
		return
	}
	s.Signals = append(s.Signals, d.Signal)
}

// spend adds up, in billionths of a dollar: three times 0.1 are 0.3.
func (s *State) spend(usd float64, tokens int64) {
	const billion, exact = 1e9, 1 << 53
	s.Cost, s.Tokens = plus(s.Cost, usd), plus(s.Tokens, tokens)
	if s.Cost < exact/billion {
		s.Cost = math.Round(s.Cost*billion) / billion
	}
}

// unsay drops what the command said in the iteration that is over.
func (s *State) unsay() { s.Signals, s.Unread, s.Objects = nil, 0, "" }

// said counts the signals of that name in the running iteration: however many
// others came, the first of each has its place.
func (s *State) said(name signal.Name) int {
	n := 0
	for _, sig := range s.Signals {
		if sig.Name == name {
			n++
		}
	}
	return n
}

// unread tells the command what of its words could not be read.
func unread(d SignalReceived) string {
	what := "Your signal " + string(d.Name)
	switch d.Name {
	case NameChoices:
		what = "The questions that you left"
	case NameRejection:
		what = "The rejection that you left"
	}
	return what + " could not be read: " + d.Problem
}

// The names under which documents in the output are on record that could not be
// read.
const (
	NameChoices   signal.Name = "choices"
	NameRejection signal.Name = "rejection"
)

// foldTree compares the work tree with what it was. What is not known is no
// change, and no standing still either.
func (s *State) foldTree(d IterationFinished) {
	before := s.Previous
	s.Previous = &Seen{s.Match(d.Signature), d.Tree}
	if d.Content != 0 {
		s.foldContent(d.Content)
	}
	switch {
	case before == nil:
	case before.Signature != 0 && s.Previous.Signature != 0 && before.Signature != s.Previous.Signature,
		before.Tree != 0 && d.Tree != 0 && before.Tree != d.Tree:
		s.Idle = 0
	case before.Tree != 0 && d.Tree != 0 && before.Signature != 0 && s.Previous.Signature != 0:
		s.Idle++
	}
}

func (s *State) foldContent(content signature.Hash) {
	n := len(s.Trees)
	if n > 0 && s.Trees[n-1].Content == content {
		return
	}
	now := Tree{Content: content}
	trees := slices.Clone(s.Trees)
	if i := slices.IndexFunc(trees, func(t Tree) bool { return t.Content == content }); i >= 0 {
		now.Returns = trees[i].Returns + 1
		trees = slices.Delete(trees, i, i+1)
	}
	s.Trees = last(append(trees, now), treesKept)
}

// foldTask puts another task in the place of the one that is worked on.
func (s *State) foldTask(d ActionApplied) {
	if d.Blocker != "" {
		s.Blockers = last(append(slices.Clone(s.Blockers), d.Blocker), blockersKept)
		s.Deferred = deferred(d)
	}
	if d.Task != "" {
		s.Task = d.Task
		s.foldList(d)
	}
	switch d.Guard {
	case Rejection:
		s.Rejected, s.Decided = nil, false
	case Blocked, Clarification:
		s.Signal = nil
		if d.Guidance != "" && s.Question != nil {
			s.Undelivered = s.Question.ID
		}
	}
}

// Seen is what one iteration left behind for the next to be compared with.
type Seen struct {
	Signature signature.Hash `json:"signature,omitempty"`
	Tree      signature.Hash `json:"tree,omitempty"`
}
