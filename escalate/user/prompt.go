package user

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/tty"
)

// prompt is one question at the terminal.
type prompt struct {
	*responder
	menu  Menu
	state *looprun.State
	t     *tty.Terminal
	keys  *keyboard
	news  *watch
	// columns and rows are those of the last drawing.
	columns, rows int
}

// atTerminal asks at the terminal, reviews included.
func (r *responder) atTerminal(s *looprun.State) func(context.Context, Menu) (int, error) {
	return func(ctx context.Context, m Menu) (int, error) {
		t, err := tty.Open(cmp.Or(r.Tty, tty.Path))
		if err != nil {
			return -1, unavailable("there is no terminal: " + err.Error())
		}
		defer t.Close() // puts the terminal back, whatever happens
		p := &prompt{responder: r, menu: m, state: s, t: t}
		return p.run(ctx)
	}
}

// run asks until there is a choice or there will be none, and says on the
// screen which.
func (p *prompt) run(ctx context.Context) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, p.t.Cancel)()
	p.news = newWatch(p.t)
	defer p.news.stop()

	p.keys = &keyboard{
		source: p.t, timing: p.timing, changed: p.changed,
		items: len(p.menu.Items), cursor: p.menu.Cursor,
	}
	n, err := -1, p.t.Raw()
	if err == nil {
		n, err = p.converse(ctx)
	}
	signalled := p.news.ended()
	if signalled || ctx.Err() != nil {
		err = looprun.ErrInterrupted
	}
	p.conclude(n, err)
	if restoreErr := p.t.Restore(); err == nil {
		err = restoreErr
	}
	if signalled {
		// The context may say which signal it was; give it the time.
		select {
		case <-ctx.Done():
		case <-time.After(p.timing.grace):
		}
	}
	switch {
	case err == nil, errors.Is(err, looprun.ErrInterrupted):
		return n, err
	case errors.Is(err, looprun.ErrNoAnswer):
		return -1, fmt.Errorf("%w: %w", err, ErrAsked)
	}
	return -1, fmt.Errorf("the prompt failed: %w: %w", err, ErrAsked)
}

// converse shows the prompt as often as it takes.
func (p *prompt) converse(ctx context.Context) (int, error) {
	before, evidence := "\n", true
	for {
		if err := p.present(before, evidence); err != nil {
			return -1, err
		}
		n, err := p.choice()
		switch {
		case errors.Is(err, errRedraw):
			before, evidence = clearScreen, true
			if p.news.stopped.Load() {
				before = "\n" // what stands there is the shell's
			}
			err = p.retake()
		case errors.Is(err, errSuspend):
			before, evidence = "\n", true
			err = p.suspend()
		case err == nil && p.menu.Items[n].Review:
			before, evidence = "\n", false
			err = p.review(ctx)
		default:
			return n, err
		}
		if err != nil {
			return -1, err
		}
	}
}

// choice is one go of the menu.
func (p *prompt) choice() (int, error) {
	n, err := choose(p.t, p.sheet(), func() (key, error) {
		k, err := p.keys.next()
		if p.onKey != nil && err == nil {
			p.onKey(k)
		}
		return k, err
	})
	switch {
	case err != nil:
		return -1, err
	case !p.keys.entered || n != p.keys.cursor:
		return -1, fmt.Errorf("item %d was chosen, and the keys say %d", n+1, p.keys.cursor+1)
	}
	return n, nil
}

// changed says whether the prompt has to be drawn anew.
func (p *prompt) changed() bool {
	columns, rows := p.t.Size()
	return p.news.stopped.Load() || columns != p.columns || rows != p.rows
}

// retake goes on after something happened to the screen. When others had the
// terminal meanwhile, its state is set again and what was typed is dropped.
func (p *prompt) retake() error {
	p.keys.restart()
	if !p.news.stopped.Swap(false) {
		return nil
	}
	p.keys.armed = false
	return p.t.Raw()
}

// suspend stops the process until it is continued.
func (p *prompt) suspend() error {
	p.say("") //nolint:errcheck // it stops all the same
	p.news.forgetContinued()
	if err := p.t.Suspend(p.news.continued); err != nil {
		return err
	}
	time.Sleep(p.timing.settle) // a shell may continue a job twice
	p.news.stopped.Store(true)
	return p.retake()
}

// conclude leaves a line that says how it ended.
func (p *prompt) conclude(n int, err error) {
	line := "No answer: "
	switch {
	case err == nil:
		item := p.menu.Items[n]
		line = fmt.Sprintf("Answer: %s (%s)", item.Label, item.ID)
	case errors.Is(err, looprun.ErrInterrupted):
		line += "interrupted."
	case errors.Is(err, looprun.ErrNoAnswer):
		line += "end of input."
	default:
		line += err.Error()
	}
	p.say(line) //nolint:errcheck // a terminal that is gone is told nothing
}
