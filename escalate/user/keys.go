package user

import "time"

// key is a person's action, as far as the prompt knows it.
type key int

const (
	keyNone      key = iota // nothing; draw again
	keyUp                   // arrow up
	keyDown                 // arrow down
	keyEnter                // Enter
	keyInterrupt            // Ctrl-C
	keyQuit                 // Ctrl-\
	keyEnd                  // Ctrl-D
	keySuspend              // Ctrl-Z
	keyReport               // the terminal answered
	keyText                 // a byte of text;
	keyTick                 // a blank that ticks an item
	keyFirst                // Home
	keyLast                 // End
	keyMark                 // a character that marked its item
	keyBack                 // Esc
)

// stroke is a key, with its byte for [keyText] and [keyMark].
type stroke struct {
	key
	text byte
	// crowded reports that other keys came in the same read, and pasted that other text did.
	crowded, pasted bool
}

// sequenceGap is how long the rest of an escape sequence may take. Later bytes are not part of
// it but text, which means nothing.
const sequenceGap = 100 * time.Millisecond

// Parts of an escape sequence.
const (
	inText    = iota
	inEscape  // after ESC
	inControl // after ESC [
	inShift   // after ESC O
	inString  // after ESC ], ESC P and the like, up to BEL or ESC \
	inMouse   // after ESC [ M: where the mouse is, in three bytes
)

// mouseBytes is the length of an old mouse report.
const mouseBytes = 3

// maxSequence limits how much of a sequence is kept.
const maxSequence = 32

// decoder turns bytes into keys. The zero value is ready to use. Unknown sequences, whole or
// cut off, are not keys, and their bytes never become other keys.
type decoder struct {
	state int
	seq   []byte
	last  time.Time
}

// decode returns the keys in bytes that arrived at that time.
func (d *decoder) decode(b []byte, at time.Time) []stroke {
	if d.state != inText && at.Sub(d.last) > sequenceGap {
		d.state = inText
	}
	d.last = at
	var strokes []stroke
	for _, c := range b {
		switch k := d.feed(c); k {
		case keyNone:
		case keyText:
			strokes = append(strokes, stroke{key: k, text: c})
		default:
			strokes = append(strokes, stroke{key: k})
		}
	}
	return strokes
}

func (d *decoder) feed(c byte) key {
	switch {
	case c == 0x03, c == 0x1c: // also in the middle of a sequence
		d.state = inText
		if c == 0x1c {
			return keyQuit
		}
		return keyInterrupt
	case c == 0x1b && d.state != inString:
		d.state = inEscape
		return keyNone
	}
	switch d.state {
	case inEscape:
		return d.introduce(c)
	case inControl:
		return d.control(c)
	case inShift:
		d.state = inText
		return arrow(c)
	case inString:
		if c == 0x07 || c == 0x1b {
			// ESC begins the end of the string; the \ after it ends nothing else.
			d.state = inText
			if c == 0x1b {
				d.state = inEscape
			}
		}
		return keyNone
	case inMouse:
		if d.seq = append(d.seq, c); len(d.seq) == mouseBytes {
			d.state = inText
		}
		return keyNone
	}
	return plain(c)
}

// introduce reads the byte after ESC.
func (d *decoder) introduce(c byte) key {
	d.state = inText
	switch c {
	case '[':
		d.state, d.seq = inControl, d.seq[:0]
	case 'O':
		d.state = inShift
	case ']', 'P', 'X', '^', '_':
		d.state = inString
	}
	return keyNone
}

// control reads a byte after ESC [.
func (d *decoder) control(c byte) key {
	switch {
	case c < 0x20 || c > 0x7e:
		d.state = inText // not a sequence after all
		return keyNone
	case c < 0x40:
		if len(d.seq) < maxSequence {
			d.seq = append(d.seq, c)
		}
		return keyNone
	}
	d.state = inText
	switch params := string(d.seq); {
	case params == "" && c == 'M':
		d.state = inMouse
	case params == "":
		return arrow(c)
	case c == '~' && (params == "1" || params == "7"):
		return keyFirst
	case c == '~' && (params == "4" || params == "8"):
		return keyLast
	case c == 'n' && params == "0":
		return keyReport
	case c == 'u' && params == "99;5", c == '~' && params == "27;5;99":
		return keyInterrupt // under the extended keyboard protocols
	case c == 'u' && params == "92;5", c == '~' && params == "27;5;92":
		return keyQuit
	}
	return keyNone
}

func arrow(c byte) key {
	switch c {
	case 'A':
		return keyUp
	case 'B':
		return keyDown
	case 'H':
		return keyFirst
	case 'F':
		return keyLast
	}
	return keyNone
}

func plain(c byte) key {
	switch c {
	case '\r', '\n':
		return keyEnter
	case 0x04:
		return keyEnd
	case 0x1a:
		return keySuspend
	}
	return keyText
}
