package redact

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// matcher finds any of a set of values in one pass, at a cost that hardly depends on the
// number of values.
//
// All values are at least `shortest` bytes long. So of the pieces of `gram` bytes that begin
// at every stride-th byte of a text, with stride = shortest-gram+1, one lies within the first
// `shortest` bytes of any value that occurs. Only those pieces are looked up, in a bitmap that
// rejects nearly all of them.
type matcher struct {
	values []string // sorted
	places map[uint64][]place
	filter []uint64 // a bit for each hash of a piece
	shift  uint     // from a hash to its bit
	mask   uint64   // the first gram of eight bytes
	gram   int
	stride int
	// first holds the bytes, and second the pairs, with which a value can begin.
	first  [4]uint64
	second [1024]uint64
}

// place is the position of a piece in a value.
type place struct{ value, at int32 }

// span is a part of the text to be masked.
type span struct{ from, to int }

const (
	maxGram   = 6
	maxStride = 32
	minBits   = 10
	maxBits   = 18 // 32 KiB, which stays in the fastest cache
)

// newMatcher requires sorted values of MinBytes or more; it returns nil for none.
func newMatcher(values []string) *matcher {
	if len(values) == 0 {
		return nil
	}
	shortest := len(values[0])
	for _, v := range values {
		shortest = min(shortest, len(v))
	}
	m := &matcher{values: values, places: map[uint64][]place{}}
	m.gram = min(maxGram, shortest/2)
	m.stride = min(maxStride, shortest-m.gram+1)
	m.mask = 1<<(8*m.gram) - 1
	n := max(minBits, min(maxBits, bits.Len(uint(len(values)*m.stride*64))))
	m.shift = uint(64 - n)
	m.filter = make([]uint64, 1<<(n-6))
	for i, v := range values {
		m.first[v[0]>>6] |= 1 << (v[0] & 63)
		pair := uint(v[0])<<8 | uint(v[1])
		m.second[pair>>6] |= 1 << (pair & 63)
		for at := range m.stride {
			g := word([]byte(v[at:at+m.gram])) & m.mask
			m.places[g] = append(m.places[g], place{int32(i), int32(at)})
			h := m.hash(g)
			m.filter[h>>6] |= 1 << (h & 63)
		}
	}
	return m
}

func (m *matcher) hash(g uint64) uint64 { return g * 0x9e3779b97f4a7c15 >> m.shift }

// word returns up to eight bytes as a number.
func word(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var w uint64
	for i, c := range b {
		w |= uint64(c) << (8 * i)
	}
	return w
}

// find adds the values in text that begin at from or later to spans, in no order. A value may
// begin at open or later and continue after the text: the next search begins there, with more
// text, and spans from there on are left to it. If the text is whole there is no such value.
func (m *matcher) find(text []byte, from int, whole bool, spans []span) (found []span, open int) {
	if m == nil {
		return spans, len(text)
	}
	old := len(spans)
	open = len(text)
	p := from
	filter, mask, shift, stride := m.filter, m.mask, m.shift, m.stride
	for p+8 <= len(text) {
		h := (binary.LittleEndian.Uint64(text[p:]) & mask) * 0x9e3779b97f4a7c15 >> (shift & 63)
		if filter[h>>6]&(1<<(h&63)) != 0 {
			spans, open = m.check(text, from, p, spans, open)
		}
		p += stride
	}
	for ; p+m.gram <= len(text); p += stride {
		spans, open = m.check(text, from, p, spans, open)
	}
	if whole {
		return spans, len(text)
	}
	open = min(open, m.tail(text, from))
	keep := spans[old:]
	keep = slices.DeleteFunc(keep, func(s span) bool { return s.from >= open })
	return spans[:old+len(keep)], open
}

// check checks whether the piece at p is one of a value.
func (m *matcher) check(text []byte, from, p int, spans []span, open int) ([]span, int) {
	for _, pl := range m.places[word(text[p:min(p+8, len(text))])&m.mask] {
		start, v := p-int(pl.at), m.values[pl.value]
		if start < from {
			continue
		}
		if rest := text[start:]; len(rest) >= len(v) {
			if string(rest[:len(v)]) == v {
				spans = append(spans, span{start, start + len(v)})
			}
		} else if v[:len(rest)] == string(rest) {
			open = min(open, start)
		}
	}
	return spans, open
}

// tail returns where the longest suffix of the text begins that is shorter than any value and
// is the beginning of one, or the length of the text if there is none. Longer suffixes contain
// a piece that find has seen.
func (m *matcher) tail(text []byte, from int) int {
	for i := max(from, len(text)-(m.gram+m.stride-2)); i < len(text); i++ {
		c := text[i]
		if m.first[c>>6]&(1<<(c&63)) == 0 {
			continue
		}
		if i+1 < len(text) {
			pair := uint(c)<<8 | uint(text[i+1])
			if m.second[pair>>6]&(1<<(pair&63)) == 0 {
				continue
			}
		}
		end := string(text[i:])
		if n := sort.SearchStrings(m.values, end); n < len(m.values) && strings.HasPrefix(m.values[n], end) {
			return i
		}
	}
	return len(text)
}
