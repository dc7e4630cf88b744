package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
)

// ask puts a question that the command is not waiting for to the responders in turn, and
// records the outcome. The first valid answer is taken; if there is none, the run ends with
// the guard's exit code. The clock is stopped meanwhile.
func (l *Loop) ask(ctx context.Context, q core.Question) error {
	l.watch.Pause()
	defer l.watch.Continue()
	h, err := l.put(ctx, q)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		h.tooLate()
		return l.record(interrupted(ctx))
	case errors.Is(h.err, core.ErrInterrupted):
		return l.record(interruptedBy(h.err))
	case errors.Is(h.err, core.ErrDeferred):
		return l.driver.Defer()
	case h.err != nil:
		return l.driver.Unanswered(q.ID, h.err.Error())
	}
	err = l.record(core.QuestionAnswered{QuestionID: q.ID, Answer: h.Answer})
	h.confirm(err)
	return err
}

// asks is how many times a responder is asked if its answer to a question of the command is
// unusable.
const asks = 2

// put puts the question to the responders in turn. The first valid answer is taken. The error
// in reply is [core.ErrNoAnswer] with the reasons, [core.ErrDeferred] or
// [core.ErrInterrupted]; the other error is looprun's own.
func (l *Loop) put(ctx context.Context, q core.Question) (reply, error) {
	valid := func(a core.Answer) error { return l.driver.Acceptable(q.ID, a) }
	if q.From == core.FromCommand {
		valid = q.Accepts // with the advice that q gets meanwhile, and with the options as they are
	}
	nobody := "nobody answered"
	for _, r := range l.Responders {
		for try := 1; ; try++ {
			h, err := l.respond(ctx, r, q, valid)
			switch {
			case err != nil:
				h.confirm(err)
				return reply{}, err
			case h.counted != nil:
				return h, nil // it was checked when it came
			case ctx.Err() != nil:
				return reply{err: context.Cause(ctx)}, nil
			case errors.Is(h.err, core.ErrInterrupted):
				return h, nil
			case errors.Is(h.err, core.ErrDeferred):
				if why := strings.TrimSuffix(h.err.Error(), ": "+core.ErrDeferred.Error()); why != core.ErrDeferred.Error() {
					_, err := l.advise(q, core.Advice{Text: why})
					return h, err
				}
				return h, nil
			}
			if errors.Is(h.err, core.ErrNoAnswer) {
				if a, ok := errors.AsType[adviser](h.err); ok {
					var err error
					if q, err = l.advise(q, a.Advice()); err != nil {
						return reply{}, err
					}
				}
				if why := strings.TrimSuffix(h.err.Error(), ": "+core.ErrNoAnswer.Error()); why != core.ErrNoAnswer.Error() {
					nobody += joint(nobody, why) + why
				}
				break
			}
			answered := h.err == nil
			if answered {
				h.err = valid(h.Answer)
			}
			if h.err == nil {
				return h, nil
			}
			if err := l.record(core.AnswerInvalid{QuestionID: q.ID, Responder: h.Responder, Reason: h.err.Error()}); err != nil {
				return reply{}, err
			}
			if !answered || q.From != core.FromCommand || try == asks {
				break // who failed has tried again by itself
			}
		}
	}
	a, err := unadvised(q, nobody)
	return reply{Answer: a, err: err}, nil
}

// unanswered is an [core.ErrNoAnswer] that names who was asked in vain.
type unanswered string

func (u unanswered) Error() string   { return string(u) }
func (u unanswered) Is(e error) bool { return e == core.ErrNoAnswer }

// respond waits for one responder's answer, or for an answer from elsewhere. The error is
// looprun's own.
func (l *Loop) respond(ctx context.Context, r core.Responder, q core.Question, valid func(core.Answer) error) (_ reply, failed error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	got := make(chan reply, 1)
	state := l.state.Clone() // the run records the command's next question meanwhile, and its answer
	go func() {
		h := reply{err: errGoexit}
		defer func() {
			h.panicked = recovered(recover())
			got <- h
		}()
		a, err := r.Respond(ctx, q, state)
		if err == nil {
			a.Responder = cmp.Or(a.Responder, core.RespondedByProgram)
		}
		h = reply{Answer: a, err: err}
	}()
	p := &prompt{question: q, valid: valid, end: cancel}
	l.prompt = p
	defer func() { l.prompt = nil }()
	for {
		select {
		case h := <-got:
			if h.panicked != nil {
				panic(h.panicked)
			}
			if p.first != nil {
				h = *p.first
			}
			return h, failed
		case m := <-l.inbox.messages:
			if failed = cmp.Or(failed, l.handle(ctx, m)); failed != nil {
				cancel(failed)
			}
		}
	}
}

// prompt is the question that a responder is currently asked.
type prompt struct {
	question core.Question
	valid    func(core.Answer) error
	end      context.CancelCauseFunc
	first    *reply // the answer that came from elsewhere
}

// take accepts an answer from elsewhere if it is valid and the first.
func (p *prompt) take(e *elsewhere) {
	switch err := p.valid(e.answer); {
	case p.first != nil:
		e.done <- fmt.Errorf("%w: %s answered %q just now", core.ErrAnswered, p.first.Who(), p.first.Answer.String())
	case err != nil:
		e.done <- err
	default:
		p.first = &reply{Answer: e.answer, counted: e.done}
		p.end(core.ErrAnswered) // the responder lets go of the terminal
	}
}

// debug runs the command that the answer requires.
func (l *Loop) debug(ctx context.Context) error {
	a := *l.state.Answer
	o, _ := l.state.Question.Resolve(a) // which was accepted
	if o.Shell {                        // a person is at work there
		l.watch.Pause()
		defer l.watch.Continue()
	}
	limited, cancel := ctx, func() {}
	if !a.Person { // who is there ends it when it takes too long
		limited, cancel = l.within(ctx)
	}
	end, err := l.Debug.Debug(limited, &l.state, o, a)
	cancel()
	if ctx.Err() != nil {
		return l.record(interrupted(ctx))
	}
	if err != nil {
		end.ExitCode, end.Findings = -1, "the command could not be run: "+err.Error()
	}
	return l.driver.Debugged(end)
}

// besideLimit is how long a debug command may run if its question is about a deadline that has
// already passed.
const besideLimit = time.Minute

// within limits a command that runs between iterations to the first deadline of the guards,
// because it uses the run's time too.
func (l *Loop) within(ctx context.Context) (context.Context, func()) {
	left, ok := l.driver.Remaining(l.watch.Elapsed())
	if !ok {
		return ctx, func() {}
	}
	if l.driver.Due() { // which the question is about
		left = besideLimit
	}
	limited, cancel := context.WithTimeoutCause(ctx, left, core.ErrRuntime)
	return limited, cancel
}

// askForCommand puts a question of the command to the responders while the command waits for
// the answer. The clocks are stopped meanwhile.
func (l *Loop) askForCommand(ctx context.Context, first *asker) error {
	var q core.Question
	i := slices.IndexFunc(l.state.Asked, func(a core.Asked) bool { return a.Question.ID == first.recorded })
	asked, answered := i >= 0, i >= 0 && l.state.Asked[i].Answer != nil
	if asked {
		q = l.state.Asked[i].Question
	}
	if first.ctx.Err() != nil { // nobody would fetch the answer
		first.reply <- reply{err: errGone}
		if asked && !answered {
			return l.record(core.QuestionClosed{QuestionID: q.ID, Reason: errGone.Error()})
		}
		return nil
	}
	g := newAskers(ctx, first.key)
	defer g.cancel(nil)
	g.join(first)
	l.inbox.remove(func(m message) bool {
		a, asks := m.(*asker)
		if !asks || a.key != g.key {
			return false
		}
		g.join(a)
		return true
	})
	switch {
	case answered: // from elsewhere, before its turn
		return l.fetch(g, l.state.Asked[i])
	case !asked:
		if k := l.state.Kept(first.question); k != nil {
			return l.fetch(g, *k)
		}
		q = l.driver.FromCommand(first.question)
		if a := l.state.Remembered(q); a != nil {
			err := l.record(core.QuestionDelivered{QuestionID: a.QuestionID, To: "socket", Earlier: true})
			g.reply(reply{Answer: a.Answer, err: err, question: *a.Asked, earlier: true})
			return err
		}
		if err := l.driver.Refuse(core.QuestionAsked{Question: q}); err != nil {
			g.reply(reply{err: err})
			return nil
		}
	}
	l.askers = g
	h, err := l.poseForCommand(ctx, g, q, asked)
	l.askers = nil
	if err != nil {
		h = reply{err: err}
	}
	h.question = q
	g.reply(h)
	return err
}

// fetch delivers the waiting answer to those that ask, or reports that there is none yet.
func (l *Loop) fetch(g *askers, k core.Asked) error {
	if k.Answer == nil {
		g.reply(reply{err: core.ErrDeferred})
		return nil
	}
	err := l.record(core.QuestionDelivered{QuestionID: k.Question.ID, To: "socket"})
	g.reply(reply{Answer: *k.Answer, err: err, question: k.Question})
	return err
}

// poseForCommand asks the question and records the outcome; with asked, the question is on
// record. The error is looprun's own.
func (l *Loop) poseForCommand(ctx context.Context, g *askers, q core.Question, asked bool) (reply, error) {
	l.watch.Pause()
	defer l.watch.Continue()
	if h, ok := l.Runner.(Holder); ok {
		h.Hold()
		defer h.Release()
	}
	if !asked {
		if err := l.record(core.QuestionAsked{Question: q}); err != nil {
			return reply{}, err
		}
	}
	h, err := l.put(g.ctx, q)
	switch {
	case err != nil:
		return reply{}, err
	case ctx.Err() != nil:
		h.tooLate()
		h.err = context.Cause(ctx) // kept: it is asked again on resume
	case errors.Is(h.err, core.ErrInterrupted):
		return h, l.record(interruptedBy(h.err))
	case errors.Is(h.err, core.ErrDeferred):
	case h.err == nil:
		err = l.record(core.QuestionAnswered{QuestionID: q.ID, Answer: h.Answer})
		h.confirm(err)
		if err == nil {
			err = l.record(core.QuestionDelivered{QuestionID: q.ID, To: "socket"})
		}
	default: // nobody answered, or whoever asked is gone
		err = l.record(core.QuestionClosed{QuestionID: q.ID, Reason: h.err.Error()})
	}
	return h, err
}

// expert runs the next expert between two iterations, while the clock runs.
func (l *Loop) expert(ctx context.Context) error {
	if ctx.Err() != nil {
		return l.record(interrupted(ctx))
	}
	e, _ := l.state.NextExpert()
	end := core.ExpertFinished{ExitCode: -1, Why: "nothing runs experts here"}
	if l.Experts != nil {
		var err error
		limited, cancel := l.within(ctx)
		end, err = l.Experts.Expert(limited, &l.state, e)
		cancel()
		if err != nil {
			end = core.ExpertFinished{ExitCode: -1, Why: err.Error()}
		}
	}
	if ctx.Err() != nil {
		return l.record(interrupted(ctx))
	}
	return l.driver.Advised(end)
}

// adviser is an [core.ErrNoAnswer] from a responder that leaves the question to a person and
// has advice for that person, wherever they answer.
type adviser interface {
	error
	Advice() core.Advice
}

// advise records, once, the advice for whoever answers the question, and returns the question
// with it.
func (l *Loop) advise(q core.Question, advice core.Advice) (core.Question, error) {
	if l.Mask != nil {
		advice.Text, advice.Reason = l.Mask(advice.Text), l.Mask(advice.Reason)
	}
	if q.Advice != nil && q.Advice.Text == advice.Text {
		return q, nil
	}
	return q.WithAdvice(advice), l.record(core.AdviceGiven{QuestionID: q.ID, Responder: core.RespondedByAssistant, Advice: advice})
}

// unadvised concludes a question that nobody answered. If an assistant rejected it, the answer
// is no if that is possible; otherwise no default may let it through.
func unadvised(q core.Question, nobody string) (core.Answer, error) {
	no := core.Answer{Option: core.No, Responder: core.RespondedByAssistant}
	switch {
	case q.Advice == nil || len(q.Path) > 0: // the run inside decides
		return no, unanswered(nobody)
	case q.Accepts(no) == nil:
		no.Reason, no.Assistant = cmp.Or(q.Advice.Reason, q.Advice.Text), q.Advice.Assistant
		return no, nil
	}
	return no, rejected(nobody)
}

// rejected is the error for an unanswered question that an assistant recommended rejecting.
type rejected string

func (r rejected) Error() string   { return string(r) }
func (r rejected) Is(e error) bool { return e == core.ErrNoAnswer || e == core.ErrAdvised }

// joint returns the separator before a further reason: a full stop if the reason is a sentence
// of its own.
func joint(so, why string) string {
	if first, n := utf8.DecodeRuneInString(why); unicode.IsUpper(first) {
		if second, _ := utf8.DecodeRuneInString(why[n:]); !unicode.IsUpper(second) { // no variable's name
			return ". "
		}
	}
	if strings.Contains(so, ": ") {
		return "; "
	}
	return ": "
}
