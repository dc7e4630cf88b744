package console

import (
	"bytes"
	"io"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/termsafe"
)

// callWidth is how many columns of a tool's input are shown.
const callWidth = 120

// Transcript shows the JSON that coding agents print as text for people: what they say, each
// tool call in brackets, and the tool's output indented under it. Everything else passes
// unchanged.
type Transcript struct {
	to      io.Writer
	stream  carrier.Stream
	printed []byte // what was printed last: a call may follow that it is the output of
	err     error
}

// NewTranscript returns a transcript that writes to the writer. carries describes the formats
// that streams may carry; nil means the known ones.
func NewTranscript(to io.Writer, carries *carrier.Table) *Transcript {
	t := &Transcript{to: to}
	t.stream.Part, t.stream.Fact, t.stream.Table = t.part, t.fact, carries
	return t
}

// Write adds the next piece of one stream; a line that may be an agent's is shown once it is
// whole.
func (t *Transcript) Write(b []byte) (int, error) {
	_, _ = t.stream.Write(b)
	return len(b), t.err
}

// Flush shows what is still held at the end of the stream.
func (t *Transcript) Flush() {
	t.stream.Flush()
	t.release()
	t.stream.Reset()
}

func (t *Transcript) part(p carrier.Part) {
	if p.Role != carrier.Printed {
		t.release()
	}
	switch p.Role {
	case carrier.Plain:
		t.show(p.Text)
	case carrier.Said: // JSON hides what a terminal would act on
		t.show([]byte(termsafe.Text(string(p.Text))))
	case carrier.Printed:
		t.printed = append(t.printed, termsafe.Text(string(p.Text))...)
	case carrier.Noise:
	}
}

// release shows held output that does not belong to a tool call.
func (t *Transcript) release() {
	t.show(t.printed)
	t.printed = t.printed[:0]
}

func (t *Transcript) fact(f carrier.Fact) {
	if c, ok := f.(carrier.Call); ok && c.Name != "" {
		t.show([]byte("[" + termsafe.Line(c.Name) + "] " + termsafe.Short(string(c.Input), callWidth) + "\n"))
		for line := range bytes.Lines(t.printed) {
			t.show(append([]byte("  "), line...))
		}
		t.printed = t.printed[:0]
	}
	t.release()
}

func (t *Transcript) show(b []byte) {
	if len(b) == 0 {
		return
	}
	if _, err := t.to.Write(b); err != nil && t.err == nil {
		t.err = err
	}
}
