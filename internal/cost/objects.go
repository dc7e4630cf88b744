package cost

import "bytes"

// maxObject is how much of one object is kept, in bytes.
const maxObject = 256 << 10

// objects finds JSON objects in output: one that begins at the beginning of a
// line, alone or as an entry of a list, on one line or on many. Ordinary output
// is only searched for braces.
type objects struct {
	found func(object []byte)
	long  func(head []byte) // of one that is too long, its beginning

	buf     []byte
	depth   int
	text    bool // inside a string
	escaped bool
	over    bool // longer than is kept

	last, before byte // the last two characters outside of an object
	listed       bool // the object is an entry of a list: the next may follow
}

func (o *objects) reset() { *o = objects{found: o.found, long: o.long, buf: o.buf[:0]} }

func (o *objects) write(p []byte) {
	for len(p) > 0 {
		if o.depth == 0 {
			p = o.outside(p)
		} else {
			p = o.inside(p)
		}
	}
}

// outside looks for the next object's beginning.
func (o *objects) outside(p []byte) []byte {
	i := bytes.IndexByte(p, '{')
	if i < 0 {
		o.pass(p)
		return nil
	}
	o.pass(p[:i])
	if o.begins() {
		o.listed = o.listed || o.last == '['
		o.depth, o.buf, o.last = 1, append(o.buf[:0], '{'), '{'
	} else {
		o.pass(p[i : i+1])
	}
	return p[i+1:]
}

// begins reports whether a brace here begins an object.
func (o *objects) begins() bool {
	start := func(c byte) bool { return c == 0 || c == '\n' || c == '\r' }
	return o.listed || start(o.last) || o.last == '[' && start(o.before)
}

// pass notes what stands before the next brace.
func (o *objects) pass(p []byte) {
	switch len(p) {
	case 0:
	case 1:
		o.before, o.last = o.last, p[0]
	default:
		o.before, o.last = p[len(p)-2], p[len(p)-1]
	}
	if o.listed {
		o.listed = len(bytes.Trim(p, ", \t\r\n")) == 0
	}
}

// inside goes on with an object. No string goes on past a line, and no brace
// inside an object begins a line, so text that only looks like an object does
// not hide the next one.
func (o *objects) inside(p []byte) []byte {
	for i := 0; i < len(p); i++ {
		if o.text {
			if i = o.string(p, i); i == len(p) {
				break
			}
			if p[i] == '\n' {
				return o.leave(p[i:])
			}
			continue
		}
		switch c := p[i]; c {
		case '"':
			o.text = true
		case '{', '[':
			if c == '{' && (i > 0 && p[i-1] == '\n' || i == 0 && o.last == '\n') {
				o.leave(nil)
				o.last = '\n'
				return p[i:]
			}
			o.depth++
		case '}', ']':
			if o.depth--; o.depth == 0 {
				o.give(p[:i+1])
				o.finish()
				return p[i+1:]
			}
		}
	}
	o.last = p[len(p)-1]
	o.give(p)
	return nil
}

// string is where the string that p[i] is in ends, or the line, or p does.
func (o *objects) string(p []byte, i int) int {
	for ; i < len(p); i++ {
		switch c := p[i]; {
		case o.escaped:
			o.escaped = false
		case c == '\\':
			o.escaped = true
		case c == '"':
			o.text = false
			return i
		case c == '\n':
			return i
		}
	}
	return i
}

func (o *objects) give(p []byte) {
	if len(o.buf)+len(p) > maxObject {
		o.over = true
	}
	o.buf = append(o.buf, p[:min(len(p), maxObject-len(o.buf))]...)
}

// leave gives the object up.
func (o *objects) leave(rest []byte) []byte {
	o.depth, o.text, o.escaped, o.over, o.listed = 0, false, false, false, false
	o.before, o.last = 0, ' '
	return rest
}

func (o *objects) finish() {
	if o.over {
		o.long(o.buf)
	} else {
		o.found(o.buf)
	}
	listed := o.listed
	o.leave(nil)
	o.before, o.last, o.listed = '{', '}', listed
}
