package signature

// fallback remembers the masked lines of an output without facts. What decides is the set of
// different lines, not their order or number: of a long output only the end, and of one with a
// standard error that and the last lines of standard output.
type fallback struct {
	side [2]lineWindow
}

const (
	wholeLines = 256 // an output with at most so many different lines counts whole
	endLines   = 48  // of a longer one, the last so many lines count

	besideStderr = 8 // where there is a standard error, so many of the standard output
)

// lineWindow holds the first distinct lines and the last lines of one stream.
type lineWindow struct {
	set  map[uint64]lineHash
	over bool
	last [endLines]lineHash
	n    int
	prev uint64
}

// add adds a line by its hash.
func (f *fallback) add(side int, h lineHash) { f.side[side].add(h) }

func (w *lineWindow) add(h lineHash) {
	w.last[w.n%endLines] = h
	w.n++
	if w.over || h.strict == w.prev {
		return
	}
	w.prev = h.strict
	if w.set == nil {
		w.set = make(map[uint64]lineHash, 16)
	}
	if _, ok := w.set[h.strict]; !ok {
		if len(w.set) == wholeLines {
			w.over = true
			return
		}
		w.set[h.strict] = h
	}
}

// empty reports whether there was no line at all.
func (f *fallback) empty() bool { return f.side[0].n == 0 && f.side[1].n == 0 }

// deciding calls take with the hashes of the deciding lines, in any order, and more than once
// for repeated lines.
func (f *fallback) deciding(take func(lineHash)) {
	out, err := &f.side[0], &f.side[1]
	for _, w := range []*lineWindow{out, err} {
		switch {
		case w == out && err.n > 0: // standard error weighs more
			w.eachLast(besideStderr, take)
		case w.over:
			w.eachLast(endLines, take)
		default:
			for _, l := range w.set {
				take(l)
			}
		}
	}
}

// eachLast calls take with up to n of the last lines.
func (w *lineWindow) eachLast(n int, take func(lineHash)) {
	for i := max(0, w.n-min(n, endLines)); i < w.n; i++ {
		take(w.last[i%endLines])
	}
}
