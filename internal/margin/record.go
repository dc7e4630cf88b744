package margin

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/looprun/looprun/internal/ascii"
	"github.com/looprun/looprun/internal/datetime"
	"github.com/looprun/looprun/internal/jsontext"
)

// A record is a line of a structured log: a JSON object, perhaps with the same prefix on every
// line except for numbers, or names and values separated by =. If the lines of a block are
// records of one form and, apart from times, ids and rising numbers, only one text differs
// from line to line, that text is the actual line, and the rest is a margin around it. If
// there is a level, it may be a service's own log: then some of the texts must be indented or
// empty, as only a tool's are.

// field is a field of a record; for a text, the value is between the quotes.
type field struct {
	name, value []byte
	quoted      bool
}

// records recognises the records of one stream.
type records struct {
	text   string // the name of the field that is the text; empty: there are none
	pieces bool   // the texts are pieces of a stream, cut anywhere
	form   []byte // the names of the fields, and what stands in front of them
	front  bool   // something does
	fields []field
	key    []byte
}

const (
	maxFields   = 24
	maxNested   = 4
	maxFront    = 160 // bytes
	leastRecord = 3   // lines
)

// learn determines whether most of the lines are records.
func (r *records) learn(lines [][]byte) {
	r.text = ""
	var columns [maxFields]fieldValues
	if len(lines) < leastRecord || !r.read(lines[len(lines)/2]) {
		return
	}
	r.form = append(r.form[:0], r.key...)
	n, odd := 0, 0
	for _, b := range lines {
		if !r.read(b) || !bytes.Equal(r.form, r.key) {
			if odd++; odd > max(1, len(lines)/10) {
				return
			}
			continue
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
		n = bytes.TrimPrefix(n, []byte("."))
		return bytes.EqualFold(n, []byte("level")) || bytes.EqualFold(n, []byte("lvl")) || bytes.EqualFold(n, []byte("severity"))
	})
	if text >= 0 && (!level || 12*columns[text].indented >= n) {
		r.text, r.pieces = string(names[text]), columns[text].cut()
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
	ended    int // so many end with a line end, and so many have one before their end
	broken   int
}

// cut reports whether the values are pieces of a stream: they contain line ends, and some do
// not end with one.
func (v *fieldValues) cut() bool { return 2*v.broken >= v.quoted && v.ended < v.quoted }

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
	if bytes.HasSuffix(f.value, []byte(`\n`)) {
		v.ended++
	}
	if n := bytes.Index(f.value, []byte(`\n`)); n >= 0 && n < len(f.value)-2 {
		v.broken++
	}
	if drawn(f.value) && (!counts(f.value) || !counts(v.last) || cmp.Or(cmp.Compare(len(v.last), len(f.value)), bytes.Compare(v.last, f.value)) <= 0) {
		v.drawn++
	}
	v.last = f.value
}

// counts reports whether a value is a number short enough to be a count.
func counts(b []byte) bool { return len(b) < 6 && numeric(b) }

// drawn reports whether a value is a time, a number or an id: its only letters are those of
// times and of hexadecimal numbers.
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

// open returns the text of a record; it returns false if the line is not one.
func (r *records) open(line []byte) ([]byte, bool) {
	if !r.read(line) {
		return nil, false
	}
	if !bytes.Equal(r.form, r.key) {
		return nil, r.pieces // what stands above them says what they are of
	}
	for _, f := range r.fields {
		if string(f.name) == r.text {
			return unquoted(f), true
		}
	}
	return nil, false
}

// unquoted returns the text of a field with the escapes of JSON or of Go decoded.
func unquoted(f field) []byte {
	if !f.quoted || bytes.IndexByte(f.value, '\\') < 0 {
		return f.value
	}
	if text, err := strconv.Unquote(`"` + string(f.value) + `"`); err == nil {
		return []byte(text)
	}
	return jsontext.Unescape(nil, f.value)
}

// read finds the fields of a line.
func (r *records) read(b []byte) bool {
	b = bytes.TrimSpace(b)
	r.fields, r.key = r.fields[:0], r.key[:0]
	if r.named(b) {
		return true
	}
	r.fields, r.key = r.fields[:0], r.key[:0]
	i := 0
	if len(b) == 0 || b[0] != '{' && !bytes.HasPrefix(b, []byte("[")) {
		i = bytes.Index(b, []byte(`{"`))
	}
	rest, ok := r.value(b[max(0, i):], nil, 0)
	if n := bytes.Index(b, []byte(`{"`)); n > 0 && (!ok || len(rest) > 0) { // [0] unit: [time, {…}]
		i, r.fields, r.key = n, r.fields[:0], r.key[:0]
		rest, ok = r.value(b[n:], nil, 0)
	}
	r.front = i > 0
	if !ok || i < 0 || i > maxFront || len(bytes.TrimLeft(rest, "] ")) > 0 || len(r.fields) < 2 && !r.front {
		return false
	}
	r.key = appendKey(r.key, b[:i])
	return true
}

// named finds the fields in names and values separated by =.
func (r *records) named(b []byte) bool {
	for len(b) > 0 {
		eq := bytes.IndexByte(b, '=')
		if eq <= 0 || !fieldName(b[:eq]) {
			return false
		}
		name := b[:eq]
		if b = b[eq+1:]; len(b) > 0 && b[0] == '"' {
			n := quoteEnd(b)
			if n < 0 || !r.add(name, b[1:n], true) {
				return false
			}
			b = b[n+1:]
		} else {
			n := bytes.IndexByte(b, ' ')
			if n < 0 {
				n = len(b)
			}
			if bytes.ContainsAny(b[:n], `{}[]"`) || !r.add(name, b[:n], false) {
				return false
			}
			b = b[n:]
		}
		b = bytes.TrimLeft(b, " ")
	}
	return len(r.fields) > 1
}

// value finds the fields in the JSON value at the beginning of b, and returns the rest of b.
// The name of a field is its path, way.
func (r *records) value(b, way []byte, depth int) (rest []byte, ok bool) {
	if b = bytes.TrimLeft(b, " "); len(b) == 0 || depth > maxNested {
		return b, false
	}
	switch b[0] {
	case '"':
		n := quoteEnd(b)
		if n < 0 {
			return b, false
		}
		return b[n+1:], r.add(way, b[1:n], true)
	case '{', '[':
		return r.members(b[1:], b[0]+2, way, depth)
	}
	n := bytes.IndexAny(b, ",}] ")
	if n < 0 {
		n = len(b)
	}
	return b[n:], n > 0 && r.add(way, b[:n], false)
}

// members finds the fields in the members of an object or a list, up to its end.
func (r *records) members(b []byte, end byte, way []byte, depth int) (rest []byte, ok bool) {
	for i := 0; ; i++ {
		if b = bytes.TrimLeft(b, " "); len(b) > 0 && b[0] == end {
			return b[1:], true
		}
		if i > 0 {
			if len(b) == 0 || b[0] != ',' {
				return b, false
			}
			b = bytes.TrimLeft(b[1:], " ")
		}
		name := strconv.AppendInt(append(way[:len(way):len(way)], '.'), int64(i), 10)
		if end == '}' {
			n := quoteEnd(b)
			if n < 0 {
				return b, false
			}
			name = append(append(way[:len(way):len(way)], '.'), b[1:n]...)
			b = bytes.TrimLeft(b[n+1:], " ")
			value, ok := bytes.CutPrefix(b, []byte(":"))
			if !ok {
				if value, ok = bytes.CutPrefix(b, []byte("=>")); !ok {
					return b, false
				}
			}
			b = value
		}
		if b, ok = r.value(b, name, depth+1); !ok {
			return b, false
		}
	}
}

func (r *records) add(name, value []byte, quoted bool) bool {
	r.fields = append(r.fields, field{name, value, quoted})
	r.key = append(append(r.key, name...), 0)
	return len(r.fields) <= maxFields
}

// quoteEnd returns the end of the quoted text at the beginning of b, or -1 if there is none.
func quoteEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return -1
	}
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
	return !slices.ContainsFunc(b, func(c byte) bool {
		return !ascii.Letter(c) && !ascii.Digit(c) && c != '_' && c != '.' && c != '-' && c != '@'
	})
}
