package signal

import (
	"bytes"
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// fence is the code block that a line stands in. The zero value is none.
type fence struct {
	char   byte // ` or ~; 0: in no block
	length int  // of the opening fence; a closing one is at least as long
	listed bool // in a list item, where the closing fence is indented
}

// Bounds of a fence. See the package documentation for the last.
const (
	shortest   = 3
	indentMost = 3
	ruler      = 8 // more tildes underline something
)

// take reads a line, as it was printed and as it is shown, and reports whether
// it belongs to a block, its fences included. Only characters that were printed
// in a row make a fence: skip looks for them.
func (f *fence) take(raw []byte, line string) bool {
	if f.char != 0 {
		if run(raw, f.char) && f.closes(line) {
			*f = fence{}
		}
		return true
	}
	if !run(raw, '`') && !run(raw, '~') {
		return false
	}
	text, indent := unindent(line)
	if indent > indentMost {
		return false
	}
	item := unlist(text)
	if opened, ok := opening(item); ok {
		opened.listed = len(item) < len(text)
		*f = opened
		return true
	}
	return false
}

func opening(text string) (fence, bool) {
	if text == "" || (text[0] != '`' && text[0] != '~') {
		return fence{}, false
	}
	char := text[0]
	info := strings.TrimLeft(text, string(char))
	n := len(text) - len(info)
	if n < shortest {
		return fence{}, false
	}
	info = strings.TrimSpace(info)
	if char == '`' && strings.ContainsRune(info, '`') {
		return fence{}, false // code in a line: ```like this```
	}
	if char == '~' && (n > ruler || !word(info)) {
		return fence{}, false
	}
	return fence{char: char, length: n}, true
}

// word reports whether the text after tildes can name a language.
func word(info string) bool {
	return info == "" || info[0] == '{' || info[0] == '.' || info[0]|0x20 >= 'a' && info[0]|0x20 <= 'z'
}

func (f *fence) closes(line string) bool {
	text, indent := unindent(line)
	if indent > indentMost && !f.listed {
		return false
	}
	rest := strings.TrimLeft(text, string(f.char))
	return len(text)-len(rest) >= f.length && strings.TrimRight(rest, " \t") == ""
}

// unindent takes the indentation off and says how wide it is.
func unindent(line string) (string, int) {
	text := strings.TrimLeft(line, " \t")
	indent := 0
	for _, c := range line[:len(line)-len(text)] {
		if c == '\t' {
			indent += 4 - indent%4
			continue
		}
		indent++
	}
	return text, indent
}

// unlist takes the marker of a list item off, as in "- " and "1. ".
func unlist(text string) string {
	digits := 0
	for digits < len(text) && digits < 9 && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	n := digits
	switch {
	case n < len(text) && digits > 0 && (text[n] == '.' || text[n] == ')'):
	case len(text) > 0 && digits == 0 && strings.IndexByte("-*+", text[0]) >= 0:
	default:
		return text
	}
	rest := strings.TrimLeft(text[n+1:], " ")
	if spaces := len(text) - n - 1 - len(rest); spaces < 1 || spaces > 4 {
		return text
	}
	return rest
}

// skip reads only the fences of whole lines. Three of their characters in a row
// are rare, so that nearly all of it is two searches for a byte.
func (f *fence) skip(lines []byte) {
	tick, tilde := -1, -1 // the next of each at or after at; len(lines) for none
	for at := 0; at < len(lines); {
		if tick < at {
			tick = nextRun(lines, at, '`')
		}
		if tilde < at {
			tilde = nextRun(lines, at, '~')
		}
		hit := min(tick, tilde)
		if f.char == '`' {
			hit = tick
		} else if f.char == '~' {
			hit = tilde
		}
		if hit == len(lines) {
			return
		}
		end := len(lines)
		if i := bytes.IndexByte(lines[hit:], '\n'); i >= 0 {
			end = hit + i
		}
		// What is not among the first bytes of a line is not looked at.
		from := max(at, hit-longest)
		start := from
		if i := bytes.LastIndexByte(lines[from:hit], '\n'); i >= 0 {
			start = from + i + 1
		}
		if start == at || lines[start-1] == '\n' {
			raw := lines[start:min(end, start+longest)]
			f.take(raw, shown(raw))
		}
		at = end + 1
	}
}

func run(b []byte, char byte) bool { return nextRun(b, 0, char) < len(b) }

// nextRun is where three of the character in a row come next.
func nextRun(b []byte, at int, char byte) int {
	for at < len(b) {
		i := bytes.IndexByte(b[at:], char)
		if i < 0 {
			return len(b)
		}
		at += i
		n := 1
		for n < shortest && at+n < len(b) && b[at+n] == char {
			n++
		}
		if n == shortest {
			return at
		}
		at += n
	}
	return len(b)
}

// shown is the line as a terminal shows it.
func shown(line []byte) string {
	line = bytes.TrimRight(line, "\r")
	for _, c := range line {
		if c < ' ' || c > '~' {
			return termsafe.Text(string(line))
		}
	}
	return string(line)
}
