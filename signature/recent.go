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
	key      uint64
	source   bool  // it quotes source text; nothing else is known of it
	front    front // without its body, which is here:
	from, to int
	taken    *matcher // by which pattern; nil: none
}

// recentText is the masked form of a text, and the loose one.
type recentText struct {
	key           uint64
	strict, loose string
}

// read reads the line that x has come to, from memory where it can be: whether it quotes
// source text, what stands around its message, and what pattern takes that. It fills the
// fields of x.
func (r *recent) read(x *extractor, full []byte) (source bool, f front, taken *matcher) {
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
		source, f, taken = x.read(full)
		from := 0
		if f.body != nil {
			from = cap(full) - cap(f.body)
		}
		*e = reading{key, source, f, from, from + len(f.body), taken}
		e.front.body = nil
		return source, f, taken
	}
	f = e.front
	f.body = full[e.from:e.to]
	if x.fields = (fields{}); e.taken != nil && e.taken.rule.fact != factPass && e.taken.rule.fact != factNoise {
		e.taken.match(f.body, &x.fields)
	}
	return e.source, f, e.taken
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
