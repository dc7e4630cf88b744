package carrier

import (
	"bytes"
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

// Table holds known carriers in compiled form. It is immutable, so streams can share it.
type Table struct {
	typed map[string][]*shape // by the value of type
	named map[string][]*shape // of no one type: by a name that the object must have
	names map[string]bool     // with which an agent's object on several lines may begin
	// silent lists the lines that tools print when they have no output.
	silent []string
}

type (
	condition struct {
		path string
		want []string
		none bool
		not  bool // it is none of want
	}
	match []condition
	shape struct {
		Shape
		place int // in the table
		when  match
		read  []reading
		opens bool // a turn is under way
	}
	reading struct {
		Reading
		when, broken match
	}
)

// NewTable compiles a table of shapes; the first shape that matches an object reads it.
func NewTable(shapes ...Shape) *Table {
	t := &Table{typed: map[string][]*shape{}, named: map[string][]*shape{}, names: map[string]bool{}}
	ends := map[string]bool{}
	for _, s := range shapes {
		for _, r := range s.Read {
			ends[s.Agent] = ends[s.Agent] || r.Turn != Goes
		}
	}
	for i, s := range shapes {
		t.silent = append(t.silent, s.Silent...)
		made := &shape{Shape: s, place: i, when: newMatch(s.When)}
		for _, r := range s.Read {
			made.read = append(made.read, reading{r, newMatch(r.When), newMatch(r.Broken)})
			made.opens = made.opens || r.Said != "" && r.Turn == Goes
		}
		made.opens = (made.opens || s.Opens || s.Starts) && ends[s.Agent]
		if s.Agent != "" {
			t.name(made)
		}
		typ := s.When["type"]
		if typ == "" || strings.ContainsAny(typ, "*-!") {
			name := longest(made.when)
			t.named[name] = append(t.named[name], made)
			continue
		}
		for one := range each(typ) {
			t.typed[one] = append(t.typed[one], made)
		}
	}
	return t
}

// name records the names with which an object of a shape may begin.
func (t *Table) name(s *shape) {
	all := []string{s.Begins, s.Each}
	for _, c := range s.when {
		if !c.none {
			all = append(all, c.path)
		}
	}
	if s.Each == "" { // else the paths of what is read are below it
		for _, r := range s.read {
			all = append(all, r.Said, r.Printed, r.Last, r.Session, r.USD, r.Tokens, r.AllWrote, r.Refused)
		}
	}
	for _, paths := range all {
		for path := range each(paths) {
			first, _, _ := strings.Cut(path, ".")
			t.names[first] = first != "" && first != "*"
		}
	}
}

// longest returns the longest of the names that an object of a shape must have: most other
// objects lack it.
func longest(m match) (name string) {
	for _, c := range m {
		if first, _, _ := strings.Cut(c.path, "."); !c.none && first != "*" && len(first) > len(name) {
			name = first
		}
	}
	return name
}

func newMatch(m Match) (made match) {
	for p, want := range m {
		c := condition{path: p, none: want == "-"}
		if want != "*" && want != "-" {
			want, c.not = strings.CutPrefix(want, "!")
			c.want = strings.Split(want, "|")
		}
		made = append(made, c)
	}
	return made
}

// holds reports whether an object matches; with all, every value of a repeated name must match.
func (m match) holds(d *document, i int32, all bool) bool {
	for _, c := range m {
		if !c.holds(d, i, all) {
			return false
		}
	}
	return true
}

func (c condition) holds(d *document, i int32, all bool) bool {
	there, held := 0, 0
	d.each(i, c.path, func(v int32) {
		if d.nodes[v].kind == null {
			return
		}
		if there++; c.not != isOneOf(c.want, unescaped(d.raw(v))) {
			held++
		}
	})
	if c.none || c.want == nil {
		return there > 0 != c.none
	}
	return held > 0 && (!all || held == there)
}

// isOneOf reports whether the text is one of the wanted texts, where * matches any text.
func isOneOf(wanted []string, text []byte) bool {
	return slices.ContainsFunc(wanted, func(want string) bool {
		begin, end, ok := strings.Cut(want, "*")
		rest, begins := bytes.CutPrefix(text, []byte(begin))
		return ok && begins && bytes.HasSuffix(rest, []byte(end)) || string(text) == want
	})
}

// isSilent reports whether the output is that of a tool that printed nothing.
func (t *Table) isSilent(output []byte) bool {
	for line := range bytes.Lines(output) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !isOneOf(t.silent, line) {
			return false
		}
	}
	return true
}

// of returns the shape of an object in a stream in which an agent was seen before, or nil if
// it is unknown. Shapes that name a type take precedence over those that do not, and of two
// types the one that tells of a failure.
func (t *Table) of(d *document, seen string) (found *shape) {
	first := func(shapes []*shape, found *shape) *shape {
		for _, s := range shapes {
			if (found == nil || s.place < found.place) && s.when.holds(d, 0, false) && (!s.Follows || s.Agent == seen) {
				found = s
			}
		}
		return found
	}
	d.each(0, "type", func(c int32) {
		if s := first(t.ofType(d, c), nil); found == nil || s != nil && s.fails(d) {
			found = s
		}
	})
	if found != nil {
		return found
	}
	for c := range d.members(0) {
		found = first(t.named[string(d.called(c))], found)
	}
	return found
}

// fails reports whether a shape reads the object as a turn that failed.
func (s *shape) fails(d *document) bool {
	for _, r := range s.read {
		if s.Each == "" && r.when.holds(d, 0, r.Turn == Done) {
			return r.Turn == Failed
		}
	}
	return false
}

// ofType returns the shapes that name the type of an object, which is one of its values.
func (t *Table) ofType(d *document, at int32) []*shape {
	return t.typed[string(unescaped(d.raw(at)))]
}

// each yields the paths that | or & separates.
func each(paths string) iter.Seq[string] {
	return strings.FieldsFuncSeq(paths, func(r rune) bool { return r == '|' || r == '&' })
}
