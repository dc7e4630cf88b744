package main

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/protocol/ask"
	"github.com/looprun/looprun/protocol/socket"
)

// byParent puts a question to the run that this one was started in, and so to
// the person of the outermost.
func (s *session) byParent(ctx context.Context, q looprun.Question, st *looprun.State) (looprun.Answer, error) {
	if q.To == ask.ToAssistant {
		return looprun.Answer{}, looprun.ErrNoAnswer
	}
	b := bubbled{Question: q, Key: q.ID, Path: append([]string{st.RunID}, q.Path...)}
	// The name is the same when another run asks the same in this one's place, so
	// that a deferred answer finds it.
	b.Question.From, b.Question.AskID = looprun.FromCommand, "nested/"+firstNonEmpty(q.AskID, string(q.Guard))+"/"+q.Text
	b.Question.Options = slices.DeleteFunc(slices.Clone(q.Options), func(o looprun.Option) bool {
		// What only somebody at this run's own terminal can do.
		return o.Action == looprun.ActionReview || o.Action == looprun.ActionDebug && s.opts.Debug == ""
	})
	var a looprun.Answer
	err := socket.Call(ctx, s.parent, kindBubble, b, &a)
	var told *socket.Error
	switch {
	case err == nil:
		a.Responder = looprun.RespondedByParent
		return a, nil
	case errors.As(err, &told) && told.Code == codeDeferred:
		return looprun.Answer{}, looprun.ErrDeferred
	case errors.As(err, &told) && told.Code == codeInterrupted:
		return looprun.Answer{}, looprun.ErrInterrupted
	case ctx.Err() != nil:
		return looprun.Answer{}, context.Cause(ctx)
	}
	return looprun.Answer{}, looprun.ErrNoAnswer
}

// parentSocket is that of the run that this process was started in; empty when
// there is none, or when what runs is no work but a check or another helper.
func parentSocket() string { return os.Getenv("LOOPRUN_SOCKET") }

// insideHelper reports whether this process was started by a run, but not as its
// work: nobody is asked from there.
func insideHelper() bool { return os.Getenv("LOOPRUN") != "" && parentSocket() == "" }
