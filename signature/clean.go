package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
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
		if introduces(b[i:]) {
			i += c.escape(b[i:])
			continue
		}
		switch b[i] {
		case 0x1b:
			i += c.escape(b[i:])
			continue
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

// escape handles the escape sequence that starts b and returns its length. A
// sequence that the line cuts off takes the rest of the line.
func (c *cleaner) escape(b []byte) int {
	if len(b) == 1 {
		return 1
	}
	kind := b[1]
	if b[0] != 0x1b { // of eight bits
		kind -= 0x40
	}
	switch kind {
	case '[':
		return c.control(b)
	case ']', 'P', '^', '_', 'X': // a string, up to BEL or ESC \
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0xc2 && ascii.At(b, i+1) == 0x9c {
				return i + 2
			}
			if b[i] == 0x1b {
				if ascii.At(b, i+1) == '\\' {
					return i + 2
				}
				return i
			}
		}
		return len(b)
	case '(', ')', '*', '+', '#', '%', ' ':
		return min(3, len(b))
	}
	return 2
}

// control handles ESC [ parameters final.
func (c *cleaner) control(b []byte) int {
	i, arg, args := 2, 0, 0
	for i < len(b) && b[i] >= 0x20 && b[i] < 0x40 {
		switch {
		case ascii.Digit(b[i]) && args == 0 && arg < 10000:
			arg = arg*10 + int(b[i]-'0')
		case b[i] == ';':
			args++
		}
		i++
	}
	if i == len(b) {
		return i
	}
	switch b[i] {
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
		if arg > 1 {
			c.put([]byte("  "))
		} else {
			c.put([]byte(" "))
		}
	}
	return i + 1
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
