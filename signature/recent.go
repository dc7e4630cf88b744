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
	readings []reading
	texts    []recentText
	count    int
}

// reading is what a line says by itself, whatever stands before and after it.
type reading struct {
	key    uint64
	source bool // it quotes source text; nothing else is known of it
	front  front
	body   heldPart
	rule   *builtRule // that takes it; nil: none
	held   [8]heldPart
	n      int
}

// heldPart is a part of a line.
type heldPart struct {
	what     capture
	from, to uint16
}

// hold notes a part of a line, or that there is none.
func hold(what capture, line, part []byte) heldPart {
	if part == nil {
		return heldPart{what: what}
	}
	from := cap(line) - cap(part)
	return heldPart{what, uint16(from), uint16(from + len(part))}
}

// recentText is the masked form of a text, and the loose one.
type recentText struct {
	key           uint64
	strict, loose string
}

// read reads the line that x has come to, from memory where it can be: whether it quotes
// source text, what stands around its message, and what rule takes that. It fills the
// fields of x.
func (r *recent) read(x *extractor, full []byte) (source bool, f front, rule *builtRule) {
	if !r.ready(full) {
		return x.read(full)
	}
	key := uint64(markNumber)
	if x.timed {
		key = markLength
	}
	if x.boxed {
		key++
	}
	key = max(mixText(key, full), 1)
	e := &r.readings[key%recentLines]
	if e.key != key {
		*e = reading{}
		e.source, e.front, e.rule = x.read(full)
		if e.body = hold(capNone, full, e.front.body); e.keep(full, &x.fields) {
			e.key = key
		}
		f, e.front.body = e.front, nil
		return e.source, f, e.rule
	}
	f = e.front
	f.body = full[e.body.from:e.body.to]
	x.fields = fields{}
	for _, h := range e.held[:e.n] {
		x.fields[h.what] = full[h.from:h.to]
	}
	return e.source, f, e.rule
}

// keep notes what the captures hold, false for more than there is room for.
func (e *reading) keep(line []byte, f *fields) bool {
	if e.rule == nil {
		return true
	}
	for c, part := range f {
		if part == nil {
			continue
		}
		if e.n == len(e.held) {
			return false
		}
		e.held[e.n] = hold(capture(c), line, part)
		e.n++
	}
	return true
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
	if r.readings == nil {
		r.readings, r.texts = make([]reading, recentLines), make([]recentText, recentLines)
	}
	return len(b) <= longRecent
}
