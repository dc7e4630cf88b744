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
	return []answered{{q.ID, answer}}, nil
}
