package ci

import (
	"slices"

	"github.com/looprun/looprun/internal/escape"
)

// markers keeps output from opening groups in a Buildkite log. After removing colours, its
// agent takes a line for a header when it begins with ---, +++ or ~~~ and a blank, and ^^^
// opens the previous group. The log is shown as a terminal would show it, so moving the cursor
// can also put these characters at the beginning of a line. Two rules prevent all of this:
//
//   - a line that begins with three of these characters gets a blank before
//     them, whatever follows;
//   - such a character right after a cursor movement gets a blank before it.
//
// ESC _, which begins the agent's messages to the log viewer, is shown as ␛_, and so is ESC
// where a sequence is cut off.
//
// Earlier lines, including looprun's own, can still be redrawn: markers does not follow the
// cursor there.
//
// At most two such characters at the beginning of a line, with the colours between them, and
// an unfinished escape sequence are held back until more output arrives or [markers.rest] is
// called. The zero value is at the beginning of a line.
type markers struct {
	place place
	mark  byte // the character that the line begins with, and how often
	count int
	held  []byte
	// escape is one more than the index in held at which an unfinished escape sequence begins.
	escape  int
	scanner escape.Scanner
	out     []byte
}

// place is the cursor's position.
type place uint8

const (
	lineStart place = iota
	inLine
	moved // anywhere
)

// heldLimit bounds how much is held back. No colour sequence is this long.
const heldLimit = 64

// apply returns the output to write for b. The slice is valid until the next call.
func (m *markers) apply(b []byte) []byte {
	m.out = m.out[:0]
	for len(b) > 0 {
		if m.place == inLine && m.escape == 0 {
			n := plain(b)
			m.out = append(m.out, b[:n]...)
			if b = b[n:]; len(b) == 0 {
				break
			}
		}
		m.add(b[0])
		b = b[1:]
	}
	return m.out
}

// rest returns what is held back. Whatever comes next is treated as following a cursor
// movement, so that it cannot complete a header.
func (m *markers) rest() []byte {
	m.out = m.out[:0]
	if len(m.held) > 0 {
		if m.escape > 0 { // what comes next would complete it unseen
			m.held = slices.Replace(m.held, m.escape-1, m.escape, []byte("␛")...)
		}
		m.release(moved)
	}
	return m.out
}

// plain returns how many leading bytes of b neither end the line nor move the cursor.
func plain(b []byte) int {
	for i, c := range b {
		if control(c) {
			return i
		}
	}
	return len(b)
}

// control reports whether the byte prints nothing at the cursor's position.
func control(c byte) bool { return c < 0x20 && c != '\t' }

func (m *markers) add(c byte) {
	switch {
	case m.escape > 0:
		m.sequence(c)
		return
	case m.scanner.Take(c) == escape.Inside:
		m.held = append(m.held, c)
		m.escape = len(m.held)
		return
	case m.count > 0 && c == m.mark:
		m.held = append(m.held, c)
		if m.count++; m.count == 3 || len(m.held) > heldLimit {
			m.out = append(m.out, ' ')
			m.release(inLine)
		}
		return
	case m.count > 0:
		m.release(inLine)
	}
	if c == '-' || c == '+' || c == '~' || c == '^' {
		switch m.place {
		case lineStart:
			m.mark, m.count = c, 1
			m.held = append(m.held, c)
			return
		case moved:
			m.out = append(m.out, ' ')
		}
	}
	m.out = append(m.out, c)
	switch {
	case c == '\n':
		m.place = lineStart
	case control(c):
		m.place = moved
	default:
		m.place = inLine
	}
}

// sequence reads the next byte of an escape sequence. A title or link (ESC ] and so on) ends
// with a control character, which counts as a cursor movement.
func (m *markers) sequence(c byte) {
	first := len(m.held) == m.escape // the byte after ESC
	step := m.scanner.Take(c)
	switch {
	case step == escape.Broken || control(c) || len(m.held) > heldLimit:
		m.release(moved)
		m.add(c)
	case first && c == '_':
		m.held = append(m.held[:m.escape-1], "␛_"...)
		m.release(inLine)
	case step == escape.End && m.scanner.Kind() == escape.Control && (c == 'm' || c == 'K'): // a colour, or the rest of the line
		m.held = append(m.held, c)
		if m.count == 0 {
			m.release(m.place)
		}
		m.escape = 0
	case step == escape.Inside && m.scanner.Kind() != escape.String:
		m.held = append(m.held, c)
	default:
		m.held = append(m.held, c)
		m.release(moved)
	}
}

// release writes the bytes held back.
func (m *markers) release(to place) {
	m.out = append(m.out, m.held...)
	m.held, m.count, m.escape, m.place = m.held[:0], 0, 0, to
	m.scanner.Reset()
}
