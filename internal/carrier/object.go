package carrier

import (
	"bytes"
	"cmp"
	"iter"
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
	past        int32 // the number after those of the values in it; 0: more may come
}

// document reads an object as it streams past, across lines. Its buffers are reused for the
// next one.
type document struct {
	src   []byte // what is held
	json  jsontext.Scanner
	nodes []node   // the first is the object, and each comes before the values in it
	open  []int32  // the lists and records that have not ended
	key   [2]int32 // the name of the next member
	esc   colours
	began int  // where the text begins that is being read
	short bool // the rest of that text is left out
}

// reset starts another object.
func (d *document) reset() {
	*d = document{src: d.src[:0], nodes: d.nodes[:0], open: d.open[:0]}
	d.json.Lenient = true
}

// cut reports whether the object has not ended, or may have more values than are kept.
func (d *document) cut() bool { return len(d.open) > 0 || len(d.nodes) == maxNodes }

// take reads a byte of the object, other than those within a text. It returns false if the
// byte cannot be there.
func (d *document) take(c byte) bool {
	at := int32(len(d.src))
	latest := d.latest()
	switch d.json.Take(c) {
	case jsontext.Malformed:
		return false
	case jsontext.Open:
		k := record
		if c == '[' {
			k = list
		}
		d.open = append(d.open, d.value(k, at))
	case jsontext.Close:
		n := len(d.open) - 1
		if i := d.open[n]; i != none {
			d.nodes[i].end, d.nodes[i].past = at+1, int32(len(d.nodes))
		}
		d.open = d.open[:n]
	case jsontext.Text:
		if d.began = int(at) + 1; !d.json.Name() {
			d.value(text, at+1)
		}
	case jsontext.TextEnd:
		if d.short = false; d.json.Name() {
			d.key = [2]int32{int32(d.began), at}
		} else {
			latest.end = at
		}
	case jsontext.Word:
		d.value(other, at)
	case jsontext.WordEnd:
		if latest.end = at; d.src[latest.at] == 'n' {
			latest.kind = null
		}
		return d.take(c)
	case jsontext.Inside:
	}
	return true
}

// value adds a value, and returns its number, or none if there are too many.
func (d *document) value(k kind, at int32) int32 {
	i := int32(len(d.nodes))
	n := node{kind: k, at: at, key: d.key[0], keyEnd: d.key[1]}
	if d.key = [2]int32{}; i == maxNodes {
		return none
	}
	if k < list {
		n.past = i + 1
	}
	d.nodes = append(d.nodes, n)
	return i
}

// latest returns the value that was added last; one of no document if that may be another.
func (d *document) latest() *node {
	if n := len(d.nodes); n > 0 && n < maxNodes {
		return &d.nodes[n-1]
	}
	return &node{}
}

// past returns the number after those of the values in another.
func (d *document) past(i int32) int32 {
	return cmp.Or(d.nodes[i].past, int32(len(d.nodes)))
}

// members yields the values in a list or record.
func (d *document) members(i int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for c := i + 1; c < d.past(i) && yield(c); c = d.past(c) {
		}
	}
}

// first returns the first name of the object; nil means that it has not come.
func (d *document) first() []byte {
	switch {
	case len(d.nodes) > 1:
		return d.called(1)
	case d.key[1] > 0:
		return d.src[d.key[0]:d.key[1]]
	}
	return nil
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
	for c := range d.members(i) {
		switch name := d.called(c); {
		case first == "*" || string(name) == first:
			d.each(c, rest, do)
		case string(name) == path:
			do(c)
		}
	}
}

// find returns the last value at the first of the paths at which there is one, or none.
func (d *document) find(i int32, paths string) int32 {
	found := none
	for one := range each(paths) {
		d.each(i, one, func(c int32) {
			if d.nodes[c].kind != null {
				found = c
			}
		})
		if found != none {
			break
		}
	}
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
