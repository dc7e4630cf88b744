// Package carrier opens JSON that carries text: the transcripts of coding agents and
// the lines that collectors of logs wrap around what a program printed. Everything
// else passes unchanged.
//
//	s := carrier.Stream{Part: func(p carrier.Part) { … }, Fact: func(f carrier.Fact) { … }}
//	s.Write(piece) // cut anywhere
//	s.Flush()      // the stream has ended
//
// Each stream of output has a Stream of its own; two would cut each other's lines. One
// that has no Fact has nobody to tell.
//
// # Parts
//
// What comes out are parts, in the order of what came in. The parts of one role, one
// after the other, are a text with line ends of its own, so a reader of lines keeps an
// unfinished line for each role:
//
//   - [Plain] is what is no carrier, byte for byte, and the text of a log's lines. It is
//     what the program printed: all that looks into output looks into it, as if there
//     were no carriers. A margin (a time, the name of a service) is a part of it.
//   - [Said] is what an agent says to whoever started it: promises, signals, rejections
//     and questions count here. Each text ends with a line end; a text that a killed
//     agent left unfinished is said up to its last whole line.
//   - [Printed] is what an agent's tools printed, and what its own machinery prints when
//     it fails: evidence for the signature, and nothing else. What a tool reads out of
//     files and the web is no evidence.
//   - [Noise] is for people's eyes: the prompt as it is echoed, what a tool is called
//     with, what files held, what the model thought, what subordinate agents say. It
//     counts for nothing.
//
// What is in none of them (ids, usage, durations) is in no part. A text that an agent
// repeats, first in pieces, then whole, then as its result, comes once.
//
// # Facts
//
// A [Fact] is what an agent says of itself: [Ended], [Trouble], [Usage], [Call] and
// [Refused]. It comes after the parts of its object.
//
// # What is recognised
//
// Objects are recognised by their shape, never by the name of a command, one by one:
// plain lines may stand between them. An object is a line, a line that is a list of
// objects, or several lines where the first is a brace alone and the second a name that
// such documents begin with. [Known] is the table of the shapes, and [NewTable] makes
// others.
//
// # Bounds
//
// A stream keeps at most one line of 1 MiB, and of a longer one reads its beginning; 64
// calls of tools that have not ended; and 32,768 values in 64 levels of an object.
package carrier

import (
	"bytes"
	"time"
)

// Role says what the text of a part counts for.
type Role byte

// The roles.
const (
	Plain Role = iota
	Said
	Printed
	Noise
)

func (r Role) String() string { return [...]string{"plain", "said", "printed", "noise"}[r] }

// Part is a piece of text. The text is valid until the function returns that is given it.
type Part struct {
	Role   Role
	Text   []byte
	Agent  string // who it is of; empty: Plain
	Source string // the unit, container or service that a log names; empty: none
}

// Fact is one of [Ended], [Trouble], [Usage], [Call] and [Refused].
type Fact interface{ fact() }

// Ended says that an agent's turn is over. A stream may have several: a command can
// start more than one agent, and the last is how it ended.
type Ended struct {
	Agent  string
	Failed bool   // it says so itself: is_error, turn.failed, a code that is not 0
	Last   string // its last words, or what it failed of; at most 4 KiB
}

// Trouble is an error in the agent's own words, the limits of others among them. It
// may go on all the same: Ended says whether it failed.
type Trouble struct {
	Agent string
	Text  string    // at most 4 KiB
	Until time.Time // when it is over; zero: it does not say
}

// Usage is what an agent says that it has used up; NaN: what it says is no number.
type Usage struct {
	Agent       string
	Session     string // whose totals the numbers are; empty: they are of this report alone
	USD, Tokens float64
	// Process is the session of which the dollars are the total as far as one process has
	// it; empty: they are not. Wrote and AllWrote are what the model wrote of the tokens:
	// for this report, and for all that the dollars are of.
	Process         string
	Wrote, AllWrote float64
}

// Call is a tool call that has ended.
type Call struct {
	Agent, Name   string
	Input, Output []byte // valid until the function returns that is given it; of Input at most 4 KiB
	InputHash     uint64 // of the whole: the same bytes, the same hash
	Failed        bool
}

// Refused is a tool call that the agent's own permissions did not allow.
type Refused struct{ Agent, Tool, Text string }

func (Ended) fact()   {}
func (Trouble) fact() {}
func (Usage) fact()   {}
func (Call) fact()    {}
func (Refused) fact() {}

// SaidBytes is how much of the end of what agents say is evidence, in bytes.
const SaidBytes = 64 << 10

const (
	maxLine  = 1 << 20
	maxCalls = 64
	maxWords = 4 << 10
	nested   = 3 // carriers within each other
)

// Stream opens one stream. The zero value knows what [Known] knows.
type Stream struct {
	Part  func(Part)
	Fact  func(Fact) // may be nil
	Table *Table     // nil: Known()

	mode   mode
	line   []byte // what is held of an object
	lines  int    // of a document
	doc    document
	text   []byte
	agent  string // of the object that is read
	seen   string // the last agent that there was
	totals string // the session whose totals are reported
	source string
	depth  int
	inner  *Stream // reads what a log's lines carry

	calls   []call
	words   words
	trouble string // the last
}

type mode byte

const (
	start     mode = iota // at the beginning of a line
	passing               // in a line that is no object
	holding               // in a line that may be one
	gathering             // in a document of several lines
	closed                // behind such a document, on its last line
	skipping              // in the rest of an object that was too long
)

type call struct {
	id, name string
	input    []byte
	hash     uint64
	reads    bool // what it prints is no evidence
}

// Reset forgets all that came, as for a new stream.
func (s *Stream) Reset() {
	*s = Stream{
		Part: s.Part, Fact: s.Fact, Table: s.Table, depth: s.depth, inner: s.inner,
		line: s.line[:0], text: s.text[:0], calls: s.calls[:0], doc: document{nodes: s.doc.nodes[:0]}, words: words{line: s.words.line[:0]},
	}
	if s.inner != nil {
		s.inner.Reset()
	}
}

// Write takes the next piece of the stream, cut anywhere. It never fails.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		switch s.mode {
		case start:
			p = s.begin(p)
		case passing:
			p = s.pass(p)
		case holding:
			p = s.hold(p)
		case gathering:
			p = s.gather(p)
		case closed:
			if p[0] == '\r' {
				p = p[1:]
				continue
			}
			p, s.mode = bytes.TrimPrefix(p, []byte("\n")), start
		case skipping:
			i := bytes.IndexByte(p, '\n')
			if i < 0 {
				return n, nil
			}
			s.mode, p = start, p[i+1:]
		}
	}
	return n, nil
}

// Flush ends the stream: what is held of an object is read as far as it goes.
func (s *Stream) Flush() {
	held := s.line
	switch s.mode {
	case holding, gathering:
		if !s.object(held, true) {
			s.plain(held)
		}
	case start, passing, closed, skipping:
	}
	s.mode, s.line = start, s.line[:0]
	s.leave()
	if s.inner != nil {
		s.inner.Flush()
	}
}

// begin passes whole lines on, up to one that may be an object.
func (s *Stream) begin(p []byte) []byte {
	n := len(p)
	if i := opening(p); i >= 0 {
		n, s.mode = i, holding
	} else if p[n-1] != '\n' {
		s.mode = passing
	}
	s.plain(p[:n])
	return p[n:]
}

// opening returns where the first line begins that may be an object or a list of them, -1
// for none. Of a list that ends the piece there may be no more than its bracket.
func opening(p []byte) int {
	for i := 0; i < len(p); i++ {
		n := bytes.IndexByte(p[i:], '{')
		if n < 0 {
			break
		}
		i += n
		begin := i
		if i > 0 && p[i-1] == '[' {
			begin--
		}
		if begin == 0 || p[begin-1] == '\n' {
			return begin
		}
	}
	if n := len(p) - 1; p[n] == '[' && (n == 0 || p[n-1] == '\n') {
		return n
	}
	return -1
}

// May reports whether there may be a carrier in whole lines of output. In what there is
// none in, there is nothing to open, unless there was one before it.
func May(lines []byte) bool {
	return len(lines) > 0 && opening(lines) >= 0
}

func (s *Stream) pass(p []byte) []byte {
	n := len(p)
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		n, s.mode = i+1, start
	}
	s.plain(p[:n])
	return p[n:]
}

// hold takes more of a line that may be an object.
func (s *Stream) hold(p []byte) []byte {
	if string(s.line) == "[" && p[0] != '{' {
		s.release(passing)
		return p
	}
	n := len(p)
	i := bytes.IndexByte(p, '\n')
	if i >= 0 {
		n = i + 1
	}
	if room := maxLine - len(s.line); n > room {
		s.line = append(s.line, p[:room]...)
		if s.object(s.line, true) {
			s.mode, s.line = skipping, s.line[:0]
		} else {
			s.release(passing)
		}
		return p[room:]
	}
	if i < 0 {
		s.line = append(s.line, p...)
		return nil
	}
	line := p[:n]
	if len(s.line) > 0 {
		s.line = append(s.line, line...)
		line = s.line
	}
	if string(bytes.TrimRight(line, "\r\n")) == "{" {
		s.line = append(s.line[:0], line...)
		s.mode, s.lines = gathering, 1
		return p[n:]
	}
	s.mode = start
	if !s.object(line, false) {
		s.plain(line)
	}
	s.line = s.line[:0]
	return p[n:]
}

// gather takes more of a document of several lines, until a line begins with its
// closing brace. It is let go as soon as its second line is of no known document.
func (s *Stream) gather(p []byte) []byte {
	from := bytes.LastIndexByte(s.line, '\n') + 1
	if from == len(s.line) && p[0] == '}' {
		s.line = append(s.line, '}')
		if s.object(s.line, false) {
			s.line, s.mode = s.line[:0], closed
		} else {
			s.release(passing)
		}
		return p[1:]
	}
	n := len(p)
	i := bytes.IndexByte(p, '\n')
	if i >= 0 {
		n = i + 1
	}
	if len(s.line)+n > maxLine {
		s.release(passing)
		return p
	}
	s.line = append(s.line, p[:n]...)
	if i >= 0 {
		if s.lines++; s.lines == 2 && !s.table().begins(s.line[from:]) {
			s.release(start)
		}
	}
	return p[n:]
}

// release passes on what was held.
func (s *Stream) release(to mode) {
	s.plain(s.line)
	s.line, s.mode = s.line[:0], to
}

func (s *Stream) table() *Table {
	if s.Table == nil {
		s.Table = Known()
	}
	return s.Table
}
