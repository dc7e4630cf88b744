package statusline

import (
	"bytes"
	"slices"

	"github.com/looprun/looprun/internal/escape"
)

// cursor tracks what is written to a terminal, to determine whether a line can be drawn at the
// cursor: at the start of an empty line, with nothing below it. The zero value is somewhere
// within a line.
type cursor struct {
	fresh bool // at the start of a line on which nothing is
	// moved means that the command has done more than print lines, in colours: it draws a
	// display of its own.
	moved bool
	in    escape.Scanner
}

// free reports whether a line can be drawn.
func (c *cursor) free() bool { return c.fresh && !c.moved && !c.in.Open() }

// settle forgets what an ended command did.
func (c *cursor) settle() {
	c.moved = false
	c.in.Reset()
}

// write tracks these bytes.
func (c *cursor) write(b []byte) {
	for len(b) > 0 {
		if !c.in.Open() {
			i := bytes.IndexByte(b, 0x1b)
			if i < 0 {
				c.text(b)
				return
			}
			c.text(b[:i])
			b = b[i:]
		}
		switch c.in.Take(b[0]) {
		case escape.Broken: // terminals differ in what they do with it
			c.moved = true
			continue
		case escape.End:
			c.moved = c.moved || !c.harmless()
		case escape.Inside, escape.Text:
		}
		b = b[1:]
	}
}

// text tracks bytes without escape sequences.
func (c *cursor) text(b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		c.fresh = true
		b = b[i+1:]
	}
	if len(bytes.Trim(b, "\r\a\x00")) > 0 {
		c.fresh = false
	}
}

// harmlessModes do not affect the cursor's position or the screen: keys, blinking, hiding the
// cursor, pasting, synchronized drawing.
var harmlessModes = []string{"?1", "?12", "?25", "?2004", "?2026"}

// harmless reports whether the sequence that has just ended leaves the cursor and the lines
// above and below where they are.
func (c *cursor) harmless() bool {
	final := c.in.Final()
	switch c.in.Kind() {
	case escape.Escape: // but for those that save, move or reset
		return !bytes.ContainsRune([]byte("78DEMc"), rune(final))
	case escape.Control:
		switch final {
		case 'm', 'K', 'n', 'c', 'q': // colours, erasing within the line, reports, the cursor's shape
			return true
		case 'h', 'l':
			return slices.Contains(harmlessModes, string(c.in.Parameters()))
		case 'u': // with a mark it is about the keyboard
			return bytes.ContainsAny(c.in.Parameters(), "<=>?")
		}
		return false
	case escape.String: // titles and links
	}
	return true
}
