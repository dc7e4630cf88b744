package lines

import (
	"bytes"

	"github.com/looprun/looprun/internal/escape"
)

// Shown splits a stream into lines as a terminal shows them: without escape sequences, and
// with only the last drawing of a line that was redrawn by carriage returns. Invisible
// characters stay, except for a byte order mark at the beginning. Memory use is bounded by one
// line of [Max].
type Shown struct {
	// To receives each line, without its line break; cut means that only its first Max bytes
	// are present. The line is valid only during the call.
	To func(line []byte, cut bool)
	// All receives each piece of the stream without its escape sequences, before it is split
	// into lines; nil means none.
	All func([]byte)

	escapes escape.Filter
	reader  Reader
	begun   bool // a line has come
}

// Write reads the next bytes of the stream. It does not retain p and never fails.
func (s *Shown) Write(p []byte) (int, error) {
	shown := s.escapes.Drop(p)
	if s.All != nil {
		s.All(shown)
	}
	s.reader.Write(shown, s)
	return len(p), nil
}

// End passes on the unfinished line; the next Write starts another.
func (s *Shown) End() { s.reader.End(s) }

// Reset starts another stream and keeps the memory.
func (s *Shown) Reset() {
	s.escapes.Reset()
	s.reader.Reset()
	s.begun = false
}

// Lines implements [Sink].
func (s *Shown) Lines(b []byte) {
	for line := range bytes.Lines(b) {
		line = bytes.TrimRight(bytes.TrimSuffix(line, []byte{'\n'}), "\r")
		s.line(line[bytes.LastIndexByte(line, '\r')+1:], false)
	}
}

// Long implements [Sink].
func (s *Shown) Long([]byte, bool) bool { return false }

// LongEnd implements [Sink].
func (s *Shown) LongEnd(head []byte) { s.line(head, true) }

// line passes on a line, without a byte order mark at the beginning of the stream.
func (s *Shown) line(line []byte, cut bool) {
	if !s.begun {
		line, s.begun = bytes.TrimPrefix(line, []byte("\ufeff")), true
	}
	s.To(line, cut)
}
