package redact

import (
	"encoding/binary"
	"sort"
	"strings"
)

// matcher finds any of a set of values in one pass. It compares them only where the text has
// the four bytes with which one begins, and a bitmap rejects nearly all other places.
type matcher struct {
	values []string            // sorted
	begin  map[uint32][]string // the values by their first four bytes
	filter [1 << 16 / 64]uint64
}

// span is a part of the text to be masked.
type span struct{ from, to int }

// newMatcher requires sorted values of MinBytes or more; it returns nil for none.
func newMatcher(values []string) *matcher {
	if len(values) == 0 {
		return nil
	}
	m := &matcher{values: values, begin: map[uint32][]string{}}
	for _, v := range values {
		four := binary.LittleEndian.Uint32([]byte(v))
		m.begin[four] = append(m.begin[four], v)
		m.filter[bit(four)>>6] |= 1 << (bit(four) & 63)
	}
	return m
}

// bit returns the place of four bytes in the bitmap.
func bit(four uint32) uint32 { return four * 0x9e3779b1 >> 16 }

// find adds the values in text that begin at from or later to spans. A value may begin at open
// and continue after the text: the next search begins there, with more text, and spans from
// there on are left to it. If the text is whole there is no such value.
func (m *matcher) find(text []byte, from int, whole bool, spans []span) (found []span, open int) {
	if m == nil {
		return spans, len(text)
	}
	i := from
	for ; i+4 <= len(text); i++ {
		four := binary.LittleEndian.Uint32(text[i:])
		if h := bit(four); m.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		here, rest := len(spans), text[i:]
		for _, v := range m.begin[four] {
			if len(rest) >= len(v) {
				if string(rest[:len(v)]) == v {
					spans = append(spans, span{i, i + len(v)})
				}
			} else if !whole && v[:len(rest)] == string(rest) {
				return spans[:here], i
			}
		}
	}
	for ; i < len(text) && !whole; i++ {
		end := string(text[i:])
		if n := sort.SearchStrings(m.values, end); n < len(m.values) && strings.HasPrefix(m.values[n], end) {
			return spans, i
		}
	}
	return spans, len(text)
}
