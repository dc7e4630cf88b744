package session

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/hooks"
	"github.com/looprun/looprun/escalate/notify"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/courier"
	"github.com/looprun/looprun/scratchpad"
)

// startCourier starts the courier if a service of this run brings answers back, and keeps it
// until release is called. A run inside another one needs none: the outer one asks. Neither does
// one of many, which hands over the questions of its loops.
func (s *Session) startCourier() (release func()) {
	if os.Getenv("LOOPRUN") != "" || ofMany() {
		return func() {}
	}
	s.afar, release = StartCourier(s.opts.Notify, s.app.Say)
	return release
}

// ofMany reports whether this is one of the loops of looprun many.
func ofMany() bool { return os.Getenv("LOOPRUN_SLOT") != "" }

// StartCourier starts the courier if a service brings answers back, and keeps it until release
// is called. It must be called before [proc.Ready].
func StartCourier(services config.Services, say *console.Observer) (started bool, release func()) {
	release = func() {}
	if !services.Answers() {
		return false, release
	}
	var problem string
	self, err := os.Executable()
	if err == nil {
		problem, err = courier.Start(context.Background(), self)
	}
	if err != nil {
		say.Warn("questions are only sent, and cannot be answered from afar: %v", err)
		return false, release
	}
	if problem != "" {
		say.Warn("an earlier question was not sent: %s", problem)
	}
	ctx, release := context.WithCancel(context.Background())
	go courier.Stay(ctx)
	return true, release
}

// notifier returns what notifies the services of this run.
func (s *Session) notifier() (hooks.Notifier, error) {
	return notifierOf(s.opts.Notify, s.afar || ofMany(), func(q courier.Question) courier.Question {
		q.Dir, q.Env = s.run.Dir, s.base
		return q
	})
}

func notifierOf(services config.Services, afar bool, complete func(courier.Question) courier.Question) (hooks.Notifier, error) {
	var all, sent []string
	both := twoWay{complete: complete}
	for _, of := range services {
		all = append(all, of.URL)
		if of.Answers && afar {
			both.services = append(both.services, courier.Service(of))
		} else {
			sent = append(sent, of.URL)
		}
	}
	var err error
	if both.Sender, err = notify.New(all...); err != nil || len(both.services) == 0 {
		return both.Sender, err
	}
	for _, of := range both.services {
		if err := courier.Check(of.URL); err != nil {
			return nil, err
		}
	}
	if len(sent) > 0 {
		both.others, err = notify.New(sent...)
	}
	return both, err
}

// twoWay sends messages, and has questions carried to the services that bring answers back.
type twoWay struct {
	*notify.Sender
	others   *notify.Sender // the services that only send; nil: none
	services []courier.Service
	complete func(courier.Question) courier.Question // adds the run
}

// Ask has a question carried. If that fails within a third of the time, it is at least sent; when
// a run pauses, that has about half of the time.
func (n twoWay) Ask(ctx context.Context, question, title, body string) error {
	part := ctx
	if end, ok := ctx.Deadline(); ok {
		var cancel func()
		part, cancel = context.WithTimeoutCause(ctx, time.Until(end)/3, errors.New("the courier does not reply"))
		defer cancel()
	}
	if !ofMany() {
		q := n.complete(courier.Question{ID: question, Title: title, Body: body, Services: n.services})
		if err := courier.Carry(part, q); err != nil {
			return errors.Join(err, n.Notify(ctx, title, body))
		}
	}
	if n.others == nil {
		return nil
	}
	return n.others.Notify(ctx, title, body)
}

// CarryQuestions hands the questions of a loop that has paused to the courier, for the services
// that bring answers back; the loop itself has told the others. env is the loop's environment.
func CarryQuestions(services config.Services, dir string, env []string, warn func(string)) {
	n, err := notifierOf(convert.Where(services, func(of config.Service) bool { return of.Answers }), true, func(q courier.Question) courier.Question {
		q.Dir, q.Env = dir, env
		return q
	})
	state, _, loadErr := scratchpad.Load(dir)
	if err = errors.Join(err, loadErr); err != nil {
		warn(err.Error())
		return
	}
	h := hooks.Hooks{Notify: n, Warn: warn}
	for _, q := range state.Answerable() {
		h.Observe(core.Event{Data: core.QuestionAsked{Question: q}}, state)
	}
	h.Close(context.Background())
}
