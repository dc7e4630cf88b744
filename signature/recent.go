package signature

const (
	recentLines = 2048 // places for lines and texts that are remembered
	recentAfter = 64   // so many are read before any is remembered
	longRecent  = 1024 // bytes; what is longer is not remembered
)

// recent caches what was found in lines and texts, since they repeat: a linter gives the same
// message for many places, a service for many requests. A slot is found by a hash, and taken
// over by the next line that needs it.
//
// The zero value is ready to use. Memory use is bounded.
type recent struct {
	readings []reading
	texts    []recentText
	count    int
}

// reading is what a line means by itself, whatever surrounds it.
type reading struct {
	key      uint64
	source   bool  // it quotes source text; nothing else is known of it
	front    front // without its body, which is here:
	from, to int
	taken    *matcher // by which pattern; nil: none
}

// recentText is the masked form of a text, and its loose form.
type recentText struct {
	key           uint64
	strict, loose string
}

// read reads the line that x has reached, from the cache if possible. It returns whether the
// line quotes source text, what surrounds its message, and which pattern matches that. It
// fills the fields of x.
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

// The forms under which a text is cached.
const (
	asMessage uint64 = iota + 1
	asName
	asPlace
)

// text returns the masked form of b and the loose one, as computed by masked.
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
