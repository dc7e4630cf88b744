package signature

import (
	"bytes"
	"io"
	"sync"

	"github.com/looprun/looprun/internal/margin"
)

// Options configure a Signer. The zero value means the built-in rules alone.
type Options struct {
	// Dir is the absolute path of the checkout; paths below it become relative.
	// Empty: absolute paths keep their last element only.
	Dir string
	// Mask replaces what matches by a mask before anything else looks at the line.
	Mask []Pattern
	// Ignore drops whole lines.
	Ignore []Pattern
	// Extract finds further facts; it is asked before the built-in rules.
	Extract []Rule
	// Explain keeps what Explanation returns.
	Explain bool
}

// Signer reads the output of one iteration as it streams past and makes its
// signature. Its writers may be used from different goroutines at the same time; the
// other methods must not be called while somebody writes. Memory is bounded,
// whatever is written.
type Signer struct {
	mu     sync.Mutex
	opt    Options
	sc     scanner
	known  known
	user   userPatterns
	out    channel
	err    channel
	facts  factSet
	counts counts
	lines  fallback
	why    *explainer
}

// channel is one stream with what belongs to it alone.
type channel struct {
	stream
	s     *Signer
	id    int
	clean cleaner
	mask  []byte
	split margin.Splitter
	src   sources
	seen  []uint64 // hashes of lines that no rule wants
}

// seenSize is the number of places for lines that are known to be without facts.
const seenSize = 2048

// New makes a Signer. It compiles nothing: Pattern and Rule come compiled.
func New(o Options) *Signer {
	s := &Signer{opt: o, sc: newScanner(o.Dir)}
	s.user = userPatterns{mask: o.Mask, ignore: o.Ignore, extract: o.Extract}
	s.facts.init()
	if o.Explain {
		s.why = &explainer{}
	}
	s.out.init(s, 0)
	s.err.init(s, 1)
	return s
}

func (c *channel) init(s *Signer, id int) {
	c.s, c.id = s, id
	c.stream.mu, c.stream.line, c.stream.long = &s.mu, c.rawLine, c.longLine
	c.split.Line = c.message
	c.src.init(s, id)
	c.seen = make([]uint64, seenSize)
}

func (c *channel) end() {
	c.stream.end()
	c.split.Flush()
}

// longLine takes the pieces of a line that is too long to be kept.
func (c *channel) longLine(p []byte, first bool) bool {
	c.split.Flush()
	return c.src.main.longLine(p, first)
}

// Stdout takes the command's standard output, or the merged output of a terminal.
// Writing never fails.
func (s *Signer) Stdout() io.Writer { return &s.out.stream }

// Stderr takes the command's standard error.
func (s *Signer) Stderr() io.Writer { return &s.err.stream }

// Reset makes the Signer ready for the next iteration; it keeps its buffers.
func (s *Signer) Reset() {
	s.facts.reset()
	s.counts = counts{}
	s.lines.reset()
	if s.why != nil {
		*s.why = explainer{}
	}
	for _, c := range []*channel{&s.out, &s.err} {
		c.stream.reset()
		c.split.Reset()
		c.src.reset()
		clear(c.seen)
	}
}

// Sum ends the streams and returns the signature of the iteration. Exit code 0 of
// a judge is a pass: its signature is the constant Pass, with the counts that the
// output gave. Write nothing more before Reset.
func (s *Signer) Sum(exitCode int) Signature {
	if exitCode == 0 {
		s.end()
		p := Pass
		p.Passed, p.Total = s.counts.passed(), s.counts.total()
		return p
	}
	return s.SumContent(exitCode)
}

// SumContent is Sum for a command that is no judge: exit code 0 is signed by the
// content too.
func (s *Signer) SumContent(exitCode int) Signature {
	s.end()
	return s.conclude(exitCode)
}

func (s *Signer) end() {
	for _, c := range []*channel{&s.out, &s.err} {
		c.end()
	}
}

// rawLine takes one line as it came; a plain one is known not to be dirty.
func (c *channel) rawLine(b []byte, plain bool) {
	if !plain {
		if n := len(b); n > 0 && b[n-1] == '\r' {
			b = b[:n-1]
		}
		if dirty(b) {
			b = c.clean.clean(b)
		}
	}
	c.textLine(b)
}

// textLine takes one line as a terminal would show it.
func (c *channel) textLine(full []byte) {
	if full, _, counts := c.masked(full, trim(full)); counts {
		c.split.Add(full)
	}
}

// message takes one line with its margin.
func (c *channel) message(full []byte, cut margin.Cut) {
	s, x := c.s, c.src.of(cut.Name)
	x.timed = cut.Time
	full = trimRight(full[cut.Len:])
	b := trim(full)
	if len(b) == 0 {
		x.blank()
		return
	}
	if s.why != nil {
		s.why.line(&s.sc, c.id, b)
	}
	h := s.known.hash(&s.sc, b)
	h.loose, h.strict = h.loose^x.suiteHash, h.strict^x.suiteHash
	s.lines.add(c.id, h, func() bool { return x.chatter(b) })
	place := &c.seen[h.loose%seenSize]
	if *place == h.loose && !x.busy() && len(s.user.extract) == 0 {
		return
	}
	if !x.line(full, b) {
		*place = h.loose
	}
}

// masked is a line, and its trimmed form b, with the user's masks; false for one
// that counts for nothing: looprun's own and those that the user ignores. The result
// holds until the next call.
func (c *channel) masked(full, b []byte) ([]byte, []byte, bool) {
	if bytes.HasPrefix(b, []byte("looprun: ")) {
		return nil, nil, false
	}
	user := &c.s.user
	if !user.active() {
		return full, b, true
	}
	if user.ignored(b) {
		return nil, nil, false
	}
	if m, ok := user.masked(c.mask[:0], full); ok {
		c.mask, full = m, m
		b = trim(full)
	}
	return full, b, true
}
