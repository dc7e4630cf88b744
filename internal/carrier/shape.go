package carrier

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Shape says how objects of one kind look and what they carry: a row of a [Table].
type Shape struct {
	// Agent is who prints such objects; empty: they are lines of a log, whose text is
	// read as if it had been printed without them.
	Agent string
	When  Match
	// Follows says that the shape is the agent's only where another object of its came
	// before: it has nothing that would tell it from objects of others.
	Follows bool
	// Begins are the names, with | between them, that the second line of a document may
	// begin with that is of this shape and stands on several lines.
	Begins string
	// Each is the path of a list whose entries are read; empty: the object itself is.
	Each string
	// Read says what is read. The first that matches an entry is used.
	Read []Reading
}

// Match says what must be at paths of an object. A path is names with dots between
// them, * for any one name. What must be there is a text; several with | between them,
// one of which must be; * for anything; - for nothing or null; and one that ends in *
// is how the text begins.
type Match map[string]string

// Reading says what to take out of an object that matches. All but the first and the
// flags are paths, where . is the entry itself; several with | between them are tried in turn, and joined with
// spaces where they have & between them.
type Reading struct {
	When Match

	Said    string // the agent's words
	Printed string // what a tool or the agent's own machinery printed
	Noise   string // for people's eyes only
	Line    bool   // a log's text is a whole line, without its end
	Piece   bool   // the words go on with the next piece
	Ends    bool   // the pieces end here

	// A tool call. It is complete where there is an Output, which names the call by
	// its ID or has all the rest beside it.
	ID, Name, Input, Output string
	Broken                  Match // the call failed

	Turn    Turn   // the agent's turn ends here
	Last    string // the turn's last words, or what it failed of
	Trouble string // what the agent says is wrong
	Until   string // the moment until which it is, in seconds since 1970
	Refused string // the tool that the agent's permissions refused
	Session string
	USD     string
	Tokens  string // all that are added up, with & between them
	Source  string // where a log's text comes from
}

// Turn is how a turn ended.
type Turn byte

// The ways to end; a turn goes on by default.
const (
	Goes Turn = iota
	Done
	Failed
)

// Table is what is known of carriers, made ready for use. It is never changed, so
// streams can share it.
type Table struct {
	typed map[string][]*shape // by the value of type
	named map[string][]*shape // of no one type: by a name that the object must have
	begin []string            // how the second line of a document of several lines may begin
}

type (
	path  []string
	paths struct {
		all bool // of them, not the first that there is
		of  []path
	}
	condition struct {
		path path
		want []string
		none bool
	}
	match []condition
	shape struct {
		Shape
		place int // in the table
		when  match
		each  path
		read  []reading
	}
	reading struct {
		Reading
		when, broken                                             match
		said, printed, noise, id, name, input, output            paths
		last, trouble, until, refused, session, usd, tokens, src paths
	}
)

// NewTable makes a table of shapes; the first that matches an object reads it.
func NewTable(shapes ...Shape) *Table {
	t := &Table{typed: map[string][]*shape{}, named: map[string][]*shape{}}
	for i, s := range shapes {
		made := &shape{Shape: s, place: i, when: newMatch(s.When), each: newPath(s.Each)}
		for name := range strings.FieldsFuncSeq(s.Begins, func(r rune) bool { return r == '|' }) {
			t.begin = append(t.begin, strconv.Quote(name))
		}
		for _, r := range s.Read {
			made.read = append(made.read, newReading(r))
		}
		typ := s.When["type"]
		if typ == "" || strings.ContainsAny(typ, "*-") {
			t.named[rarest(made.when)] = append(t.named[rarest(made.when)], made)
			continue
		}
		for one := range strings.FieldsFuncSeq(typ, func(r rune) bool { return r == '|' }) {
			t.typed[one] = append(t.typed[one], made)
		}
	}
	return t
}

// rarest is a name that all objects of a shape have, the longest there is, since most
// objects of others should lack it.
func rarest(m match) (name string) {
	for _, c := range m {
		if first := c.path[0]; !c.none && first != "*" && (len(first) > len(name) || len(first) == len(name) && first < name) {
			name = first
		}
	}
	return name
}

func newPath(s string) path {
	if s == "" || s == "." {
		return nil
	}
	return strings.Split(s, ".")
}

func newPaths(s string) (p paths) {
	if s == "" {
		return p
	}
	p.all = strings.Contains(s, "&")
	for one := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '|' || r == '&' }) {
		p.of = append(p.of, newPath(one))
	}
	return p
}

func newMatch(m Match) (made match) {
	for p, want := range m {
		c := condition{path: newPath(p), none: want == "-"}
		if want != "*" && want != "-" {
			c.want = strings.Split(want, "|")
		}
		made = append(made, c)
	}
	return made
}

func newReading(r Reading) reading {
	return reading{
		Reading: r, when: newMatch(r.When), broken: newMatch(r.Broken),
		said: newPaths(r.Said), printed: newPaths(r.Printed), noise: newPaths(r.Noise),
		id: newPaths(r.ID), name: newPaths(r.Name), input: newPaths(r.Input), output: newPaths(r.Output),
		last: newPaths(r.Last), trouble: newPaths(r.Trouble), until: newPaths(r.Until), refused: newPaths(r.Refused),
		session: newPaths(r.Session), usd: newPaths(r.USD), tokens: newPaths(r.Tokens), src: newPaths(r.Source),
	}
}

func (m match) holds(d *document, i int32) bool {
	for _, c := range m {
		if !c.holds(d, i) {
			return false
		}
	}
	return true
}

func (c condition) holds(d *document, i int32) bool {
	at := d.get(i, c.path)
	there := at != none && d.nodes[at].kind != null
	if c.none || c.want == nil {
		return there != c.none
	}
	if !there {
		return false
	}
	is := d.raw(at)
	for _, want := range c.want {
		if begin, ok := strings.CutSuffix(want, "*"); ok && bytes.HasPrefix(is, []byte(begin)) || string(is) == want {
			return true
		}
	}
	return false
}

// of is the shape of an object in a stream in which an agent was seen before; nil:
// nobody knows it. Those that name a type come before those that do not.
func (t *Table) of(d *document, i int32, seen string) *shape {
	known := func(s *shape) bool { return s.when.holds(d, i) && (!s.Follows || s.Agent == seen) }
	if at := d.get(i, path{"type"}); at != none && d.nodes[at].kind == text {
		typed := t.typed[string(d.raw(at))]
		if k := slices.IndexFunc(typed, known); k >= 0 {
			return typed[k]
		}
	}
	var found *shape
	for c := d.nodes[i].child; c != 0; c = d.nodes[c].next {
		for _, s := range t.named[string(d.called(c))] {
			if (found == nil || s.place < found.place) && known(s) {
				found = s
			}
		}
	}
	return found
}

// begins reports whether the second line of a document is one that is known.
func (t *Table) begins(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return slices.ContainsFunc(t.begin, func(name string) bool { return bytes.HasPrefix(line, []byte(name)) })
}

// find is the first value that there is at one of the paths.
func (p paths) find(d *document, i int32) int32 {
	for _, one := range p.of {
		if at := d.get(i, one); at != none && d.nodes[at].kind != null {
			return at
		}
	}
	return none
}
