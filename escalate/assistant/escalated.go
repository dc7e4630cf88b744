package assistant

import (
	"strings"

	"github.com/looprun/looprun/core"
)

// Escalated says that the assistant rejected what the question asks, and that a
// person is to decide. It is a [core.ErrNoAnswer].
type Escalated struct {
	QuestionID string
	// Option is the answer that the assistant would have given: the option of
	// the trip's question that cancels, or [core.No].
	Option string
	// Reason is why; blank when none is known.
	Reason string
	// By is which assistant it was.
	By core.Assistant
}

// Error says what the assistant recommended.
func (e *Escalated) Error() string {
	return strings.ReplaceAll(e.Advice().Text, "\n", " ") + ": " + core.ErrNoAnswer.Error()
}

// Unwrap returns [core.ErrNoAnswer].
func (e *Escalated) Unwrap() error { return core.ErrNoAnswer }

// Advice is what the person who answers should know.
func (e *Escalated) Advice() core.Advice { return e.By.AdviseAgainst(e.Reason) }

// rejects reports whether the answer is one that escalates: no to a confirm
// question, cancel to a trip's. Other select and text answers proceed.
func rejects(q core.Question, a core.Answer) bool {
	if q.Kind == core.KindConfirm {
		return a.Option != core.Yes
	}
	o, ok := q.Option(a.Option)
	return byGuard(q) && q.Kind == core.KindSelect && ok && o.Action == core.ActionCancel
}
