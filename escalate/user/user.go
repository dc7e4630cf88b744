package user

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/templates"
)

// ErrAsked marks errors of [core.Responder] that occurred after the question was shown: a
// person was asked and gave no answer. A substitute for an absent person, such as the default
// of a detached run, must then not answer.
var ErrAsked = errors.New("the person who was asked gave no answer")

// Options configures how the person is asked. The zero value asks at the controlling terminal,
// with the environment of the process.
type Options struct {
	// NonInteractive disables the prompt, and Why is the reason, as in “--wait is set”; empty
	// means --non-interactive.
	NonInteractive bool
	Why            string
	// CI is auto, off, or the name of a CI system; empty means auto. With auto the environment
	// determines whether this is CI, where nobody is asked.
	CI string
	// Getenv reads the environment; nil means [os.Getenv].
	Getenv func(string) string
	// Tty is the terminal's path; empty means /dev/tty.
	Tty string
	// Plain asks line by line instead of drawing a menu. TERM=dumb does the same.
	Plain bool
	// NoColor draws the prompt without colours. NO_COLOR does the same.
	NoColor bool
	// Width, if not zero, wraps text at that many columns, or at the terminal's edge if that
	// is narrower.
	Width int
	// Texts are the words of the prompt; nil means the built-in ones.
	Texts core.Texts
	// Ask replaces the terminal: it shows the menu and returns the choice, which is then
	// checked. Ask itself decides whether a person can be asked. Its errors count like those
	// of [core.Responder]. After a review it is shown the menu again, with the history among
	// the details.
	Ask func(context.Context, Menu) (Choice, error)

	// For tests only.
	timing timing
	onKey  func(stroke)
}

type responder struct{ Options }

// texts returns the words of the prompt.
func (o Options) texts() core.Texts {
	if o.Texts == nil {
		return templates.Builtin()
	}
	return o.Texts
}

// say returns a text of the prompt, with what it names.
func (o Options) say(key string, label ...string) string {
	return o.texts().Text(key, map[string]any{"Label": strings.Join(label, "")})
}

// New returns the responder that asks a person. Its Respond returns:
//
//   - [core.ErrNoAnswer] if no person can be asked (see [Available]), and,
//     marked with [ErrAsked], if the terminal was closed;
//   - [core.ErrInterrupted] for Ctrl-C and for a signal;
//   - [core.ErrDeferred] if the person keeps the question for later;
//   - the cause of the context if it ended, which removes the question from the
//     screen: somebody else has answered it, or the asker is gone;
//   - another error, marked with ErrAsked, if the prompt failed.
//
// Choosing to review shows the history and asks again within the same call. A select question
// without options is not answered. The caller must check who may answer the question
// ([core.Question].To).
func New(o Options) core.Responder {
	if o.timing == (timing{}) {
		o.timing = normalTiming
	}
	return core.Vouch(&responder{o})
}

// turn allows one prompt at a time, because there is one person.
var turn = make(chan struct{}, 1)

// Respond asks the person.
func (r *responder) Respond(ctx context.Context, q core.Question, s *core.State) (core.Answer, error) {
	none := core.Answer{Responder: core.RespondedByUser, Person: true}
	m, err := r.menu(q, s)
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
	chosen, err := m.ask(ctx, ask, func() []string { return History(s, r.texts()) })
	if err != nil {
		return none, err
	}
	return m.answer(chosen), nil
}

// ask asks until something other than review is chosen.
func (m Menu) ask(ctx context.Context, ask func(context.Context, Menu) (Choice, error), history func() []string) (Choice, error) {
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
		shown.Details = append(m.Details[:len(m.Details):len(m.Details)], history()...)
	}
}
