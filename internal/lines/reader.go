// Package lines splits a stream of output into lines, in the same way for all readers.
package lines

import "bytes"

// Max is the maximum length of a line that is kept whole, in bytes, without its line break.
const Max = 64 << 10

// Sink receives the lines of one stream. Its arguments are valid only during the call.
type Sink interface {
	// Lines receives one or more whole lines, each with its line break; the last line of the
	// stream may lack it.
	Lines(b []byte)
	// Long is offered the pieces of a line that is longer than Max: its first Max bytes, then
	// the rest, without the line break. It returns false if it wants no more of them.
	Long(b []byte, first bool) bool
	// LongEnd ends such a line. head is its first Max bytes, or nil if Long accepted all of
	// it.
	LongEnd(head []byte)
}

// Reader splits one stream into lines, however it is split into writes. For a line that
// exceeds Max and was redrawn by carriage returns, only the last drawing counts. Memory use is
// bounded by one line of Max. The zero value is ready to use.
type Reader struct {
	buf   []byte // the line so far
	over  bool   // buf is full, and what follows is left out
	fresh bool   // a carriage return came since: the next byte begins the line anew
	taken bool   // the sink takes the pieces of this line
}

// Reset drops the unfinished line and keeps the memory.
func (r *Reader) Reset() { *r = Reader{buf: r.buf[:0]} }

// Write reads the next bytes of the stream. It does not retain p.
func (r *Reader) Write(p []byte, to Sink) {
	for len(p) > 0 {
		if len(r.buf) == 0 && !r.over {
			if n := bytes.LastIndexByte(p[:min(len(p), Max+1)], '\n') + 1; n > 0 {
				to.Lines(p[:n])
				p = p[n:]
				continue
			}
		}
		n := bytes.IndexByte(p, '\n')
		if n < 0 {
			r.hold(p, to)
			return
		}
		r.hold(p[:n], to)
		r.endLine(to)
		p = p[n+1:]
	}
}

// Rest returns the unfinished line, unless it is too long. It is valid until the next Write.
func (r *Reader) Rest() []byte {
	if r.over {
		return nil
	}
	return r.buf
}

// End passes on the rest of the stream; the next Write starts another.
func (r *Reader) End(to Sink) {
	switch {
	case r.over:
		r.endLine(to)
	case len(r.buf) > 0:
		to.Lines(r.buf)
		r.Reset()
	}
}

func (r *Reader) endLine(to Sink) {
	switch {
	case r.taken:
		to.LongEnd(nil)
	case r.over:
		to.LongEnd(r.buf)
	default:
		r.buf = append(r.buf, '\n')
		to.Lines(r.buf)
	}
	r.Reset()
}

// hold stores a part of a line.
func (r *Reader) hold(p []byte, to Sink) {
	for len(p) > 0 {
		if r.taken {
			if to.Long(p, false) {
				return
			}
			r.taken = false
		}
		if r.over {
			if r.fresh {
				r.Reset()
				continue
			}
			cr := bytes.IndexByte(p, '\r')
			if cr < 0 {
				return
			}
			r.fresh = true
			p = p[cr+1:]
			continue
		}
		n := min(Max-len(r.buf), len(p))
		r.buf = append(r.buf, p[:n]...)
		if p = p[n:]; len(p) == 0 {
			return
		}
		if cr := bytes.LastIndexByte(r.buf, '\r'); cr >= 0 {
			r.buf = append(r.buf[:0], r.buf[cr+1:]...)
			continue
		}
		r.over, r.taken = true, to.Long(r.buf, true)
	}
}
