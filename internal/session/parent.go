package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/socket"
)

// byParent forwards a question to the run that this one was started in, and so to the person
// at the outermost run.
func (s *Session) byParent(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
	if q.To == ask.ToAssistant {
		return core.Answer{}, core.ErrNoAnswer
	}
	var a core.Answer
	err := socket.Call(ctx, s.parent, kindBubble, s.bubble(q, st), &a)
	told, known := errors.AsType[*socket.Error](err)
	switch {
	case err == nil:
		a.Responder, a.Assistant = core.RespondedByParent, core.Assistant{}
		return a, nil
	case known && told.Code == CodeDeferred:
		return core.Answer{}, core.ErrDeferred
	case known && told.Code == CodeInterrupted:
		return core.Answer{}, core.ErrInterrupted
	case ctx.Err() != nil:
		return core.Answer{}, context.Cause(ctx)
	}
	return core.Answer{}, core.ErrNoAnswer
}

// bubble returns the question in the form that the parent run receives.
func (s *Session) bubble(q core.Question, st *core.State) bubbled {
	place := st.RunID
	if s.opts.Name != "" { // two runs may have the same
		place = s.opts.Name + " (" + place + ")"
	}
	b := bubbled{Question: q, Key: q.ID, Path: append([]string{place}, q.Path...)}
	// The name stays the same when another run asks the same question in this one's place, so
	// that a deferred answer finds it.
	b.Question.From, b.Question.AskID = core.FromCommand, "nested/"+cmp.Or(q.AskID, string(q.Guard))+"/"+q.Text
	b.Question.Options = slices.DeleteFunc(slices.Clone(q.Options), func(o core.Option) bool {
		// These actions only work at this run's own terminal.
		return o.Action == core.ActionReview || o.Shell
	})
	return b
}

// advised wraps an assistant so that it is not asked about anything that an assistant has
// already rejected in a parent run; otherwise each newly started nested run would ask again.
// If that cannot be determined, the assistant is not asked.
func (s *Session) advised(assistant core.Responder) core.Responder {
	if s.parent == "" {
		return assistant
	}
	return core.ResponderFunc(func(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
		if q.Advice == nil {
			advice, err := adviceAbove(ctx, s.parent, s.bubble(q, st))
			if err != nil {
				return core.Answer{}, fmt.Errorf("the outer run did not answer whether an assistant has rejected this before (%w): %w", err, core.ErrNoAnswer)
			}
			if advice != nil {
				return core.Answer{}, advisedAbove{*advice}
			}
		}
		a, err := assistant.Respond(ctx, q, st)
		if err := s.tellAdvice(ctx, adviceOf(q, a, err), q, st); err != nil {
			s.app.Say.Warn("could not report to the outer run that an assistant has rejected this: %v", err)
		}
		return a, err
	})
}

// adviceOf returns the assistant's advice against the question, or nil if there is none.
func adviceOf(q core.Question, a core.Answer, err error) *core.Advice {
	var said interface{ Advice() core.Advice }
	switch {
	case errors.As(err, &said):
		return new(said.Advice())
	case err == nil && q.RejectedBy(a):
		return new(a.Assistant.AdviseAgainst(a.Reason))
	}
	return nil
}

// tellAdvice reports a rejection to the parent runs, which outlive this one.
func (s *Session) tellAdvice(ctx context.Context, advice *core.Advice, q core.Question, st *core.State) error {
	if advice == nil || s.parent == "" {
		return nil
	}
	b := s.bubble(q, st)
	b.Question.Advice = advice
	return socket.Call(ctx, s.parent, kindAdvised, b, nil)
}

// adviceAbove returns the advice known to the run with that socket or to one of its parents,
// or nil if there is none.
func adviceAbove(ctx context.Context, parent string, b bubbled) (*core.Advice, error) {
	var known *core.Advice
	err := socket.Call(ctx, parent, kindAdvice, b, &known)
	return known, err
}

// advisedAbove is not an answer; it carries an assistant's advice from a parent run.
type advisedAbove struct{ advice core.Advice }

func (a advisedAbove) Error() string       { return a.advice.Text + ": " + core.ErrNoAnswer.Error() }
func (a advisedAbove) Unwrap() error       { return core.ErrNoAnswer }
func (a advisedAbove) Advice() core.Advice { return a.advice }

// ParentSocket returns the socket of the run that this process was started in. It is empty if
// there is none, or if this process is not the work but a check or another helper.
func ParentSocket() string { return os.Getenv("LOOPRUN_SOCKET") }

// insideHelper reports whether this process was started by a run, but not as its work. Such a
// process may not ask anybody.
func insideHelper() bool { return os.Getenv("LOOPRUN") != "" && ParentSocket() == "" }
