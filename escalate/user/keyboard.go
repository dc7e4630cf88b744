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

// timing are the waits of the keyboard.
type timing struct {
	// quiet is how long nothing may be typed before keys count, and how long
	// after text an Enter is still part of it.
	quiet time.Duration
	// report is how long the terminal has to say that it showed the question;
	// one that never says so is taken to have shown it.
	report time.Duration
	// settle is how long a window has to keep its size before all is drawn anew.
	settle time.Duration
	// grace is how long a signal has to end the context as well.
	grace time.Duration
	// paste is how soon after text an Enter in a field is part of what is pasted:
	// faster than anybody types, slower than pasted text comes.
	paste time.Duration
	// sentence is how soon after a letter another one goes on with the same sentence.
	sentence time.Duration
}

var normalTiming = timing{
	quiet: 250 * time.Millisecond, report: time.Second, settle: 150 * time.Millisecond, grace: time.Second, paste: 50 * time.Millisecond,
	sentence: time.Second,
}

// errRedraw ends a prompt that has to be drawn anew.
var errRedraw = errors.New("draw the prompt anew")

// errQuit ends a prompt because of Ctrl-\.
var errQuit = fmt.Errorf("%w: %w", core.ErrInterrupted, &engine.Interrupt{Signal: "SIGQUIT", Code: 131})

// errSuspend ends a prompt because of Ctrl-Z.
var errSuspend = errors.New("suspend")

// statusQuery asks a terminal for a sign of life. It answers in the order in
// which it is written to, so it has shown what came before, and what a person
// typed before that comes before the answer.
const statusQuery = "\x1b[5n"

// source is where bytes come from, such as a [tty.Terminal].
type source interface {
	Read(b []byte, deadline time.Time) (int, error)
	Write(b []byte) (int, error)
}

// keyboard turns what arrives from a terminal into the keys of one prompt.
type keyboard struct {
	source
	timing
	// changed is called when the source was woken, and says whether the prompt
	// has to be drawn anew.
	changed func() bool
	// armed says that keys count.
	armed bool
	// cursor is the item that is marked, of so many items; -1: none is.
	cursor, items int
	// hot reports whether a character alone chooses something.
	hot func(byte) bool
	// ticks says that a blank ticks the marked item; typing that text is what
	// the prompt wants, and that there is no cursor to move.
	ticks, typing bool
	// entered says that the last key was Enter.
	entered bool

	decoder  decoder
	pending  []stroke
	lastText time.Time
	// lastHarmless is when a character ticked or moved. What comes right after it may
	// be pasted with it, and chooses nothing.
	lastHarmless time.Time
	lastByte     time.Time
	// lastLetter is when other text came last, which may have been of a sentence.
	lastLetter time.Time
	letter     byte
	// offers says that something was marked, which Enter chooses, and before what was marked
	// at first: where a sentence goes on behind it, that is marked again.
	offers   bool
	before   int
	redrawAt time.Time
}

// next returns the next key that counts: up, down, Enter, a tick, or text where
// it is wanted, or where it takes a mark back; or keyNone once, when keys begin to count. It returns an error
// when the prompt is over: [core.ErrInterrupted], [core.ErrNoAnswer],
// [tty.ErrCancelled], errRedraw, errSuspend.
func (k *keyboard) next() (stroke, error) {
	k.entered = false
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
			if got, err := k.counts(got); got.key != keyNone || err != nil {
				return got, err
			}
		}
		until := k.redrawAt
		escaping := k.typing && k.decoder.state == inEscape
		if escaping && until.IsZero() {
			until = k.lastByte.Add(sequenceGap)
		}
		err := k.fill(until)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return stroke{}, err
		}
		if err != nil && escaping { // nothing came after it
			k.decoder.state = inText
			return stroke{key: keyBack}, nil
		}
		if !k.redrawAt.IsZero() && !time.Now().Before(k.redrawAt) {
			return stroke{}, errRedraw
		}
	}
}

// counts returns what the key means to the prompt, keyNone for nothing, and
// moves the cursor.
func (k *keyboard) counts(got stroke) (stroke, error) {
	switch got.key {
	case keyInterrupt:
		return stroke{}, core.ErrInterrupted
	case keyQuit:
		return stroke{}, errQuit
	case keyEnd:
		return stroke{}, core.ErrNoAnswer
	case keySuspend:
		return stroke{}, errSuspend
	}
	if !k.redrawAt.IsZero() {
		return stroke{}, nil // what is on the screen may not be what is marked
	}
	switch got.key {
	case keyEnter:
		return k.enter(), nil
	case keyText:
		return k.text(got)
	case keyUp, keyDown, keyFirst, keyLast:
		return k.move(got), nil
	}
	return stroke{}, nil
}

// enter is Enter, unless it comes right after text: then it is part of a pasted
// line, which is no choice. In a field such a line break becomes a blank.
func (k *keyboard) enter() stroke {
	after := k.lastByte.Sub(k.lastText)
	switch {
	case k.typing && after < k.paste:
		return stroke{keyText, ' '}
	case !k.typing && (after < k.quiet || k.lastByte.Sub(k.lastHarmless) < k.paste):
		return stroke{}
	}
	k.entered = true
	return stroke{key: keyEnter}
}

// text is text in a field. Elsewhere a blank ticks the marked item of a list that has
// ticks, and j and k move: at once, since they are seen and decide nothing. What is hot
// chooses, when it stands alone. All other text means nothing, and neither does what
// comes with more of it.
func (k *keyboard) text(got stroke) (stroke, error) {
	if k.typing {
		k.lastText = k.lastByte
		return got, nil
	}
	meant := k.lastByte.Sub(k.lastText) >= k.quiet && k.means(got.text) && !k.moreText()
	harmless := got.text == ' ' || got.text == 'j' || got.text == 'k'
	if !k.ticks && k.sentenceGoesOn(got, meant, harmless) {
		return got, nil
	}
	if meant && !harmless {
		alone, err := k.alone()
		if err != nil {
			return stroke{}, err
		}
		meant = alone
	}
	switch {
	case !meant:
		k.lastText = k.lastByte
		return stroke{}, nil
	case !harmless:
		return stroke{keyHot, got.text}, nil
	}
	k.lastHarmless = k.lastByte
	switch got.text {
	case 'j':
		return k.move(stroke{key: keyDown}), nil
	case 'k':
		return k.move(stroke{key: keyUp}), nil
	}
	return stroke{key: keyTick}, nil
}

// sentenceGoesOn reports whether a letter is of a sentence, which somebody types who takes
// the menu for a field: it chooses nothing, and what an earlier one has marked is not marked
// any more.
func (k *keyboard) sentenceGoesOn(got stroke, meant, harmless bool) bool {
	soon := k.lastByte.Sub(k.lastLetter) < k.sentence
	if !soon && (meant && harmless || got.text == ' ') { // a blank chooses what is marked elsewhere
		return false
	}
	again := k.offers && meant && got.text == k.letter // the same key is no sentence
	k.lastLetter, k.letter = k.lastByte, got.text
	if again {
		return false
	}
	if !k.offers && !(soon && meant) || k.offers && meant && (!soon || got.text == wordsKey[0]) {
		return false
	}
	if k.offers {
		k.offers, k.cursor = false, k.before
	}
	k.lastText = k.lastByte
	return true
}

// means reports whether the character alone does something.
func (k *keyboard) means(c byte) bool {
	return c == ' ' && k.ticks || c == 'j' || c == 'k' || k.hot != nil && k.hot(c)
}

// moreText reports whether text came along with this key.
func (k *keyboard) moreText() bool { return len(k.pending) > 0 && k.pending[0].key == keyText }

// alone reports whether nothing comes right before or after a character, but for one
// Enter after it: text that is pasted is no choice.
func (k *keyboard) alone() (bool, error) {
	if k.lastByte.Sub(k.lastHarmless) < k.paste {
		return false, nil
	}
	for until := k.lastByte.Add(k.paste); ; {
		err := k.fill(until)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return false, err
		}
	}
	if len(k.pending) == 1 && k.pending[0].key == keyEnter {
		return true, nil
	}
	return !slices.ContainsFunc(k.pending, func(s stroke) bool { return s.key == keyText || s.key == keyEnter }), nil
}

// offer marks an item that needs Enter as well.
func (k *keyboard) offer(item int) {
	if !k.offers {
		k.before = k.cursor
	}
	k.offers, k.cursor = true, item
}

func (k *keyboard) move(got stroke) stroke {
	if k.typing {
		return stroke{}
	}
	k.offer(k.cursor)
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

// idle reports that nothing more was typed so far: drawing can wait until then.
func (k *keyboard) idle() bool { return len(k.pending) == 0 }

// restart forgets what belongs to the last drawing.
func (k *keyboard) restart() {
	k.pending, k.redrawAt, k.entered, k.offers = nil, time.Time{}, false, false
}

// arm waits until the terminal has shown the question and nothing more comes
// in. All keys are dropped meanwhile but Ctrl-C, which answers nothing.
func (k *keyboard) arm() error {
	shown := time.Now()
	if _, err := k.Write([]byte(statusQuery)); err != nil {
		return k.ended(err)
	}
	quietFrom, reported := shown, false
	k.pending = nil
	for {
		until := quietFrom.Add(k.quiet)
		if !reported {
			until = later(until, shown.Add(k.report))
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

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// fill reads what there is, or waits until the deadline.
func (k *keyboard) fill(deadline time.Time) error {
	var b [256]byte
	n, err := k.Read(b[:], deadline)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case errors.Is(err, tty.ErrWoken):
		if k.changed() {
			k.redrawAt = time.Now().Add(k.settle)
		}
		return nil
	case err != nil:
		return k.ended(err)
	}
	k.lastByte = time.Now()
	k.pending = append(k.pending, k.decoder.decode(b[:n], k.lastByte)...)
	return nil
}

// ended makes the error of a terminal that cannot be read the prompt's.
func (k *keyboard) ended(err error) error {
	if errors.Is(err, io.EOF) {
		return core.ErrNoAnswer
	}
	return err
}
