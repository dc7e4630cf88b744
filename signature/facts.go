package signature

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// fact is one piece of information in the output, in canonical form: noise is masked, so that
// the same information repeated is the same fact.
type fact struct {
	kind  factKind
	text  string // canonical
	loose string // with every number masked
	name  string // the failing check, or the kind of error
	suite string // the source of the line, from its margin
	file  string // the file it is about, without directories that vary
	rule  string
	raw   string // as the output had it, for people
	said  []byte // raw, before it is known that the fact is kept
	key   uint64 // hash of kind and text
	seq   int    // order of appearance, for people
	times int    // so often it was said with this text
	// A finding is counted once for each place where it was found.
	places []uint64
}

// telling reports whether a fact can distinguish failures. The others, steps and consequences,
// appear with any failure.
func (f *fact) telling() bool { return f.kind != factStep && f.kind != factWeak }

// listed reports whether a fact is of a kind that comes in lists: checks and findings.
func (f *fact) listed() bool {
	return f.kind == factCheck || f.kind == factSuite || f.kind == factDiag
}

// canonical returns the fact as a line, with text in place of its own text.
func (f *fact) canonical(text string) string {
	if f.suite == "" {
		return factNames[f.kind] + " " + text
	}
	return factNames[f.kind] + " " + text + " [" + f.suite + "]"
}

// hash returns the hash of the kind, the text and the source.
func (f *fact) hash() uint64 {
	h := mix(uint64(f.kind), xxhash.Sum64String(f.text))
	if f.suite != "" {
		h = mix(h, xxhash.Sum64String(f.suite))
	}
	return h
}

// placed returns the hash of a place in a file. It is never 0.
func placed(file string, line, column []byte) uint64 {
	return (xxhash.Sum64(line)*31 + xxhash.Sum64(column)*17 + xxhash.Sum64String(file)) | 1
}

// Limits of one iteration's facts. If there are more, which facts stay does not depend on
// their order.
const (
	maxFacts  = 1024
	maxPlaces = 64
	maxText   = 240 // bytes of a fact's text
)

// factSet holds the facts with the smallest keys.
type factSet struct {
	by    map[uint64]*fact
	seq   int
	limit uint64 // keys above it are not wanted
}

func (fs *factSet) init() { *fs = factSet{by: map[uint64]*fact{}, limit: ^uint64(0)} }

// add adds a fact found at a place (0: places do not matter) and returns the stored fact, or
// nil if it exceeds the limit.
func (fs *factSet) add(f fact, place uint64) *fact {
	f.key = f.hash()
	fs.seq++
	old := fs.by[f.key]
	if old == nil {
		if f.key > fs.limit {
			return nil
		}
		kept := f // f itself stays off the heap
		kept.seq, kept.said = fs.seq, nil
		if kept.raw == "" {
			kept.raw = clip(f.said)
		}
		old = &kept
		fs.by[f.key] = old
		if len(fs.by) > maxFacts {
			fs.shrink()
		}
	}
	old.again(place)
	return old
}

// again records that a fact was repeated, at places.
func (f *fact) again(places ...uint64) {
	f.times++
	for _, p := range places {
		if p != 0 && len(f.places) < maxPlaces && !slices.Contains(f.places, p) {
			f.places = append(f.places, p)
		}
	}
}

// shrink drops the quarter with the largest keys.
func (fs *factSet) shrink() {
	keys := make([]uint64, 0, len(fs.by))
	for k := range fs.by {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	keep := maxFacts * 3 / 4
	for _, k := range keys[keep:] {
		delete(fs.by, k)
	}
	fs.limit = keys[keep-1]
}

// dropped reports whether there were more facts than the set keeps.
func (fs *factSet) dropped() bool { return fs.limit != ^uint64(0) }

// rename changes a fact's text, for example when its place becomes known later. It returns the
// fact that now has that text, or nil if it is not kept.
func (fs *factSet) rename(f *fact, text, loose string) *fact {
	if f == nil || fs.by[f.key] != f {
		return nil
	}
	g := *f
	if f.times--; f.times <= 0 { // else it was said elsewhere too, where the place is not known
		delete(fs.by, f.key)
	}
	g.text, g.loose, g.times = text, loose, 1
	g.key = g.hash()
	if old := fs.by[g.key]; old != nil {
		old.again(g.places...)
		return old
	}
	if g.key > fs.limit {
		return nil
	}
	fs.by[g.key] = &g
	return &g
}

// ofKind returns the facts of the given kinds, sorted by kind and text.
func (fs *factSet) ofKind(kinds ...factKind) []*fact {
	var out []*fact
	for _, f := range fs.by {
		if slices.Contains(kinds, f.kind) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *fact) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.text, b.text))
	})
	return out
}
