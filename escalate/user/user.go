package user

import (
	"context"
	"errors"
	"fmt"

	"github.com/looprun/looprun/core"
)

// ErrAsked marks the errors of [core.Responder] that came after the question
// was shown: a person was asked and gave no answer. What stands in for an absent
// person, such as the default of a detached run, must not answer then.
var ErrAsked = errors.New("the person who was asked gave no answer")

// Options say how the person is reached. The zero value asks at the controlling
// terminal, with the environment of the process.
type Options struct {
	// NonInteractive switches the prompt off, and Why says for what reason, as in
	// “--wait is set”; empty is --non-interactive.
	NonInteractive bool
	Why            string
	// CI is auto, off, or the name of a CI system; empty is auto. With auto the
	// environment says whether this is CI, where nobody is asked.
	CI string
	// Getenv reads the environment; nil is [os.Getenv].
	Getenv func(string) string
	// Tty is the terminal's path; empty is /dev/tty.
	Tty string
	// Plain asks line by line in place of drawing a menu. TERM=dumb does the same.
	Plain bool
	// NoColor draws the prompt without colours. NO_COLOR does the same.
	NoColor bool
	// Width, when not zero, wraps text at that many columns, or at the
	// terminal's edge where that is less.
	Width int
	// Ask takes the terminal's place: it shows the menu and returns what was
	// chosen, which is checked. Whether a person can be asked is then its
	// affair. Its errors count as those of [core.Responder]. It is shown the
	// menu again after a review, with the history among the details.
	Ask func(context.Context, Menu) (Choice, error)

	// What tests set.
	timing timing
	onKey  func(stroke)
}

type responder struct{ Options }

// New returns the responder that asks a person. Its Respond returns:
//
//   - [core.ErrNoAnswer] when no person can be asked (see [Available]), and,
//     marked with [ErrAsked], when the terminal was closed;
//   - [core.ErrInterrupted] for Ctrl-C and for a signal;
//   - [core.ErrDeferred] when the person keeps the question for later;
//   - the cause of the end of the context, which takes the question off the
//     screen: somebody else has answered it, or who asked is gone;
//   - another error, marked with ErrAsked, when the prompt failed.
//
// Choosing to review shows the history and asks again within the same call. A
// select question without options is not answered. Who may answer the question
// ([core.Question].To) is the caller's to heed.
func New(o Options) core.Responder {
	if o.timing == (timing{}) {
		o.timing = normalTiming
	}
	return core.Vouch(&responder{o})
}

// turn admits one prompt at a time: there is one person.
var turn = make(chan struct{}, 1)

// Respond asks.
func (r *responder) Respond(ctx context.Context, q core.Question, s *core.State) (core.Answer, error) {
	none := core.Answer{Responder: core.RespondedByUser, Person: true}
	m, err := newMenu(q, s)
	if err != nil {
		return none, err
	}
	ask := r.Ask
	if ask == nil {
		if err := Available(r.Options); err != nil {
			return none, err
		}
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return none, context.Cause(ctx)
		}
		ask = r.atTerminal(s)
		if r.plain() {
			ask = r.plainly()
		}
	}
	chosen, err := m.ask(ctx, ask, s)
	if err != nil {
		return none, err
	}
	return m.answer(chosen), nil
}

// ask asks until something other than review is chosen.
func (m Menu) ask(ctx context.Context, ask func(context.Context, Menu) (Choice, error), s *core.State) (Choice, error) {
	shown := m
	for {
		c, err := ask(ctx, shown)
		switch {
		case errors.Is(err, core.ErrInterrupted):
			return Choice{}, err
		case ctx.Err() != nil:
			return Choice{}, context.Cause(ctx)
		case err == nil:
			if err = m.check(c); err != nil {
				err = fmt.Errorf("%w: %w", err, ErrAsked)
			}
		}
		switch {
		case err != nil:
			return Choice{}, err
		case m.Items[c.Item].Pauses:
			return Choice{}, core.ErrDeferred
		case !m.Items[c.Item].Review:
			return c, nil
		}
		shown.Details = append(m.Details[:len(m.Details):len(m.Details)], History(s)...)
	}
}
