package signature

import (
	"bytes"
	"strconv"

	"github.com/looprun/looprun/internal/escape"
)

// dirty reports whether a line contains anything that clean removes.
func dirty(b []byte) bool {
	return bytes.IndexByte(b, '\r') >= 0 || bytes.IndexByte(b, '\b') >= 0 || !escape.Free(b)
}

// cleaner builds the text that a terminal would show for one line: it removes escape
// sequences, and text redrawn after a carriage return replaces the earlier text. Cleaning a
// clean line changes nothing.
type cleaner struct {
	dst   []byte
	fresh bool // the cursor is at the start: the next text replaces the line

	sequence escape.Scanner
}

func (c *cleaner) clean(b []byte) []byte {
	c.dst, c.fresh = c.dst[:0], false
	for i := 0; i < len(b); {
		if n := escape.Next(&c.sequence, b[i:]); n > 0 {
			if c.sequence.Kind() == escape.Control && c.sequence.Final() != 0 {
				c.control(c.sequence.Parameters(), c.sequence.Final())
			}
			i += n
			continue
		}
		switch b[i] {
		case '\r':
			c.fresh = true
		case '\b':
			if !c.fresh && len(c.dst) > 0 {
				c.dst = c.dst[:len(c.dst)-1]
			}
		default:
			n := i + 1
			for n < len(b) && b[n] != 0x1b && b[n] != '\r' && b[n] != '\b' && !(n+1 < len(b) && escape.Introduces(b[n], b[n+1])) {
				n++
			}
			c.put(b[i:n])
			i = n
			continue
		}
		i++
	}
	return c.dst
}

func (c *cleaner) put(b []byte) {
	if c.fresh {
		c.dst, c.fresh = c.dst[:0], false
	}
	for n := len(c.dst); n > 0 && escape.Introduces(c.dst[n-1], b[0]); n-- { // what stood between is gone
		c.dst = c.dst[:n-1]
	}
	c.dst = append(c.dst, b...)
}

// control applies an ESC [ sequence with its parameters and final byte.
func (c *cleaner) control(parameters []byte, final byte) {
	first, _, _ := bytes.Cut(parameters, []byte(";"))
	arg, _ := strconv.Atoi(string(first))
	switch final {
	case 'G', '`': // to a column
		if arg-1 < len(c.dst) || arg <= 1 {
			c.fresh = true
		} else {
			c.put([]byte("  "))
		}
	case 'K': // erase in line
		if c.fresh || arg == 2 {
			c.dst = c.dst[:0]
		}
	case 'C': // forward
		c.put([]byte("  ")[:min(max(arg, 1), 2)])
	}
}

// trim removes white space, and a byte order mark, from both ends of a line.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return trimRight(b)
}

func trimRight(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}
