package assistant

import (
	"strings"

	"github.com/looprun/looprun/core"
)

// Escalated means that the assistant rejected the subject of the question and that a person
// must decide. It is a [core.ErrNoAnswer].
type Escalated struct {
	QuestionID string
	// Option is the answer that the assistant would have given: the option that cancels, for a
	// trip's question, or [core.No].
	Option string
	// Reason is the reason; blank if unknown.
	Reason string
	// By identifies the assistant.
	By core.Assistant
}

// Error returns the assistant's recommendation.
func (e *Escalated) Error() string {
	return strings.ReplaceAll(e.Advice().Text, "\n", " ") + ": " + core.ErrNoAnswer.Error()
}

// Unwrap returns [core.ErrNoAnswer].
func (e *Escalated) Unwrap() error { return core.ErrNoAnswer }

// Advice returns the advice for the person who answers.
func (e *Escalated) Advice() core.Advice { return e.By.AdviseAgainst(e.Reason) }

// rejects reports whether the answer is one to escalate: no to a confirm question, cancel to a
// trip's. Other select and text answers proceed.
func rejects(q core.Question, a core.Answer) bool {
	if q.Kind == core.KindConfirm {
		return a.Option != core.Yes
	}
	o, ok := q.Option(a.Option)
	return byGuard(q) && q.Kind == core.KindSelect && ok && o.Action == core.ActionCancel
}
