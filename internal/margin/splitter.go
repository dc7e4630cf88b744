package margin

// Splitter holds the lines of a stream back until there are enough of them to learn
// from, and passes them on with their margins, in their order. What it passes on
// depends on the lines alone, not on when they come. The zero value with Line set is
// ready.
type Splitter struct {
	Learner
	// Line is called once a line; both may be used until it returns.
	Line func(line []byte, cut Cut)

	buf   []byte
	ends  []int
	lines [][]byte
}

// Bounds of what is held back.
const (
	blockLines = 512
	blockBytes = 128 << 10
)

// Add takes the next line, without its line end.
func (s *Splitter) Add(line []byte) {
	s.buf = append(s.buf, line...)
	s.ends = append(s.ends, len(s.buf))
	if len(s.ends) == blockLines || len(s.buf) >= blockBytes {
		s.Flush()
	}
}

// Flush passes on what is held back.
func (s *Splitter) Flush() {
	from := 0
	s.lines = s.lines[:0]
	for _, e := range s.ends {
		s.lines = append(s.lines, s.buf[from:e:e])
		from = e
	}
	s.Learn(s.lines)
	for _, b := range s.lines {
		s.Line(b, s.Cut(b))
	}
	s.buf, s.ends = s.buf[:0], s.ends[:0]
}

// Reset forgets what was learned and held back.
func (s *Splitter) Reset() {
	s.chains, s.blocks, s.idle, s.buf, s.ends = nil, 0, 0, s.buf[:0], s.ends[:0]
}
