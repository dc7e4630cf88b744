package session

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/looprun/looprun/escalate/hooks"
	"github.com/looprun/looprun/escalate/notify"
	"github.com/looprun/looprun/internal/courier"
)

// startCourier starts the courier if a service of this run brings answers back, and keeps it
// until release is called. A run inside another one needs none: the outer one asks. Neither does
// one of many, whose person looks at looprun many.
func (s *Session) startCourier() (release func()) {
	release = func() {}
	if !s.opts.Notify.Answers() || os.Getenv("LOOPRUN") != "" || os.Getenv("LOOPRUN_SLOT") != "" {
		return release
	}
	var problem string
	self, err := os.Executable()
	if err == nil {
		problem, err = courier.Start(context.Background(), self)
	}
	if err != nil {
		s.app.Say.Warn("questions are only sent, and cannot be answered from afar: %v", err)
		return release
	}
	if problem != "" {
		s.app.Say.Warn("an earlier question was not sent: %s", problem)
	}
	s.afar = true
	ctx, release := context.WithCancel(context.Background())
	go courier.Stay(ctx)
	return release
}

// notifier returns what notifies the services of this run.
func (s *Session) notifier() (hooks.Notifier, error) {
	var all, sent []string
	both := twoWay{s: s}
	for _, of := range s.opts.Notify {
		all = append(all, of.URL)
		if of.Answers && s.afar {
			both.services = append(both.services, courier.Service(of))
		} else {
			sent = append(sent, of.URL)
		}
	}
	var err error
	if both.Sender, err = notify.New(all...); err != nil || len(both.services) == 0 {
		return both.Sender, err
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
	s        *Session
}

// Ask has a question carried. If that fails within a third of the time, it is at least sent; when
// a run pauses, that has about half of the time.
func (n twoWay) Ask(ctx context.Context, question, title, body string) error {
	q := courier.Question{Dir: n.s.run.Dir, ID: question, Title: title, Body: body, Services: n.services, Env: n.s.base}
	part := ctx
	if end, ok := ctx.Deadline(); ok {
		var cancel func()
		part, cancel = context.WithTimeoutCause(ctx, time.Until(end)/3, errors.New("the courier does not reply"))
		defer cancel()
	}
	if err := courier.Carry(part, q); err != nil {
		return errors.Join(err, n.Notify(ctx, title, body))
	}
	if n.others == nil {
		return nil
	}
	return n.others.Notify(ctx, title, body)
}
