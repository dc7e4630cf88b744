package signature

import (
	"bytes"
	"strconv"

	"github.com/looprun/looprun/internal/termsafe"
)

// dirty says whether a line holds what clean takes out.
func dirty(b []byte) bool {
	return bytes.IndexByte(b, 0x1b) >= 0 || bytes.IndexByte(b, '\r') >= 0 || bytes.IndexByte(b, '\b') >= 0 || eightBit(b)
}

// eightBit says whether a line holds the one character that some write in place of ESC
// and the next: U+009D is ESC ]. In UTF-8 it is as long as those two.
func eightBit(b []byte) bool {
	for i := bytes.IndexByte(b, 0xc2); i >= 0; {
		if introduces(b[i:]) {
			return true
		}
		next := bytes.IndexByte(b[i+1:], 0xc2)
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

func introduces(b []byte) bool {
	return b[0] == 0xc2 && len(b) > 1 && bytes.IndexByte([]byte{0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f}, b[1]) >= 0
}

// cleaner builds the text that a terminal would show for one line: escape
// sequences are gone, text redrawn after a carriage return replaces what was there.
// Cleaning a clean line changes nothing.
type cleaner struct {
	dst   []byte
	fresh bool // the cursor is at the start: the next text replaces the line
}

func (c *cleaner) clean(b []byte) []byte {
	c.dst, c.fresh = c.dst[:0], false
	for i := 0; i < len(b); {
		if n := termsafe.Escape(b[i:]); n > 0 {
			if final := b[i+n-1]; n > 2 && final >= 0x40 && (b[i+1] == '[' || b[i+1] == 0x9b) { // ESC [ or U+009B
				c.control(b[i+2:i+n-1], final)
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
			for n < len(b) && b[n] != 0x1b && b[n] != '\r' && b[n] != '\b' && !introduces(b[n:]) {
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
	for n := len(c.dst); n > 0 && introduces([]byte{c.dst[n-1], b[0]}); n-- { // what stood between is gone
		c.dst = c.dst[:n-1]
	}
	c.dst = append(c.dst, b...)
}

// control applies ESC [ with its parameters and final byte.
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

// trim cuts white space, and a byte order mark, from both ends of a line.
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
