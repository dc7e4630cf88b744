package carrier

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/looprun/looprun/internal/jsontext"
)

// object reads the object that is held, or its beginning if it was cut off, and reports whether
// it is a carrier.
func (s *Stream) object() bool {
	d := &s.doc
	shape := s.table().of(d, s.seen)
	if shape == nil || shape.Agent == "" && (s.mid || len(s.lead) > 0 || bytes.IndexByte(d.src, '\n') >= 0) {
		return false
	}
	if s.agent = shape.Agent; s.agent != "" && s.agent != s.seen {
		s.seen, s.totals = s.agent, ""
	}
	if shape.opens {
		s.turnBegan(s.agent, shape.Starts)
	}
	at := d.find(0, cmp.Or(shape.Each, "."))
	if at != none && d.nodes[at].kind == list {
		for c := range d.members(at) {
			s.entry(shape, c)
		}
	} else if at != none {
		s.entry(shape, at)
	}
	return true
}

// cutOff reports that a turn is under way if the object that was cut off may be an agent's: it
// has the type of one on its first line, or first of all.
func (s *Stream) cutOff() {
	d := &s.doc
	d.each(0, "type", func(c int32) {
		if len(s.table().ofType(d, c)) > 0 && bytes.Count(d.src[:d.nodes[c].at], []byte("\n")) < 2 {
			s.turnBegan(cmp.Or(s.seen, "an agent"), false)
		}
	})
}

func (s *Stream) entry(of *shape, i int32) {
	for k := range of.read {
		if r := &of.read[k]; r.when.holds(&s.doc, i, r.Turn == Done) {
			s.parts(r, i)
			s.facts(of, r, i)
			return
		}
	}
}

// parts emits the entry's parts.
func (s *Stream) parts(r *reading, i int32) {
	if r.Ends {
		s.finish()
	}
	if text, cut := s.texts(r.Said, i); text != nil {
		switch {
		case cut: // the rest of the last line could mean the opposite
			n := bytes.LastIndexByte(text, '\n') + 1
			s.say(Said, text[:n], false)
			s.words.line = append(s.words.line, text[n:]...)
			s.leave(true)
		case r.Piece:
			s.goOn(text)
		default:
			s.say(Said, text, r.Turn != Goes)
		}
	}
	if text, _ := s.texts(r.Printed, i); text != nil {
		if s.agent == "" {
			s.log(r, text, i)
		} else {
			s.say(Printed, text, r.Turn != Goes)
		}
	}
	if text, _ := s.texts(r.Noise, i); text != nil {
		s.ended(Noise, text)
	}
	if r.Name != "" {
		s.call(r, i)
	}
}

// log handles the text of a log's line, which may itself be a carrier.
func (s *Stream) log(r *reading, text []byte, i int32) {
	if r.Line && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	from := s.word(r.Source, i)
	if s.Logs = true; s.depth+1 == nested {
		s.source = from
		s.plain(text)
		return
	}
	if s.inner == nil {
		s.inner = &Stream{Table: s.Table, depth: s.depth + 1}
	}
	s.inner.Part, s.inner.Fact, s.inner.source = s.Part, s.Fact, from
	_, _ = s.inner.Write(text)
}

// call starts or ends a tool call.
func (s *Stream) call(r *reading, i int32) {
	c := call{id: s.word(r.ID, i), name: s.called(r.Name, i)}
	at := s.doc.find(i, r.Input)
	if at != none {
		raw := s.doc.raw(at)
		c.input, c.hash, c.reads = bytes.Clone(raw[:min(len(raw), maxWords)]), xxhash.Sum64(raw), s.reads(at)
	}
	known := s.forget(c.id)
	if known == nil && at != none {
		s.ended(Noise, s.shown(c.name, at))
	}
	if r.Output == "" {
		s.calls = append(s.calls, c)
		if len(s.calls) > maxCalls {
			s.calls = append(s.calls[:0], s.calls[1:]...)
		}
		return
	}
	if known != nil {
		if at == none {
			c.input, c.hash, c.reads = known.input, known.hash, known.reads
		}
		if c.name == "" {
			c.name = known.name
		}
	}
	output, _ := s.texts(r.Output, i)
	role, silent := Printed, s.table().isSilent(output)
	if c.reads || silent {
		role = Noise
	}
	s.ended(role, output)
	s.tell(Call{
		Agent: s.agent, Name: c.name, Input: c.input, Output: output,
		InputHash: c.hash, Failed: len(r.broken) > 0 && r.broken.holds(&s.doc, i, false), Silent: silent,
	})
}

// forget removes the call with an id from those that have not ended, and returns it.
func (s *Stream) forget(id string) *call {
	for i := range s.calls {
		if c := s.calls[i]; id != "" && c.id == id {
			s.calls = append(s.calls[:i], s.calls[i+1:]...)
			return &c
		}
	}
	return nil
}

// The input names of a tool that runs something, and of one that only fetches existing content
// or another agent's thoughts.
const (
	runs   = "command|cmd|script|code"
	places = "file_path|filePath|absolute_path|path|paths|dir_path|notebook_path|pattern|glob|url|query|prompt|todos|patch"
)

// reads reports whether the tool prints existing content.
func (s *Stream) reads(input int32) bool {
	return s.doc.find(input, runs) == none && s.doc.find(input, places) != none
}

// shown formats a call for people: the tool, and the first text of its input.
func (s *Stream) shown(name string, input int32) []byte {
	out := []byte(name)
	for c := input; c < s.doc.past(input); c++ {
		if s.doc.nodes[c].kind == text {
			out = jsontext.Unescape(append(out, ' '), s.doc.raw(c))
			break
		}
	}
	return out[:min(len(out), maxWords)]
}

// called returns the name of a tool: a text, or the member name of the record at that path.
func (s *Stream) called(paths string, i int32) string {
	at := s.doc.find(i, paths)
	if at != none && s.doc.nodes[at].kind == record {
		return string(s.doc.called(at))
	}
	return s.word(paths, i)
}

// turnBegan reports that a turn is under way: once, or again if another one starts.
func (s *Stream) turnBegan(agent string, starts bool) {
	if (s.begun == 0 || starts) && agent != "" {
		s.begun++
		s.tell(Began{Agent: agent})
	}
}

func (s *Stream) tell(f Fact) {
	if s.Fact != nil {
		s.Fact(f)
	}
}

// facts emits what the agent reports about itself.
func (s *Stream) facts(of *shape, r *reading, i int32) {
	if text := s.word(r.Trouble, i); text != "" && text != s.trouble {
		s.trouble = text
		until, _ := s.number(r.Until, i)
		s.tell(Trouble{Agent: s.agent, Text: text, Until: moment(until)})
	}
	if tool := s.word(r.Refused, i); tool != "" {
		refused := Refused{Agent: s.agent, Tool: tool}
		if r.Turn == Goes { // else it is the turn's
			refused.Text = s.word(r.Last, i)
		}
		s.tell(refused)
	}
	if id := s.word(r.Conversation, i); id != "" {
		s.tell(Conversation{Agent: s.agent, ID: id})
	}
	s.totals = cmp.Or(s.word(r.Session, i), s.totals)
	usd, paid := s.number(r.USD, i)
	tokens, took := s.number(r.Tokens, i)
	if paid || took {
		u := Usage{Agent: s.agent, Session: s.totals, Process: s.word(r.Process, i), USD: usd, Tokens: tokens}
		u.Wrote, _ = s.number(r.Wrote, i)
		u.AllWrote, _ = s.number(r.AllWrote, i)
		s.tell(u)
	}
	if r.Turn == Done && (s.doc.cut() || !of.when.holds(&s.doc, 0, true)) { // nobody knows what the rest says
		s.turnBegan(s.agent, false)
		return
	}
	if r.Turn != Goes {
		s.begun = max(0, s.begun-1)
		last := s.word(r.Last, i)
		if last == "" {
			last = strings.TrimSpace(string(s.words.recent))
		}
		s.tell(Ended{Agent: s.agent, Failed: r.Turn == Failed, Last: last})
		s.trouble, s.words.recent = "", s.words.recent[:0]
	}
}

// texts returns the text at the paths; nil means there is none. cut is set if the document cuts
// it off. The text of a list is that of its elements, or the bytes that it lists.
func (s *Stream) texts(paths string, i int32) (out []byte, cut bool) {
	d := &s.doc
	for one := range each(paths) {
		at := d.find(i, one)
		if at == none || d.nodes[at].kind == record {
			continue
		}
		if out == nil {
			out = []byte{}
		}
		add := func(c int32, between byte) {
			if n := len(out); n > 0 && out[n-1] != '\n' {
				out = append(out, between)
			}
			out, cut = jsontext.Unescape(out, d.raw(c)), cut || d.nodes[c].kind == text && d.isCut(c)
		}
		if d.nodes[at].kind != list {
			add(at, ' ')
		}
		for c := range d.members(at) { // of a list
			if n, err := strconv.ParseUint(string(d.raw(c)), 10, 8); err == nil && d.nodes[c].kind == other {
				out = append(out, byte(n))
				continue
			}
			if d.nodes[c].kind == record {
				c = d.find(c, "text")
			}
			if c != none && d.nodes[c].kind == text {
				add(c, '\n')
			}
		}
		if !strings.Contains(paths, "&") {
			break
		}
	}
	return out, cut
}

// word returns a short text.
func (s *Stream) word(paths string, i int32) string {
	out, _ := s.texts(paths, i)
	return string(out[:min(len(out), maxWords)])
}

// number returns the sum of the values at the paths, or NaN if one is not a number.
func (s *Stream) number(paths string, i int32) (sum float64, found bool) {
	d := &s.doc
	for one := range each(paths) {
		d.each(i, one, func(c int32) {
			if d.nodes[c].kind == null {
				return
			}
			n, err := strconv.ParseFloat(string(d.raw(c)), 64)
			if err != nil || d.nodes[c].kind != other || d.isCut(c) {
				n = math.NaN()
			}
			sum, found = sum+n, true
		})
		if found && !strings.Contains(paths, "&") {
			break
		}
	}
	return sum, found
}

// moment converts seconds or milliseconds since 1970 to a time; zero means that it is no time
// worth waiting for.
func moment(n float64) time.Time {
	if n > 1e11 {
		n /= 1000
	}
	if !(n > 0 && n <= 1e11) {
		return time.Time{}
	}
	return time.Unix(int64(n), 0)
}
