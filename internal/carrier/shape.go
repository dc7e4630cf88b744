package carrier

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Shape describes what objects of one kind look like and what they carry: a row of a [Table].
type Shape struct {
	// Agent is the agent that prints such objects; empty means that they are lines of a log,
	// whose text is read as if it had been printed without them.
	Agent string `yaml:"-" json:"agent,omitempty"`
	When  Match  `yaml:"when,required" json:"when" doc:"What must be at paths of an object: a text, several with | between them, one that ends in * for how it begins, \"*\" for anything, \"-\" for nothing, \"!TEXT\" for anything but that."`
	// Follows means that the shape counts as the agent's only after another object of that
	// agent: nothing else distinguishes it from others' objects.
	Follows bool `yaml:"follows" json:"follows,omitempty" doc:"It is the agent's only where another object of its came before."`
	// Begins lists names, separated by |, with which an object on several lines may begin, in
	// addition to those that the rest of the shape names.
	Begins string `yaml:"begins" json:"begins,omitempty" doc:"For an object on several lines: names that it may begin with, with | between them, beside those that the shape has anyway."`
	// Opens means that such an object shows that a turn is under way. One with words of the
	// agent does so anyway. It counts only for an agent whose shapes mark the end of turns.
	Opens bool `yaml:"opens" json:"opens,omitempty" doc:"It shows that a turn is under way, as the agent's words do anyway: if nothing with turn follows, the turn was cut off."`
	// Starts means that such an object is the first of a turn and occurs once in it. It also
	// opens the turn.
	Starts bool `yaml:"starts" json:"starts,omitempty" doc:"It is the first object of a turn, and comes once in it: as many turns have to end as start, else one was cut off."`
	// Each is the path of a list whose entries are read; empty means that the object itself is
	// read.
	Each string `yaml:"each" json:"each,omitempty" doc:"The path of a list whose entries are read in place of the object."`
	// Silent lists the lines that tools print when they have no output. If they are all of a
	// tool's output, the tool printed nothing.
	Silent []string `yaml:"silent" json:"silent,omitempty" doc:"The lines that a tool's output consists of if the tool printed nothing, whatever the shape is; * matches any text."`
	Banner []string `yaml:"-" json:"banner,omitempty"` // lines about itself on standard error, in every turn
	// Read lists what to read. The first one that matches an entry is used.
	Read []Reading `yaml:"read" json:"read,omitempty" doc:"The values to read; the first entry whose when matches counts. Without any, the object counts for nothing."`
}

// Match holds the required values at paths of an object. A path consists of names separated by
// dots; * stands for any one name. A required value is a text; several texts separated by |,
// one of which must match; * for anything; - for nothing or null; a text that ends in * for a
// prefix; and !TEXT for anything else. If an object has a name twice, one matching value is
// enough, except that for a turn that is done all must match.
type Match map[string]string

// Reading describes what to read from a matching object. All fields except the first and the
// flags are paths, where . is the entry itself; several paths separated by | are tried in
// turn, and texts at paths separated by & are joined with spaces.
type Reading struct {
	When Match `yaml:"when" json:"when,omitempty" doc:"As for the object."`

	Said    string `yaml:"said" json:"said,omitempty" doc:"The agent's words: promises, signals, rejections and questions."`
	Printed string `yaml:"printed" json:"printed,omitempty" doc:"What its own machinery prints: evidence."`
	Noise   string `yaml:"noise" json:"noise,omitempty" doc:"For people's eyes only."`
	Line    bool   `yaml:"-" json:"line,omitempty"` // a log's text is a whole line, without its end
	Piece   bool   `yaml:"piece" json:"piece,omitempty" doc:"The words continue in the next object."`
	Ends    bool   `yaml:"ends" json:"ends,omitempty" doc:"The pieces end here."`

	// A tool call. It is complete if there is an Output, which names the call by its ID or has
	// all the other members with it.
	ID     string `yaml:"id" json:"id,omitempty" doc:"The id of a tool call, by which its output is found."`
	Name   string `yaml:"name" json:"name,omitempty" doc:"The tool that is called."`
	Input  string `yaml:"input" json:"input,omitempty" doc:"What it is called with."`
	Output string `yaml:"output" json:"output,omitempty" doc:"What it printed: evidence, unless the tool only reads."`
	Broken Match  `yaml:"broken" json:"broken,omitempty" doc:"How a call looks that failed."`

	Turn    Turn   `yaml:"turn" json:"turn,omitempty" doc:"The agent's turn ends here, and is done or has failed."`
	Last    string `yaml:"last" json:"last,omitempty" doc:"The turn's last words, or what it failed of."`
	Trouble string `yaml:"trouble" json:"trouble,omitempty" doc:"What the agent says is wrong, for wait_on and stop_on."`
	Until   string `yaml:"until" json:"until,omitempty" doc:"Until when that is so, in seconds since 1970."`
	Refused string `yaml:"refused" json:"refused,omitempty" doc:"The tool that the agent's permissions refused."`
	// Session is the session whose totals USD and Tokens are, in this object and in later ones
	// that name none; empty means they are those of the object alone.
	Session string `yaml:"session" json:"session,omitempty" doc:"The session whose totals usd and tokens are, here and in later objects; without any they are what the object adds."`
	USD     string `yaml:"usd" json:"usd,omitempty" doc:"What it cost, in US dollars."`
	Tokens  string `yaml:"tokens" json:"tokens,omitempty" doc:"The tokens it took; all that are added up, with & between them."`
	// Process is the session whose total, within one process, USD is. Wrote and AllWrote
	// distinguish processes: they are the tokens that the model wrote for this report, and for
	// everything that USD covers.
	Process  string `yaml:"process" json:"process,omitempty" doc:"The session of which usd is the total within one process; needs wrote and all_wrote."`
	Wrote    string `yaml:"wrote" json:"wrote,omitempty" doc:"The tokens that the model wrote for this report."`
	AllWrote string `yaml:"all_wrote" json:"all_wrote,omitempty" doc:"The tokens that the model wrote for all that usd is of."`
	// Conversation is the id that the agent takes to continue this conversation.
	Conversation string `yaml:"conversation" json:"conversation,omitempty" doc:"The id by which the agent continues this conversation, for session: keep."`
	Source       string `yaml:"-" json:"source,omitempty"` // where a log's text comes from
}

// Turn is how a turn ended; empty means it continues.
type Turn string

// The ways in which a turn can end.
const (
	Goes   Turn = ""
	Done   Turn = "done"
	Failed Turn = "failed"
)

// UnmarshalText parses one of the two.
func (t *Turn) UnmarshalText(b []byte) error {
	if *t = Turn(b); *t != Done && *t != Failed {
		return fmt.Errorf("%q is not how a turn ends; use done or failed", b)
	}
	return nil
}

// Wrong returns why no object could have the shape; empty means that some could.
func (s Shape) Wrong() string {
	for p, want := range s.When {
		if want != "-" && p != "" && !strings.ContainsAny(p[:1], "*.") {
			return ""
		}
	}
	return "when names nothing that must be there; name a key of the object, as in {type: message}"
}

// typeIs, with a value of type, is no name of an object.
const typeIs = "type\x00"

// Table holds known carriers. It is immutable, so streams can share it.
type Table struct {
	shapes map[string][]*shape // by their type, or by a name that the object must have
	begins map[string]bool     // the names with which an agent's object on several lines may begin
	silent []string            // the lines that tools print when they have no output
	banner []string            // the lines that agents print about themselves
}

type shape struct {
	Shape
	place int  // in the table
	opens bool // a turn is under way
}

// Of returns where a signature.Options keeps its table, nil for the known one. It is set by that
// package: the table is no part of the library.
var Of func(options any) **Table

// NewTable makes a table of shapes. The first shape that matches an object reads it, but those
// that name a type come before the others.
func NewTable(shapes ...Shape) *Table {
	t := &Table{shapes: map[string][]*shape{}, begins: map[string]bool{}}
	ends := map[string]bool{}
	for _, s := range shapes {
		for _, r := range s.Read {
			ends[s.Agent] = ends[s.Agent] || r.Turn != Goes
		}
	}
	for i, s := range shapes {
		t.silent, t.banner = append(t.silent, s.Silent...), append(t.banner, s.Banner...)
		made := &shape{s, i, s.Opens || s.Starts}
		begins := []string{s.Begins, s.Each}
		for _, r := range s.Read {
			made.opens = made.opens || r.Said != "" && r.Turn == Goes
			if s.Each == "" { // else the paths are those of its entries
				begins = append(begins, r.Said, r.Printed, r.Last, r.Session, r.USD, r.Tokens, r.AllWrote, r.Refused)
			}
		}
		made.opens = made.opens && ends[s.Agent]
		longest := "" // most other objects lack it
		for path, want := range s.When {
			first, _, _ := strings.Cut(path, ".")
			if want != "-" && first != "*" {
				if begins = append(begins, first); len(first) > len(longest) {
					longest = first
				}
			}
		}
		for path := range each(strings.Join(begins, "|")) {
			first, _, _ := strings.Cut(path, ".")
			t.begins[first] = t.begins[first] || s.Agent != "" && first != "*"
		}
		if typ := s.When["type"]; typ != "" && !strings.ContainsAny(typ, "*-!") {
			for one := range strings.SplitSeq(typ, "|") {
				t.shapes[typeIs+one] = append(t.shapes[typeIs+one], made)
			}
		} else {
			t.shapes[longest] = append(t.shapes[longest], made)
		}
	}
	return t
}

// holds reports whether an object matches; with all, every value of a repeated name must match.
func (m Match) holds(o value, all bool) bool {
	for path, want := range m {
		there, held := 0, 0
		texts, not := strings.CutPrefix(want, "!")
		o.each(path, func(v value) {
			if v.is("n") {
				return
			}
			text, is := v.text(), false
			for one := range strings.SplitSeq(texts, "|") {
				is = is || like(one, text)
			}
			if there++; is != not {
				held++
			}
		})
		if want == "-" && there > 0 || want != "-" && (held == 0 || all && held < there) {
			return false
		}
	}
	return true
}

// like reports whether the text is the wanted one, where * matches any text.
func like(want string, text []byte) bool {
	begin, end, ok := strings.Cut(want, "*")
	rest, begins := bytes.CutPrefix(text, []byte(begin))
	return ok && begins && bytes.HasSuffix(rest, []byte(end)) || string(text) == want
}

// silence reports whether the output is that of a tool that printed nothing.
func (t *Table) silence(output []byte) bool { return consists(output, t.silent) }

// Banner reports whether the standard error beside a transcript is what its agent prints about
// itself in every turn.
func (t *Table) Banner(text []byte) bool { return consists(text, t.banner) }

// consists reports whether all lines that are not empty are like one of those.
func consists(text []byte, of []string) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && !slices.ContainsFunc(of, func(want string) bool { return like(want, line) }) {
			return false
		}
	}
	return true
}

// of returns the shape of an object in a stream in which an agent was seen before, or nil if
// it is unknown. Of two types, the one that tells of a failure comes first.
func (t *Table) of(o value, seen string) *shape {
	var typed, other *shape
	judged := map[string]bool{} // an object may repeat its names
	first := func(key []byte) *shape {
		shapes := t.shapes[string(key)]
		if len(shapes) > 0 && !judged[string(key)] {
			judged[string(key)] = true
			for _, s := range shapes {
				if (!s.Follows || s.Agent == seen) && s.When.holds(o, false) {
					return s
				}
			}
		}
		return nil
	}
	for c := range o.members() {
		if string(c.name) == "type" {
			if s := first(append([]byte(typeIs), c.text()...)); s != nil && (typed == nil || s.fails(o)) {
				typed = s
			}
		}
		if typed == nil {
			if s := first(c.name); s != nil && (other == nil || s.place < other.place) {
				other = s
			}
		}
	}
	return cmp.Or(typed, other)
}

// fails reports whether the shape reads the object as a turn that failed.
func (s *shape) fails(o value) bool {
	r := s.reading(o)
	return s.Each == "" && r != nil && r.Turn == Failed
}

// reading returns what to read of an entry, or nil if that is nothing.
func (s *shape) reading(o value) *Reading {
	for i := range s.Read {
		if r := &s.Read[i]; r.When.holds(o, r.Turn == Done) {
			return r
		}
	}
	return nil
}

// knows reports whether an object has the type of an agent's.
func (t *Table) knows(o value) (known bool) {
	o.each("type", func(c value) { known = known || len(t.shapes[typeIs+string(c.text())]) > 0 })
	return known
}

// each yields the paths that | or & separates.
func each(paths string) iter.Seq[string] {
	return strings.FieldsFuncSeq(paths, func(r rune) bool { return r == '|' || r == '&' })
}
