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
// A [Fact] is what an agent says of itself: [Began], [Ended], [Trouble], [Usage], [Call] and
// [Refused]. Began comes before the parts of its object, the others come after them.
//
// # What is recognised
//
// Objects are recognised by their shape, never by the name of a command, one by one:
// plain lines may stand between them. An agent's object may have other text around it, be
// an entry of a list, or take several lines if it begins with a name that the table has. A
// log's object is a line of its own. [Known] is the table of the shapes, and [NewTable]
// makes others. Of a name that an object has twice, the value that says worse counts.
//
// # Bounds
//
// A stream keeps at most 1 MiB of an object, and of a longer one the beginnings of its
// texts; 64 calls of tools that have not ended; and 32,768 values in 64 levels of an object.
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
	Role  Role
	Text  []byte
	Agent string // who it is of; empty: Plain
	// Begins says that a message of the agent begins with this text. It may be empty: no more
	// is known of the message.
	Begins bool
	Source string // the unit, container or service that a log names; empty: none
}

// Fact is one of [Began], [Ended], [Trouble], [Usage], [Call] and [Refused].
type Fact interface{ fact() }

// Began says that a turn is under way, of an agent whose format says how a turn ends: where
// fewer are [Ended] than began, one was cut off.
type Began struct{ Agent string }

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
	Silent        bool // it printed nothing, or only what its agent says of that
}

// Refused is a tool call that the agent's own permissions did not allow.
type Refused struct{ Agent, Tool, Text string }

func (Began) fact()   {}
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
	line   []byte  // what is held of an object
	skim   skim    // how far the held bytes were followed
	mid    bool    // plain text of the line was passed on, so its end is passed on too
	listed bool    // the last object is an entry of a list
	esc    colours // in the text after an object
	doc    document
	text   []byte
	bare   bool   // the object is alone on its line
	agent  string // of the object that is read
	seen   string // the last agent that there was
	begun  int    // turns that have begun and have not ended
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
	start    mode = iota // at the beginning of a line
	passing              // in a line that has begun with something else
	holding              // in what may be an object
	closed               // after an object
	skipping             // in the rest of an object that was too long
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
		case start, passing:
			p = s.begin(p)
		case holding:
			p = s.hold(p)
		case closed:
			p = s.after(p)
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
	if s.mode == holding {
		s.bare = s.skim.bare(s)
		if s.skim.depth == 0 || !s.object(s.line[s.skim.open:], true) {
			s.plain(s.line)
		}
	}
	s.mode, s.line, s.mid, s.listed, s.esc = start, s.line[:0], false, false, colours{}
	s.leave()
	if s.inner != nil {
		s.inner.Flush()
	}
}

// begin passes on everything before the first thing that may be an object.
func (s *Stream) begin(p []byte) []byte {
	i := opening(p, s.mode == start)
	n := i
	if i < 0 {
		n = len(p)
	}
	if n > 0 {
		s.plain(p[:n])
		s.mid = p[n-1] != '\n'
	}
	switch {
	case i >= 0:
		s.mode, s.skim = holding, skim{open: -1}
	case s.mid:
		s.mode = passing
	default:
		s.mode = start
	}
	return p[n:]
}

// opening returns where the first thing begins that may be an object, with what surrounds
// it at the beginning of its line; -1: there is none. At the end of the piece its brace may
// be missing. Fresh says that the piece begins a line.
func opening(p []byte, fresh bool) int {
	for i := 0; i < len(p); i++ {
		n := bytes.IndexByte(p[i:], '{')
		if n < 0 {
			break
		}
		if i += n; !opens(p[i+1:]) {
			continue
		}
		line := bytes.LastIndexByte(p[:i], '\n') + 1
		if line == 0 && !fresh || !isLead(p[line:i]) {
			return i
		}
		return listAbove(p, line, fresh)
	}
	line := bytes.LastIndexByte(p, '\n') + 1
	if line == len(p) || line == 0 && !fresh || !isLead(p[line:]) {
		if line != len(p) {
			return -1
		}
		if above := listAbove(p, line, fresh); above < line {
			return above
		}
		return -1
	}
	return listAbove(p, line, fresh)
}

// opens reports whether the text after a brace may be the rest of an object: a name is the
// next thing, or it is not there yet.
func opens(p []byte) bool {
	p = bytes.TrimLeft(p, " \t\r")
	return len(p) == 0 || p[0] == '"' || p[0] == '\n' || p[0] == '\x1b'
}

// listAbove is where the line before this one begins, if that has only the bracket of a list.
func listAbove(p []byte, line int, fresh bool) int {
	if line < 2 {
		return line
	}
	above := bytes.LastIndexByte(p[:line-1], '\n') + 1
	if (above > 0 || fresh) && line-above <= maxLead && string(bytes.Trim(p[above:line], " \t\r\n")) == "[" {
		return above
	}
	return line
}

// maxLead is how much may surround an object at the beginning of its line, in bytes.
const maxLead = 256

// isLead reports whether there is only white space, a byte order mark, escape sequences and
// what stands between the entries of a list.
func isLead(p []byte) bool {
	if len(p) > maxLead {
		return false
	}
	var e colours
	for _, c := range p {
		if ok, in := e.take(c); !ok || !in && !leads(c) {
			return false
		}
	}
	return true
}

func leads(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '[', ',', 0xef, 0xbb, 0xbf:
		return true
	}
	return false
}

// May reports whether there may be a carrier in whole lines of output. In what there is
// none in, there is nothing to open, unless there was one before it.
func May(lines []byte) bool {
	return len(lines) > 0 && opening(lines, true) >= 0
}

// hold takes more of what may be an object.
func (s *Stream) hold(p []byte) []byte {
	if len(s.line) == 0 && !s.mid && p[0] == '{' {
		if i := bytes.IndexByte(p, '\n'); i >= 0 && i < maxLine { // the common case: a line, whole
			s.bare = true
			known, isJSON := s.read(p[:i+1], false)
			if isJSON {
				if !known {
					s.plain(p[:i+1])
				}
				s.mode = start
				return p[i+1:]
			}
		}
	}
	n, end := s.follow(p)
	p = p[n:]
	switch end {
	case whole:
		s.bare = s.skim.bare(s)
		if known := s.object(s.line[s.skim.open:], false); known {
			s.listed = s.listed || s.skim.list
			s.mode = closed
		} else {
			s.plain(s.line)
			s.mid, s.mode = true, passing
		}
	case full:
		s.bare = s.skim.bare(s)
		if s.object(s.line[s.skim.open:], true) {
			s.mode = skipping
			break
		}
		s.plain(s.line)
		s.mid, s.mode = true, passing
	case broken:
		return s.release(p)
	default:
		return p
	}
	s.line = s.line[:0]
	return p
}

// release passes on what was held and is no object, as far as no other may begin in it.
func (s *Stream) release(p []byte) []byte {
	from := min(len(s.line), max(1, s.skim.open+1))
	if s.skim.open < 0 { // nothing but what surrounds one
		from = len(s.line)
	}
	n := len(s.line)
	if i := opening(s.line[from:], false); i >= 0 {
		n = from + i
	}
	s.plain(s.line[:n])
	if n > 0 {
		s.mid = s.line[n-1] != '\n'
	}
	if s.mode = start; s.mid {
		s.mode = passing
	}
	if len(s.line) == 0 {
		s.plain(p[:1])
		s.mid, s.mode = p[0] != '\n', passing
		return p[1:]
	}
	rest := bytes.Clone(s.line[n:])
	s.line, s.listed = s.line[:0], false
	_, _ = s.Write(rest)
	return p
}

// after takes what follows an object on its line: commas and brackets of its list, white space
// and escape sequences count for nothing.
func (s *Stream) after(p []byte) []byte {
	for i, c := range p {
		ok, in := s.esc.take(c)
		switch {
		case in && ok, c == ' ', c == '\t', c == '\r', c == ',' && s.listed:
			continue
		case c == ']' && s.listed:
			s.listed = false
			continue
		case c == '\n':
			if s.mid {
				s.plain(p[i : i+1])
			}
			s.mid = false
			if s.listed {
				continue
			}
			s.mode = start
			return p[i+1:]
		}
		s.esc = colours{}
		if s.mode = start; c != '{' {
			s.mode, s.listed = passing, false
		}
		return p[i:]
	}
	return nil
}

func (s *Stream) table() *Table {
	if s.Table == nil {
		s.Table = Known()
	}
	return s.Table
}
