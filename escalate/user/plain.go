package user

import (
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

// plainly asks line by line, without moving the cursor: for terminals that cannot draw
// a menu, and for those who have the screen read to them.
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
		c, err := (&dialogue{Menu: m, t: t}).run()
		switch {
		case news.ended():
			return Choice{}, core.ErrInterrupted
		case ctx.Err() != nil:
			fmt.Fprintln(t, "\n"+unanswered(context.Cause(ctx)))
			return Choice{}, context.Cause(ctx)
		case errors.Is(err, io.EOF):
			return Choice{}, fmt.Errorf("%w: %w", core.ErrNoAnswer, ErrAsked)
		case err != nil:
			return Choice{}, fmt.Errorf("the prompt failed: %w: %w", err, ErrAsked)
		}
		_, err = fmt.Fprintln(t, "Answer: "+m.report(c))
		return c, err
	}
}

// dialogue is a question line by line.
type dialogue struct {
	Menu
	t    *tty.Terminal
	rest []byte // what was read behind a line
}

func (d *dialogue) run() (Choice, error) {
	// What was typed before the question is there does not count.
	if _, err := io.WriteString(d.t, "\n"+d.spoken()); err != nil {
		return Choice{}, err
	}
	if err := d.t.Discard(); err != nil {
		return Choice{}, err
	}
	if d.typesOnly() {
		return d.words(0)
	}
	meant := Choice{Item: -1}
	for {
		line, err := d.ask("Answer: ")
		if err != nil {
			return Choice{}, err
		}
		i, ticked := d.named(line)
		if i >= 0 && i == meant.Item {
			return meant, nil
		}
		why := ""
		if first, rest, ok := strings.Cut(line, " "); ok && i < 0 && len(first) == 1 {
			if n := d.one(first); n >= 0 && (d.Items[n].Says || d.Items[n].takesWords() && !d.Items[n].Types) {
				i, why = n, strings.TrimSpace(rest)
			}
		}
		meant = Choice{Item: -1}
		switch {
		case i >= 0 && d.Items[i].Ends && why != "": // or a sentence that begins with a number, or with “a”
			meant = Choice{Item: i, Text: why}
			fmt.Fprintf(d.t, "That would end the run: %s, because “%s”. Type %s alone if it is meant.\n", d.Items[i].Label, why, line[:1])
			continue
		case i < 0:
			fmt.Fprintln(d.t, "Nothing was chosen: type a number or a letter from the list, and Enter.")
			continue
		case d.Items[i].Says:
			if i = d.Menu.spoken(-1); i < 0 {
				fmt.Fprintln(d.t, reasonBehind+".")
				continue
			}
			if why != "" {
				return Choice{Item: i, Text: why}, nil
			}
		case !d.Items[i].Types:
			return Choice{Item: i, Ticked: ticked, Text: why}, nil
		}
		if c, err := d.words(i); err != nil || c.Text != "" {
			return c, err
		}
	}
}

const reasonBehind = "The reason stands behind the answer, as in “n too early”"

// words asks for a text. An empty one goes back, or is the default.
func (d *dialogue) words(i int) (Choice, error) {
	for {
		line, err := d.ask("Your words: ")
		line = cmp.Or(line, d.Default)
		if len(line) > maxText {
			fmt.Fprintln(d.t, "That is too long, 8 KiB is all that fits.")
			continue
		}
		if err != nil || line != "" || !d.typesOnly() {
			return Choice{Item: i, Text: line}, err
		}
	}
}

// ask reads a line.
func (d *dialogue) ask(prompt string) (string, error) {
	if _, err := io.WriteString(d.t, prompt); err != nil {
		return "", err
	}
	for {
		if line, rest, ok := strings.Cut(string(d.rest), "\n"); ok {
			d.rest = []byte(rest)
			return strings.TrimSpace(termsafe.Text(line)), nil
		}
		var b [1024]byte
		n, err := d.t.Read(b[:], time.Time{})
		if err != nil && !errors.Is(err, tty.ErrWoken) && !errors.Is(err, os.ErrDeadlineExceeded) {
			return "", err
		}
		d.rest = append(d.rest, b[:n]...)
	}
}

// named is the item that a line names, by its number, its letter, its id or its label;
// where several can be chosen, all of them. -1: none.
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
		return word != "" && (strings.EqualFold(word, i.ID) || strings.EqualFold(word, i.Label))
	})
}

// spoken is the question as it is read out: no line is drawn, and nothing is in columns.
func (d *dialogue) spoken() string {
	var b strings.Builder
	line := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			b.WriteString(text + "\n")
		}
	}
	line("looprun asks: " + d.Header)
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
		case item.Says && d.Menu.spoken(-1) < 0: // there is nothing to mark
			text += ": " + reasonBehind
		case item.Description != "":
			text += ": " + item.Description
		}
		line(text + ".")
	}
	return b.String()
}
