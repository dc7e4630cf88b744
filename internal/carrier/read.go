package carrier

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// object reads the object that is held, or its beginning if it was cut off, and reports whether
// it is a carrier.
func (s *Stream) object() bool {
	o := value{raw: s.src}
	shape := s.table().of(o, s.seen)
	if shape == nil || shape.Agent == "" && (s.mid || len(s.lead) > 0 && !s.beside || bytes.IndexByte(s.src, '\n') >= 0) {
		return false
	}
	if s.agent = shape.Agent; s.agent != "" && s.agent != s.seen {
		s.seen, s.totals = s.agent, ""
	}
	if shape.opens {
		s.turnBegan(s.agent, shape.Starts)
	}
	switch at := o.find(cmp.Or(shape.Each, ".")); {
	case at.is("["):
		for c := range at.members() {
			s.entry(shape, c)
		}
	case at.raw != nil:
		s.entry(shape, at)
	}
	return true
}

// cutOff reports that a turn is under way if the object that is held was cut off and may be an
// agent's: it has the type of one on its first two lines.
func (s *Stream) cutOff() {
	lines := bytes.SplitAfterN(s.src, []byte("\n"), 3)
	if s.cut() && s.table().knows(value{raw: bytes.Join(lines[:min(2, len(lines))], nil)}) {
		s.turnBegan(cmp.Or(s.seen, "an agent"), false)
	}
}

func (s *Stream) entry(of *shape, o value) {
	if r := of.reading(o); r != nil {
		s.parts(r, o)
		s.facts(of, r, o)
	}
}

// parts emits the entry's parts.
func (s *Stream) parts(r *Reading, o value) {
	if r.Ends {
		s.finish()
	}
	if text, cut := s.texts(r.Said, o); text != nil {
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
	if text, _ := s.texts(r.Printed, o); text != nil {
		if s.agent == "" {
			s.log(r, text, o)
		} else {
			s.say(Printed, text, r.Turn != Goes)
		}
	}
	if text, _ := s.texts(r.Noise, o); text != nil {
		s.ended(Noise, text)
	}
	if r.Name != "" {
		s.call(r, o)
	}
}

// log handles the text of a log's line, which may itself be a carrier.
func (s *Stream) log(r *Reading, text []byte, o value) {
	if r.Line && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	from := s.word(r.Source, o)
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
func (s *Stream) call(r *Reading, o value) {
	c, known := call{id: s.word(r.ID, o), name: s.word(r.Name, o)}, call{}
	if tool := o.find(r.Name); tool.is("{") {
		c.name = string(tool.name)
	}
	i := slices.IndexFunc(s.calls, func(open call) bool { return open.id == c.id })
	if i >= 0 {
		known = s.calls[i]
		s.calls = slices.Delete(s.calls, i, i+1)
	}
	if at := o.find(r.Input); at.raw != nil {
		raw := at.inner()
		c.input, c.hash = bytes.Clone(raw[:min(len(raw), maxWords)]), xxhash.Sum64(raw)
		c.reads = at.find(runs).raw == nil && at.find(places).raw != nil
		if i < 0 { // for people: the tool, and what it is called with
			shown := strings.TrimRight(c.name+" "+string(at.first()), " ")
			s.ended(Noise, []byte(shown[:min(len(shown), maxWords)]))
		}
	} else {
		c.input, c.hash, c.reads = known.input, known.hash, known.reads
	}
	if c.name = cmp.Or(c.name, known.name); r.Output == "" {
		if c.id != "" {
			s.calls = append(s.calls, c)
			s.calls = s.calls[max(0, len(s.calls)-maxCalls):]
		}
		return
	}
	output, _ := s.texts(r.Output, o)
	role, silent := Printed, s.table().silence(output)
	if c.reads || silent {
		role = Noise
	}
	s.ended(role, output)
	s.tell(Call{
		Agent: s.agent, Name: c.name, Input: c.input, Output: output,
		InputHash: c.hash, Failed: len(r.Broken) > 0 && r.Broken.holds(o, false), Silent: silent,
	})
}

// The input names of a tool that runs something, and of one that only fetches existing content
// or another agent's thoughts.
const (
	runs   = "command|cmd|script|code"
	places = "file_path|filePath|absolute_path|path|paths|dir_path|notebook_path|pattern|glob|url|query|prompt|todos|patch"
)

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
func (s *Stream) facts(of *shape, r *Reading, o value) {
	if text := s.word(r.Trouble, o); text != "" && text != s.trouble {
		s.trouble = text
		until, _ := s.number(r.Until, o)
		s.tell(Trouble{Agent: s.agent, Text: text, Until: moment(until)})
	}
	if tool := s.word(r.Refused, o); tool != "" {
		refused := Refused{Agent: s.agent, Tool: tool}
		if r.Turn == Goes { // else it is the turn's
			refused.Text = s.word(r.Last, o)
		}
		s.tell(refused)
	}
	if id := s.word(r.Conversation, o); id != "" {
		s.tell(Conversation{Agent: s.agent, ID: id})
	}
	s.totals = cmp.Or(s.word(r.Session, o), s.totals)
	usd, paid := s.number(r.USD, o)
	tokens, took := s.number(r.Tokens, o)
	if paid || took {
		u := Usage{Agent: s.agent, Session: s.totals, Process: s.word(r.Process, o), USD: usd, Tokens: tokens}
		u.Wrote, _ = s.number(r.Wrote, o)
		u.AllWrote, _ = s.number(r.AllWrote, o)
		s.tell(u)
	}
	if r.Turn == Done && (s.cut() || !of.When.holds(value{raw: s.src}, true)) { // nobody knows what the rest says
		s.turnBegan(s.agent, false)
		return
	}
	if r.Turn != Goes {
		s.begun = max(0, s.begun-1)
		last := s.word(r.Last, o)
		if last == "" {
			last = strings.TrimSpace(string(s.words.recent))
		}
		s.tell(Ended{Agent: s.agent, Failed: r.Turn == Failed, Last: last})
		s.trouble, s.words.recent = "", s.words.recent[:0]
	}
}

// texts returns the text at the paths; nil means there is none. cut is set if the object cuts
// it off. The text of a list is that of its elements, or the bytes that it lists.
func (s *Stream) texts(paths string, o value) (out []byte, cut bool) {
	for one := range each(paths) {
		at := o.find(one)
		if at.raw == nil || at.is("{") {
			continue
		}
		if out == nil {
			out = []byte{}
		}
		add := func(c value, between byte) {
			if n := len(out); n > 0 && out[n-1] != '\n' {
				out = append(out, between)
			}
			text := c.text()
			out, cut = append(out, text...), cut || c.is(`"`) && c.cut
		}
		if !at.is("[") {
			add(at, ' ')
		}
		for c := range at.members() { // of a list
			if n, err := strconv.ParseUint(string(c.raw), 10, 8); err == nil {
				out = append(out, byte(n))
				continue
			}
			if c.is("{") {
				c = c.find("text")
			}
			if c.is(`"`) {
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
func (s *Stream) word(paths string, o value) string {
	out, _ := s.texts(paths, o)
	return string(out[:min(len(out), maxWords)])
}

// number returns the sum of the values at the paths, or NaN if one is not a number.
func (s *Stream) number(paths string, o value) (sum float64, found bool) {
	for one := range each(paths) {
		o.each(one, func(c value) {
			if c.is("n") {
				return
			}
			n, err := strconv.ParseFloat(string(c.raw), 64)
			if err != nil || c.cut {
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
