package carrier

import (
	"bytes"
	"strings"

	"github.com/looprun/looprun/internal/escape"
	"github.com/looprun/looprun/internal/jsontext"
)

// Limits of one object.
const (
	maxNodes  = 1 << 15
	spare     = 128 << 10 // room, within maxLine, for what comes after the texts of a long object
	shortText = 256       // how much of each text is kept when there is little room, in bytes
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
	cut         bool  // the rest of the text was left out
	key, keyEnd int32 // as written, without quotes
	at, end     int32 // as written, a text without quotes; an end of 0: it has not come
	child, next int32 // in nodes, 0: none
}

// document reads an object as it streams past, across lines, with whatever is in front of it.
// Its buffers are reused for the next one.
type document struct {
	src   []byte // what is held
	json  jsontext.Scanner
	nodes []node   // the first is the object
	open  []branch // the lists and records that have not ended
	key   [2]int32 // the name of the next member
	first [2]int32 // the first name of the object; zero: it has not come
	esc   colours
	brace int  // where the object begins; -1: it has not come
	list  bool // it is the first entry of a list
	lines int  // line ends in the object
	began int  // where the text begins that is being read
	short bool // the rest of that text is left out
}

// branch is a list or record whose members are being read: its number, and that of the last
// member so far.
type branch struct{ of, last int32 }

// reset starts another object.
func (d *document) reset() {
	*d = document{src: d.src[:0], nodes: d.nodes[:0], open: d.open[:0], brace: -1}
	d.json.Lenient = true
}

// cut reports whether the object has not ended, or has more values than are kept.
func (d *document) cut() bool { return len(d.open) > 0 || len(d.nodes) == maxNodes }

// take reads a byte of the object, other than those within a text. It returns false if the
// byte cannot be there.
func (d *document) take(c byte) bool {
	at := int32(len(d.src))
	switch d.json.Take(c) {
	case jsontext.Malformed:
		return false
	case jsontext.Open:
		k := record
		if c == '[' {
			k = list
		}
		d.open = append(d.open, branch{of: d.value(k, at)})
	case jsontext.Close:
		n := len(d.open) - 1
		if of := d.open[n].of; of != none {
			d.nodes[of].end = at + 1
		}
		d.open = d.open[:n]
	case jsontext.Text:
		if d.began = int(at) + 1; !d.json.Name() {
			d.value(text, at+1)
		}
	case jsontext.TextEnd:
		d.textEnd(at)
	case jsontext.Word:
		d.value(other, at)
	case jsontext.WordEnd:
		if n := d.latest(); n != nil {
			if n.end = at; d.src[n.at] == 'n' {
				n.kind = null
			}
		}
		return d.take(c)
	case jsontext.Inside:
	}
	return true
}

func (d *document) textEnd(at int32) {
	d.short = false
	if !d.json.Name() {
		if n := d.latest(); n != nil {
			n.end = at
		}
		return
	}
	d.key = [2]int32{int32(d.began), at}
	if d.first[1] == 0 {
		d.first = d.key
	}
}

// value adds a value, and returns its number, or none if there are too many.
func (d *document) value(k kind, at int32) int32 {
	i := int32(len(d.nodes))
	if i == maxNodes {
		return none
	}
	d.nodes = append(d.nodes, node{kind: k, at: at, key: d.key[0], keyEnd: d.key[1]})
	d.key = [2]int32{}
	if n := len(d.open); n > 0 {
		b := &d.open[n-1]
		if b.last == 0 {
			d.nodes[b.of].child = i
		} else {
			d.nodes[b.last].next = i
		}
		b.last = i
	}
	return i
}

// latest returns the value that was added last, or nil if it may not be the latest of the
// object.
func (d *document) latest() *node {
	if len(d.nodes) == maxNodes {
		return nil
	}
	return &d.nodes[len(d.nodes)-1]
}

func (d *document) called(i int32) []byte { return unescaped(d.src[d.nodes[i].key:d.nodes[i].keyEnd]) }

// unescaped returns a text with its escapes decoded; names hardly ever have any.
func unescaped(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return jsontext.Unescape(nil, raw)
}

// raw returns a value as it is written, as far as it was read.
func (d *document) raw(i int32) []byte {
	if n := &d.nodes[i]; n.end > 0 {
		return d.src[n.at:n.end]
	}
	return d.src[d.nodes[i].at:]
}

// isCut reports whether only the beginning of a value was read.
func (d *document) isCut(i int32) bool { return d.nodes[i].cut || d.nodes[i].end == 0 }

// none is the number that stands for no value.
const none int32 = -1

// each calls do for each value at a path below another. The name * matches any member, and any
// element of a list. An object may have a name twice, and names with dots in them.
func (d *document) each(i int32, path string, do func(i int32)) {
	if path == "" || path == "." {
		do(i)
		return
	}
	first, rest, _ := strings.Cut(path, ".")
	if k := d.nodes[i].kind; k != record && (k != list || first != "*") {
		return
	}
	for c := d.nodes[i].child; c != 0; c = d.nodes[c].next {
		switch name := d.called(c); {
		case first == "*" || string(name) == first:
			d.each(c, rest, do)
		case string(name) == path:
			do(c)
		}
	}
}

// get returns the last value at a path below another, or none.
func (d *document) get(i int32, path string) int32 {
	found := none
	d.each(i, path, func(c int32) { found = c })
	return found
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
