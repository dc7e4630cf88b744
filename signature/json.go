package signature

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/ascii"
)

// Bounds of one JSON document that is read as it streams past.
const (
	maxDepth  = 48
	maxScalar = 8192 // bytes of a string that are kept
	maxFields = 40   // members of an object that are kept
)

// jsonReader reads one JSON document in pieces of any size. For each object that
// ends it calls done, with the members that hold texts, numbers and booleans.
type jsonReader struct {
	done  func(r *jsonReader, o *object)
	value func(r *jsonReader, key string, v string) // a text in an array

	stack []object
	state jsonState
	tok   []byte // the string, number or word being read
	esc   bool   // after a backslash
	isKey bool
	key   string
}

type jsonState byte

const (
	jsonIdle   jsonState = iota // no document
	jsonValue                   // a value may come
	jsonFirst                   // a value or ']' may come
	jsonKey                     // a key must come
	jsonKeyEnd                  // a key or '}' may come
	jsonColon
	jsonAfter // ',' or an end may come
	jsonString
	jsonWord
)

// object is an object or array that is being read, or has just ended.
type object struct {
	key    string // under which it stands
	array  bool
	fields []member1 // of an array only the first text, as "0"
}

// member1 is one member of an object.
type member1 struct{ key, value string }

// get returns the first of the members that is there and not empty.
func (o *object) get(keys ...string) string {
	for _, k := range keys {
		for i := range o.fields {
			if o.fields[i].key == k && o.fields[i].value != "" {
				return o.fields[i].value
			}
		}
	}
	return ""
}

func (o *object) set(key, value string) {
	if len(o.fields) < maxFields {
		o.fields = append(o.fields, member1{key, value})
	}
}

// active says whether a document has begun and not ended.
func (r *jsonReader) active() bool { return r.state != jsonIdle }

// start begins a document.
func (r *jsonReader) start() { r.stack, r.state, r.tok = r.stack[:0], jsonValue, r.tok[:0] }

// jsonStart says whether a line may begin a JSON object or array.
func jsonStart(b []byte) bool {
	if len(b) == 0 || b[0] != '{' && b[0] != '[' {
		return false
	}
	rest := trim(b[1:])
	if len(rest) == 0 {
		return true
	}
	if b[0] == '{' {
		return rest[0] == '"' || rest[0] == '}'
	}
	return rest[0] == '{' || rest[0] == '[' || rest[0] == '"' || rest[0] == ']'
}

// feed takes the next piece. It returns false when this is no JSON; after the end
// of the document only white space may follow in the piece.
func (r *jsonReader) feed(p []byte) bool {
	for i := 0; i < len(p); i++ {
		switch r.state {
		case jsonString:
			i = r.inString(p, i)
		case jsonWord:
			if c := p[i]; letter(c) || ascii.Digit(c) || c == '.' || c == '-' || c == '+' {
				r.keep(c)
				continue
			}
			if i--; !r.word() {
				r.state = jsonIdle
				return false
			}
		default:
			if !r.structure(p[i]) {
				r.state = jsonIdle
				return false
			}
		}
	}
	return true
}

func (r *jsonReader) keep(c byte) {
	if len(r.tok) < maxScalar {
		r.tok = append(r.tok, c)
	}
}

// structure takes a byte outside of strings and words.
func (r *jsonReader) structure(c byte) bool {
	if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return true
	}
	switch r.state {
	case jsonIdle: // something after the end
		return false
	case jsonValue, jsonFirst:
		return r.begin(c)
	case jsonKey, jsonKeyEnd:
		switch {
		case c == '"':
			r.state, r.isKey, r.tok = jsonString, true, r.tok[:0]
			return true
		case c == '}' && r.state == jsonKeyEnd:
			return r.end(c)
		}
		return false
	case jsonColon:
		r.state = jsonValue
		return c == ':'
	case jsonAfter:
		if c != ',' {
			return r.end(c)
		}
		r.state = jsonKey
		if r.stack[len(r.stack)-1].array {
			r.state = jsonValue
		}
		return true
	}
	return false
}

func (r *jsonReader) begin(c byte) bool {
	switch {
	case c == '{' || c == '[':
		if len(r.stack) == maxDepth {
			return false
		}
		n := len(r.stack)
		r.stack = slices.Grow(r.stack, 1)[:n+1]
		r.stack[n] = object{key: r.key, array: c == '[', fields: r.stack[n].fields[:0]}
		if n > 0 && r.stack[n-1].array {
			r.stack[n].key = r.stack[n-1].key
		}
		r.key = ""
		r.state = jsonKeyEnd
		if c == '[' {
			r.state = jsonFirst
		}
	case c == ']' && r.state == jsonFirst:
		return r.end(c)
	case len(r.stack) == 0:
		return false
	case c == '"':
		r.state, r.isKey, r.tok = jsonString, false, r.tok[:0]
	case c == '-' || ascii.Digit(c) || c == 't' || c == 'f' || c == 'n':
		r.state, r.tok = jsonWord, append(r.tok[:0], c)
	default:
		return false
	}
	return true
}

// end takes the end of an object or array.
func (r *jsonReader) end(c byte) bool {
	n := len(r.stack) - 1
	if n < 0 || r.stack[n].array != (c == ']') {
		return false
	}
	o := &r.stack[n]
	if !o.array && r.done != nil {
		r.done(r, o)
	}
	r.stack = r.stack[:n]
	r.key = ""
	r.state = jsonAfter
	if n == 0 {
		r.state = jsonIdle
	}
	return true
}

// inString takes bytes of a string from i on and returns the last one taken.
func (r *jsonReader) inString(p []byte, i int) int {
	for ; i < len(p); i++ {
		switch c := p[i]; {
		case r.esc || c == '\\':
			r.esc = !r.esc
			r.keep(c)
		case c == '"':
			r.endString()
			return i
		default:
			n := bytes.IndexAny(p[i:], "\"\\")
			if n < 0 {
				n = len(p) - i
			}
			if room := maxScalar - len(r.tok); room > 0 {
				r.tok = append(r.tok, p[i:i+min(n, room)]...)
			}
			i += n - 1
		}
	}
	return i
}

func (r *jsonReader) endString() {
	text := string(r.tok)
	if strings.IndexByte(text, '\\') >= 0 {
		text = unescaped(text)
	}
	if r.isKey {
		r.key = text
		r.state = jsonColon
		return
	}
	r.scalar(text)
}

// unescaped is a string without its escapes, as far as they are whole.
func unescaped(s string) string {
	var text string
	for n := len(s); n > len(s)-12 && n > 0; n-- { // a pair of \uXXXX may be cut
		if json.Unmarshal([]byte(`"`+s[:n]+`"`), &text) == nil {
			return strings.ReplaceAll(text, "\r", " ")
		}
	}
	return s
}

// word takes a number, true, false or null that has ended.
func (r *jsonReader) word() bool {
	w := string(r.tok)
	if letter(w[0]) && w != "true" && w != "false" && w != "null" {
		return false
	}
	if w == "null" {
		w = ""
	}
	r.scalar(w)
	return true
}

func (r *jsonReader) scalar(v string) {
	top := &r.stack[len(r.stack)-1]
	if top.array {
		if len(top.fields) == 0 {
			top.set("0", v)
		}
		if r.value != nil {
			r.value(r, top.key, v)
		}
	} else {
		top.set(r.key, v)
		r.key = ""
	}
	r.state = jsonAfter
}
