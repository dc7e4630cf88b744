package assistant

import (
	"strings"

	"github.com/looprun/looprun"
)

// Escalated says that the assistant rejected what the question asks, and that a
// person is to decide. It is a [looprun.ErrNoAnswer].
type Escalated struct {
	QuestionID string
	// Option is the answer that the assistant would have given: the option of
	// the trip's question that cancels, or [looprun.No].
	Option string
	// Reason is why; blank when none is known.
	Reason string
	// By is which assistant it was.
	By looprun.Assistant
}

// Error says what the assistant recommended.
func (e *Escalated) Error() string {
	return strings.ReplaceAll(e.Advice().Text, "\n", " ") + ": " + looprun.ErrNoAnswer.Error()
}

// Unwrap returns [looprun.ErrNoAnswer].
func (e *Escalated) Unwrap() error { return looprun.ErrNoAnswer }

// Advice is what the person who answers should know.
func (e *Escalated) Advice() looprun.Advice { return e.By.AdviseAgainst(e.Reason) }

// rejects reports whether the answer is one that escalates: no to a confirm
// question, cancel to a trip's. Other select and text answers proceed.
func rejects(q looprun.Question, a looprun.Answer) bool {
	if q.Kind == looprun.KindConfirm {
		return a.Option != looprun.Yes
	}
	o, ok := q.Option(a.Option)
	return byGuard(q) && q.Kind == looprun.KindSelect && ok && o.Action == looprun.ActionCancel
}
