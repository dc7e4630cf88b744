package console

import (
	"io"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/termsafe"
)

// callWidth is how much of a tool's input is shown.
const callWidth = 120

// Transcript shows what coding agents print in JSON as text for people: what they say,
// the calls of their tools, and what those print. Everything else passes as it is.
type Transcript struct {
	to     io.Writer
	stream carrier.Stream
	err    error
}

// NewTranscript shows on a writer what streams may carry; nil: what is known.
func NewTranscript(to io.Writer, carries *carrier.Table) *Transcript {
	t := &Transcript{to: to}
	t.stream.Part, t.stream.Fact, t.stream.Table = t.part, t.fact, carries
	return t
}

// Write takes the next piece of one stream; a line that may be an agent's is shown when
// it is whole.
func (t *Transcript) Write(b []byte) (int, error) {
	_, _ = t.stream.Write(b)
	return len(b), t.err
}

// Flush shows what is held of the stream, which has ended.
func (t *Transcript) Flush() {
	t.stream.Flush()
	t.stream.Reset()
}

func (t *Transcript) part(p carrier.Part) {
	switch p.Role {
	case carrier.Plain:
		t.show(p.Text)
	case carrier.Said, carrier.Printed: // JSON hides what a terminal would act on
		t.show([]byte(termsafe.Text(string(p.Text))))
	case carrier.Noise:
	}
}

func (t *Transcript) fact(f carrier.Fact) {
	if c, ok := f.(carrier.Call); ok && c.Name != "" {
		t.show([]byte("[" + termsafe.Line(c.Name) + "] " + termsafe.Short(string(c.Input), callWidth) + "\n"))
	}
}

func (t *Transcript) show(b []byte) {
	if _, err := t.to.Write(b); err != nil && t.err == nil {
		t.err = err
	}
}
