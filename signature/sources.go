package signature

import (
	"bytes"

	"github.com/cespare/xxhash/v2"
)

// sources are the sources whose lines are mixed in one stream, as named by their margins. Each
// has an extractor of its own, so that messages of several lines are read within one source.
type sources struct {
	main   extractor             // of lines that name no source
	byName map[string]*extractor // by the name as it stands there
	slots  [maxSources]*extractor

	lastName []byte // and whose lines they are, since most are of the one before
	last     *extractor
}

// maxSources bounds the extractors of one stream; further sources share them.
const maxSources = 32

func (r *sources) init(s *Signer, id int) {
	*r = sources{}
	r.main.init(s, id)
}

// of returns the extractor for the lines of a source.
func (r *sources) of(name []byte) *extractor {
	if len(name) == 0 {
		return &r.main
	}
	if r.last != nil && bytes.Equal(name, r.lastName) {
		return r.last
	}
	if x := r.byName[string(name)]; x != nil {
		r.lastName, r.last = append(r.lastName[:0], name...), x
		return x
	}
	if r.byName == nil {
		r.byName = map[string]*extractor{}
	}
	suite := r.main.s.sc.source(name)
	if len(r.byName) < maxSources {
		x := &extractor{}
		x.init(r.main.s, r.main.id)
		x.suite, x.suiteHash = suite, xxhash.Sum64String(suite)
		r.slots[len(r.byName)], r.byName[string(name)] = x, x
		return x
	}
	x := r.slots[xxhash.Sum64(name)%maxSources]
	if x.suite != suite {
		x.close()
		x.suite, x.suiteHash = suite, xxhash.Sum64String(suite)
	}
	return x
}

// source returns the name of a source with its varying parts masked; empty if nothing else
// remains.
func (sc *scanner) source(b []byte) string {
	name := string(squeeze(sc.named(b, true)))
	if name == maskText[ident] {
		return ""
	}
	return name
}

// named returns a text that names machines, with the random parts of their names masked.
func (sc *scanner) named(b []byte, loose bool) (out []byte) {
	for i := 0; i < len(b); {
		e := i + uuidAt(b, i)
		drawn := e > i
		for !drawn && e < len(b) && classOf[b[e]]&alnumMask != 0 {
			e++
		}
		switch w := b[i:e]; {
		case drawn:
			out = append(out, maskText[ident]...)
		case e == i:
			out, e = append(out, b[i]), i+1
		case machineMade(w):
			out = append(out, maskText[ident]...)
		default:
			out = sc.text(out, w, loose)
		}
		i = e
	}
	return out
}

// machineMade reports whether a part of a name is random: pods have such parts, without
// vowels.
func machineMade(w []byte) bool {
	if len(w) < 5 {
		return false
	}
	sh := shapeOf(w)
	return sh.changes > 1 || sh.digits > 0 && len(w) >= 12 || !bytes.ContainsAny(w, "aeiouyAEIOUY")
}
