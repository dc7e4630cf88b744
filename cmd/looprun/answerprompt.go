package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/escalate/user"
)

// ask asks the person at this terminal the question that waits.
func (c *answerCmd) ask(a *app, s *looprun.State, q looprun.Question) ([]answered, error) {
	o := user.Options{NoColor: !a.promptColours()}
	if err := user.Available(o); err != nil {
		why := strings.TrimSuffix(err.Error(), ": "+looprun.ErrNoAnswer.Error())
		return nil, &usageError{"no option was given, and " + why, "looprun show --pending prints the options; write looprun answer [RUN] OPTION"}
	}
	ctx, stop := watchSignals(context.Background(), func() {})
	defer stop()
	answer, err := user.New(o).Respond(ctx, q, s)
	switch {
	case ctx.Err() != nil, errors.Is(err, looprun.ErrInterrupted):
		return nil, looprun.ErrInterrupted
	case err != nil:
		return nil, fmt.Errorf("the question still waits: %w", err)
	}
	answer.Responder, answer.Person = looprun.RespondedByUser, true
	answer.Reason = firstNonEmpty(c.Reason, answer.Reason)
	answer.Guidance = firstNonEmpty(c.Guidance, answer.Guidance)
	return []answered{answerTo(q, answer)}, nil
}

// mayShow reports whether a question can be shown to a person who is asked then.
func (c *answerCmd) mayShow(a *app) bool { return a.canAsk(a.config) }

// confirm shows the question that waits, and asks whether the answer is for it.
func (c *answerCmd) confirm(a *app, q looprun.Question, options []string) error {
	with := strings.Join(options, ", ")
	if c.Text != nil {
		with = *c.Text
	}
	ask := "is the answer for this question?"
	if with != "" {
		ask = fmt.Sprintf("answer this with %q?", short(with, 60))
	}
	yes, err := a.yes(ask, func() {
		var b strings.Builder
		pendingText(&b, q)
		a.say.printf("this question waits now:\n%s", b.String())
	})
	if err == nil && !yes {
		err = errors.New("nothing was answered")
	}
	return err
}
