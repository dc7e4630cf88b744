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

// byParent puts a question to the run that this one was started in, and so to
// the person of the outermost.
func (s *Session) byParent(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
	if q.To == ask.ToAssistant {
		return core.Answer{}, core.ErrNoAnswer
	}
	var a core.Answer
	err := socket.Call(ctx, s.parent, kindBubble, s.bubble(q, st), &a)
	var told *socket.Error
	switch {
	case err == nil:
		a.Responder, a.Assistant = core.RespondedByParent, core.Assistant{}
		return a, nil
	case errors.As(err, &told) && told.Code == CodeDeferred:
		return core.Answer{}, core.ErrDeferred
	case errors.As(err, &told) && told.Code == CodeInterrupted:
		return core.Answer{}, core.ErrInterrupted
	case ctx.Err() != nil:
		return core.Answer{}, context.Cause(ctx)
	}
	return core.Answer{}, core.ErrNoAnswer
}

// bubble is the question as the run above gets it.
func (s *Session) bubble(q core.Question, st *core.State) bubbled {
	place := st.RunID
	if s.opts.Name != "" { // two runs may have the same
		place = s.opts.Name + " (" + place + ")"
	}
	b := bubbled{Question: q, Key: q.ID, Path: append([]string{place}, q.Path...)}
	// The name is the same when another run asks the same in this one's place, so
	// that a deferred answer finds it.
	b.Question.From, b.Question.AskID = core.FromCommand, "nested/"+cmp.Or(q.AskID, string(q.Guard))+"/"+q.Text
	b.Question.Options = slices.DeleteFunc(slices.Clone(q.Options), func(o core.Option) bool {
		// What only somebody at this run's own terminal can do.
		return o.Action == core.ActionReview || o.Action == core.ActionDebug && s.opts.Debug == ""
	})
	return b
}

// advised is an assistant that is asked only what no assistant has rejected in the
// runs above this one: each run that is started anew in there would ask afresh. What
// cannot be found out is not asked.
func (s *Session) advised(assistant core.Responder) core.Responder {
	if s.parent == "" {
		return assistant
	}
	return core.ResponderFunc(func(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
		if q.Advice == nil {
			advice, err := adviceAbove(ctx, s.parent, s.bubble(q, st))
			if err != nil {
				return core.Answer{}, fmt.Errorf("the run above cannot say whether an assistant has rejected this before (%w): %w", err, core.ErrNoAnswer)
			}
			if advice != nil {
				return core.Answer{}, advisedAbove{*advice}
			}
		}
		a, err := assistant.Respond(ctx, q, st)
		if err := s.tellAdvice(ctx, adviceOf(q, a, err), q, st); err != nil {
			s.app.Say.Warn("the run above cannot be told that an assistant has rejected this: %v", err)
		}
		return a, err
	})
}

// adviceOf is what an assistant said against the question; nil: nothing.
func adviceOf(q core.Question, a core.Answer, err error) *core.Advice {
	var said interface{ Advice() core.Advice }
	switch {
	case errors.As(err, &said):
		advice := said.Advice()
		return &advice
	case err == nil && q.RejectedBy(a):
		advice := a.Assistant.AdviseAgainst(a.Reason)
		return &advice
	}
	return nil
}

// tellAdvice lets the runs above know of a rejection: they outlive this one.
func (s *Session) tellAdvice(ctx context.Context, advice *core.Advice, q core.Question, st *core.State) error {
	if advice == nil || s.parent == "" {
		return nil
	}
	b := s.bubble(q, st)
	b.Question.Advice = advice
	return socket.Call(ctx, s.parent, kindAdvised, b, nil)
}

// adviceAbove is what the run with that socket knows, or one above it; nil: nothing.
func adviceAbove(ctx context.Context, parent string, b bubbled) (*core.Advice, error) {
	var known *core.Advice
	err := socket.Call(ctx, parent, kindAdvice, b, &known)
	return known, err
}

// advisedAbove is no answer, but what an assistant said in a run above.
type advisedAbove struct{ advice core.Advice }

func (a advisedAbove) Error() string       { return a.advice.Text + ": " + core.ErrNoAnswer.Error() }
func (a advisedAbove) Unwrap() error       { return core.ErrNoAnswer }
func (a advisedAbove) Advice() core.Advice { return a.advice }

// ParentSocket is that of the run that this process was started in; empty when
// there is none, or when what runs is no work but a check or another helper.
func ParentSocket() string { return os.Getenv("LOOPRUN_SOCKET") }

// insideHelper reports whether this process was started by a run, but not as its
// work: nobody is asked from there.
func insideHelper() bool { return os.Getenv("LOOPRUN") != "" && ParentSocket() == "" }
