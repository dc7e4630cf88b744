// Package margin finds what stands in front of every line of an output: the names
// and times that collectors, workspace runners and CI systems put there. It knows
// none of them by name. What most lines of a block begin with in the same shape is a
// margin; margins nest.
package margin

import (
	"bytes"
	"slices"
)

// Cut says what of a line is margin. The zero value: nothing.
type Cut struct {
	// Len is the length of the margin in bytes; the message follows it with its
	// own indentation.
	Len int
	// Name is what the margin calls the source of the line: "web-1",
	// "pod/api-7d9f/app", "test Run make test". Empty where it only has times,
	// numbers and signs. It holds until the next line is cut.
	Name []byte
	// Time says that the margin has a time.
	Time bool
}

// Learner learns the margins of one stream. The zero value is ready. Its memory is
// bounded.
type Learner struct {
	chains []chain
	blocks int       // that were learned from
	idle   int       // blocks in a row in which there was nothing to learn
	name   [2][]byte // room for two names
	key    []byte
	sample [][]byte
}

// chain is a margin: its columns from the outside to the inside.
type chain []column

// column is one of the things that a margin consists of.
type column struct {
	shape shape
	names []string // where the shape alone says too little: the names that were learned
	runs  bool     // a number in the name is another in every line
}

// Bounds of what is learned.
const (
	maxColumns = 8
	maxChains  = 8
	maxNames   = 64
	maxName    = 72 // bytes

	enough = 160 // lines of a block to learn from
	glance = 32  // lines by which to see whether there is something to learn

	patience = 4 // blocks without anything to learn, after which one in so many is looked at
)

// Learn looks at the lines of a block, in their order. What it learned holds until
// the next block; what that has no more of is forgotten.
func (l *Learner) Learn(lines [][]byte) {
	if sample := l.some(lines, glance); l.blocks > 0 && len(sample) >= glance {
		l.chains = slices.DeleteFunc(l.chains, func(c chain) bool { return !l.holds(c, sample) })
		if l.explained(sample) {
			return
		}
		if l.idle++; l.idle > patience && l.idle%patience != 0 {
			return
		}
		if len(learn(sample)) == 0 {
			return
		}
	}
	l.idle = 0
	l.blocks++
	learned := learn(l.some(lines, enough))
	if len(learned) == 0 {
		return
	}
	for i, c := range l.chains {
		if c.merge(learned) {
			l.chains[i] = c
			return
		}
	}
	if len(l.chains) < maxChains {
		l.chains = append(l.chains, learned)
	}
}

// Cut returns the margin of a line.
func (l *Learner) Cut(line []byte) Cut {
	var best Cut
	for _, c := range l.chains {
		if cut := l.cut(c, line); cut.Len > best.Len {
			best = cut
			l.name[0], l.name[1] = l.name[1], l.name[0] // the next must not take its place
		}
	}
	return best
}

// explained says whether most lines have a margin that is known.
func (l *Learner) explained(lines [][]byte) bool {
	n := 0
	for _, b := range lines {
		if l.Cut(b).Len > 0 {
			n++
		}
	}
	return 10*n >= 7*len(lines)
}

// some is lines, or about n of them, spread evenly.
func (l *Learner) some(lines [][]byte, n int) [][]byte {
	l.sample = l.sample[:0]
	step := max(1, len(lines)/n)
	for i := 0; i < len(lines); i += step {
		if b := lines[i]; len(bytes.TrimSpace(b)) > 0 {
			l.sample = append(l.sample, b)
		}
	}
	return l.sample
}

// holds says whether enough lines of a block still have the margin.
func (l *Learner) holds(c chain, lines [][]byte) bool {
	n := 0
	for _, b := range lines {
		if l.cut(c, b).Len > 0 {
			n++
		}
	}
	return 5*n >= 2*len(lines) || c[0].shape.named() && n > 0
}

// merge takes the names of a margin of the same shape over.
func (c chain) merge(d chain) bool {
	if !slices.EqualFunc(c, d, func(a, b column) bool { return a.shape == b.shape }) {
		return false
	}
	for i := range c {
		for _, n := range d[i].names {
			c[i].add(n)
		}
	}
	return true
}

func (c *column) add(name string) {
	if len(c.names) < maxNames && !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
}

// cut takes the columns off a line, as far as it has them.
func (l *Learner) cut(c chain, line []byte) (cut Cut) {
	name, word := l.name[0][:0], []byte(nil)
	for i := range c {
		p, ok := c[i].at(line[cut.Len:], &l.key)
		if !ok {
			break
		}
		cut.Len += p.end
		switch c[i].shape {
		case moment, reading, level:
			cut.Time = cut.Time || c[i].shape == moment
		case bareWord: // host app: the last says what speaks
			if letters(p.name) > 1 {
				word = p.name
			}
		default:
			if !hasLetter(p.name) {
				continue
			}
			if len(name) > 0 {
				name = append(name, ' ')
			}
			if c[i].runs {
				name = appendKey(name, p.name)
			} else {
				name = append(name, p.name...)
			}
		}
	}
	if len(name) == 0 {
		name = append(name, word...)
	}
	l.name[0], cut.Name = name, name
	return cut
}

// at finds the column at the start of b. It uses key.
func (c *column) at(b []byte, key *[]byte) (piece, bool) {
	p, ok := c.shape.at(b)
	if !ok || len(c.names) == 0 {
		return p, ok
	}
	if *key = appendKey((*key)[:0], p.name); !c.has(*key) {
		if *key = appendForm((*key)[:0], p.name); !c.has(*key) {
			return piece{}, false
		}
	}
	return p, true
}

func (c *column) has(name []byte) bool {
	return slices.ContainsFunc(c.names, func(n string) bool { return n == string(name) })
}

// learn finds the columns of a block's lines, one after the other. What is behind a
// column is asked of those lines only that have it. It changes the list of lines.
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

// next finds the next column: of the shapes that enough of the lines have, the one
// that most have. A word that nothing sets off counts half.
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
	return best, most > 0
}
