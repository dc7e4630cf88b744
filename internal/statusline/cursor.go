package statusline

import "bytes"

// cursor follows what is written to a terminal, as far as it has to be known
// whether a line can be drawn where the cursor is. Its zero value is a cursor
// somewhere in a line.
type cursor struct {
	// fresh says that it stands at the start of a line on which nothing is.
	fresh bool
	// roams says that something moved it, so that there may be text below it.
	roams bool
	// saved says that the terminal keeps a position for the command: drawing would
	// put another one in its place.
	saved bool
	// blank says that the screen was cleared and nothing was printed since.
	blank bool
	// other says that the alternate screen is shown, and main is what was known
	// when it came.
	other bool
	main  struct{ fresh, roams bool }

	in     sequence
	params [8]byte // how the parameters of a control sequence begin
	given  int     // how many bytes of parameters there were
}

// sequence is the part of an escape sequence in which the output stands.
type sequence uint8

const (
	inText    sequence = iota
	inEscape           // behind ESC
	inControl          // behind ESC [
	inString           // behind ESC ] and others that take a text
	inStrEnd           // behind an ESC in such a text
	inCharset          // behind ESC ( and others with one more byte
)

const esc = 0x1b

// free reports whether a line can be drawn.
func (c *cursor) free() bool { return c.fresh && c.in == inText && !c.roams && !c.saved && !c.other }

// settle forgets what a command did that has ended.
func (c *cursor) settle() { c.roams, c.saved, c.blank, c.in = false, false, false, inText }

// write follows these bytes.
func (c *cursor) write(b []byte) {
	for len(b) > 0 {
		if c.in != inText {
			c.step(b[0])
			b = b[1:]
			continue
		}
		i := bytes.IndexByte(b, esc)
		if i < 0 {
			c.text(b)
			return
		}
		c.text(b[:i])
		if b = b[i+1:]; len(b) > 0 && b[0] == '[' {
			if n := colour(b); n > 0 {
				b = b[n:]
				continue
			}
		}
		c.in = inEscape
	}
}

// colour is the length of a control sequence behind its ESC when all of it is
// there and it only sets colours or erases within the line, as nearly all do; else
// zero.
func colour(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch ch := b[i]; {
		case ch == 'm' || ch == 'K':
			return i + 1
		case ch < '0' || ch > ';':
			return 0
		}
	}
	return 0
}

// text follows bytes without escape sequences.
func (c *cursor) text(b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		c.fresh, c.blank = true, false
		b = b[i+1:]
	}
	for _, ch := range b {
		if ch != '\r' && ch != '\a' && ch != 0 {
			c.fresh, c.blank = false, false
			return
		}
	}
}

// step follows one byte of an escape sequence.
func (c *cursor) step(b byte) {
	switch c.in {
	case inEscape:
		c.escape(b)
	case inControl:
		switch {
		case b >= 0x40 && b <= 0x7e:
			c.in = inText
			c.control(b, c.params[:min(c.given, len(c.params))])
		case b == esc:
			c.in = inEscape
		case b == '\n': // terminals carry it out in the middle of a sequence
			c.fresh = true
		default:
			if c.given < len(c.params) {
				c.params[c.given] = b
			}
			c.given++
		}
	case inString:
		switch b {
		case '\a', 0x18, 0x1a: // its end, and two that break it off
			c.in = inText
		case esc:
			c.in = inStrEnd
		}
	case inStrEnd:
		c.in = inText
		if b != '\\' {
			c.escape(b)
		}
	case inCharset:
		c.in = inText
	}
}

// escape follows the byte behind ESC.
func (c *cursor) escape(b byte) {
	c.in = inText
	switch b {
	case '[':
		c.in, c.given = inControl, 0
	case ']', 'P', 'X', '^', '_':
		c.in = inString
	case '(', ')', '*', '+', '-', '.', '/', '#', '%', ' ':
		c.in = inCharset
	case esc:
		c.in = inEscape
	case 'M': // one line up
		c.move()
	case '7': // the position is saved
		c.saved, c.main.fresh = true, false
	case '8': // the position is taken back
		c.move()
		c.fresh = false
	case 'D', 'E': // one line down
		c.fresh = false
	case 'c': // as after switching the terminal on
		*c = cursor{fresh: true, blank: true}
	}
}

// control follows a control sequence.
func (c *cursor) control(final byte, params []byte) {
	private := len(params) > 0 && params[0] >= '<' && params[0] <= '?'
	switch final {
	case 'm', 'n', 'c', 'q', 't', 'K', 'g', 'i': // colours, reports, and what erases within the line
	case 'h', 'l':
		c.mode(string(params), final == 'h')
	case 'J':
		if p := string(params); !private && p != "1" { // nothing is below any more
			c.roams, c.blank = false, p == "2" || p == "3"
		}
	case 'C', 'D', 'G', '`', 'a', 'I', 'Z', '@', 'P', 'X', 'b': // within the line
		c.fresh = false
	case 'H', 'f': // to a line and a column
		c.move()
		c.fresh = c.blank && (len(params) == 0 || string(params) == "1;1")
	case 'u', 'p', 's':
		if !private { // with it they are about the keyboard and about modes
			c.move()
			c.fresh, c.main.fresh = false, false
			c.saved = c.saved || final == 's'
		}
	default:
		c.move()
	}
}

// mode follows a mode that is switched on or off.
func (c *cursor) mode(which string, on bool) {
	switch which {
	case "?1049": // with the position saved, and taken back
		if on {
			c.main.fresh, c.main.roams = c.fresh && !c.other, c.roams
		}
		back := c.other && !on
		c.other, c.blank = on, false
		c.move()
		if c.fresh = false; back {
			c.fresh, c.roams = c.main.fresh, c.main.roams
		}
	case "?47", "?1047":
		c.other, c.blank = on, false
		c.move()
		c.fresh = false
	case "?6": // the origin of the cursor's position
		c.move()
		c.fresh = false
	}
}

// move notes that the cursor is anywhere, with text below it unless there is none
// on the screen.
func (c *cursor) move() {
	if !c.blank {
		c.roams = true
	}
}
