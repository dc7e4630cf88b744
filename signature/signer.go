package signature

import (
	"io"
	"sync"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/tail"
)

// Options configure a Signer. The zero value means the built-in rules alone.
type Options struct {
	// Dir is the absolute path of the checkout; paths below it become relative. If it is
	// empty, absolute paths keep only their last element.
	Dir string
	// Mask replaces every match with a mask before anything else examines the line.
	Mask []Pattern
	// Ignore drops whole lines.
	Ignore []Pattern
	// Extract finds further facts; it runs before the built-in rules.
	Extract []Rule
	// Explain collects the data that Explain returns.
	Explain bool

	carriers *carrier.Table // the formats that output may be wrapped in; nil: the known ones
}

func init() {
	carrier.Of = func(o any) **carrier.Table { return &o.(*Options).carriers } //nolint:forcetypeassert // it takes nothing else
}

// Signer reads the output of one iteration as it streams past and computes its signature. Its
// writers may be used concurrently; the other methods must not be called while somebody
// writes. Memory use is bounded, whatever is written.
type Signer struct {
	mu       sync.Mutex
	opt      Options
	sc       scanner
	known    known
	out      channel
	err      channel
	facts    factSet
	reported counts // of report files
	checks   tally
	done     measures
	lines    fallback
	left     leftover
	warned   bool // a tool said that its warnings fail it
	why      *explainer
}

// channel is one stream. It carries two texts: the command's own output, and the output of an
// agent's tools. An agent's own messages are read only if none of its tools printed anything.
type channel struct {
	stream
	s     *Signer
	id    int
	texts [2]*text // by role; nil: there was none
	said  tail.Buffer

	agents bool // an agent's objects were opened
}

// New returns a Signer. It compiles nothing: patterns and rules are already compiled.
func New(o Options) *Signer {
	s := &Signer{opt: o, sc: newScanner(o.Dir)}
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
	c.stream.mu = &s.mu
	c.stream.open.Part, c.stream.open.Table = c.part, s.opt.carriers
	c.texts[0] = newText(s, id)
	c.said.Limit = carrier.SaidBytes
}

// part handles a piece of the stream's content.
func (c *channel) part(p carrier.Part) {
	at := 0
	switch p.Role {
	case carrier.Noise:
		return
	case carrier.Said:
		c.opened(p.Agent)
		c.said.Take(p.Text)
		return
	case carrier.Printed:
		c.opened(p.Agent)
		if at = 1; c.texts[at] == nil {
			c.texts[at] = newText(c.s, c.id)
		}
		c.texts[at].used = true
	}
	c.keep(p.Text)
	c.texts[at].write(p)
}

func (c *channel) opened(agent string) {
	c.s.why.carrier(agent)
	c.agents = true
}

func (c *channel) end() {
	c.stream.end()
	c.texts[0].end() // an agent may speak behind a margin
	if c.open.Logs && !c.agents {
		c.s.why.carrier("log")
	}
	if said := c.said.Bytes(); len(said) > 0 && (c.texts[1] == nil || !c.texts[1].used) {
		c.keep(said)
		c.texts[0].write(carrier.Part{Text: said})
	}
	for _, t := range c.texts {
		if t != nil {
			t.end()
		}
	}
}

// Stdout returns the writer for the command's standard output, or for the merged output of a
// terminal. Writing never fails.
func (s *Signer) Stdout() io.Writer { return &s.out.stream }

// Stderr returns the writer for the command's standard error.
func (s *Signer) Stderr() io.Writer { return &s.err.stream }

// Reset prepares the Signer for the next iteration; it keeps its buffers.
func (s *Signer) Reset() {
	s.facts.init()
	s.reported, s.checks, s.done, s.lines, s.left, s.warned = counts{}, tally{}, nil, fallback{}, nil, false
	if s.why != nil {
		*s.why = explainer{}
	}
	for _, c := range []*channel{&s.out, &s.err} {
		c.stream.reset()
		c.agents = false
		c.said.Reset()
		for _, t := range c.texts {
			if t != nil {
				t.reset()
			}
		}
	}
}

// Sum ends the streams and returns the signature of the iteration. Exit code 0 of a judge is a
// pass: its signature is the constant Pass, with the counts from the output. Write nothing
// more before Reset.
func (s *Signer) Sum(exitCode int) Signature {
	if exitCode == 0 {
		s.end()
		p := Pass
		all := s.counts()
		p.Passed, p.Total = all.passed(), all.total()
		return p
	}
	return s.SumContent(exitCode)
}

// SumContent is Sum for a command that is not a judge: the signature covers the content even
// with exit code 0.
func (s *Signer) SumContent(exitCode int) Signature {
	s.end()
	return s.conclude(exitCode)
}

func (s *Signer) end() {
	for _, c := range []*channel{&s.out, &s.err} {
		c.end()
	}
}
