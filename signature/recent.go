package signature

const (
	recentLines = 2048 // places for lines and texts that are remembered
	recentAfter = 64   // so many are read before any is remembered
	longRecent  = 1024 // bytes; what is longer is not remembered
)

// recent remembers what was found in lines and texts, since they come again: a linter
// says the same of many places, a service the same of many requests. A place is found
// by a hash, and given up to the next that needs it.
//
// The zero value is ready. Memory is bounded.
type recent struct {
	rules []recentRule
	texts []recentText
	count int
}

// recentRule is the rule that takes a line, nil for none, with what its captures hold.
type recentRule struct {
	key  uint64
	rule *builtRule
	held [8]heldCapture
	n    int
}

type heldCapture struct {
	what     capture
	from, to uint16
}

// recentText is the masked form of a text, and the loose one.
type recentText struct {
	key           uint64
	strict, loose string
}

// find is ruleBook.find, from memory where it can be.
func (r *recent) find(b []byte, bar bool, p *pairs, f *fields) *builtRule {
	if !r.ready(b) {
		p.fill(b)
		return book().find(b, bar, p, f)
	}
	key := uint64(markNumber)
	if bar {
		key = markLength
	}
	key = max(mixText(key, b), 1)
	e := &r.rules[key%recentLines]
	if e.key == key {
		*f = fields{}
		for _, h := range e.held[:e.n] {
			f[h.what] = b[h.from:h.to]
		}
		return e.rule
	}
	p.fill(b)
	rule := book().find(b, bar, p, f)
	*e = recentRule{key: key, rule: rule}
	if rule == nil {
		return nil
	}
	for c, held := range f {
		if held == nil {
			continue
		}
		if e.n == len(e.held) {
			e.key = 0
			break
		}
		from := cap(b) - cap(held) // a capture is a part of the line
		e.held[e.n] = heldCapture{capture(c), uint16(from), uint16(from + len(held))}
		e.n++
	}
	return rule
}

// What a text is remembered as.
const (
	asMessage uint64 = iota + 1
	asName
	asPlace
)

// text returns the masked form of b and the loose one, as masked makes them.
func (r *recent) text(as uint64, b []byte, masked func(b []byte, loose bool) string) (strict, loose string) {
	if !r.ready(b) {
		return masked(b, false), masked(b, true)
	}
	key := max(mixText(as, b), 1)
	e := &r.texts[key%recentLines]
	if e.key != key {
		*e = recentText{key, masked(b, false), masked(b, true)}
	}
	return e.strict, e.loose
}

func (r *recent) ready(b []byte) bool {
	if r.count < recentAfter {
		r.count++
		return false
	}
	if r.rules == nil {
		r.rules, r.texts = make([]recentRule, recentLines), make([]recentText, recentLines)
	}
	return len(b) <= longRecent
}
