package lines

import (
	"bytes"

	"github.com/looprun/looprun/internal/escape"
)

// Shown cuts a stream into lines as a terminal shows them: without escape sequences, and
// of a line that was redrawn by carriage returns only what was drawn last. Characters that
// show nothing stay, but for a byte order mark at the beginning. Memory is bounded by one line of [Max].
type Shown struct {
	// To gets each line, without its line break; cut says that only its first Max bytes
	// are there. The line is valid during the call.
	To func(line []byte, cut bool)
	// All gets what is left of each piece of the stream before it is cut; nil: nobody does.
	All func([]byte)

	escapes escape.Filter
	reader  Reader
	begun   bool // a line has come
}

// Write takes the next bytes of the stream and keeps nothing of p. It never fails.
func (s *Shown) Write(p []byte) (int, error) {
	shown := s.escapes.Drop(p)
	if s.All != nil {
		s.All(shown)
	}
	s.reader.Write(shown, s)
	return len(p), nil
}

// End passes on the unfinished line; the next Write begins another.
func (s *Shown) End() { s.reader.End(s) }

// Reset begins another stream and keeps the memory.
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

// line passes on a line. A byte order mark at the beginning of the stream is no part of it.
func (s *Shown) line(line []byte, cut bool) {
	if !s.begun {
		line, s.begun = bytes.TrimPrefix(line, []byte("\ufeff")), true
	}
	s.To(line, cut)
}
