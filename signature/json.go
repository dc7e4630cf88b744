package signature

import (
	"bytes"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/jsontext"
)

// Limits of one JSON document that is read as it streams past.
const (
	maxDepth  = 48
	maxScalar = 8192 // bytes of a string that are kept
	maxFields = 40   // members of an object that are kept
)

// jsonReader reads one JSON document in pieces of any size. At the end of each object it calls
// done, with the members that hold texts, numbers and booleans.
type jsonReader struct {
	done  func(r *jsonReader, o *object)
	value func(r *jsonReader, key string, v string) // a text in an array

	json  jsontext.Scanner
	open  bool // a document has begun and not ended
	stack []object
	tok   []byte // the text, number or word being read
	key   string
}

// object is an object or array that is being read or has just ended.
type object struct {
	key    string // under which it stands
	array  bool
	fields []member1 // of an array only the first text, as "0"
}

// member1 is one member of an object.
type member1 struct{ key, value string }

// get returns the first of the members that is present and not empty.
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

// active reports whether a document has begun and not ended.
func (r *jsonReader) active() bool { return r.open }

// start starts a document.
func (r *jsonReader) start() {
	r.json.Reset()
	r.json.Lenient = true
	r.open, r.stack, r.key = true, r.stack[:0], ""
}

// jsonStart reports whether a line may begin a JSON object or array.
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

// feed reads the next piece. It returns false if this is not JSON; after the end of the
// document only white space may follow in the piece.
func (r *jsonReader) feed(p []byte) bool {
	for i := 0; i < len(p); {
		if !r.open {
			return len(bytes.TrimSpace(p[i:])) == 0
		}
		if n := r.json.Plain(p[i:]); n > 0 {
			r.keep(p[i : i+n])
			i += n
			continue
		}
		step := r.json.Take(p[i])
		if !r.take(step, p[i:i+1]) {
			r.open = false
			return false
		}
		if step != jsontext.WordEnd {
			i++
		}
	}
	return true
}

func (r *jsonReader) keep(p []byte) { r.tok = append(r.tok, p[:min(len(p), maxScalar-len(r.tok))]...) }

// take reads the next byte.
func (r *jsonReader) take(step jsontext.Step, c []byte) bool {
	switch step {
	case jsontext.Malformed:
		return false
	case jsontext.Open:
		return r.begin(c[0] == '[')
	case jsontext.Close:
		r.end()
	case jsontext.Text:
		r.tok = r.tok[:0]
	case jsontext.TextEnd:
		r.endText()
	case jsontext.Word:
		r.tok = append(r.tok[:0], c...)
	case jsontext.WordEnd:
		if string(r.tok) == "null" {
			r.tok = r.tok[:0]
		}
		r.scalar(string(r.tok))
	case jsontext.Inside:
		if r.json.InText() || r.json.InWord() {
			r.keep(c)
		}
	}
	return true
}

// begin begins an object or an array; it returns false if it is nested too deep.
func (r *jsonReader) begin(array bool) bool {
	n := len(r.stack)
	if n == maxDepth {
		return false
	}
	r.stack = slices.Grow(r.stack, 1)[:n+1]
	r.stack[n] = object{key: r.key, array: array, fields: r.stack[n].fields[:0]}
	if n > 0 && r.stack[n-1].array {
		r.stack[n].key = r.stack[n-1].key
	}
	r.key = ""
	return true
}

// end ends the innermost object or array.
func (r *jsonReader) end() {
	n := len(r.stack) - 1
	if o := &r.stack[n]; !o.array && r.done != nil {
		r.done(r, o)
	}
	r.stack, r.key, r.open = r.stack[:n], "", n > 0
}

func (r *jsonReader) endText() {
	text := string(r.tok)
	if strings.IndexByte(text, '\\') >= 0 {
		text = strings.ReplaceAll(string(jsontext.Unescape(nil, r.tok)), "\r", " ")
	}
	if r.json.Name() {
		r.key = text
		return
	}
	r.scalar(text)
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
}
