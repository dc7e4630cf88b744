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
//   - [Plain] is everything that is not a carrier, byte for byte but for white space and the
//     brackets and commas of a list beside an object, and the text of a log's lines. It is what
//     the program printed: whatever examines output examines it, as if there were no carriers. A
//     margin (a time, the name of a service) is part of it.
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
// A stream holds at most 1 MiB of an object, in 100 levels, and of the texts of an agent's longer
// one only the beginnings; 64 tool calls that have not ended; and two lines of logs within each
// other.
package carrier

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/jsontext"
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
type Fact any

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

// SaidBytes is how much of the end of an agent's messages is evidence, in bytes.
const SaidBytes = 64 << 10

const (
	maxLine   = 1 << 20
	maxText   = maxLine - 128<<10 // beyond it, only the beginnings of an agent's texts are held
	shortText = 256               // so much of each
	maxCalls  = 64
	maxWords  = 4 << 10
	nested    = 3 // carriers within each other
)

// Stream opens one stream. The zero value uses [Known].
type Stream struct {
	Part  func(Part)
	Fact  func(Fact) // may be nil
	Table *Table     // nil: Known()
	Logs  bool       // a log's lines were opened

	holds  bool   // what may be an object
	mid    bool   // plain text of the line was passed on, so its end is passed on too
	beside bool   // after an object on its line or in its list, with only what may surround one since
	listed bool   // the object is in a list
	lead   []byte // what may surround an object
	held
	agent  string // of the object that is read
	seen   string // the last agent that there was
	begun  int    // turns that have begun and have not ended
	totals string // the session whose totals are reported
	source string
	depth  int
	inner  *Stream // reads what a log's lines carry

	calls   []call // that have not ended
	words   words
	trouble string // the last
}

// held is what is held of an object.
type held struct {
	src   []byte
	esc   colours
	json  jsontext.Scanner
	named bool // its first name has ended
	other bool // which is none of an agent's
	began int  // where a text of it began last
	room  int  // up to where texts are held whole if it is not known
	long  bool // only the beginnings of texts are held
	lost  bool // the rest of a text is dropped
	half  bool // within an escape of a text
}

type call struct {
	id, name string
	input    []byte
	hash     uint64
	reads    bool // what it prints is no evidence
}

// Reset clears all state, as for a new stream.
func (s *Stream) Reset() {
	*s = Stream{Part: s.Part, Fact: s.Fact, Table: s.Table, held: held{src: s.src[:0]}}
}

// Write reads the next piece of the stream, cut anywhere. It never fails.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.holds {
			p = s.hold(p)
		} else {
			p = s.begin(p)
		}
	}
	return n, nil
}

// Flush ends the stream: an incomplete object is read as far as possible.
func (s *Stream) Flush() {
	held := s.holds
	if held && s.object() {
		held, s.beside = false, true
	}
	if !s.beside {
		s.plain(s.lead)
	}
	if held {
		s.cutOff()
		s.plain(s.src)
	}
	s.holds, s.mid, s.beside, s.lead = false, false, false, s.lead[:0]
	s.leave(false)
	if s.inner != nil {
		s.inner.Flush()
	}
}

// begin passes on everything before the first possible object.
func (s *Stream) begin(p []byte) []byte {
	i := brace(p)
	if i < 0 {
		s.pass(p)
		return nil
	}
	s.pass(p[:i])
	s.holds, s.held = true, held{src: s.src[:0], json: jsontext.Scanner{Lenient: true}, room: maxText}
	return p[i:]
}

// pass passes on text that is not a carrier, without what may surround one.
func (s *Stream) pass(text []byte) {
	if s.holds = false; len(s.lead) > 0 {
		text = slices.Concat(s.lead, text)
	}
	for s.beside {
		n := around(text, "\n")
		line := bytes.IndexByte(text[:n], '\n') + 1
		switch {
		case line > 0:
			if s.mid {
				s.plain(text[line-1 : line])
			}
			s.mid, s.beside, text = false, s.listed, text[line:]
		case s.listed && n < len(text) && strings.IndexByte(",]", text[n]) >= 0:
			s.listed, text = text[n] == ',', text[n+1:]
		case n == len(text):
			s.lead = append(s.lead[:0], text...)
			return
		default:
			s.beside = false
		}
	}
	n := leadOf(text, !s.mid)
	s.plain(text[:n])
	if n > 0 {
		s.mid = text[n-1] != '\n'
	}
	s.lead = append(s.lead[:0], text[n:]...)
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
	if line == 0 && !fresh || around(text[line:], "[,") < len(text)-line {
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

// around returns how much of p may surround an object: white space, a byte order mark, escape
// sequences and other bytes.
func around(p []byte, also string) (n int) {
	var e colours
	for ; n < min(len(p), maxLead); n++ {
		if ok, in := e.take(p[n]); !ok || !in && strings.IndexByte(" \t\r\xef\xbb\xbf"+also, p[n]) < 0 {
			break
		}
	}
	return n
}

// hold reads more of a possible object.
func (s *Stream) hold(p []byte) []byte {
	n, end := s.follow(p)
	switch {
	case end == more:
	case end == broken: // another object may begin behind its brace
		rest := bytes.Clone(s.src[1:])
		s.pass(s.src[:1])
		_, _ = s.Write(rest)
	case s.object():
		s.listed = s.beside && s.listed || bytes.Count(s.lead, []byte("[")) > bytes.Count(s.lead, []byte("\x1b["))
		s.holds, s.beside, s.lead = false, true, s.lead[:0]
	default:
		s.cutOff()
		if n < len(p) && p[n] == '\n' { // a line stays in one piece
			s.src, n = append(s.src, '\n'), n+1
		}
		s.pass(s.src)
	}
	return p[n:]
}

// ending is the outcome for the text held.
type ending byte

const (
	more   ending = iota
	whole         // or too long for an unknown object
	broken        // it is no object
)

// follow holds the part of p that belongs to a possible object. Of the texts of an agent's long
// object it holds only the beginnings.
func (s *Stream) follow(p []byte) (n int, end ending) {
	for n < len(p) {
		if !s.long && len(s.src) >= s.room {
			s.long = s.table().knows(value{raw: s.src}) || s.table().of(value{raw: s.src}, s.seen) != nil
			if !s.long && s.room == maxLine {
				return n, whole
			}
			s.room = min(s.room+32<<10, maxLine)
		}
		if took := s.json.Plain(p[n:]); took > 0 {
			room := s.room
			if s.long {
				room = s.began + shortText
			}
			room = max(0, min(took, room-len(s.src)))
			s.keep(p[n : n+room])
			if s.long {
				s.lost, room = s.lost || room < took, took
			}
			n += room
			continue
		}
		c, text := p[n], s.json.InText()
		if !text {
			ok, in := s.esc.take(c)
			if !ok {
				return n, broken
			}
			if in {
				c = ' ' // which ends a number
			}
		}
		step := s.json.Take(c)
		if step == jsontext.WordEnd {
			step = s.json.Take(c)
		}
		if step == jsontext.Text {
			s.began = len(s.src) + 1
		}
		if step == jsontext.TextEnd && !s.named {
			s.named, s.other = true, !s.table().begins[string(value{raw: s.src[s.began-1:], cut: true}.text())]
		}
		if step == jsontext.Malformed || p[n] == '\n' && (text || s.other) { // it is nobody's on several lines
			return n, broken
		}
		if text && s.long && !s.half && step != jsontext.TextEnd { // an escape is dropped as a whole
			s.lost = s.lost || len(s.src) >= s.began+shortText
		}
		s.half = text && c == '\\' && !s.half
		if s.lost && step == jsontext.TextEnd { // two quotes end it
			s.keep(p[n : n+1])
			s.lost = false
		}
		if !s.lost {
			s.keep(p[n : n+1])
		}
		if n++; s.json.Depth() == 0 {
			return n, whole
		}
	}
	return n, more
}

// keep holds a piece of an object, as far as there is room.
func (s *Stream) keep(p []byte) { s.src = append(s.src, p[:min(len(p), maxLine-len(s.src))]...) }

// cut reports whether the object has not ended, or is not held whole.
func (s *Stream) cut() bool { return s.json.Depth() > 0 || len(s.src) == maxLine }

func (s *Stream) table() *Table { return cmp.Or(s.Table, Known()) }
