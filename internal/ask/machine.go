package ask

import "github.com/looprun/looprun/internal/jsontext"

// longestWord is the maximum length of the key "status" and its value, if each of their
// characters is written as \uXXXX.
const longestWord = 6 * len(StatusChoices)

// machine tracks one JSON object byte by byte, and knows for each object in it whether its
// status is that of [Choices].
type machine struct {
	json   jsontext.Scanner
	frames [jsontext.MaxDepth]frame
	at     int    // bytes read
	kept   bool   // the text is kept: it may be a status
	word   []byte // what is kept of it
	over   bool   // and it was longer than a status can be
	status bool   // the name just read is "status"
}

// span is a byte range of the value.
type span struct{ from, to int }

// frame is an open object or array.
type frame struct {
	from   int  // where it begins; -1 unless that is an object at the start of a line
	status bool // it is an object whose last status is that of Choices
	inner  span // the last complete document inside; empty for none
}

func (m *machine) reset() {
	m.json.Reset()
	m.at, m.status = 0, false
}

// nested returns the last complete document inside the value, which must itself be incomplete.
func (m *machine) nested() (span, bool) {
	for i := m.json.Depth() - 1; i >= 0; i-- {
		if s := m.frames[i].inner; s.to > 0 {
			return s, true
		}
	}
	return span{}, false
}

// plain skips bytes of a text that have no meaning, and returns their number.
func (m *machine) plain(p []byte) int {
	n := m.json.Plain(p)
	m.keep(p[:n])
	m.at += n
	return n
}

func (m *machine) keep(p []byte) {
	if !m.kept || m.over {
		return
	}
	if m.over = len(m.word)+len(p) > longestWord; !m.over {
		m.word = append(m.word, p...)
	}
}

// step reads the next byte; it returns false if the byte is not allowed there. The value is
// complete when the depth is zero afterwards. lineStart means that the byte is the first of
// its line.
func (m *machine) step(c byte, lineStart bool) bool {
	step := m.json.Take(c)
	if step == jsontext.WordEnd {
		step = m.json.Take(c)
	}
	depth := m.json.Depth()
	switch step {
	case jsontext.Malformed:
		return false
	case jsontext.Open:
		if depth > 1 {
			m.value(depth - 1)
		}
		m.frames[depth-1] = frame{from: -1}
		if lineStart && c == '{' {
			m.frames[depth-1].from = m.at
		}
	case jsontext.Close:
		m.end(depth)
	case jsontext.Text:
		m.kept, m.over, m.word = m.json.Name() || m.value(depth), false, m.word[:0]
	case jsontext.TextEnd:
		if m.json.Name() {
			m.status = !m.over && means(m.word, "status")
		} else if m.kept {
			m.frames[depth-1].status = !m.over && means(m.word, StatusChoices)
		}
	case jsontext.Word:
		m.value(depth)
	case jsontext.Inside:
		if m.json.InText() {
			m.keep([]byte{c})
		}
	case jsontext.WordEnd:
	}
	m.at++
	return true
}

// value records that a value begins at that depth, and reports whether it is a status. If a
// key is repeated, the last one counts.
func (m *machine) value(depth int) (status bool) {
	if status = m.status; status {
		m.frames[depth-1].status = false
	}
	m.status = false
	return status
}

// end records that an object or an array ended, which leaves that depth. A complete object at
// the start of a line hides the objects inside it.
func (m *machine) end(depth int) {
	if depth == 0 {
		return
	}
	f, outer := &m.frames[depth], &m.frames[depth-1]
	switch {
	case f.from < 0 && f.inner.to > 0:
		outer.inner = f.inner
	case f.from >= 0 && f.status:
		outer.inner = span{f.from, m.at + 1}
	}
}
