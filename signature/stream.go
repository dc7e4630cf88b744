package signature

import (
	"bytes"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/tail"
)

// tailSize is how much of the end of each stream is kept as text, in bytes.
const tailSize = 8 << 10

// stream assembles the lines of one output stream, however it is cut into writes.
// It is an io.Writer that never fails and keeps nothing of the slice passed in.
type stream struct {
	mu   *sync.Mutex                     // held while bytes are taken
	line func(b []byte, plain bool)      // called once a line, without its line end; plain: it is not dirty
	long func(p []byte, first bool) bool // offered the pieces of a line that is too long
	enc  encoding
	head []byte // first bytes, until the encoding is known
	half []byte // an incomplete UTF-16 unit or pair
	conv []byte

	lines lines.Reader
	tail  tail.Buffer // of the stream
}

type encoding byte

const (
	undecided encoding = iota
	bytesUTF8
	utf16LE
	utf16BE
)

// Write takes the next bytes of the stream.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	if s.enc == undecided {
		p = s.decide(p, false)
	}
	s.decoded(p)
	return n, nil
}

// decide looks at the first four bytes for a byte order mark or the zero bytes of
// UTF-16 text. It returns what can be passed on: nothing while more is needed.
func (s *stream) decide(p []byte, end bool) []byte {
	s.head = append(s.head, p...)
	h := s.head
	if len(h) < 4 && !end {
		return nil
	}
	s.enc = bytesUTF8
	switch {
	case len(h) >= 2 && h[0] == 0xff && h[1] == 0xfe:
		s.enc, h = utf16LE, h[2:]
	case len(h) >= 2 && h[0] == 0xfe && h[1] == 0xff:
		s.enc, h = utf16BE, h[2:]
	case len(h) >= 3 && h[0] == 0xef && h[1] == 0xbb && h[2] == 0xbf:
		h = h[3:]
	case len(h) >= 4 && h[0] != 0 && h[1] == 0 && h[2] != 0 && h[3] == 0:
		s.enc = utf16LE
	case len(h) >= 4 && h[0] == 0 && h[1] != 0 && h[2] == 0 && h[3] != 0:
		s.enc = utf16BE
	}
	s.head = s.head[:0]
	return h
}

// decoded passes bytes on as UTF-8.
func (s *stream) decoded(p []byte) {
	if s.enc != utf16LE && s.enc != utf16BE {
		s.feed(p)
		return
	}
	const piece = 16 << 10 // bounds the converted copy
	for len(p) > piece {
		s.wide(p[:piece])
		p = p[piece:]
	}
	s.wide(p)
}

// wide converts UTF-16, keeping what is incomplete for the next call.
func (s *stream) wide(p []byte) {
	s.half = append(s.half, p...)
	b, out := s.half, s.conv[:0]
	unit := func(i int) rune {
		if s.enc == utf16LE {
			return rune(b[i]) | rune(b[i+1])<<8
		}
		return rune(b[i])<<8 | rune(b[i+1])
	}
	i := 0
	for i+2 <= len(b) {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			if i+4 > len(b) {
				break
			}
			if d := utf16.DecodeRune(r, unit(i+2)); d != utf8.RuneError {
				r = d
				i += 2
			}
		}
		out = utf8.AppendRune(out, r)
		i += 2
	}
	s.half = append(s.half[:0], b[i:]...)
	s.conv = out
	s.feed(out)
}

// feed takes decoded bytes.
func (s *stream) feed(p []byte) {
	s.tail.Limit = tailSize
	s.tail.Take(p)
	s.lines.Write(p, s)
}

// Lines implements [lines.Sink].
func (s *stream) Lines(b []byte) {
	plain := !dirty(b) // to ask once is cheaper than for each line
	for len(b) > 0 {
		line := b
		if n := bytes.IndexByte(b, '\n'); n >= 0 {
			line, b = b[:n], b[n+1:]
		} else {
			b = nil
		}
		s.line(line, plain)
	}
}

// Long implements [lines.Sink].
func (s *stream) Long(b []byte, first bool) bool { return s.long(b, first) }

// LongEnd implements [lines.Sink].
func (s *stream) LongEnd(head []byte) {
	if head != nil {
		s.line(head, false)
	}
}

// end passes on what is left at the end of the stream.
func (s *stream) end() {
	if s.enc == undecided {
		s.decoded(s.decide(nil, true))
	}
	s.lines.End(s)
}

func (s *stream) reset() {
	s.tail.Reset()
	s.lines.Reset()
	*s = stream{mu: s.mu, line: s.line, long: s.long, head: s.head[:0], half: s.half[:0], conv: s.conv[:0], lines: s.lines, tail: s.tail}
}

// lastText is the text at the end of the stream, at most tailSize bytes of it.
func (s *stream) lastText() []byte {
	return s.tail.Bytes()
}
