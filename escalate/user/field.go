package user

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/termsafe"
)

// maxText is the maximum length of a typed answer, in bytes.
const maxText = 8 << 10

// field is a line of text being typed. The zero value is empty.
type field struct {
	// item is the menu item that the text answers. own means that the words stand alone,
	// without the option's own guidance.
	item int
	own  bool
	// wordless means that Enter took an item that asks for words, without words.
	wordless bool
	text     []byte
	// part is the beginning of a character whose remaining bytes have not arrived yet.
	part []byte
	// full reports that something was left out.
	full bool
}

// The keys that edit the text.
const (
	backspace = 0x7f
	controlH  = 0x08
	controlU  = 0x15
)

// take adds a typed byte. It leaves out everything that is not a visible character: control
// characters, those that reverse the reading direction, and bytes that are not UTF-8.
func (f *field) take(c byte) {
	switch c {
	case backspace, controlH:
		_, n := utf8.DecodeLastRune(f.text)
		f.text, f.part, f.full = f.text[:len(f.text)-n], nil, false
		return
	case controlU:
		f.text, f.part, f.full = nil, nil, false
		return
	case '\t':
		c = ' '
	}
	if utf8.RuneStart(c) {
		f.part = nil
	}
	f.part = append(f.part, c)
	if !utf8.FullRune(f.part) {
		return
	}
	r, _ := utf8.DecodeRune(f.part)
	switch {
	case r == utf8.RuneError || !unicode.IsGraphic(r):
	case len(f.text)+len(f.part) > maxText:
		f.full = true
	default:
		f.text = append(f.text, f.part...)
	}
	f.part = nil
}

// answer returns the text without surrounding spaces.
func (f *field) answer() string { return strings.TrimSpace(termsafe.Text(string(f.text))) }

// openField begins a text. Keys count again once the field is on the screen, and earlier input
// is dropped.
func (p *prompt) openField(item int, own bool) {
	p.field, p.hint = &field{item: item, own: own}, ""
	p.keys.typing, p.keys.armed = true, false
}

// closeField returns to the menu, in the same way.
func (p *prompt) closeField() {
	p.field, p.hint = nil, ""
	p.keys.typing, p.keys.armed = false, false
}

// eraseLines erases the last n lines from the screen and leaves the cursor there.
func (p *prompt) eraseLines(n int) error {
	_, err := fmt.Fprintf(p.t, "\x1b[%dA\r\x1b[J", n)
	return err
}

// typed runs the field once and returns its text when Enter was pressed; empty if there is a
// menu to return to.
func (p *prompt) typed() (text string, err error) {
	defer func() {
		if v := recover(); v != nil {
			text, err = "", panicked(v)
		}
	}()
	if err := p.drawField(false); err != nil {
		return "", err
	}
	for {
		k, err := p.key()
		if err != nil {
			return "", err
		}
		p.hint = p.noted()
		switch k.key {
		case keyText:
			p.field.take(k.text)
		case keyBack:
			if len(p.menu.Items) > 1 {
				return "", nil
			}
		case keyEnter:
			text := p.field.answer()
			switch {
			case text == "" && p.menu.Default != "":
				return p.menu.Default, nil
			case text != "" || !p.menu.typesOnly():
				p.field.wordless = text == "" && p.asks()
				return text, nil
			}
			p.hint = p.Options.say("hint_empty")
		}
		if p.keys.idle() {
			err = p.drawField(true)
		}
		if err != nil {
			return "", err
		}
	}
}

// asks reports whether the field is for an item that can be taken without words.
func (p *prompt) asks() bool { return p.menu.Items[p.field.item].Asks && !p.field.own }

// drawField shows the hint and, below it, the end of the text.
func (p *prompt) drawField(again bool) error {
	text := "\x1b[?25h"
	if again {
		text = "\x1b[A\r\x1b[J"
	} else {
		text += strings.Join(p.message(), "\n") + "\n"
	}
	_, err := p.t.Write([]byte(text + p.fieldLines()))
	return err
}

// fieldLines returns the hint and the end of the text.
func (p *prompt) fieldLines() string {
	const prefix = "> "
	line := lastCells(string(p.field.text), p.width()-cells.Width(prefix))
	return cells.Cut(p.fieldHint(), p.width()) + "\n" + prefix + line
}

func (p *prompt) fieldHint() string {
	back := p.Options.say("hint_back")
	item := p.menu.Items[p.field.item]
	label := item.Label
	parts := []string{p.Options.say("hint_type"), p.Options.say("hint_gives"), p.Options.say("hint_interrupt")}
	takesBack := ""
	if p.state != nil && p.state.Words != "" {
		takesBack = p.Options.say("hint_take_back")
	}
	switch {
	case !p.keys.armed:
		return p.Options.say("hint_wait")
	case p.hint != "":
		return p.hint
	case p.field.full:
		return p.Options.say("hint_full")
	case p.menu.Default != "":
		parts[1] = p.Options.say("hint_default", termsafe.Cut(p.menu.Default, maxLabel))
	case p.menu.typesOnly():
	case p.asks():
		parts = []string{p.Options.say("hint_type_do"), p.Options.say("hint_enter_either", label), back}
	case p.field.own:
		parts = []string{p.Options.say("hint_type_do"), p.Options.say("hint_alone"), takesBack, back}
	case item.GoesOn:
		parts = []string{p.Options.say("hint_type_do"), p.Options.say("hint_enter", label), takesBack, back}
	case item.Ends:
		parts = []string{p.Options.say("hint_type_why"), p.Options.say("hint_enter_ends", label), back}
	case item.takesWords() && !item.Types:
		parts = []string{p.Options.say("hint_type_why"), p.Options.say("hint_enter", label), back}
	default:
		parts = slices.Insert(parts, 2, back)
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}

// lastCells returns the end of a text that fits into that many columns.
func lastCells(s string, width int) string {
	if cells.Width(s) <= width {
		return s
	}
	r := []rune(s)
	used := 1 // the ellipsis
	for i := len(r) - 1; i >= 0; i-- {
		if used += cells.Rune(r[i]); used > width {
			return "…" + string(r[i+1:])
		}
	}
	return s
}
