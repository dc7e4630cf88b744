// Package lines cuts a stream of output into lines, in one way for everything that
// reads them.
package lines

import "bytes"

// Max is how long a line is that is kept whole, in bytes, without its line break.
const Max = 64 << 10

// Sink takes the lines of one stream. What it is given is valid during the call.
type Sink interface {
	// Lines takes one or more whole lines, each with its line break; the last of the
	// stream may lack it.
	Lines(b []byte)
	// Long is offered a line that is longer than Max in pieces: its first Max bytes,
	// then what follows, without the line break. False: it wants no more of it.
	Long(b []byte, first bool) bool
	// LongEnd ends such a line. Head is its first Max bytes, nil where Long took all
	// of it.
	LongEnd(head []byte)
}

// Reader cuts one stream into lines, however it is cut into writes. Of a line that
// gets longer than Max, and was redrawn by carriage returns, only what was drawn last
// counts. Memory is bounded by one line of Max. The zero value is ready.
type Reader struct {
	buf   []byte // the line so far
	over  bool   // buf is full, and what follows is left out
	fresh bool   // a carriage return came since: the next byte begins the line anew
	taken bool   // the sink takes the pieces of this line
}

// Reset forgets the unfinished line and keeps the memory.
func (r *Reader) Reset() { *r = Reader{buf: r.buf[:0]} }

// Write takes the next bytes of the stream and keeps nothing of p.
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

// Rest is the unfinished line, as long as it is not too long; valid until the next
// Write.
func (r *Reader) Rest() []byte {
	if r.over {
		return nil
	}
	return r.buf
}

// End passes on what is left of the stream; the next Write begins another.
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

// hold keeps a part of a line.
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
