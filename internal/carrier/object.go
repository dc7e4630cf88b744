package carrier

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of one object.
const (
	maxDepth = 64
	maxNodes = 1 << 15
)

type kind byte

const (
	other kind = iota // a number, true or false
	null
	text
	list
	record
)

// node is a value of a document: its position and its name.
type node struct {
	kind        kind
	cut         bool  // the document ended in it
	key, keyEnd int32 // as written, without quotes
	at, end     int32 // as written, a text without quotes
	child, next int32 // in nodes, 0: none
}

// document is a JSON document that may be cut off at its end. The nodes are reused for the
// next one.
type document struct {
	src   []byte
	pos   int
	nodes []node // the first is the document itself
	cut   bool
	full  bool    // it has more values than are read, and is cut off there
	short []int32 // where the texts end of which only the beginning is there
}

// read parses src, and reports whether it is one JSON value, whole or cut off.
func (d *document) read(src []byte) bool {
	d.src, d.pos, d.nodes, d.cut = src, 0, d.nodes[:0], false
	d.full = false
	if d.value(0) == none {
		return false
	}
	d.space()
	return d.cut || d.pos == len(src)
}

func (d *document) space() {
	for d.pos < len(d.src) {
		switch d.src[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// value parses a value and returns its number, or none.
func (d *document) value(depth int) int32 {
	if depth > maxDepth {
		return none
	}
	d.space()
	i := int32(len(d.nodes))
	d.nodes = append(d.nodes, node{at: int32(d.pos)})
	d.full = d.full || i == maxNodes
	if d.pos == len(d.src) || d.full {
		d.cut = true
		d.nodes[i].kind, d.nodes[i].cut, d.nodes[i].end = null, true, int32(d.pos)
		return i
	}
	ok := true
	switch c := d.src[d.pos]; c {
	case '{':
		d.nodes[i].kind = record
		ok = d.members(i, '}', depth)
	case '[':
		d.nodes[i].kind = list
		ok = d.members(i, ']', depth)
	case '"':
		d.nodes[i].kind = text
		d.nodes[i].at++
		d.pos++
		d.string()
		d.nodes[i].cut = d.cut
	default:
		if ok = d.word(); ok && d.src[d.nodes[i].at] == 'n' {
			d.nodes[i].kind = null
		}
	}
	if !ok {
		return none
	}
	d.nodes[i].end = int32(d.pos)
	if d.nodes[i].kind == text && !d.cut {
		d.nodes[i].end--
		d.nodes[i].cut = len(d.short) > 0 && slices.Contains(d.short, d.nodes[i].end)
	}
	return i
}

// members parses the contents of a list or a record, from its opening to its closing bracket.
func (d *document) members(of int32, closing byte, depth int) bool {
	d.pos++
	last, first := int32(0), true
	for !d.cut {
		if d.space(); d.pos == len(d.src) {
			d.cut = true
			break
		}
		if d.src[d.pos] == closing {
			d.pos++
			return true
		}
		if !first {
			if d.src[d.pos] != ',' {
				return false
			}
			d.pos++
		}
		first = false
		from, to, ok := d.name(closing)
		if !ok {
			return false
		}
		if d.cut {
			break
		}
		i := d.value(depth + 1)
		if i == none {
			return false
		}
		d.nodes[i].key, d.nodes[i].keyEnd = from, to
		if last == 0 {
			d.nodes[of].child = i
		} else {
			d.nodes[last].next = i
		}
		last = i
	}
	return true
}

// name parses the name of a record's member and its colon; the elements of a list have none.
func (d *document) name(closing byte) (from, to int32, ok bool) {
	if closing == ']' {
		return 0, 0, true
	}
	if d.space(); d.pos == len(d.src) {
		d.cut = true
		return 0, 0, true
	}
	if d.src[d.pos] != '"' {
		return 0, 0, false
	}
	d.pos++
	from = int32(d.pos)
	d.string()
	to = int32(d.pos) - 1
	if d.space(); d.cut || d.pos == len(d.src) {
		d.cut = true
		return 0, 0, true
	}
	if d.src[d.pos] != ':' {
		return 0, 0, false
	}
	d.pos++
	return from, to, true
}

// string advances past the quote that ends a text.
func (d *document) string() {
	for {
		i := bytes.IndexByte(d.src[d.pos:], '"')
		if i < 0 {
			d.pos, d.cut = len(d.src), true
			return
		}
		end := d.pos + i
		slashes := 0
		for end-slashes > d.pos && d.src[end-slashes-1] == '\\' {
			slashes++
		}
		d.pos = end + 1
		if slashes%2 == 0 {
			return
		}
	}
}

// word advances past a number, true, false or null.
func (d *document) word() bool {
	from := d.pos
	for d.pos < len(d.src) {
		c := d.src[d.pos]
		if c != '+' && c != '-' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != 'E' {
			break
		}
		d.pos++
	}
	if d.pos == len(d.src) {
		d.cut = true
	}
	return d.pos > from
}

func (d *document) called(i int32) []byte { return unescaped(d.src[d.nodes[i].key:d.nodes[i].keyEnd]) }

// unescaped returns a text with its escapes decoded; names hardly ever have any.
func unescaped(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return appendString(nil, raw)
}

// raw returns a value as it is written.
func (d *document) raw(i int32) []byte { return d.src[d.nodes[i].at:d.nodes[i].end] }

// none is the number that stands for no value.
const none int32 = -1

// get returns the value at a path below another. The name * matches any member, and any
// element of a list. If several values match, the last one counts.
func (d *document) get(i int32, path []string) int32 {
	for _, name := range path {
		found := none
		if k := d.nodes[i].kind; k == record || k == list && name == "*" {
			for c := d.nodes[i].child; c != 0; c = d.nodes[c].next {
				if name == "*" || string(d.called(c)) == name {
					found = c
				}
			}
		}
		if found == none {
			return none
		}
		i = found
	}
	return i
}

// count returns how many values other than null there are at a path, and for how many of them
// holds returns true. An object may have a name twice.
func (d *document) count(i int32, path []string, holds func(raw []byte) bool) (all, held int) {
	if len(path) == 0 {
		if d.nodes[i].kind == null {
			return 0, 0
		}
		if holds == nil || holds(d.raw(i)) {
			held = 1
		}
		return 1, held
	}
	if k := d.nodes[i].kind; k != record && (k != list || path[0] != "*") {
		return 0, 0
	}
	for c := d.nodes[i].child; c != 0; c = d.nodes[c].next {
		if path[0] == "*" || string(d.called(c)) == path[0] {
			a, h := d.count(c, path[1:], holds)
			all, held = all+a, held+h
		}
	}
	return all, held
}

// appendString appends a text with its escapes decoded.
func appendString(to, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(to, raw...)
		}
		to = append(to, raw[:i]...)
		raw = raw[i:]
		if len(raw) < 2 {
			return to // cut off
		}
		if raw[1] == 'u' {
			r, n := escaped(raw)
			if n == 0 {
				return to
			}
			to, raw = utf8.AppendRune(to, r), raw[n:]
			continue
		}
		c := raw[1]
		if j := bytes.IndexByte([]byte("bfnrt"), c); j >= 0 {
			c = "\b\f\n\r\t"[j]
		}
		to, raw = append(to, c), raw[2:]
	}
}

// escaped returns the character for an escape that begins with \u, and the number of bytes
// read; 0 means that it is cut off.
func escaped(raw []byte) (rune, int) {
	r, ok := hex(raw)
	if !ok {
		if len(raw) < 6 {
			return 0, 0
		}
		return utf8.RuneError, 6
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
		if low, ok := hex(raw[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 12
			}
		}
	}
	return utf8.RuneError, 6
}

func hex(raw []byte) (rune, bool) {
	if len(raw) < 6 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}
