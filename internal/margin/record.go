package margin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/looprun/looprun/internal/ascii"
	"github.com/looprun/looprun/internal/datetime"
)

// A record is a line of a structured log: an object of JSON, perhaps with the same in
// front of it on every line but for numbers, or names and values with = between them.
// Where the lines of a block are records of one form, and nothing but one text differs
// from line to line, times, ids and numbers that rise apart, that text is what is written
// there, and the rest is a margin around it. With a level it may be a service's own log:
// there some of the texts must be set in, or empty, as only a tool's are.

// field is one of a record: of a text, what stands between its quotes.
type field struct {
	name, value []byte
	quoted      bool
}

// records are those of one stream.
type records struct {
	text   string // the name of the field that is the text; empty: there are none
	form   []byte // the names of the fields, and what stands in front of them
	front  bool   // something does
	fields []field
	key    []byte
}

const (
	maxFields   = 16
	leastRecord = 3 // lines
)

// learn looks whether most of the lines are records.
func (r *records) learn(lines [][]byte) {
	r.text = ""
	var columns [maxFields]fieldValues
	n, odd := 0, 0
	for _, b := range lines {
		if !r.read(b) || n > 0 && !bytes.Equal(r.form, r.key) {
			if odd++; 10*odd > len(lines) {
				return
			}
			continue
		}
		if n == 0 {
			r.form = append(r.form[:0], r.key...)
		}
		for i, f := range r.fields {
			columns[i].take(f)
		}
		n++
	}
	if n < leastRecord {
		return
	}
	text := -1
	for i := range columns[:bytes.Count(r.form, []byte{0})] {
		switch c := &columns[i]; {
		case !c.varies || c.drawn == n:
		case text < 0 && c.quoted > 0:
			text = i
		default:
			return
		}
	}
	names := bytes.Split(r.form, []byte{0})
	level := slices.ContainsFunc(names, func(n []byte) bool {
		return bytes.EqualFold(n, []byte("level")) || bytes.EqualFold(n, []byte("lvl")) || bytes.EqualFold(n, []byte("severity"))
	})
	if text >= 0 && (!level || 12*columns[text].indented >= n) {
		r.text = string(names[text])
	}
}

// fieldValues is what the values of a field have in common.
type fieldValues struct {
	first  []byte
	last   []byte
	varies bool
	drawn  int // so many are times, ids or numbers that rise
	quoted int // so many stand in quotes

	indented int // so many are empty or begin with white space
}

func (v *fieldValues) take(f field) {
	if v.first == nil {
		v.first = f.value
	}
	v.varies = v.varies || !bytes.Equal(v.first, f.value)
	if f.quoted {
		v.quoted++
	}
	if b := f.value; len(b) == 0 || b[0] == ' ' || bytes.HasPrefix(b, []byte(`\t`)) {
		v.indented++
	}
	if drawn(f.value) && (!counts(f.value) || !counts(v.last) || cmp.Or(cmp.Compare(len(v.last), len(f.value)), bytes.Compare(v.last, f.value)) <= 0) {
		v.drawn++
	}
	v.last = f.value
}

// counts says whether a value is a number so short that it may count something.
func counts(b []byte) bool { return len(b) < 6 && numeric(b) }

// drawn says whether a value is a time, a number or an id: it has no letters but those
// of times and of hexadecimal numbers.
func drawn(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	if datetime.Stamp(b, 0) == len(b) {
		return true
	}
	figures := 0
	for _, c := range b {
		switch {
		case ascii.Digit(c):
			figures++
		case c|0x20-'a' < 6, c == '-', c == '.', c == '+', c == ':':
		default:
			return false
		}
	}
	return figures > 0
}

// open returns the lines of the text of a record; nil where the line is none.
func (r *records) open(line []byte) [][]byte {
	if !r.read(line) || !bytes.Equal(r.form, r.key) {
		return nil
	}
	for _, f := range r.fields {
		if string(f.name) != r.text {
			continue
		}
		return bytes.Split(bytes.TrimRight(unquoted(f), "\r\n"), []byte("\n"))
	}
	return nil
}

// unquoted is the text of a field, without the escapes of JSON or of Go.
func unquoted(f field) []byte {
	if !f.quoted || bytes.IndexByte(f.value, '\\') < 0 {
		return f.value
	}
	quoted := `"` + string(f.value) + `"`
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		var err error
		if text, err = strconv.Unquote(quoted); err != nil {
			return f.value
		}
	}
	return []byte(text)
}

// read finds the fields of a line.
func (r *records) read(b []byte) bool {
	b = bytes.TrimSpace(b)
	if r.named(b) {
		return true
	}
	r.fields, r.key = r.fields[:0], r.key[:0]
	i := 0
	if len(b) == 0 || b[0] != '{' {
		if i = bytes.Index(b, []byte(`{"`)); i < 0 || i > maxShared {
			return false
		}
	}
	front := b[:i]
	if b, r.front = b[i:], i > 0; r.front {
		b = bytes.TrimRight(b, "]") // [time, {…}]
	}
	ok := b[len(b)-1] == '}' && r.object(b[1:len(b)-1])
	r.key = appendKey(r.key, front)
	return ok
}

// named finds the fields of names and values with = between them.
func (r *records) named(b []byte) bool {
	r.fields, r.key = r.fields[:0], r.key[:0]
	for len(b) > 0 {
		eq := bytes.IndexByte(b, '=')
		if eq <= 0 || !fieldName(b[:eq]) || !r.add(b[:eq], b[eq+1:], ' ', &b) {
			return false
		}
		b = bytes.TrimLeft(b, " ")
	}
	return len(r.fields) > 1
}

// object finds the fields of a flat object.
func (r *records) object(b []byte) bool {
	for {
		b = bytes.TrimLeft(b, " ")
		if len(b) == 0 || b[0] != '"' {
			return false
		}
		n := quoteEnd(b)
		if n < 0 {
			return false
		}
		name := b[1:n]
		b = bytes.TrimLeft(b[n+1:], " ")
		value, ok := bytes.CutPrefix(b, []byte(":"))
		if !ok {
			value, ok = bytes.CutPrefix(b, []byte("=>"))
		}
		if !ok || !r.add(name, bytes.TrimLeft(value, " "), ',', &b) {
			return false
		}
		if b = bytes.TrimLeft(b, " "); len(b) == 0 {
			return len(r.fields) > 1 || r.front
		}
		if b[0] != ',' {
			return false
		}
		b = b[1:]
	}
}

// add takes the value at the start of b, up to what stands between fields.
func (r *records) add(name, b []byte, between byte, rest *[]byte) bool {
	if len(r.fields) == maxFields {
		return false
	}
	f := field{name: name}
	if len(b) > 0 && b[0] == '"' {
		n := quoteEnd(b)
		if n < 0 {
			return false
		}
		f.value, f.quoted, *rest = b[1:n], true, b[n+1:]
	} else {
		n := bytes.IndexByte(b, between)
		if n < 0 {
			n = len(b)
		}
		if bytes.ContainsAny(b[:n], `{}[]"`) {
			return false
		}
		f.value, *rest = b[:n], b[n:]
	}
	r.fields = append(r.fields, f)
	r.key = append(append(r.key, name...), 0)
	return true
}

// quoteEnd is where the quote ends that b begins with.
func quoteEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

func fieldName(b []byte) bool {
	for _, c := range b {
		if !ascii.Letter(c) && !ascii.Digit(c) && c != '_' && c != '.' && c != '-' && c != '@' {
			return false
		}
	}
	return true
}
