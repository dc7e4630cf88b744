package user

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/cells"
)

const clearScreen = "\x1b[m\x1b[2J\x1b[H"

// minColumns is the minimum width at which text is wrapped.
const minColumns = 12

// present shows the header and, if requested, the evidence.
func (p *prompt) present(before string, evidence bool) error {
	p.columns, p.rows = p.t.Size()
	// The previous program may have left colours and a hidden cursor behind.
	_, err := p.t.Write([]byte("\x1b[m\x1b[?25h" + before + p.opening(evidence)))
	return err
}

// opening returns a rule with the header or the main message and, if requested, the evidence.
func (p *prompt) opening(evidence bool) string {
	title, rest := p.menu.Header, []string(nil)
	if p.menu.Sentence {
		if title = p.menu.Text; strings.Contains(title, "\n") || cells.Width(title) > p.width()-6 {
			title, rest = p.menu.Header, p.text()
		}
	}
	lines := append([]string{p.rule(title)}, rest...)
	if evidence {
		if text := p.text(); !p.menu.Sentence && len(p.message()) < len(text) {
			lines = append(lines, text...) // the menu shows a part of it
		}
		for _, d := range p.menu.Details {
			lines = append(lines, cells.Wrap(d, p.width(), indentOf(d))...)
		}
		if !p.menu.Sentence && len(p.menu.Details) > 0 {
			lines = append(lines, "")
		}
	}
	if evidence && p.menu.Sentence && len(lines)+p.listed() > p.rows {
		lines = append(lines, p.rule(title))
		for _, d := range p.gist() {
			lines = append(lines, cells.Cut(d, p.width()))
		}
	}
	return strings.Join(append(lines, ""), "\n")
}

// gist returns what is repeated right above the list where the evidence scrolls away: the
// command, and what fails.
func (p *prompt) gist() (lines []string) {
	for i, d := range p.menu.Details {
		if d != "" && (i == 0 || p.menu.Details[i-1] == "") && len(lines) < 2 {
			lines = append(lines, d)
		}
	}
	return lines
}

// listed is how many lines the list and its hint take.
func (p *prompt) listed() int {
	s, n := p.sheet(), 2
	for _, item := range s.items[:min(s.rows, len(s.items))] {
		n += strings.Count(item, "\n") + 1
	}
	return n
}

// rule returns a line across the screen with the title in it.
func (p *prompt) rule(title string) string {
	if title == "" {
		return strings.Repeat("━", p.width())
	}
	line := "━━ " + cells.Cut(title, max(1, p.width()-6)) + " "
	return line + strings.Repeat("━", max(2, p.width()-cells.Width(line)))
}

// say replaces the hint, or the field and its hint, with a line.
func (p *prompt) say(line string) error {
	over := "\r\x1b[K"
	if p.field != nil {
		over = "\x1b[A\r\x1b[J"
	}
	_, err := p.t.Write([]byte(over + strings.Join(cells.Wrap(line, p.width(), "  "), "\n") + "\n"))
	return err
}

// withdraw removes the question from the screen, because nobody here can answer it any longer.
// If the list does not fit on the screen, or the screen has just changed, its position is
// unknown and only the hint is removed.
func (p *prompt) withdraw() {
	if p.columns == 0 || p.changed() {
		return
	}
	above := len(p.message())
	if p.field == nil {
		s := p.sheet()
		if s.rows < len(s.items) {
			return
		}
		for _, item := range s.items {
			above += strings.Count(item, "\n") + 1
		}
	} else {
		above++ // the hint stands above the field
		p.field = nil
	}
	p.eraseLines(above) //nolint:errcheck // a terminal that is gone shows nothing
}

// sheet returns the menu for the current size of the screen.
func (p *prompt) sheet() sheet {
	s := sheet{cursor: p.keys.cursor, plain: p.NoColor}
	switch {
	case !p.keys.armed:
		s.hint = p.Options.say("hint_wait")
	case p.hint != "":
		s.hint = p.hint
	case p.menu.Multi:
		s.hint = p.orShort(p.Options.say("hint_ticks"))
	default:
		s.hint = p.orShort(p.Options.say("hint_menu"))
	}
	s.hint = cells.Cut(s.hint, p.width())
	message := p.message()
	s.message = strings.Join(message, "\n")
	room := p.rows - len(message) - 2
	if p.menu.Sentence { // and the headline, the command and what fails
		room = max(room-3, room/2)
	}
	s.items, s.rows = p.lay(room)
	return s
}

// orShort returns the hint, plus what Ctrl-C does if there is room.
func (p *prompt) orShort(hint string) string {
	more := " · " + p.Options.say("hint_interrupt")
	if cells.Width(hint+more) > p.width() {
		return hint
	}
	return hint + more
}

// text returns the question, wrapped.
func (p *prompt) text() []string {
	text := cmp.Or(p.menu.Text, p.Options.say("proceed"))
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		if strings.TrimSpace(l) != "" {
			lines = append(lines, cells.Wrap(l, p.width(), indentOf(l))...)
		}
	}
	return lines
}

// message returns as much of the question as leaves room for the menu. In a long text the
// question is at the end; the beginning may be an assistant's advice.
func (p *prompt) message() []string {
	if p.menu.Sentence { // it stands above
		return []string{""}
	}
	lines := p.text()
	room := max(1, p.rows/3)
	if len(lines) <= room {
		return lines
	}
	kept := lines[len(lines)-room:]
	if room > 2 {
		kept = append([]string{lines[0], "…"}, lines[len(lines)-room+2:]...)
	}
	return kept
}

// alignFrom is the minimum width at which labels and descriptions are aligned in columns, and
// keyColumns is the width of a number and a letter.
const (
	alignFrom  = 60
	labelMost  = 30
	keyColumns = 5
)

// lay lays out the items and returns how many to show at once so that they fit into the room.
// If they do not fit in full, descriptions are cut.
func (p *prompt) lay(room int) (items []string, rows int) {
	label := 0
	for i, item := range p.menu.Items {
		label = max(label, min(labelMost, cells.Width(p.box(i)+item.Label)))
	}
	for _, whole := range []bool{true, false} {
		items = nil
		tallest, total := 1, 0
		for i, item := range p.menu.Items {
			lines := p.item(item, p.box(i)+item.Label, label, whole)
			tallest, total = max(tallest, len(lines)), total+len(lines)
			items = append(items, strings.Join(lines, "\n  "))
		}
		if total <= room {
			return items, len(items)
		}
		rows = min(len(items), max(1, room/tallest))
	}
	return items, rows
}

// item returns the lines of an item: its number, its letter, its label, and what it does.
func (p *prompt) item(item Item, label string, columns int, whole bool) []string {
	number := " "
	if item.Number > 0 {
		number = strconv.Itoa(item.Number)
	}
	text := cells.Pad(number+" "+item.Key, keyColumns) + label
	switch {
	case item.Description == "":
	case p.width() >= alignFrom:
		text = cells.Pad(text, keyColumns+columns) + "  " + item.Description
	case whole:
		indent := strings.Repeat(" ", keyColumns)
		return append(cells.Wrap(text, p.width()-2, indent), cells.Wrap(indent+item.Description, p.width()-2, indent)...)
	}
	if !whole {
		text = cells.Cut(text, max(p.width()-2, keyColumns+cells.Width(label)))
	}
	indent := keyColumns
	if p.width() >= alignFrom {
		indent += columns + 2
	}
	return cells.Wrap(text, p.width()-2, strings.Repeat(" ", indent))
}

// box returns the box that shows whether the item is ticked.
func (p *prompt) box(i int) string {
	switch {
	case !p.menu.Items[i].Box:
		return ""
	case p.ticked[i]:
		return "[x] "
	}
	return "[ ] "
}

// width returns the maximum width of text in columns. The last column of the screen stays
// free, because terminals differ in what they do after it.
func (p *prompt) width() int {
	w := p.columns - 1
	if p.Width > 0 {
		w = min(w, p.Width)
	}
	return max(w, minColumns)
}

func indentOf(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, " "))]
}
