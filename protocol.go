package looprun

import (
	"time"

	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// The types of events that come from the command, or follow from what it said.
const (
	TypeQuestionDelivered  EventType = "question.delivered"
	TypeSignalReceived     EventType = "signal.received"
	TypeRejectionSubmitted EventType = "rejection.submitted"
	TypeRejectionInvalid   EventType = "rejection.invalid"
	TypeRejectionDecided   EventType = "rejection.decided"
	TypeCountersReset      EventType = "counters.reset"
	TypeAttemptRecorded    EventType = "attempt.recorded"
	TypeExpertFinished     EventType = "expert.finished"
	TypeCostReported       EventType = "cost.reported"
	TypeWaitStarted        EventType = "wait.started"
	TypeWaitFinished       EventType = "wait.finished"
	TypeSubtaskFinished    EventType = "subtask.finished"
)

// QuestionDelivered says that the answer has reached who asked.
type QuestionDelivered struct {
	QuestionID string `json:"question_id" mask:"own"`
	// To says how: socket, file, or guidance.
	To string `json:"to" mask:"own"`
}

// SignalReceived is a signal of the command. With a Problem it is malformed, and
// the next iteration is told so.
type SignalReceived struct {
	signal.Signal
	Problem string `json:"problem,omitempty"`
}

// RejectionSubmitted is a valid rejection of the task: it becomes a question
// when the iteration has ended.
type RejectionSubmitted struct {
	RejectionID string              `json:"rejection_id" mask:"own"`
	Rejection   rejection.Rejection `json:"rejection"`
	Via         string              `json:"via,omitempty" mask:"own"` // socket or text
}

// RejectionInvalid is a rejection that breaks the rules, and which.
type RejectionInvalid struct {
	RejectionID string              `json:"rejection_id" mask:"own"`
	Rejection   rejection.Rejection `json:"rejection"`
	Issues      []rejection.Issue   `json:"issues"`
	Via         string              `json:"via,omitempty" mask:"own"`
}

// RejectionDecided says what became of a rejection. It is written with the
// answer, before that is carried out.
type RejectionDecided struct {
	RejectionID string             `json:"rejection_id" mask:"own"`
	Decision    rejection.Decision `json:"decision"`
	Responder   string             `json:"responder" mask:"own"`
	Reason      string             `json:"reason,omitempty"`
	Rationale   string             `json:"rationale,omitempty"`
	// Created are the tasks that the decision made: sub-tasks, the feasible
	// task, the blocker's task.
	Created []string `json:"created,omitempty"`
}

// CountersReset says that an answer started the task's attempts over.
type CountersReset struct {
	Task string `json:"task"`
}

// AttemptRecorded weighs a failed iteration on the ladder. It is a distinct
// approach when Counted is true; else the same one again, or an improvement,
// and no attempt.
type AttemptRecorded struct {
	Iteration int            `json:"iteration"`
	Counted   bool           `json:"counted"`
	Improved  bool           `json:"improved,omitempty"`
	Attempt   ladder.Attempt `json:"attempt,omitzero"`
}

// ExpertFinished is the end of an expert's command. Exit 0 makes its output
// guidance, which the next iteration judges.
type ExpertFinished struct {
	Task     string `json:"task"`
	Expert   string `json:"expert" mask:"own"`
	ExitCode int    `json:"exit_code"`
	Guidance string `json:"guidance,omitempty"`
	// Why says what kept it from running.
	Why string `json:"why,omitempty"`
}

// CostReported adds to what the run has cost.
type CostReported struct {
	USD    float64 `json:"usd,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
	Via    string  `json:"via,omitempty" mask:"own"` // socket, text or output
}

// WaitStarted begins the time that a limit of somebody else is waited out.
type WaitStarted struct {
	Match string    `json:"match"` // the line that says so
	Until time.Time `json:"until"`
}

// WaitFinished ends it.
type WaitFinished struct{}

// SubtaskFinished ends a part of a task that was taken apart, and begins the next.
type SubtaskFinished struct {
	Iteration int    `json:"iteration"` // the one that ended it
	Title     string `json:"title"`
	Number    int    `json:"number"`         // from 1
	Of        int    `json:"of"`             // how many parts there are
	Next      string `json:"next,omitempty"` // empty: it was the last
}

// Type implements [Data].
func (QuestionDelivered) Type() EventType  { return TypeQuestionDelivered }
func (SignalReceived) Type() EventType     { return TypeSignalReceived }
func (RejectionSubmitted) Type() EventType { return TypeRejectionSubmitted }
func (RejectionInvalid) Type() EventType   { return TypeRejectionInvalid }
func (RejectionDecided) Type() EventType   { return TypeRejectionDecided }
func (CountersReset) Type() EventType      { return TypeCountersReset }
func (AttemptRecorded) Type() EventType    { return TypeAttemptRecorded }
func (ExpertFinished) Type() EventType     { return TypeExpertFinished }
func (CostReported) Type() EventType       { return TypeCostReported }
func (WaitStarted) Type() EventType        { return TypeWaitStarted }
func (WaitFinished) Type() EventType       { return TypeWaitFinished }
func (SubtaskFinished) Type() EventType    { return TypeSubtaskFinished }
