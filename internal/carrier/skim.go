package carrier

import (
	"bytes"

	"github.com/looprun/looprun/internal/escape"
)

// skim follows a possible object to its end, across lines. It knows just enough JSON to find
// the end, or to see that there is none; [document] parses it.
type skim struct {
	open  int // where its brace is in what is held; -1: it has not come
	depth int
	list  bool // it is the first entry of a list
	lines int
	text  bool // in a text
	slash bool // the character before this was a backslash
	after bool // a value has ended
	word  bool // in a number, true, false or null
	esc   colours
	began int     // where the text begins
	cut   bool    // the rest of the text is left out
	first [2]int  // where the object's first name is; zero: it has not come
	short []int32 // where the texts end that were shortened, counted from the brace
}

// ending is the outcome for the text held.
type ending byte

const (
	more ending = iota
	whole
	broken // it is no object
	full   // there is no room for it
)

// spare is the room, within maxLine, for what comes after the texts of a long object.
const spare = 128 << 10

// shortText is how much of each text is kept when there is little room, in bytes.
const shortText = 256

// bare reports whether the object is at the beginning of a line and on a single line.
func (k *skim) bare(s *Stream) bool { return k.open == 0 && k.lines == 0 && !s.mid }

// follow holds the part of p that belongs to a possible object.
func (s *Stream) follow(p []byte) (n int, end ending) {
	k := &s.skim
	for n < len(p) {
		if k.text {
			var ok bool
			if n, ok = s.followText(p, n); !ok {
				return n, broken
			}
			continue
		}
		if len(s.line) >= maxLine {
			return n, full
		}
		c := p[n]
		ok, in := k.esc.take(c)
		switch {
		case !ok:
			return n, broken
		case in:
		case k.depth == 0:
			ok = s.followLead(c)
		default:
			ok = k.take(c, len(s.line))
		}
		if ok && c == '\n' && k.depth > 0 {
			k.lines++
			ok = k.first[1] == 0 || s.named()
		}
		if !ok {
			return n, broken
		}
		s.line = append(s.line, c)
		if n++; k.depth == 0 && k.open >= 0 {
			return n, whole
		}
	}
	return n, more
}

// followLead reads the text before the brace.
func (s *Stream) followLead(c byte) bool {
	k := &s.skim
	switch {
	case c == '{':
		k.open, k.depth = len(s.line), 1
		return true
	case c == '\n':
		return string(bytes.Trim(s.line, " \t\r")) == "["
	}
	k.list = k.list || c == '['
	return leads(c) && len(s.line) < maxLead
}

// take reads a character outside of texts; at is where it will be held.
func (k *skim) take(c byte, at int) bool {
	fresh := k.first == [2]int{}
	wasWord := k.word
	k.word = false
	switch c {
	case ' ', '\t', '\r', '\n':
		return true
	case '"':
		k.text, k.began = true, at+1
		return !k.after
	case '{', '[':
		k.depth++
		return !k.after && !fresh && k.depth <= maxDepth
	case '}', ']':
		k.depth--
		k.after = true
		return !fresh
	case ',', ':':
		ok := k.after && !fresh
		k.after = false
		return ok
	}
	k.word = c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == 'E'
	ok := k.word && !fresh && (!k.after || wasWord)
	k.after = true
	return ok
}

// followText reads more of a text, from n on. For a long object it keeps only the beginnings
// of texts.
func (s *Stream) followText(p []byte, n int) (int, bool) {
	k := &s.skim
	for n < len(p) && k.text {
		keep := 1
		switch {
		case k.slash:
			k.slash = false
		case p[n] == '"':
			k.text, k.after = false, true
		case p[n] == '\n':
			return n, false
		default:
			if k.slash = p[n] == '\\'; !k.slash {
				if keep = bytes.IndexAny(p[n:], "\"\\\n"); keep < 0 {
					keep = len(p) - n
				}
			}
			room := max(maxLine-spare-len(s.line), shortText-(len(s.line)-k.began))
			if keep > room && !k.cut && s.shortens() {
				k.cut = true
				s.line = append(s.line, p[n:n+max(0, room)]...)
			}
		}
		if !k.cut {
			if keep = min(keep, maxLine-len(s.line)); keep <= 0 {
				return n, false
			}
			s.line = append(s.line, p[n:n+keep]...)
		}
		n += keep
	}
	if k.text {
		return n, true
	}
	if k.cut {
		k.cut, k.short = false, append(k.short, int32(len(s.line)-k.open))
		s.line = append(s.line, '"')
	}
	if k.first[1] == 0 {
		k.first = [2]int{k.began, len(s.line) - 1}
		return n, k.lines == 0 || s.named()
	}
	return n, true
}

// named reports whether the object begins with a name that an agent's object may begin with.
func (s *Stream) named() bool {
	return s.table().names[string(s.line[s.skim.first[0]:s.skim.first[1]])]
}

// shortens reports whether the object, of which only the beginning is held, is an agent's.
func (s *Stream) shortens() bool {
	k := &s.skim
	if k.first[1] == 0 || k.open < 0 {
		return false
	}
	if s.named() {
		return true
	}
	d := &s.doc
	d.short = k.short
	return d.read(s.line[k.open:]) && s.table().of(d, 0, s.seen) != nil
}

// colours tracks the escape sequences that may occur between the values of an object: ESC [
// and the rest of the sequence.
type colours struct{ escape.Scanner }

// take reads a character and reports whether it is allowed there, and whether it is part of a
// sequence.
func (c *colours) take(b byte) (ok, in bool) {
	step := c.Take(b)
	return step != escape.Broken && (step == escape.Text || c.Kind() == escape.Control || b == '\x1b'), step != escape.Text
}

// withoutEscapes returns an object without the escape sequences between its values.
func withoutEscapes(src []byte) []byte {
	if bytes.IndexByte(src, '\x1b') < 0 {
		return src
	}
	var out []byte
	var e colours
	for _, c := range src {
		if _, in := e.take(c); !in {
			out = append(out, c)
		}
	}
	return out
}
