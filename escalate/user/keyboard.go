package user

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/tty"
)

// timing holds the waiting times of the keyboard. None of them decides what is chosen.
type timing struct {
	// quiet is how long the keyboard must be quiet before keys count.
	quiet time.Duration
	// report is how long the terminal has to confirm that it showed the question.
	// After that looprun assumes that it did.
	report time.Duration
	// settle is how long a window must keep its size before everything is drawn again.
	settle time.Duration
	// grace is how long to wait for a signal to end the context as well.
	grace time.Duration
	// paste is how soon after text an Enter in a field belongs to pasted text: no person types
	// that fast, but a terminal pastes faster.
	paste time.Duration
}

var normalTiming = timing{
	quiet: 250 * time.Millisecond, report: time.Second, settle: 150 * time.Millisecond, grace: time.Second, paste: 50 * time.Millisecond,
}

// errRedraw ends a prompt that must be drawn again.
var errRedraw = errors.New("draw the prompt again")

// errQuit ends a prompt because of Ctrl-\.
var errQuit = fmt.Errorf("%w: %w", core.ErrInterrupted, &engine.Interrupt{Signal: "SIGQUIT", Code: 131})

// errSuspend ends a prompt because of Ctrl-Z.
var errSuspend = errors.New("suspend")

// errGone ends a prompt whose terminal was closed.
var errGone = fmt.Errorf("the terminal was closed: %w", core.ErrNoAnswer)

// statusQuery asks a terminal to report its status. The terminal answers in order: by then it
// has shown everything written before, and anything typed earlier arrives before the answer.
const statusQuery = "\x1b[5n"

// source is where bytes come from, such as a [tty.Terminal].
type source interface {
	Read(b []byte, deadline time.Time) (int, error)
	Write(b []byte) (int, error)
}

// Keys of the texts about keystrokes that did nothing.
const (
	sentenceNote = "hint_sentence"
	pasteNote    = "hint_pasted"
	againNote    = "hint_again"
	unmarkedNote = "hint_unmarked"
	endNote      = "hint_end"
	noKeyNote    = "hint_no_key"
)

// keyboard turns input from a terminal into the keys of one prompt. In a menu it enforces the
// rule for keys: a key marks, Enter takes the marked item, and a sentence or pasted text
// neither marks nor takes anything.
type keyboard struct {
	source
	timing
	// changed is called when the source was woken, and reports whether the prompt
	// must be drawn again.
	changed func() bool
	// armed reports whether keys count.
	armed bool
	// cursor is the index of the marked item, -1 if none is; items is the number of items.
	cursor, items int
	// item returns the item that a character marks, or -1 for none. Nil means that no
	// character marks an item.
	item func(byte) int
	// words is the item that takes words, whose letter alone may follow another letter; -1 if
	// there is none.
	words int
	// ticks means that a space ticks the marked item; typing means that the prompt takes text
	// and has no cursor to move.
	ticks, typing bool
	// entered reports whether the last key was Enter.
	entered bool
	// note is the key of the text about why the last key did nothing; empty if it did
	// something. noted is the character that it names.
	note, noted string

	decoder  decoder
	pending  []stroke
	lastText time.Time
	lastByte time.Time
	// lettered reports that a letter has marked an item, and missed that a letter matched no
	// item although one is marked: another letter turns the input into a sentence.
	lettered, missed bool
	// sentence is why characters are ignored until Enter, Esc, Backspace or an arrow; empty if
	// they are not.
	sentence string
	redrawAt time.Time
}

// next returns the next key: an arrow, a mark, Enter, a tick, text in a field, or keyNone if
// only the note changed and, once, when keys begin to count. It returns an error when the
// prompt is over: [core.ErrInterrupted], errGone, [tty.ErrCancelled], errRedraw, errSuspend.
func (k *keyboard) next() (stroke, error) {
	k.entered, k.note = false, ""
	if !k.armed {
		if err := k.arm(); err != nil {
			return stroke{}, err
		}
		k.armed = true
		return stroke{}, nil
	}
	for {
		for len(k.pending) > 0 {
			got := k.pending[0]
			k.pending = k.pending[1:]
			if got, err := k.counts(got); got.key != keyNone || k.note != "" || err != nil {
				return got, err
			}
		}
		until := k.redrawAt
		escaping := k.decoder.escaped
		if escaping && until.IsZero() {
			until = k.lastByte.Add(sequenceGap)
		}
		err := k.fill(until)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return stroke{}, err
		}
		if err != nil && escaping { // nothing came after it
			k.decoder = decoder{}
			k.pending = append(k.pending, stroke{key: keyBack})
			continue
		}
		if !k.redrawAt.IsZero() && !time.Now().Before(k.redrawAt) {
			return stroke{}, errRedraw
		}
	}
}

// counts returns the meaning of the key for the prompt, or keyNone, and moves the cursor.
func (k *keyboard) counts(got stroke) (stroke, error) {
	switch got.key {
	case keyInterrupt:
		return stroke{}, core.ErrInterrupted
	case keyQuit:
		return stroke{}, errQuit
	case keySuspend:
		return stroke{}, errSuspend
	}
	if !k.redrawAt.IsZero() {
		return stroke{}, nil // what is on the screen may not be what is marked
	}
	switch got.key {
	case keyEnd:
		k.note = endNote
	case keyEnter:
		return k.enter(got), nil
	case keyText:
		if k.typing {
			k.lastText = k.lastByte
			return got, nil
		}
		return k.character(got), nil
	case keyBack:
		if k.typing {
			return got, nil
		}
		k.unmark()
	case keyUp, keyDown, keyFirst, keyLast:
		return k.move(got), nil
	}
	return stroke{}, nil
}

// enter takes the marked item if Enter came alone. In a field, an Enter that comes with pasted
// text becomes a space.
func (k *keyboard) enter(got stroke) stroke {
	switch {
	case k.typing && (got.crowded || k.lastByte.Sub(k.lastText) < k.paste):
		return stroke{key: keyText, text: ' '}
	case k.typing:
	case k.sentence != "":
		k.note = k.sentence
		k.unmark()
		return stroke{}
	case got.crowded:
		k.note = againNote
		return stroke{}
	case k.cursor < 0:
		k.note = unmarkedNote
		return stroke{}
	}
	k.entered, k.lettered, k.missed = true, false, false
	return stroke{key: keyEnter}
}

// character marks the item of the character. A space, or a second letter after a mark, begins
// a sentence, which marks nothing.
func (k *keyboard) character(got stroke) stroke {
	c := got.text
	if c == backspace || c == controlH {
		k.unmark()
		return stroke{key: keyBack}
	}
	if !printable(c) {
		return stroke{}
	}
	digit := c >= '0' && c <= '9'
	to := -1
	if k.item != nil {
		to = k.item(c)
	}
	switch {
	case k.sentence != "":
		k.note = k.sentence
		return stroke{}
	case got.crowded && got.pasted:
		k.begin(pasteNote)
	case c == ' ' && k.ticks:
		if k.cursor >= 0 {
			return stroke{key: keyTick}
		}
		k.note = unmarkedNote
	case c == ' ', !digit && k.lettered && (to < 0 || to != k.words):
		k.begin(sentenceNote)
	case to >= 0:
		k.lettered, k.missed = !digit, false
		k.cursor = to
		return stroke{key: keyMark, text: c}
	case !digit && k.cursor >= 0 && k.missed:
		k.begin(sentenceNote)
	default:
		k.missed = k.cursor >= 0 && !digit
		k.note, k.noted = noKeyNote, ""
		if c < 0x7f {
			k.noted = string(rune(c))
		}
	}
	return stroke{}
}

// printable reports whether the byte begins a character that a person can type.
func printable(c byte) bool { return c >= ' ' && c < 0x7f || c >= 0xc2 && c <= 0xf4 }

// begin removes the mark, because a sentence is being typed.
func (k *keyboard) begin(note string) {
	k.unmark()
	k.sentence, k.note = note, note
}

// unmark removes the mark and ends a sentence.
func (k *keyboard) unmark() {
	k.sentence, k.lettered, k.missed, k.cursor = "", false, false, -1
}

func (k *keyboard) move(got stroke) stroke {
	if k.typing {
		return stroke{}
	}
	k.sentence, k.lettered, k.missed = "", false, false
	switch {
	case got.key == keyFirst:
		k.cursor = 0
	case got.key == keyLast, got.key == keyUp && k.cursor <= 0:
		k.cursor = k.items - 1
	case got.key == keyUp:
		k.cursor--
	default:
		k.cursor = (k.cursor + 1) % k.items
	}
	return got
}

// idle reports whether no more input is pending; drawing can wait until then.
func (k *keyboard) idle() bool { return len(k.pending) == 0 }

// restart resets everything that belongs to the last drawing.
func (k *keyboard) restart() {
	k.pending, k.redrawAt, k.entered = nil, time.Time{}, false
	k.sentence, k.lettered, k.missed = "", false, false
}

// arm waits until the terminal has shown the question and input has stopped. Until then all
// keys are dropped except Ctrl-C and Ctrl-\, which answer nothing.
func (k *keyboard) arm() error {
	shown := time.Now()
	if _, err := k.Write([]byte(statusQuery)); err != nil {
		return err
	}
	quietFrom, reported := shown, false
	k.pending = nil
	for {
		until := quietFrom.Add(k.quiet)
		if most := shown.Add(k.report); !reported && until.Before(most) {
			until = most
		}
		err := k.fill(until)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return err
		}
		for _, got := range k.pending {
			switch got.key {
			case keyInterrupt:
				return core.ErrInterrupted
			case keyQuit:
				return errQuit
			case keyReport:
				reported = true
			default:
				quietFrom = k.lastByte
			}
		}
		k.pending = k.pending[:0]
	}
}

// fill reads the available input, or waits until the deadline. Keys from one read are marked
// as arriving together, because a person presses one at a time.
func (k *keyboard) fill(deadline time.Time) error {
	var b [4096]byte // as much as a terminal holds
	n, err := k.Read(b[:], deadline)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case errors.Is(err, tty.ErrWoken):
		if k.changed() {
			k.redrawAt = time.Now().Add(k.settle)
		}
		return nil
	case errors.Is(err, io.EOF):
		return errGone
	case err != nil:
		return err
	}
	k.lastByte = time.Now()
	strokes := k.decoder.decode(b[:n], k.lastByte)
	k.pending = append(k.pending, together(strokes)...)
	return nil
}

// together records which keys of one read came with others, and which text was pasted.
func together(strokes []stroke) []stroke {
	keys, text := 0, 0
	for _, s := range strokes {
		if s.key != keyReport {
			keys++
		}
		if s.key == keyText && printable(s.text) {
			text++
		}
	}
	for i := range strokes {
		strokes[i].crowded, strokes[i].pasted = keys > 1, text > 1
	}
	return slices.Clip(strokes)
}
