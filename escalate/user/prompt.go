package user

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/tty"
)

// prompt is a question being asked at the terminal.
type prompt struct {
	*responder
	menu  Menu
	state *core.State
	t     *tty.Terminal
	keys  *keyboard
	news  *watch
	// columns and rows are the size of the screen at the last drawing.
	columns, rows int
	// ticked reports which items are ticked, and hint is what is wrong with the choice.
	ticked []bool
	hint   string
	// field is the text being typed; nil while the menu is shown. marked is the item that was
	// marked when words were asked for; -1 if there was none.
	field  *field
	marked int
	// edits means that the words come from an editor.
	edits bool
}

// atTerminal returns a function that asks at the terminal, including reviews.
func (r *responder) atTerminal(s *core.State) func(context.Context, Menu) (Choice, error) {
	return func(ctx context.Context, m Menu) (Choice, error) {
		t, err := tty.Open(cmp.Or(r.Tty, tty.Path))
		if err != nil {
			return Choice{}, unavailable("there is no terminal")
		}
		defer t.Close() // puts the terminal back, whatever happens
		p := &prompt{responder: r, menu: m, state: s, t: t}
		return p.run(ctx)
	}
}

// run asks until there is a choice or there will be none, and shows the outcome on the screen.
func (p *prompt) run(ctx context.Context) (Choice, error) {
	defer context.AfterFunc(ctx, p.t.Cancel)()
	p.news = newWatch(p.t)
	defer p.news.stop()

	p.begin(&keyboard{source: p.t, timing: p.timing, changed: p.changed})
	c, err := Choice{}, p.t.Raw()
	if err == nil {
		c, err = p.converse(ctx)
	}
	if !errors.Is(err, core.ErrInterrupted) {
		err = p.ended(ctx, err)
	}
	lost := ""
	if ctx.Err() != nil && !errors.Is(err, core.ErrInterrupted) {
		if p.field != nil {
			lost = p.field.answer()
		}
		p.withdraw()
	}
	p.conclude(c, err, lost)
	if restoreErr := p.t.Restore(); err == nil {
		err = restoreErr
	}
	switch {
	case err == nil, errors.Is(err, core.ErrInterrupted), ctx.Err() != nil:
		return c, err
	case errors.Is(err, errGone):
		return c, fmt.Errorf("%w: %w", err, ErrAsked)
	}
	return c, fmt.Errorf("the prompt failed: %w: %w", err, ErrAsked)
}

// begin sets the cursor, the ticks and the field to their initial state.
func (p *prompt) begin(keys *keyboard) {
	p.ticked = convert.Each(p.menu.Items, func(item Item) bool { return item.Ticked })
	keys.items, keys.cursor, keys.ticks = len(p.menu.Items), p.menu.Cursor, p.menu.Multi
	keys.item = p.menu.item
	keys.words = slices.IndexFunc(p.menu.Items, func(i Item) bool { return i.Key == wordsKey })
	p.marked = -1
	p.keys = keys
	if p.menu.typesOnly() {
		p.openField(0, false)
	}
}

// ended returns why the prompt is over if the input is not the reason: the end of the context,
// whose cause may name the signal, or a signal. A choice made at the same moment does not
// count.
func (p *prompt) ended(ctx context.Context, err error) error {
	if p.news.ended() {
		select {
		case <-ctx.Done():
		case <-time.After(p.timing.grace):
		}
		err = p.news.err()
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// converse shows the prompt as often as needed.
func (p *prompt) converse(ctx context.Context) (Choice, error) {
	before, evidence, again := "\n", true, false
	for {
		if !again {
			if err := p.present(before, evidence); err != nil {
				return Choice{}, err
			}
		}
		again = false
		c, err := p.choice()
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
		case err != nil:
		case p.menu.Items[c.Item].typed() && p.field == nil:
			item, own := c.Item, false
			if p.menu.Items[item].Says {
				item, own = p.menu.spoken(p.marked), p.marked < 0
			}
			if p.edits {
				p.edits, before, evidence = false, "\n", true
				if c, err = p.edit(ctx, item); err == nil && c.Text != "" {
					c.Own = own
					return c, nil
				}
				break
			}
			again = true
			p.openField(item, own)
			err = p.eraseLines(len(p.message()))
		case p.field != nil && c.Text == "" && !p.field.wordless:
			again = true
			p.closeField()
			err = p.eraseLines(len(p.message()) + 1) // and the hint
		case p.menu.Items[c.Item].Review:
			before, evidence = "\n", false
			err = p.review(ctx)
		default:
			return c, nil
		}
		if err != nil {
			return Choice{}, err
		}
	}
}

// choice runs the menu, or the field, once.
func (p *prompt) choice() (Choice, error) {
	if p.field != nil {
		text, err := p.typed()
		return Choice{Item: p.field.item, Text: text, Own: p.field.own}, err
	}
	n, err := choose(p.t, p.sheet(), func() (key, sheet, error) {
		k, err := p.key()
		p.hint = p.noted()
		if p.keys.cursor < 0 { // words belong to no option whose mark is gone
			p.marked, p.edits = -1, false
		}
		switch {
		case err != nil:
		case k.key == keyEnter:
			if p.hint = p.missing(); p.hint != "" {
				k, p.keys.entered = stroke{}, false
			}
		case k.key == keyTick:
			p.ticked[p.keys.cursor] = p.menu.Items[p.keys.cursor].Box && !p.ticked[p.keys.cursor]
		case k.key == keyMark, k.key == keyUp, k.key == keyDown, k.key == keyFirst, k.key == keyLast:
			p.mark(k)
		}
		return k.key, p.sheet(), err
	})
	switch {
	case err != nil:
		return Choice{}, err
	case !p.keys.entered || n != p.keys.cursor:
		return Choice{}, fmt.Errorf("item %d was chosen, and the keys say %d", n+1, p.keys.cursor+1)
	}
	return Choice{Item: n, Ticked: p.choices()}, nil
}

// mark shows what Enter would do with the item that the key has marked. Words belong to the
// option that was marked before them; otherwise they stand alone.
func (p *prompt) mark(k stroke) {
	item := p.menu.Items[p.keys.cursor]
	if !item.Says {
		p.marked, p.edits = -1, false
		if item.takesWords() {
			p.marked = p.keys.cursor
		}
	} else if k.key == keyMark {
		p.edits = k.text == editKey
	} else {
		p.marked, p.edits = -1, false
	}
	p.hint = p.effect(item)
}

// effect describes what Enter does with the item, if that is more than choosing it.
func (p *prompt) effect(item Item) string {
	switch {
	case item.Says && p.marked >= 0:
		return p.Options.say("hint_words_for", p.menu.Items[p.marked].Label)
	case item.Says && p.menu.spoken(-1) >= 0:
		return p.Options.say("hint_own_words")
	case item.Shell:
		return p.Options.say("hint_shell")
	case item.Ends:
		return p.Options.say("hint_ends", item.Label)
	case p.menu.Open && item.ID != "" && item.ID != core.No:
		return p.Options.say("hint_against", item.Label)
	case item.Box:
		return p.Options.say("hint_tick")
	}
	return ""
}

// missing returns what must be marked or ticked before Enter counts; empty if nothing is
// missing.
func (p *prompt) missing() string {
	switch item := p.menu.Items[p.keys.cursor]; {
	case item.Box && len(p.choices()) == 0:
		return p.Options.say("hint_tick_first")
	case item.Says && p.menu.spoken(p.marked) < 0:
		return p.Options.say("hint_mark_first")
	}
	return ""
}

// noted returns why the last key did nothing, in words.
func (p *prompt) noted() string {
	if p.keys.note == "" {
		return ""
	}
	return p.Options.say(p.keys.note, p.keys.noted)
}

// key returns the next key that counts.
func (p *prompt) key() (stroke, error) {
	k, err := p.keys.next()
	if p.onKey != nil && err == nil {
		p.onKey(k)
	}
	return k, err
}

// choices returns the indexes of the ticked items.
func (p *prompt) choices() []int {
	var all []int
	for i, ticked := range p.ticked {
		if ticked && p.menu.Items[i].Box {
			all = append(all, i)
		}
	}
	return all
}

// changed reports whether the prompt must be drawn again.
func (p *prompt) changed() bool {
	columns, rows := p.t.Size()
	return p.news.stopped.Load() || columns != p.columns || rows != p.rows
}

// retake continues after a change to the screen. If another program had the terminal
// meanwhile, its state is set again and typed input is dropped.
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

// conclude leaves a line about the outcome in place of the field or the hint, and the words
// that were typed in vain, to be copied.
func (p *prompt) conclude(c Choice, err error, lost string) {
	line := p.Options.say("answer") + ": " + p.menu.report(c)
	if err != nil {
		line = p.unanswered(err)
	}
	p.say(line) //nolint:errcheck // a terminal that is gone is told nothing
	if lost != "" {
		fmt.Fprintln(p.t, p.Options.say("words_lost")+"\n"+lost)
	}
}

// unanswered returns why the prompt ended without an answer.
func (o Options) unanswered(err error) string {
	switch {
	case errors.Is(err, core.ErrInterrupted):
		return o.say("no_answer_interrupted")
	case errors.Is(err, errGone):
		return o.say("no_answer_closed")
	case errors.Is(err, context.Canceled):
		return o.say("no_answer_withdrawn")
	case errors.Is(err, core.ErrAnswered): // what, and by whom, is said next
		return o.say("answered_elsewhere")
	}
	return o.texts().Text("no_answer", map[string]any{"Why": termsafe.Line(err.Error())})
}
