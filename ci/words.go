package ci

import "bytes"

// words finds the words that a CI system acts on, anywhere in its log. It buffers only part of
// one word, so it does not matter how the stream is split into writes.
type words struct {
	stem  string   // what all of them begin with
	words []string // none is a part of another
	seen  []byte   // the end of the stream, as far as a word begins with it
}

// newWords returns nil for a CI system without such words.
func newWords(p Provider) *words {
	return map[Provider]*words{
		GitHub: {stem: "##", words: []string{"##["}},
		Azure:  {stem: "##", words: []string{"##[", "##vso["}},
		GitLab: {stem: "section_", words: []string{"section_start:", "section_end:"}},
	}[p]
}

// ends appends to at the indexes in b of each word's last byte.
func (m *words) ends(at []int, b []byte) []int {
	for i := 0; i < len(b); {
		if len(m.seen) > 0 {
			if m.step(b[i]) {
				at = append(at, i)
			}
			i++
			continue
		}
		n := bytes.Index(b[i:], []byte(m.stem)) // the common case is that there is none
		if n < 0 {
			m.seen = append(m.seen, begun(b[i:], m.stem)...)
			return at
		}
		m.seen = append(m.seen, m.stem...)
		i += n + len(m.stem)
	}
	return at
}

// step reads one byte and reports whether it completes a word.
func (m *words) step(c byte) bool {
	m.seen = append(m.seen, c)
	for len(m.seen) > 0 {
		begins := false
		for _, w := range m.words {
			if string(m.seen) == w {
				m.seen = m.seen[:0]
				return true
			}
			begins = begins || len(m.seen) < len(w) && string(m.seen) == w[:len(m.seen)]
		}
		if begins {
			return false
		}
		m.seen = m.seen[:copy(m.seen, m.seen[1:])]
	}
	return false
}

// apart returns the text with every such word split by a blank.
func (m *words) apart(text string) string {
	m.seen = m.seen[:0]
	return string(split([]byte(text), m.ends(nil, []byte(text))))
}

// begun returns the longest suffix of b that is a prefix of the stem.
func begun(b []byte, stem string) string {
	for n := min(len(stem)-1, len(b)); n > 0; n-- {
		if string(b[len(b)-n:]) == stem[:n] {
			return stem[:n]
		}
	}
	return ""
}

// split inserts a blank before the bytes at the given indexes, which are sorted and may
// contain duplicates.
func split(b []byte, at []int) []byte {
	out := make([]byte, 0, len(b)+len(at))
	from, last := 0, -1
	for _, i := range at {
		if i == last {
			continue
		}
		out = append(append(out, b[from:i]...), ' ')
		from, last = i, i
	}
	return append(out, b[from:]...)
}
