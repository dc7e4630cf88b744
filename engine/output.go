package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/tail"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/turnloop"
	"github.com/looprun/looprun/signature"
)

// Masker removes secrets from a stream. Until Flush it can hold back text that may be the
// beginning of a secret.
type Masker interface {
	Write([]byte)
	Flush()
}

// Listener analyzes one stream of output as it passes. From a coding agent's transcript it
// receives only the agent's messages, not its tools' output or the prompt.
type Listener interface {
	// Line receives a line as a terminal shows it: without its line break and escape
	// sequences. A line that was redrawn is passed in its last form. A line of more than 64
	// KiB is cut to its beginning, and cut is true. The slice is valid only during the call.
	Line(line []byte, cut bool)
	// Reset prepares for the next step.
	Reset()
}

// RawListener is a [Listener] that also receives the rest of a transcript. Raw returns the
// function that is called with each line of the output, in the form of Line; nil if it needs
// none.
type RawListener interface {
	Listener
	Raw() func(line []byte)
}

// factListener is a [Listener] that also receives the facts that coding agents report about
// themselves in their transcripts: what they used, and which of their tools their own
// permissions denied them.
type factListener interface {
	Fact(f carrier.Fact)
}

// Listeners is a pair of listeners of one kind, one for each stream of the work's output: a
// line of one stream may arrive in the middle of a line of the other. No other type can listen
// to an [Executor], so no listener receives both streams. The two are values of type T, not
// pointers: do not let them share anything that listening modifies.
type Listeners[T any, L interface {
	*T
	Listener
}] struct{ Stdout, Stderr T }

func (l *Listeners[T, L]) listeners() [2]Listener {
	return [2]Listener{stdoutStream: L(&l.Stdout), stderrStream: L(&l.Stderr)}
}

// Streams is implemented by [Listeners].
type Streams interface{ listeners() [2]Listener }

// Matcher finds a line that makes the work wait or the run end, and the time that the line
// names; zero if it names none. It receives the end of one stream's output, and whether that
// is cut, so that its first line may lack its beginning. It must not keep the slice.
type Matcher interface {
	Match(end []byte, cut bool) (line string, until time.Time, ok bool)
}

// How much of the end of an output is kept for questions.
const (
	excerptBytes = 2048
	reasonBytes  = 64 << 10 // the end in which it is looked for why checks fail
	excerptLines = 10
	excerptWidth = 160
)

// The streams of a step.
const (
	stdoutStream = iota
	stderrStream
)

// waitEnd is how much of the end of each stream is searched for a rate limit, in bytes.
const waitEnd = 64 << 10

// analyzer analyzes one step's output as it streams past.
type analyzer struct {
	signer  *signature.Signer
	streams [2]stream
	bytes   int64
	recent  tail.Buffer // of both streams, as people read it
	// said holds the messages of coding agents from their transcripts: they are the evidence
	// if none of their tools has printed anything.
	said    tail.Buffer
	message tail.Buffer // the last of it
	next    bool        // what an agent says now is another message
	printed bool
	plain   bool        // there is evidence that is in no transcript
	aside   aside       // where standard error goes
	held    tail.Buffer // of standard error
	agents  bool        // there is a transcript of a coding agent
	failure string      // what the last of them said that it failed of; empty: it did not
	wrong   string      // the first turn that failed, or was cut off, in words; empty: none
	ended   bool        // a turn of one of them ended well, and none after it failed
	trouble string      // the last error of their own, after which none went on; empty: there is none

	options  signature.Options
	results  *signature.Signer    // of calls; nil: none was looked at
	repeated func(turnloop.Found) // is told when an agent repeats itself; nil where no stream looks
}

// aside is how standard error is treated. Next to a transcript on standard output it is a
// banner or a warning of the agent's own machinery, and evidence only if the turn failed.
type aside byte

const (
	asideOpen    aside = iota // it is held, since standard output has said nothing
	asidePassed               // it is evidence, as it comes
	asideWaiting              // it is held until the turn has ended
)

// stream analyzes one stream of a step. Its readers read nothing else, so a text that one
// stream prints in pieces stays whole whatever the other prints in between. The stream is cut
// into lines and transcripts are decoded here, once for all readers.
type stream struct {
	id      int
	of      *analyzer
	lines   lines.Reader
	carrier carrier.Stream
	carries bool // a line may be a carrier's; those before are none
	speech  speech
	raw     lines.Shown    // all of it; To is nil: nobody needs it
	begun   map[string]int // turns of each agent that have begun and not ended; never 0
	facts   factListener   // the listener, where it is one
	end     tail.Buffer
	turn    turnloop.Watch // what an agent does in its turn
}

func newAnalyzer(o signature.Options, waits bool) *analyzer {
	a := &analyzer{signer: signature.New(o), recent: tail.Buffer{Limit: reasonBytes}, options: o, said: tail.Buffer{Limit: carrier.SaidBytes}, message: tail.Buffer{Limit: excerptBytes}, held: tail.Buffer{Limit: carrier.SaidBytes}}
	for i := range a.streams {
		s := &a.streams[i]
		s.id, s.of = i, a
		s.carrier.Part, s.carrier.Fact, s.carrier.Table = s.part, s.fact, *carrier.Of(&o)
		s.speech.init()
		if waits {
			s.end.Limit = waitEnd
		}
	}
	return a
}

// listen sets up the search for the promise in each stream, unless it is empty, and assigns
// each stream its listener.
func (a *analyzer) listen(promise string, anywhere bool, to Streams) {
	for i := range a.streams {
		s := &a.streams[i]
		if promise != "" {
			s.speech.promise = newPromises(promise, anywhere, i)
		}
		if to != nil {
			l := to.listeners()[i]
			s.speech.listener = l
			if r, ok := l.(RawListener); ok {
				if to := r.Raw(); to != nil {
					s.raw.To = func(line []byte, _ bool) { to(line) }
				}
			}
			s.facts, _ = l.(factListener)
		}
		s.speech.init()
	}
}

func (a *analyzer) reset() {
	a.signer.Reset()
	a.bytes = 0
	a.recent.Reset()
	a.said.Reset()
	a.message.Reset()
	a.next = false
	a.held.Reset()
	a.plain, a.aside = false, asideOpen
	a.printed, a.agents, a.failure, a.wrong, a.ended, a.trouble = false, false, "", "", false, ""
	for i := range a.streams {
		a.streams[i].reset()
	}
}

func (s *stream) reset() {
	s.end.Reset()
	s.lines.Reset()
	s.speech.reset()
	s.raw.Reset()
	s.turn.Reset()
	clear(s.begun)
	if s.carries {
		s.carrier.Reset()
		s.carries = false
	}
}

// take takes the next piece of a stream.
func (a *analyzer) take(stream int, b []byte) {
	s := &a.streams[stream]
	if s.raw.To != nil {
		_, _ = s.raw.Write(b)
	}
	s.lines.Write(b, s)
	a.bytes += int64(len(b))
}

// Lines implements [lines.Sink].
func (s *stream) Lines(b []byte) {
	if !s.carries && !carrier.May(b) {
		s.ordinary(b)
		return
	}
	s.carries = true
	_, _ = s.carrier.Write(b)
}

// Long implements [lines.Sink].
func (s *stream) Long(b []byte, first bool) bool {
	if first {
		s.Lines(b)
	} else {
		s.goOn(b)
	}
	return true
}

// LongEnd implements [lines.Sink].
func (s *stream) LongEnd([]byte) { s.goOn([]byte{'\n'}) }

// goOn takes more of a long line.
func (s *stream) goOn(b []byte) {
	if s.carries {
		_, _ = s.carrier.Write(b)
	} else {
		s.ordinary(b)
	}
}

// part takes a part of text that may contain transcripts.
func (s *stream) part(p carrier.Part) {
	switch p.Role {
	case carrier.Plain:
		s.ordinary(p.Text)
	case carrier.Said:
		s.transcript()
		s.of.trouble = ""
		s.speech.take(p)
		s.say(p.Text)
		s.of.said.Take(p.Text)
		if s.of.next {
			s.of.message.Reset()
			s.of.next = false
		}
		s.of.message.Take(p.Text)
		s.of.recent.Take(p.Text)
	case carrier.Printed:
		s.transcript()
		s.of.printed, s.of.next = true, true
		s.of.signed(s.id, p.Text)
		s.of.recent.Take(p.Text)
	case carrier.Noise:
	}
}

// transcript notes that the stream contains an agent's transcript.
func (s *stream) transcript() {
	s.of.agents = true
	if s.id == stdoutStream {
		s.of.aside = asideWaiting
	}
}

// fact takes a fact that an agent reports about itself.
func (s *stream) fact(f carrier.Fact) {
	if s.facts != nil {
		s.facts.Fact(f)
	}
	s.speech.fact(f)
	switch f := f.(type) {
	case carrier.Began:
		s.transcript()
		s.of.ended = false
		if s.begun == nil {
			s.begun = map[string]int{}
		}
		s.begun[f.Agent]++
	case carrier.Call:
		s.of.next = true
		s.of.trouble = ""
		s.call(f)
	case carrier.Trouble:
		text := f.Text
		s.of.trouble = text
		if !f.Until.IsZero() {
			text += " · resets at " + f.Until.UTC().Format(time.RFC3339)
		}
		s.end.Take([]byte(text + "\n"))
	case carrier.Ended:
		s.of.failure, s.of.ended = "", !f.Failed
		agent := f.Agent
		if s.begun[agent] == 0 {
			agent = s.underWay()
		}
		if n := s.begun[agent]; n > 1 {
			s.begun[agent] = n - 1
		} else {
			delete(s.begun, agent)
		}
		if f.Failed {
			s.of.failure = cmp.Or(f.Last, f.Agent+" reports that it failed")
			s.of.wrong = cmp.Or(s.of.wrong, fmt.Sprintf("a turn of %s failed: %s", f.Agent, s.of.failure))
		}
	}
}

// underWay returns the first agent by name whose turn has begun and not ended; empty if there is
// none.
func (s *stream) underWay() (first string) {
	for agent := range s.begun {
		if first == "" || agent < first {
			first = agent
		}
	}
	return first
}

// ordinary takes text outside transcripts: the work's own output, which is evidence.
func (s *stream) ordinary(b []byte) {
	s.speech.take(carrier.Part{Role: carrier.Plain, Text: b})
	s.end.Take(b)
	a := s.of
	fits := len(a.held.Bytes())+len(b) <= a.held.Limit
	switch {
	case s.id == stderrStream && (a.aside == asideWaiting || a.aside == asideOpen && fits):
		a.held.Take(b)
		return
	case a.aside == asideOpen:
		a.pass()
	}
	a.evidence(s.id, b)
}

// signed adds text of a stream to the signature.
func (a *analyzer) signed(stream int, b []byte) {
	to := a.signer.Stdout()
	if stream == stderrStream {
		to = a.signer.Stderr()
	}
	_, _ = to.Write(b) // it never fails
}

// evidence takes evidence that is not part of a transcript.
func (a *analyzer) evidence(stream int, b []byte) {
	a.plain = a.plain || len(bytes.TrimSpace(b)) > 0
	a.signed(stream, b)
	a.recent.Take(b)
}

// pass treats the standard error held so far as evidence, and everything that follows. What an
// agent prints about itself in every turn is none.
func (a *analyzer) pass() {
	if held := a.held.Bytes(); !a.agents || !cmp.Or(*carrier.Of(&a.options), carrier.Known()).Banner(held) {
		a.evidence(stderrStream, held)
	}
	a.held.Reset()
	a.aside = asidePassed
}

// worded reports whether the evidence consists only of what an agent said.
func (a *analyzer) worded() bool {
	return a.agents && !a.printed && !a.plain && len(a.said.Bytes()) > 0
}

// settle ends the output of a step and returns when all of it has been analysed. failed means
// that the step itself failed.
func (a *analyzer) settle(failed bool) {
	for i := range a.streams {
		s := &a.streams[i]
		s.lines.End(s)
		if s.carries {
			s.carrier.Flush()
		}
		s.speech.end()
		if s.raw.To != nil {
			s.raw.End()
		}
	}
	if a.aside == asideOpen || failed || !a.ended {
		a.pass()
	}
	if !a.printed {
		a.signed(stdoutStream, a.said.Bytes())
	}
}

// turn returns how the agents' turns in the transcripts ended.
func (a *analyzer) turn() Turn {
	t := Turn{Wrong: a.wrong, Ended: a.ended}
	for i := range a.streams {
		if agent := a.streams[i].underWay(); agent != "" {
			t.Wrong = cmp.Or(t.Wrong, fmt.Sprintf("the turn of %s was cut off: its transcript has no end", agent))
		}
	}
	return t
}

// sign returns the signature of the output. A judge that passed has the constant signature,
// whatever it printed.
func (a *analyzer) sign(code int, passed bool) signature.Signature {
	if passed {
		return signature.Pass
	}
	return a.signer.SumContent(code)
}

// words are the last that the output says: of an agent its last message.
func (a *analyzer) words() string {
	if a.agents {
		return core.LastWords(excerptOf(&a.message))
	}
	return core.LastWords(a.excerpt())
}

// excerpt returns the end of the output, safe to show anywhere.
func (a *analyzer) excerpt() string { return excerptOf(&a.recent) }

func excerptOf(recent *tail.Buffer) string {
	end := tail.Of(recent.Bytes(), excerptBytes)
	lines := strings.Split(strings.TrimSpace(termsafe.Text(string(end))), "\n")
	if (recent.Cut() || len(end) < len(recent.Bytes())) && len(lines) > 1 {
		lines = lines[1:] // cut somewhere in its middle
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "looprun: ") }) // not the command's
	lines = lines[max(0, len(lines)-excerptLines):]
	for i, l := range lines {
		lines[i] = termsafe.Cut(l, excerptWidth)
	}
	return strings.Join(lines, "\n")
}

// outputFile stores output and remembers the first failure to do so.
type outputFile struct {
	cancel context.CancelCauseFunc
	out    Output
	mu     sync.Mutex
	err    error
}

func (f *outputFile) all(b []byte) { f.write(f.out, b) }

func (f *outputFile) judge(b []byte) {
	if f.out != nil {
		f.write(f.out, b)
		f.write(f.out.Check(), b)
	}
}

func (f *outputFile) write(w io.Writer, b []byte) {
	if f.out == nil {
		return
	}
	if _, err := w.Write(b); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.err = cmp.Or(f.err, err)
		f.cancel(err)
	}
}

func (f *outputFile) close() error {
	if f.out == nil {
		return nil
	}
	err := f.out.Close()
	return cmp.Or(f.err, err)
}
