package session

import (
	"context"
	"errors"
	"os"

	"github.com/looprun/looprun/escalate/hooks"
	"github.com/looprun/looprun/escalate/notify"
	"github.com/looprun/looprun/internal/courier"
)

// startCourier starts the courier if a service of this run brings answers back. A run inside
// another one needs none: the outer one asks.
func (s *Session) startCourier() {
	if !s.opts.Notify.Answers() || os.Getenv("LOOPRUN") != "" {
		return
	}
	self, err := os.Executable()
	if err == nil {
		err = courier.Start(context.Background(), self)
	}
	if err != nil {
		s.app.Say.Warn("questions are only sent, and cannot be answered from afar: %v", err)
		return
	}
	s.afar = true
}

// notifier returns what notifies the services of this run.
func (s *Session) notifier() (hooks.Notifier, error) {
	var all, sent []string
	both := twoWay{s: s}
	for _, of := range s.opts.Notify {
		all = append(all, of.URL)
		if of.Answers && s.afar {
			both.services = append(both.services, courier.Service{URL: of.URL, Exclusive: of.Exclusive})
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

// Ask has a question carried. If that fails, it is at least sent.
func (n twoWay) Ask(ctx context.Context, question, title, body string) error {
	q := courier.Question{Dir: n.s.run.Dir, ID: question, Title: title, Body: body, Services: n.services, Env: n.s.base}
	if err := courier.Carry(ctx, q); err != nil {
		return errors.Join(err, n.Notify(ctx, title, body))
	}
	if n.others == nil {
		return nil
	}
	return n.others.Notify(ctx, title, body)
}
