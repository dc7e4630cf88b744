// Package carrier opens JSON that carries text: the transcripts of coding agents, and the
// lines in which log collectors wrap a program's output. Everything else passes unchanged.
//
//	s := carrier.Stream{Part: func(p carrier.Part) { … }, Fact: func(f carrier.Fact) { … }}
//	s.Write(piece) // cut anywhere
//	s.Flush()      // the stream has ended
//
// Each output stream needs a Stream of its own; two would cut each other's lines. If Fact is
// nil, facts are dropped.
//
// # Parts
//
// A stream is split into parts, in the order of the input. Joined in order, the parts of one
// role form a text with line ends of its own, so a reader of lines keeps an unfinished line
// for each role:
//
//   - [Plain] is everything that is not a carrier, byte for byte, and the text of a log's
//     lines. It is what the program printed: whatever examines output examines it, as if there
//     were no carriers. A margin (a time, the name of a service) is part of it.
//   - [Said] is what an agent says to whoever started it: promises, signals, rejections
//     and questions count here. Each text ends with a line end; a text that a killed
//     agent left unfinished ends at its last whole line.
//   - [Printed] is what an agent's tools printed, and what its own machinery prints when
//     it fails: evidence for the signature, and nothing else. What a tool reads out of
//     files and the web is not evidence.
//   - [Noise] is only shown to people: the prompt as it is echoed, the input of a tool,
//     the contents of files, the model's thoughts, the messages of subordinate agents. It
//     counts for nothing.
//
// Anything else (ids, usage, durations) is in no part. A text that an agent repeats, first in
// pieces, then whole, then as its result, appears once.
//
// # Facts
//
// A [Fact] is what an agent reports about itself: [Began], [Conversation], [Ended], [Trouble],
// [Usage], [Call] and [Refused]. Began comes before the parts of its object, the others after them.
//
// # What is recognised
//
// Objects are recognised one by one, by their shape and never by the name of a command: there
// may be plain lines between them. An agent's object may be surrounded by other text, be an
// element of a list, or span several lines if a name of its shape comes first. A log's object is
// a line of its own. What is in an object of no known shape is plain text, except that one on
// several lines is read line by line. [Known] is the table of the known shapes, and [NewTable]
// builds others. If an object has a name twice, the value that reports the worse outcome counts.
//
// # Bounds
//
// A stream holds at most 1 MiB of an object, and for a longer one the beginnings of its texts;
// 64 tool calls that have not ended; 32,768 values in 100 levels of an object; and two lines of
// logs within each other. Other values of an object are read and not kept.
package carrier

import (
	"bytes"
	"slices"
	"time"
)

// Role is what the text of a part counts for.
type Role byte

// The roles.
const (
	Plain Role = iota
	Said
	Printed
	Noise
)

func (r Role) String() string { return [...]string{"plain", "said", "printed", "noise"}[r] }

// Part is a piece of text. The text is valid until the function that receives it returns.
type Part struct {
	Role  Role
	Text  []byte
	Agent string // who it is of; empty: Plain
	// Begins means that an agent's message begins with this text. The text may be empty if no
	// more is known of the message.
	Begins bool
	Source string // the unit, container or service that a log names; empty: none
}

// Fact is one of [Began], [Conversation], [Ended], [Trouble], [Usage], [Call] and [Refused].
type Fact interface{ fact() }

// Began means that a turn is under way, of an agent whose format marks the end of turns: if
// fewer turns [Ended] than began, one was cut off.
type Began struct{ Agent string }

// Ended means that an agent's turn has ended. A stream may have several: a command can start
// more than one agent, and the last one is its outcome.
type Ended struct {
	Agent  string
	Failed bool   // it says so itself: is_error, turn.failed, a code that is not 0
	Last   string // its last words, or what it failed of; at most 4 KiB
}

// Trouble is an error in the agent's own words, including others' limits. The agent may
// continue all the same: Ended reports whether it failed.
type Trouble struct {
	Agent string
	Text  string    // at most 4 KiB
	Until time.Time // when it is over; zero: it does not say
}

// Usage is what an agent reports as used; NaN means that the reported value is not a number.
type Usage struct {
	Agent       string
	Session     string // whose totals the numbers are; empty: they are of this report alone
	USD, Tokens float64
	// Process is the session whose total, within one process, the dollars are; empty means
	// they are not a total. Wrote and AllWrote are the tokens that the model wrote: for this
	// report, and for everything that the dollars cover.
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

// Conversation is the id by which the agent can continue its conversation in another process.
type Conversation struct{ Agent, ID string }

// Refused is a tool call that the agent's own permissions denied.
type Refused struct{ Agent, Tool, Text string }

func (Began) fact() {}

func (Conversation) fact() {}
func (Ended) fact()        {}
func (Trouble) fact()      {}
func (Usage) fact()        {}
func (Call) fact()         {}
func (Refused) fact()      {}

// SaidBytes is how much of the end of an agent's messages is evidence, in bytes.
const SaidBytes = 64 << 10

const (
	maxLine  = 1 << 20
	maxCalls = 64
	maxWords = 4 << 10
	nested   = 3 // carriers within each other
)

// Stream opens one stream. The zero value uses [Known].
type Stream struct {
	Part  func(Part)
	Fact  func(Fact) // may be nil
	Table *Table     // nil: Known()
	Logs  bool       // a log's lines were opened

	mode   mode
	mid    bool     // plain text of the line was passed on, so its end is passed on too
	listed bool     // the last object is an entry of a list
	esc    colours  // in the text after an object
	lead   []byte   // what stands in front of an object that may come
	doc    document // what is held of an object
	agent  string   // of the object that is read
	seen   string   // the last agent that there was
	begun  int      // turns that have begun and have not ended
	totals string   // the session whose totals are reported
	source string
	depth  int
	inner  *Stream // reads what a log's lines carry

	calls   []call
	words   words
	trouble string // the last
}

type mode byte

const (
	passing  mode = iota // in text that is no object
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

// Reset clears all state, as for a new stream.
func (s *Stream) Reset() {
	*s = Stream{
		Part: s.Part, Fact: s.Fact, Table: s.Table, depth: s.depth, inner: s.inner,
		calls: s.calls[:0], doc: document{src: s.doc.src[:0], nodes: s.doc.nodes[:0]}, words: words{line: s.words.line[:0]},
	}
	if s.inner != nil {
		s.inner.Reset()
	}
}

// Write reads the next piece of the stream, cut anywhere. It never fails.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		switch s.mode {
		case passing:
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
			s.mode, p = passing, p[i+1:]
		}
	}
	return n, nil
}

// Flush ends the stream: an incomplete object is read as far as possible.
func (s *Stream) Flush() {
	held := s.mode == holding
	if held && s.object() {
		held, s.lead = false, s.lead[:0]
	}
	s.plain(s.lead)
	if held {
		s.cutOff()
		s.plain(s.doc.src)
	}
	s.mode, s.mid, s.listed, s.esc, s.lead = passing, false, false, colours{}, s.lead[:0]
	s.leave(false)
	if s.inner != nil {
		s.inner.Flush()
	}
}

// release passes on the brace that is held, and reads again what follows it: another object may
// begin there.
func (s *Stream) release() {
	rest := bytes.Clone(s.doc.src[1:])
	s.pass(s.doc.src[:1])
	s.listed = false
	_, _ = s.Write(rest)
}

// begin passes on everything before the first possible object.
func (s *Stream) begin(p []byte) []byte {
	i := brace(p)
	if i < 0 {
		s.pass(p)
		return nil
	}
	s.pass(p[:i])
	s.mode = holding
	s.doc.reset()
	return p[i:]
}

// pass passes on text that is not a carrier, without what may stand in front of one.
func (s *Stream) pass(text []byte) {
	if len(s.lead) > 0 {
		text = slices.Concat(s.lead, text)
	}
	n := leadOf(text, !s.mid)
	s.plain(text[:n])
	if n > 0 {
		s.mid = text[n-1] != '\n'
	}
	s.lead, s.mode = append(s.lead[:0], text[n:]...), passing
}

// May reports whether whole lines of output may contain a carrier. If not, there is nothing to
// open, unless a carrier began before them.
func May(lines []byte) bool { return brace(lines) >= 0 || leadOf(lines, true) < len(lines) }

// brace returns where the first possible object begins, or -1 if there is none: after its
// brace a name comes next, or has not arrived yet.
func brace(p []byte) int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(p[i:], '{')
		if n < 0 {
			return -1
		}
		i += n
		if next := bytes.TrimLeft(p[i+1:], " \t\r"); len(next) == 0 || bytes.IndexByte([]byte("\"\n\x1b"), next[0]) >= 0 {
			return i
		}
	}
}

// leadOf returns where the text begins that may surround an object in front of it on its line,
// and on the line above if that has only the bracket of a list. fresh means that the text
// begins a line.
func leadOf(text []byte, fresh bool) int {
	line := bytes.LastIndexByte(text, '\n') + 1
	if line == 0 && !fresh || !isLead(text[line:]) {
		return len(text)
	}
	if line > 1 {
		above := bytes.LastIndexByte(text[:line-1], '\n') + 1
		if (above > 0 || fresh) && line-above <= maxLead && string(bytes.TrimSpace(text[above:line])) == "[" {
			return above
		}
	}
	return line
}

// maxLead is how much text may surround an object at the beginning of its line, in bytes.
const maxLead = 256

// isLead reports whether p consists only of white space, a byte order mark, escape sequences
// and the separators of a list.
func isLead(p []byte) bool {
	var e colours
	for _, c := range p {
		if ok, in := e.take(c); !ok || !in && bytes.IndexByte([]byte(" \t\r[,\xef\xbb\xbf"), c) < 0 {
			return false
		}
	}
	return len(p) <= maxLead
}

// hold reads more of a possible object.
func (s *Stream) hold(p []byte) []byte {
	n, end := s.follow(p)
	p = p[n:]
	if end == more {
		return p
	}
	listed := s.listed || bytes.Count(s.lead, []byte("[")) > bytes.Count(s.lead, []byte("\x1b["))
	switch {
	case end == broken:
		s.release()
	case !s.object():
		if s.doc.cut() {
			s.cutOff()
		}
		if len(p) > 0 && p[0] == '\n' { // a line stays in one piece
			s.doc.src, p = append(s.doc.src, '\n'), p[1:]
		}
		s.pass(s.doc.src)
	case end == full:
		s.mode, s.lead = skipping, s.lead[:0]
	default:
		s.mode, s.lead, s.listed = closed, s.lead[:0], listed
	}
	return p
}

// ending is the outcome for the text held.
type ending byte

const (
	more ending = iota
	whole
	broken // it is no object
	full   // there is no room for it
)

// follow holds the part of p that belongs to a possible object.
func (s *Stream) follow(p []byte) (n int, end ending) {
	d := &s.doc
	for n < len(p) {
		if len(d.src) >= maxLine {
			return n, full
		}
		if d.json.InText() {
			took := d.json.Plain(p[n:])
			if took > 0 {
				n += s.keep(p[n : n+took])
				continue
			}
			if p[n] == '\n' || !d.take(p[n]) {
				return n, broken
			}
			if d.json.InText() {
				n += s.keep(p[n : n+1])
				continue
			}
		} else if ok, in := d.esc.take(p[n]); !ok || in && !d.take(' ') || !in && !d.take(p[n]) { // a blank ends a number
			return n, broken
		}
		if p[n] == '\n' {
			if first := d.first(); first != nil && !s.table().names[string(first)] {
				return n, broken
			}
		}
		d.src = append(d.src, p[n])
		if n++; len(d.open) == 0 {
			return n, whole
		}
	}
	return n, more
}

// keep holds a piece of a text, as far as there is room, and returns how much of it was read.
// Of the texts of an agent's long object it holds only the beginnings.
func (s *Stream) keep(p []byte) int {
	d := &s.doc
	room := max(maxLine-spare-len(d.src), shortText-(len(d.src)-d.began))
	if len(p) > room && !d.short {
		d.short = s.table().of(d, s.seen) != nil
		d.each(0, "type", func(c int32) { d.short = d.short || len(s.table().ofType(d, c)) > 0 })
		if d.short {
			d.src = append(d.src, p[:max(0, room)]...)
		}
		if d.short && !d.json.Name() {
			d.latest().cut = true
		}
	}
	if d.short {
		return len(p)
	}
	p = p[:min(len(p), maxLine-len(d.src))]
	d.src = append(d.src, p...)
	return len(p)
}

// after handles the text after an object on its line: it ignores commas and brackets of the
// object's list, white space and escape sequences.
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
			s.mode = passing
			return p[i+1:]
		}
		s.esc = colours{}
		if s.mode = passing; c != '{' {
			s.mid, s.listed = true, false
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
