package assistant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

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
}

// Error says what the assistant recommended.
func (e *Escalated) Error() string {
	return strings.ReplaceAll(e.Advice(), "\n", " ") + ": " + looprun.ErrNoAnswer.Error()
}

// Unwrap returns [looprun.ErrNoAnswer].
func (e *Escalated) Unwrap() error { return looprun.ErrNoAnswer }

// Advice is what the person who answers should know.
func (e *Escalated) Advice() string {
	return "The assistant recommended rejecting this: " + quoted(e.Reason)
}

// quoted is the reason in quotes, or says that there is none.
func quoted(reason string) string {
	if reason = clean(reason); reason == "" {
		return "(no reason given)"
	}
	return "“" + reason + "”"
}

// Question is the question as it is put to the person: the assistant's advice
// comes first, and nothing is preselected. The question given is left as it is.
func (e *Escalated) Question(q looprun.Question) looprun.Question {
	q.Text = e.Advice() + "\n\n" + q.Text
	q.Default, q.Open = "", true
	return q
}

// Detached decides about a rejection where there is no person to escalate to,
// by the detached mode:
//
//   - deny and auto keep the rejection: a confirm question is answered with no
//     by the assistant; a trip has no answer (the error is e), so that the run
//     ends with its guard's exit code;
//   - defaults takes the question's default, and its reason records that it
//     overrode the rejection; a question without a usable one is as in deny;
//   - defer keeps the question pending: the error is a [looprun.ErrDeferred].
//
// Any other mode is as deny. The question is the original one, not that of
// [Escalated.Question].
func (e *Escalated) Detached(mode string, q looprun.Question) (looprun.Answer, error) {
	detached := looprun.Answer{Responder: looprun.RespondedByDetached}
	switch {
	case mode == "defer":
		return detached, fmt.Errorf("%s: %w", e.Advice(), looprun.ErrDeferred)
	case mode == "defaults" && defaults(q):
		detached.Option, detached.Reason = q.Default, "the default, as the assistant recommended: "+quoted(e.Reason)
		if q.Default != e.Option {
			detached.Reason = "the default, which overrode the assistant's rejection: " + quoted(e.Reason)
		}
		return detached, nil
	case q.Kind == looprun.KindConfirm:
		return looprun.Answer{Option: looprun.No, Responder: looprun.RespondedByAssistant, Reason: clean(e.Reason)}, nil
	}
	return looprun.Answer{Responder: looprun.RespondedByAssistant}, e
}

// defaults reports whether the question has a default that can be taken.
func defaults(q looprun.Question) bool {
	if q.Exclusive || q.Mandatory || q.Default == "" {
		return false
	}
	if q.Kind == looprun.KindConfirm && len(q.Options) == 0 {
		return q.Default == looprun.Yes || q.Default == looprun.No
	}
	o, ok := q.Option(q.Default)
	return ok && o.Action != looprun.ActionReview
}

// rejects reports whether the answer is one that escalates: no to a confirm
// question, cancel to a trip's. Other select and text answers proceed.
func rejects(q looprun.Question, a looprun.Answer) bool {
	if q.Kind == looprun.KindConfirm {
		return a.Option != looprun.Yes
	}
	o, ok := q.Option(a.Option)
	return byGuard(q) && q.Kind == looprun.KindSelect && ok && o.Action == looprun.ActionCancel
}

// Escalations carry rejections from the assistant to the responders after it.
// The zero value is ready; it may be used by several goroutines.
type Escalations struct {
	mu sync.Mutex
	by map[string]*Escalated // by the question's id
}

// From is the assistant, whose rejections are remembered. What it says to a
// question replaces what it said to it before.
func (x *Escalations) From(assistant looprun.Responder) looprun.Responder {
	return looprun.ResponderFunc(func(ctx context.Context, q looprun.Question, s *looprun.State) (looprun.Answer, error) {
		a, err := assistant.Respond(ctx, q, s)
		e, _ := errors.AsType[*Escalated](err)
		x.mu.Lock()
		defer x.mu.Unlock()
		if delete(x.by, q.ID); e != nil {
			if x.by == nil {
				x.by = map[string]*Escalated{}
			}
			x.by[q.ID] = e
		}
		return a, err
	})
}

// To is a responder that talks to a person: it is asked the
// [Escalated.Question] where the assistant has rejected, else the question as
// it is.
func (x *Escalations) To(person looprun.Responder) looprun.Responder {
	return looprun.ResponderFunc(func(ctx context.Context, q looprun.Question, s *looprun.State) (looprun.Answer, error) {
		if e := x.Of(q.ID); e != nil {
			q = e.Question(q)
		}
		return person.Respond(ctx, q, s)
	})
}

// Of is the rejection of the question with that id; nil: there was none.
func (x *Escalations) Of(questionID string) *Escalated {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.by[questionID]
}
