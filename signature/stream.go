package signature

import (
	"encoding/binary"
	"slices"
	"sync"
	"unicode/utf16"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/tail"
)

// tailSize is how much of the end of each stream is kept as text, in bytes.
const tailSize = 8 << 10

// stream decodes one output stream, however it is split into writes, and opens formats that
// carry text. It is an io.Writer that never fails and does not retain the slice passed in.
type stream struct {
	mu    *sync.Mutex      // held while bytes are taken
	known bool             // the encoding is
	wide  binary.ByteOrder // of the units of UTF-16; nil: UTF-8
	head  []byte           // first bytes, until the encoding is known
	half  []byte           // an incomplete UTF-16 unit or pair

	open carrier.Stream // passes on what the stream carries
	tail tail.Buffer    // of that
}

// Write decodes the next bytes of the stream.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	if !s.known {
		p = s.decide(p, false)
	}
	s.decoded(p)
	return n, nil
}

// decide examines the first four bytes for a byte order mark or the zero bytes of UTF-16 text.
// It returns the bytes to pass on: none while it needs more.
func (s *stream) decide(p []byte, end bool) []byte {
	s.head = append(s.head, p...)
	h := s.head
	if len(h) < 4 && !end {
		return nil
	}
	s.known = true
	switch {
	case len(h) >= 2 && h[0] == 0xff && h[1] == 0xfe:
		s.wide, h = binary.LittleEndian, h[2:]
	case len(h) >= 2 && h[0] == 0xfe && h[1] == 0xff:
		s.wide, h = binary.BigEndian, h[2:]
	case len(h) >= 3 && h[0] == 0xef && h[1] == 0xbb && h[2] == 0xbf:
		h = h[3:]
	case len(h) >= 4 && h[0] != 0 && h[1] == 0 && h[2] != 0 && h[3] == 0:
		s.wide = binary.LittleEndian
	case len(h) >= 4 && h[0] == 0 && h[1] != 0 && h[2] == 0 && h[3] != 0:
		s.wide = binary.BigEndian
	}
	s.head = s.head[:0]
	return h
}

// decoded passes bytes on as UTF-8.
func (s *stream) decoded(p []byte) {
	if s.wide == nil {
		_, _ = s.open.Write(p)
		return
	}
	for piece := range slices.Chunk(p, 16<<10) { // bounds the converted copy
		s.convert(piece)
	}
}

// convert converts UTF-16, keeping an incomplete character for the next call.
func (s *stream) convert(p []byte) {
	s.half = append(s.half, p...)
	var units []uint16
	for u := range slices.Chunk(s.half[:len(s.half)&^1], 2) {
		units = append(units, s.wide.Uint16(u))
	}
	n := len(units)
	if n > 0 && utf16.IsSurrogate(rune(units[n-1])) && units[n-1] < 0xdc00 { // the other half of the pair is to come
		n--
	}
	s.half = append(s.half[:0], s.half[2*n:]...)
	_, _ = s.open.Write([]byte(string(utf16.Decode(units[:n]))))
}

// keep keeps the end of the stream's content.
func (s *stream) keep(p []byte) {
	s.tail.Limit = tailSize
	s.tail.Take(p)
}

// end passes on the remaining bytes at the end of the stream.
func (s *stream) end() {
	if !s.known {
		s.decoded(s.decide(nil, true))
	}
	s.open.Flush()
}

func (s *stream) reset() {
	s.tail.Reset()
	s.open.Reset()
	s.known, s.wide, s.head, s.half = false, nil, s.head[:0], s.half[:0]
}
