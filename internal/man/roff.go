package man

import (
	"bytes"
	"fmt"
	"strings"
)

// writer writes lines of roff.
type writer struct{ bytes.Buffer }

// macro writes a request with its arguments.
func (w *writer) macro(name string, args ...string) {
	w.WriteString("." + name)
	for _, a := range args {
		// Outside of quotes a blank would end the argument.
		w.WriteString(` "` + text(strings.Join(strings.Fields(a), " ")) + `"`)
	}
	w.WriteByte('\n')
}

// line writes a line of text that is already escaped.
func (w *writer) line(escaped string) {
	if strings.HasPrefix(escaped, ".") {
		w.WriteString(`\&`) // no request
	}
	w.WriteString(escaped + "\n")
}

// entries writes terms, each with its text indented below.
func (w *writer) entries(list []Entry) {
	for _, e := range list {
		w.macro("TP")
		w.line(bold(e.Term))
		w.prose(e.Text)
	}
}

// prose writes paragraphs separated by empty lines. Lines that begin with two blanks stay
// unchanged.
func (w *writer) prose(s string) {
	literal, apart := false, false
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i, line := range lines {
		indented := strings.HasPrefix(line, "  ")
		if strings.TrimSpace(line) == "" {
			// Within an example an empty line stays one.
			if literal && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
				w.line("")
				continue
			}
			apart = true
			w.close(&literal)
			continue
		}
		switch {
		case indented && !literal:
			if i > 0 {
				w.macro("PP")
			}
			w.macro("nf")
			literal = true
		case !indented && literal:
			w.close(&literal)
			w.macro("PP")
		case !indented && apart:
			w.macro("PP")
		}
		apart = false
		w.line(text(strings.TrimPrefix(strings.TrimRight(line, " "), "  ")))
	}
	w.close(&literal)
}

// close ends a block of unchanged lines.
func (w *writer) close(literal *bool) {
	if *literal {
		w.macro("fi")
		*literal = false
	}
}

// callText formats a way to call a command: its own words are bold, and placeholders, in
// capitals, are italic.
func callText(call string, own []string) string {
	var parts []string
	for i, word := range strings.Fields(call) {
		switch {
		case i < len(own) && word == own[i], strings.HasPrefix(word, "-"), word == strings.ToLower(word):
			parts = append(parts, bold(word))
		default:
			parts = append(parts, italic(word))
		}
	}
	return strings.Join(parts, " ")
}

func bold(s string) string   { return `\fB` + text(s) + `\fR` }
func italic(s string) string { return `\fI` + text(s) + `\fR` }

// special maps the characters that roff interprets, or typesets as a similar character that
// cannot be pasted into a shell.
var special = map[rune]string{
	'\\': `\e`, '-': `\-`, '\'': `\(aq`, '"': `\(dq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`,
}

// text escapes one line of text. Control characters become blanks, and other characters
// outside of ASCII are written as numbers, which all formatters understand.
func text(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch esc, ok := special[r]; {
		case ok:
			b.WriteString(esc)
		case r < ' ' || r >= 0x7f && r < 0xa0:
			b.WriteByte(' ')
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
