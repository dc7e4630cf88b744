package carrier

import (
	"bytes"
	"iter"
	"strings"

	"github.com/looprun/looprun/internal/escape"
	"github.com/looprun/looprun/internal/jsontext"
)

// value is a value of JSON and the name by which it is a member. The zero value is none.
type value struct {
	name, raw []byte // raw is what is written, as far as it was read
	cut       bool   // its rest is unknown
}

// is reports whether the value begins with one of some bytes, which tells what it is.
func (v value) is(first string) bool {
	return len(v.raw) > 0 && strings.IndexByte(first, v.raw[0]) >= 0
}

// inner returns the value as it is written, a text without quotes.
func (v value) inner() []byte {
	switch {
	case !v.is(`"`):
		return v.raw
	case v.cut:
		return v.raw[1:]
	}
	return v.raw[1 : len(v.raw)-1]
}

// text returns the value, a text with its escapes decoded. Few have any.
func (v value) text() []byte {
	if !v.is(`"`) || bytes.IndexByte(v.raw, '\\') < 0 {
		return v.inner()
	}
	return jsontext.Unescape(nil, v.inner())
}

// members yields the values in a list or record, as far as they have been read.
func (v value) members() iter.Seq[value] {
	return func(yield func(value) bool) {
		if !v.is("{[") {
			return
		}
		for rest := v.raw[1:]; ; {
			c, n := value{}, 0
			if v.is("{") {
				c, n = next(rest)
				c.name, rest = c.text(), rest[n:]
			}
			name := c.name
			c, n = next(rest)
			c.name, rest = name, rest[n:]
			if len(c.raw) == 0 || !yield(c) {
				return
			}
		}
	}
}

// next reads the next value of p and what is in front of it, and returns how much it read.
func next(p []byte) (v value, n int) {
	for n < len(p) && bytes.IndexByte([]byte(" \t\r\n,:\x1b"), p[n]) >= 0 {
		n += blank(p[n:])
	}
	depth := 0
	for i := n; i < len(p); i++ {
		switch c := p[i]; {
		case c == '"':
			for i++; i < len(p) && p[i] != '"'; i++ {
				if p[i] == '\\' {
					i++
				}
			}
			if i+1 < len(p) && p[i+1] == '"' { // its rest is not held
				if i++; depth == 0 {
					return value{raw: p[n : i-1], cut: true}, i + 1
				}
			}
		case c == '{', c == '[':
			depth++
		case depth == 0 && bytes.IndexByte([]byte(" \t\r\n,:\x1b]}"), c) >= 0: // after a word
			return value{raw: p[n:i]}, i
		case c == '}', c == ']':
			depth--
		case c == '\x1b':
			i += blank(p[i:]) - 1
			continue
		default:
			continue
		}
		if depth == 0 && i < len(p) {
			return value{raw: p[n : i+1]}, i + 1
		}
	}
	return value{raw: p[n:], cut: true}, len(p)
}

// blank returns the length of an escape sequence, and 1 for any other byte.
func blank(p []byte) (n int) {
	var e colours
	for n < len(p) {
		if _, in := e.take(p[n]); !in || !e.Open() {
			return n + 1
		}
		n++
	}
	return n
}

// each calls do for each value at a path below another. The name * matches any member, and any
// element of a list. An object may have a name twice, and names with dots in them.
func (v value) each(path string, do func(value)) {
	if path == "" || path == "." {
		do(v)
		return
	}
	first, rest, _ := strings.Cut(path, ".")
	if v.is("[") && first != "*" {
		return
	}
	for c := range v.members() {
		switch {
		case first == "*" || string(c.name) == first:
			c.each(rest, do)
		case string(c.name) == path:
			do(c)
		}
	}
}

// find returns the last value at the first of the paths at which there is one.
func (v value) find(paths string) (found value) {
	for one := range each(paths) {
		v.each(one, func(c value) {
			if !c.is("n") {
				found = c
			}
		})
		if found.raw != nil {
			break
		}
	}
	return found
}

// first returns the first text in the value.
func (v value) first() []byte {
	if v.is(`"`) {
		return v.text()
	}
	for c := range v.members() {
		if text := c.first(); text != nil {
			return text
		}
	}
	return nil
}

// colours tracks the escape sequences that may occur between the values of an object: ESC [
// and the rest of the sequence.
type colours struct{ escape.Scanner }

// take reads a character and reports whether it is allowed there, and whether it is part of a
// sequence.
func (c *colours) take(b byte) (ok, in bool) {
	if b != '\x1b' && !c.Open() {
		return true, false
	}
	step := c.Take(b)
	return step != escape.Broken && (step == escape.Text || c.Kind() == escape.Control || b == '\x1b'), step != escape.Text
}
