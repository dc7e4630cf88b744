package margin

import "bytes"

// Splitter holds back the lines of a stream until there are enough to learn from, and passes
// them on with their margins, in order. Its output depends only on the lines, not on when they
// arrive. The zero value with Line set is ready to use.
type Splitter struct {
	Learner
	// Line is called once for each line; both arguments are valid until it returns.
	Line func(line []byte, cut *Cut)

	records records
	lines   [][]byte
	size    int    // of the lines, in bytes
	buf     []byte // holds those that are kept
	kept    int    // how many are
}

// Limits of what is held back.
const (
	blockLines = 512
	blockBytes = 128 << 10
)

// Add adds the next line, without its line end. The line must not change until Keep or Flush
// is called.
func (s *Splitter) Add(line []byte) {
	s.lines = append(s.lines, line)
	s.size += len(line)
	if len(s.lines) == blockLines || s.size >= blockBytes {
		s.Flush()
	}
}

// Keep copies the lines held back, which may change afterwards.
func (s *Splitter) Keep() {
	for ; s.kept < len(s.lines); s.kept++ {
		from := len(s.buf)
		s.buf = append(s.buf, s.lines[s.kept]...)
		s.lines[s.kept] = s.buf[from:len(s.buf):len(s.buf)]
	}
}

// Flush passes on the lines held back.
func (s *Splitter) Flush() {
	if len(s.lines) == 0 {
		return
	}
	s.lines = unwrap(s.lines)
	opened := s.open()
	s.Learn(s.lines)
	for _, b := range s.lines {
		cut := s.Cut(b)
		cut.Record = opened
		s.Line(b, cut)
	}
	s.drop()
}

// open replaces records with their texts, and reports whether there are any.
func (s *Splitter) open() bool {
	s.records.learn(s.some(s.lines, enough))
	if s.records.text == "" {
		return false
	}
	lines := make([][]byte, 0, len(s.lines))
	var pieces []byte
	for _, b := range s.lines {
		text, ok := s.records.open(b)
		switch {
		case !ok:
			lines = append(lines, b)
		case s.records.pieces:
			pieces = append(pieces, text...)
		default:
			lines = append(lines, bytes.Split(bytes.TrimRight(text, "\r\n"), []byte("\n"))...)
		}
	}
	if len(pieces) > 0 {
		lines = append(lines, bytes.Split(bytes.TrimRight(pieces, "\r\n"), []byte("\n"))...)
	}
	s.lines = lines
	return true
}

func (s *Splitter) drop() {
	s.lines, s.size, s.buf, s.kept = s.lines[:0], 0, s.buf[:0], 0
}

// Reset clears what was learned and held back.
func (s *Splitter) Reset() {
	s.Learner = Learner{name: s.name, key: s.key, sample: s.sample}
	s.drop()
}
