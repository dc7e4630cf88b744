package signature

import (
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/tail"
)

// tailSize is how much of the end of each stream is kept as text, in bytes.
const tailSize = 8 << 10

// stream decodes one output stream, however it is cut into writes, and opens what
// carries text. It is an io.Writer that never fails and keeps nothing of the slice passed in.
type stream struct {
	mu   *sync.Mutex // held while bytes are taken
	enc  encoding
	head []byte // first bytes, until the encoding is known
	half []byte // an incomplete UTF-16 unit or pair
	conv []byte

	took int            // bytes
	open carrier.Stream // passes on what the stream carries
	tail tail.Buffer    // of that
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
	s.took += len(p)
	_, _ = s.open.Write(p)
}

// keep keeps the end of what the stream carries.
func (s *stream) keep(p []byte) {
	s.tail.Limit = tailSize
	s.tail.Take(p)
}

// end passes on what is left at the end of the stream.
func (s *stream) end() {
	if s.enc == undecided {
		s.decoded(s.decide(nil, true))
	}
	s.open.Flush()
}

func (s *stream) reset() {
	s.tail.Reset()
	s.open.Reset()
	s.enc, s.head, s.half, s.took = undecided, s.head[:0], s.half[:0], 0
}
