package ask

import "github.com/looprun/looprun/internal/ascii"

// maxDepth is how deep a document found in output may be nested.
const maxDepth = 100

// longestWord is what the key "status" and its value need at most, when each of
// their characters is written as \uXXXX.
const longestWord = 6 * len(StatusChoices)

// machine checks one JSON value byte by byte. It knows of each open object
// whether its status is that of [Choices].
type machine struct {
	state  state
	frames [maxDepth]frame
	depth  int
	at     int    // bytes read
	rest   string // of a literal
	hex    int    // digits to come of \uXXXX
	isKey  bool   // the string is a key
	heard  bool   // the string is to be heard: it may be a status
	word   []byte // what was heard
	over   bool   // and it was longer than a status can be
	final  bool   // the key just read is "status"
}

// span is a part of the value, by its bytes.
type span struct{ from, to int }

// frame is an open object or array.
type frame struct {
	from   int // where it begins; -1 unless that is an object at the start of a line
	array  bool
	status bool // it is an object whose last status is that of Choices
	inner  span // the last complete document inside; empty for none
}

type state uint8

const (
	wantValue state = iota
	wantValueOrEnd
	wantKey
	wantKeyOrEnd
	wantColon
	wantCommaOrEnd
	inString
	inEscape
	inHex
	inLiteral
	numMinus
	numZero
	numInt
	numDot
	numFraction
	numE
	numSign
	numExponent
)

func (m *machine) reset() {
	m.state, m.depth, m.at = wantValue, 0, 0
}

// nested is the last complete document inside the value, which must not be
// complete itself.
func (m *machine) nested() (span, bool) {
	for i := m.depth - 1; i >= 0; i-- {
		if s := m.frames[i].inner; s.to > 0 {
			return s, true
		}
	}
	return span{}, false
}

// plain skips bytes of a string that mean nothing, and returns how many.
func (m *machine) plain(p []byte) int {
	i := 0
	for i < len(p) && p[i] != '"' && p[i] != '\\' && p[i] >= ' ' {
		i++
	}
	m.hear(p[:i])
	m.at += i
	return i
}

func (m *machine) hear(p []byte) {
	if !m.heard || m.over {
		return
	}
	if m.over = len(m.word)+len(p) > longestWord; !m.over {
		m.word = append(m.word, p...)
	}
}

// step takes the next byte; false: it cannot stand there. The value is complete
// when the depth is zero afterwards. lineStart says that the byte is the first of
// its line.
func (m *machine) step(c byte, lineStart bool) bool {
	ok := true
	switch m.state {
	case inString:
		ok = m.stringByte(c)
	case inEscape, inHex:
		ok = m.escapeByte(c)
	case inLiteral:
		if ok = c == m.rest[0]; ok {
			if m.rest = m.rest[1:]; m.rest == "" {
				m.state = wantCommaOrEnd
			}
		}
	default:
		ok = m.structure(c, lineStart)
	}
	if ok {
		m.at++
	}
	return ok
}

func (m *machine) stringByte(c byte) bool {
	switch {
	case c == '"':
		m.endString()
		return true
	case c == '\\':
		m.state = inEscape
	case c < ' ':
		return false
	}
	m.hear([]byte{c})
	return true
}

func (m *machine) escapeByte(c byte) bool {
	if m.state == inEscape {
		switch c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			m.state = inString
		case 'u':
			m.state, m.hex = inHex, 4
		default:
			return false
		}
	} else {
		if !(ascii.Digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f') {
			return false
		}
		if m.hex--; m.hex == 0 {
			m.state = inString
		}
	}
	m.hear([]byte{c})
	return true
}

func (m *machine) endString() {
	if m.isKey {
		m.state = wantColon
		m.final = !m.over && means(m.word, "status")
		return
	}
	m.state = wantCommaOrEnd
	if m.heard {
		m.frames[m.depth-1].status = !m.over && means(m.word, StatusChoices)
	}
}

// structure takes a byte that is in no string and no literal.
func (m *machine) structure(c byte, lineStart bool) bool {
	if m.state >= numMinus {
		if next, ok := number(m.state, c); ok {
			m.state = next
			return true
		}
		if m.state != numZero && m.state != numInt && m.state != numFraction && m.state != numExponent {
			return false
		}
		m.state = wantCommaOrEnd
	}
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return m.depth > 0
	case c == '}' || c == ']':
		return m.end(c == ']')
	}
	switch m.state {
	case wantColon:
		m.state = wantValue
		return c == ':'
	case wantCommaOrEnd:
		if m.state = wantKey; m.frames[m.depth-1].array {
			m.state = wantValue
		}
		return c == ','
	case wantKey, wantKeyOrEnd:
		m.beginString(true, true)
		return c == '"'
	}
	return m.value(c, lineStart)
}

func (m *machine) beginString(key, heard bool) {
	m.state, m.isKey, m.heard, m.over, m.word = inString, key, heard, false, m.word[:0]
}

// value takes the first byte of a value.
func (m *machine) value(c byte, lineStart bool) bool {
	isStatus := m.depth > 0 && !m.frames[m.depth-1].array && m.final
	m.final = false
	if isStatus {
		m.frames[m.depth-1].status = false // of a repeated key the last counts
	}
	switch {
	case c == '{' || c == '[':
		return m.begin(c == '[', lineStart)
	case c == '"':
		m.beginString(false, isStatus)
	case c == '-':
		m.state = numMinus
	case c == '0':
		m.state = numZero
	case '1' <= c && c <= '9':
		m.state = numInt
	case c == 't':
		m.state, m.rest = inLiteral, "rue"
	case c == 'f':
		m.state, m.rest = inLiteral, "alse"
	case c == 'n':
		m.state, m.rest = inLiteral, "ull"
	default:
		return false
	}
	return true
}

func (m *machine) begin(array, lineStart bool) bool {
	if m.depth == maxDepth {
		return false
	}
	f := frame{from: -1, array: array}
	if lineStart && !array {
		f.from = m.at
	}
	m.frames[m.depth] = f
	m.depth++
	if m.state = wantKeyOrEnd; array {
		m.state = wantValueOrEnd
	}
	return true
}

// end closes the innermost object or array.
func (m *machine) end(array bool) bool {
	empty := m.state == wantValueOrEnd || m.state == wantKeyOrEnd
	f := &m.frames[m.depth-1]
	if f.array != array || !(empty || m.state == wantCommaOrEnd) {
		return false
	}
	m.depth--
	m.state = wantCommaOrEnd
	if m.depth == 0 {
		return true
	}
	// A complete object at the start of a line hides what is inside it.
	outer := &m.frames[m.depth-1]
	switch {
	case f.from < 0 && f.inner.to > 0:
		outer.inner = f.inner
	case f.from >= 0 && f.status:
		outer.inner = span{f.from, m.at + 1}
	}
	return true
}
