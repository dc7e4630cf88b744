// Package margin finds the prefix of every line of an output: the names and times that
// collectors, workspace runners and CI systems add. It knows none of them by name. If most
// lines of a block begin with the same shape, that is a margin; margins nest.
package margin

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/looprun/looprun/internal/ascii"
)

// Cut describes the margin of a line. The zero value means none.
type Cut struct {
	// Len is the length of the margin in bytes; the message follows it with its own
	// indentation.
	Len int
	// Name is the margin's name for the source of the line: "web-1", "pod/api-7d9f/app", "test
	// Run make test". It is empty if the margin has only times, numbers and signs. It is valid
	// until the next line is cut, and as long as the line is.
	Name []byte
	// Time means that the margin has a time.
	Time bool
	// Record means that the line is the text extracted from a record.
	Record bool
}

// Learner learns the margins of one stream. The zero value is ready to use. Memory use is
// bounded.
type Learner struct {
	chains []known
	begun  bool // there was a block
	cut    Cut
	name   []byte
	key    []byte
	at     places
	sample [][]byte
}

// known is a learned margin, with the positions of its columns in the latest lines that had
// all of them: a line that differs only in digits has them at the same positions.
type known struct {
	chain
	forms [maxForms]form
	last  int // the form that a line had last
}

// form is a margin as it occurred in a line.
type form struct {
	text  []byte // with 0 for every digit
	at    places
	clock bool // it ends with a time, which may go on
}

// places holds the positions of a line's columns.
type places struct {
	end   int
	time  bool
	whole bool // there are all of them
	names [maxColumns]place
	n     int
}

// place is the position of a part of a margin's name.
type place struct {
	from, to int
	runs     bool   // a number in it is another in every line
	fixed    string // what it is called on every line
}

// chain is a margin: its columns from the outermost to the innermost.
type chain []column

// column is one component of a margin.
type column struct {
	shape shape
	names []string // where the shape alone says too little: the names that were learned
	runs  bool     // a number in the name is another in every line
	fixed string   // the name of the column, whatever stands there
}

// Limits of what is learned.
const (
	maxColumns = 8
	maxChains  = 8
	maxNames   = 64
	maxName    = 72 // bytes
	maxForms   = 4

	enough      = 160 // lines of a block to learn from
	sampleLines = 32  // lines by which to see whether there is something to learn
)

// Learn examines the lines of a block, in order. If most of a sample of them have no known
// margin, it learns from the block, in place of the oldest margin if there are many.
func (l *Learner) Learn(lines [][]byte) {
	if sample := l.some(lines, sampleLines); l.begun && len(sample) >= sampleLines {
		n := 0
		for _, b := range sample {
			if l.Cut(b).Len > 0 {
				n++
			}
		}
		if 10*n >= 7*len(sample) {
			return
		}
		if _, ok := next(sample, nil); !ok {
			return
		}
	}
	l.begun = true
	learned := learn(l.some(lines, enough))
	if len(learned) == 0 {
		return
	}
	if len(l.chains) == maxChains {
		l.chains = slices.Delete(l.chains, 0, 1)
	}
	l.chains = append(l.chains, known{chain: learned})
}

// Cut returns the margin of a line. It is valid until the next call.
func (l *Learner) Cut(line []byte) *Cut {
	best := &l.cut
	best.Len, best.Name, best.Time = 0, nil, false
	for i := range l.chains {
		if at := l.find(&l.chains[i], line); at.end > best.Len {
			best.Len, best.Name, best.Time = at.end, l.called(at, line), at.time
		}
	}
	return best
}

// some returns lines, or about n of them, spread evenly.
func (l *Learner) some(lines [][]byte, n int) [][]byte {
	l.sample = l.sample[:0]
	step := max(1, len(lines)/n)
	for i := 0; i < len(lines); i += step {
		b := lines[i]
		if c := ascii.At(b, indent(b)); c > ' ' && c < 0x80 || len(bytes.TrimSpace(b)) > 0 {
			l.sample = append(l.sample, b)
		}
	}
	return l.sample
}

func (c *column) add(name string) {
	if len(c.names) < maxNames && !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
}

// called returns the name of a line's margin, composed of the names of its columns. It is
// valid until the next call.
func (l *Learner) called(at *places, line []byte) []byte {
	if at.n == 0 {
		return nil
	}
	if p := at.names[0]; at.n == 1 && !p.runs && p.fixed == "" {
		return line[p.from:p.to]
	}
	name := l.name[:0]
	for _, p := range at.names[:at.n] {
		if len(name) > 0 {
			name = append(name, ' ')
		}
		switch {
		case p.fixed != "":
			name = append(name, p.fixed...)
		case p.runs:
			name = appendKey(name, line[p.from:p.to])
		default:
			name = append(name, line[p.from:p.to]...)
		}
	}
	l.name = name
	return name
}

// find finds the columns at the start of a line, as far as it has them. The result is valid
// until the next call.
func (l *Learner) find(c *known, line []byte) *places {
	for i := range c.forms {
		i = (i + c.last) % maxForms
		if f := &c.forms[i]; f.fits(line) {
			c.last = i
			return &f.at
		}
	}
	at := &l.at
	c.places(line, at, &l.key)
	if m := line[:at.end]; at.whole && at.end > 0 && (m[at.end-1] == ' ' || m[at.end-1] == '\t') && !epoch(m) {
		c.last = (c.last + maxForms - 1) % maxForms
		f, last := &c.forms[c.last], c.chain[len(c.chain)-1].shape
		f.text, f.at, f.clock = f.text[:0], *at, last == moment || last == reading
		for _, b := range m {
			if ascii.Digit(b) {
				b = '0'
			}
			f.text = append(f.text, b)
		}
	}
	return at
}

// fits reports whether a line has its columns at the form's positions.
func (f *form) fits(line []byte) bool {
	n := len(f.text)
	if n == 0 || n >= len(line) {
		return false
	}
	i := 0
	for ; i+8 <= n; i += 8 {
		if ascii.Zeroed(binary.LittleEndian.Uint64(line[i:])) != binary.LittleEndian.Uint64(f.text[i:]) {
			return false
		}
	}
	for ; i < n; i++ {
		if b := line[i]; b != f.text[i] && (f.text[i] != '0' || !ascii.Digit(b)) {
			return false
		}
	}
	return !f.clock || !mayGoOn(line[n])
}

// places finds the columns. It uses key as a buffer.
func (c chain) places(line []byte, at *places, key *[]byte) {
	at.end, at.time, at.whole, at.n = 0, false, false, 0
	word := place{}
	for i := range c {
		p, ok := c[i].at(line[at.end:], key)
		if !ok {
			break
		}
		at.end += p.end
		at.whole = i == len(c)-1
		from := cap(line) - cap(p.name)
		part := place{from, from + len(p.name), c[i].runs, c[i].fixed}
		switch c[i].shape {
		case moment:
			at.time = true
		case reading, level:
		case bareWord: // host app: the last says what speaks
			if letters(p.name) > 1 && !stream(string(p.name)) {
				word = part
			}
		default:
			if hasLetter(p.name) {
				at.names[at.n] = part
				at.n++
			}
		}
	}
	if at.n == 0 && word.to > 0 {
		at.names[0], at.n = word, 1
	}
}

// at finds the column at the start of b. It uses key as a buffer. It does not examine a known
// name again.
func (c *column) at(b []byte, key *[]byte) (piece, bool) {
	if c.shape == shared {
		return sharedAt(b, c.names[0])
	}
	if c.shape == bareWord && len(c.names) > 0 {
		if p := word(b); p.end > 0 {
			if *key = appendKey((*key)[:0], p.name); c.has(*key) {
				return p, true
			}
		}
	}
	p, ok := c.shape.at(b)
	if !ok || len(c.names) == 0 {
		return p, ok
	}
	if *key = appendKey((*key)[:0], p.name); !c.has(*key) {
		return piece{}, false
	}
	return p, true
}

func (c *column) has(name []byte) bool {
	return slices.ContainsFunc(c.names, func(n string) bool { return n == string(name) })
}

// learn finds the columns of a block's lines, one after another. The next column is looked for
// only in the lines that have the previous one. It modifies the list of lines.
func learn(rest [][]byte) (c chain) {
	var key []byte
	for len(c) < maxColumns {
		col, ok := next(rest, c)
		if !ok {
			break
		}
		c = append(c, col)
		behind := rest[:0]
		for _, b := range rest {
			if p, ok := col.at(b, &key); ok {
				behind = append(behind, b[p.end:])
			}
		}
		rest = behind
	}
	return c
}

// next finds the next column: of the shapes that enough of the lines have, the most frequent.
// A word without delimiters counts half.
func next(lines [][]byte, before chain) (best column, ok bool) {
	most := 0
	for s := moment; s <= bareWord; s++ {
		col, n := s.learn(lines, before)
		if s == bareWord {
			n /= 2
		}
		if n > most {
			best, most = col, n
		}
	}
	if most == 0 {
		best, most = learnShared(lines)
	}
	return best, most > 0
}
