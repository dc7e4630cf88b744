package looprun

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ask puts the question of the trip to the responders in turn. The first valid
// answer is taken; when there is none the run ends with the guard's exit code.
// The clock stands still meanwhile.
func (l *Loop) ask(ctx context.Context) error {
	l.watch.Pause()
	defer l.watch.Continue()
	if err := l.question(); err != nil {
		return err
	}
	q := l.state.Question
	if q == nil {
		return l.durable(QuestionClosed{Reason: "nobody is asked about it", Unanswered: true})
	}
	nobody := "nobody answered"
	for _, r := range l.Responders {
		a, err := r.Respond(ctx, *q, &l.state)
		switch {
		case ctx.Err() != nil:
			return l.durable(interrupted(ctx))
		case errors.Is(err, ErrInterrupted):
			return l.durable(InterruptReceived{Signal: "SIGINT", Code: exitInterrupted})
		case errors.Is(err, ErrDeferred):
			return l.deferred()
		case errors.Is(err, ErrNoAnswer):
			if why := strings.TrimSuffix(err.Error(), ": "+ErrNoAnswer.Error()); why != ErrNoAnswer.Error() {
				nobody += "; " + why
			}
			continue
		}
		if err == nil {
			err = l.acceptable(a)
		}
		if err == nil {
			return l.durable(QuestionAnswered{QuestionID: q.ID, Answer: a})
		}
		if err := l.record(AnswerInvalid{QuestionID: q.ID, Responder: a.Responder, Reason: err.Error()}); err != nil {
			return err
		}
	}
	return l.durable(QuestionClosed{QuestionID: q.ID, Reason: nobody, Unanswered: true})
}

// question puts the question on record before anybody is asked.
func (l *Loop) question() error {
	if l.state.Question != nil || l.Questions == nil {
		return nil
	}
	q, err := l.Questions.Question(&l.state, *l.state.Trip)
	if err != nil {
		return fmt.Errorf("the question for %s cannot be made: %w", l.state.Trip.Guard, err)
	}
	q = l.state.offer(q)
	q.ID = fmt.Sprintf("%s-%d", l.state.Trip.Guard, l.state.Seq+1)
	q.Guard = l.state.Trip.Guard
	if q.Kind == "" {
		q.Kind = KindSelect
	}
	return l.durable(QuestionAsked{q})
}

// acceptable checks the answer against its question, and that its action can
// be carried out.
func (l *Loop) acceptable(a Answer) error {
	o, err := l.state.Resolve(a)
	if err == nil && (o.Action == ActionDebug || o.Action == ActionRun) && l.Debug == nil {
		return fmt.Errorf("%s answered %q, and no debug command is configured", a.Responder, a.Option)
	}
	return err
}

// deferred pauses the run with its question pending. A running iteration is
// ended by whoever attends to it; it runs again when the run is resumed.
func (l *Loop) deferred() error {
	return l.durable(ActionApplied{
		Action: ActionPause, Guard: l.state.Trip.Guard, Limits: l.state.Limits,
		Responder: RespondedByDetached, Reason: "the question waits for its answer", Pending: true,
	})
}

// act carries out the answer.
func (l *Loop) act(ctx context.Context) error {
	q, a := l.state.Question, *l.state.Answer
	o, err := q.Resolve(a)
	if err == nil && (o.Action == ActionDebug || o.Action == ActionRun) {
		var goOn bool
		if goOn, err = l.debug(ctx, o, a); !goOn && err == nil {
			return nil
		}
	}
	if err != nil {
		return err
	}
	d, err := l.state.Effect(o, a)
	if err != nil {
		return err
	}
	return l.durable(d)
}

// debug runs the debug command; true when the run goes on with its findings.
func (l *Loop) debug(ctx context.Context, o Option, a Answer) (bool, error) {
	end, err := l.Debug.Debug(ctx, &l.state, o, a)
	if ctx.Err() != nil {
		return false, l.durable(interrupted(ctx))
	}
	if err != nil {
		end.ExitCode, end.Findings = -1, "the command could not be run: "+err.Error()
	}
	end.Action = o.Action
	if err := l.durable(end); err != nil {
		return false, err
	}
	return o.Action == ActionDebug && end.ExitCode == 0, nil
}

func (s *State) questionID() string {
	if s.Question == nil {
		return ""
	}
	return s.Question.ID
}
