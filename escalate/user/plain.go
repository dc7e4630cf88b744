package user

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/tty"
)

// plainly asks line by line, without moving the cursor: for terminals that cannot draw a menu,
// and for people who use a screen reader.
func (r *responder) plainly() func(context.Context, Menu) (Choice, error) {
	return func(ctx context.Context, m Menu) (Choice, error) {
		t, err := tty.Open(cmp.Or(r.Tty, tty.Path))
		if err != nil {
			return Choice{}, unavailable("there is no terminal")
		}
		defer t.Close()
		defer context.AfterFunc(ctx, t.Cancel)()
		news := newWatch(t)
		defer news.stop()
		c, err := (&dialogue{Options: r.Options, Menu: m, t: t}).run()
		if news.ended() {
			err = news.err()
		}
		switch {
		case errors.Is(err, core.ErrInterrupted):
			return Choice{}, core.ErrInterrupted
		case ctx.Err() != nil:
			fmt.Fprintln(t, "\n"+r.unanswered(context.Cause(ctx)))
			return Choice{}, context.Cause(ctx)
		case errors.Is(err, errGone):
			return Choice{}, fmt.Errorf("%w: %w", err, ErrAsked)
		case err != nil:
			return Choice{}, fmt.Errorf("the prompt failed: %w: %w", err, ErrAsked)
		}
		_, err = fmt.Fprintln(t, r.Options.say("answer")+": "+m.report(c))
		return c, err
	}
}

// dialogue is a question asked line by line.
type dialogue struct {
	Options
	Menu
	t *tty.Terminal
}

func (d *dialogue) run() (Choice, error) {
	if _, err := io.WriteString(d.t, "\n"+d.spoken()); err != nil {
		return Choice{}, err
	}
	if d.typesOnly() {
		return d.words(Choice{})
	}
	reason := false // one is to be asked for
	for {
		line, more, err := d.ask(d.Options.say("answer") + ": ")
		if err != nil {
			return Choice{}, err
		}
		i, ticked := d.named(line)
		c := Choice{Item: i, Ticked: ticked}
		switch {
		case more:
			fmt.Fprintln(d.t, d.Options.say("plain_lines"))
			continue
		case i < 0:
			fmt.Fprintln(d.t, d.Options.say("plain_nothing"))
			continue
		case d.Items[i].Says:
			if c.Item, c.Own = d.Menu.spoken(-1), true; c.Item < 0 {
				reason = true
				fmt.Fprintln(d.t, d.Options.say("plain_reason"))
				continue
			}
		case !d.Items[i].Types && !d.Items[i].Asks && !(reason && d.Items[i].takesWords()):
			return c, nil
		}
		if c, err := d.words(c); err != nil || c.Text != "" || d.Items[i].Asks {
			return c, err
		}
	}
}

// words asks for a text. An empty text returns to the question, or means the default.
func (d *dialogue) words(c Choice) (Choice, error) {
	for {
		line, _, err := d.ask(d.Options.say("plain_words") + ": ")
		line = cmp.Or(line, d.Default)
		if len(line) > maxText {
			fmt.Fprintln(d.t, d.Options.say("plain_long"))
			continue
		}
		if err != nil || line != "" || !d.typesOnly() {
			c.Text = line
			return c, err
		}
	}
}

// emptyReads is how many empty reads in a row mean that the terminal is gone, on systems that
// do not report it: nobody presses Ctrl-D that often.
const emptyReads = 20

// ask reads the input after the prompt was shown, up to Enter. more reports that several lines
// came at once; they are joined by spaces.
func (d *dialogue) ask(prompt string) (text string, more bool, err error) {
	if err := d.t.Discard(); err != nil {
		return "", false, err
	}
	if _, err := io.WriteString(d.t, prompt); err != nil {
		return "", false, err
	}
	var typed []byte
	for empty := 0; ; {
		var b [4096]byte
		n, err := d.t.Read(b[:], time.Time{})
		switch {
		case errors.Is(err, io.EOF):
			if empty++; d.t.Gone() || empty >= emptyReads {
				return "", false, errGone
			}
			if _, err := io.WriteString(d.t, "\n"+d.Options.say(endNote)+"\n"+prompt); err != nil {
				return "", false, err
			}
			typed = nil
			continue
		case errors.Is(err, tty.ErrWoken), errors.Is(err, os.ErrDeadlineExceeded):
			continue
		case err != nil:
			return "", false, err
		}
		empty = 0
		if typed = append(typed, b[:n]...); !bytes.Contains(typed, []byte("\n")) {
			continue
		}
		for err == nil { // a terminal hands over one line a read, and has the others ready
			n, err = d.t.Read(b[:], time.Now().Add(time.Millisecond))
			typed = append(typed, b[:n]...)
		}
		lines := strings.Split(strings.TrimSuffix(string(typed), "\n"), "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(termsafe.Text(lines[i]))
		}
		return strings.TrimSpace(strings.Join(lines, " ")), len(lines) > 1, nil
	}
}

// named returns the item that a line names by its number, its letter or its id, or all of them
// if several can be chosen; -1 if there is none.
func (d *dialogue) named(line string) (item int, ticked []int) {
	words := []string{line}
	if d.Multi {
		words = strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' })
	}
	item = -1
	for _, word := range words {
		i := d.one(word)
		if i < 0 || d.Multi && len(words) > 1 && !d.Items[i].Box {
			return -1, nil
		}
		item = i
		if d.Items[i].Box && !slices.Contains(ticked, i) {
			ticked = append(ticked, i)
		}
	}
	slices.Sort(ticked)
	return item, ticked
}

func (d *dialogue) one(word string) int {
	if len(word) == 1 {
		return d.item(word[0])
	}
	return slices.IndexFunc(d.Items, func(i Item) bool {
		return word != "" && strings.EqualFold(word, i.ID)
	})
}

// spoken returns the question in a form to be read out: without drawn lines or columns.
func (d *dialogue) spoken() string {
	var b strings.Builder
	line := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			b.WriteString(text + "\n")
		}
	}
	line(d.Options.say("plain_asks", d.Header))
	for text := range strings.SplitSeq(d.Text, "\n") {
		line(text)
	}
	for _, detail := range d.Details {
		line(strings.Join(strings.Fields(detail), " "))
	}
	for _, item := range d.Items {
		var keys []string
		if item.Number > 0 {
			keys = append(keys, strconv.Itoa(item.Number))
		}
		if item.Key != "" {
			keys = append(keys, item.Key)
		}
		text := strings.Join(append(keys, item.Label), ", ")
		switch {
		case item.Description != "":
			text += ": " + item.Description
		}
		line(text + ".")
	}
	return b.String()
}
