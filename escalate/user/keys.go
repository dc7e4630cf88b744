package user

import (
	"math"
	"time"

	"github.com/looprun/looprun/internal/escape"
)

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

// mouseBytes is the length of an old mouse report.
const mouseBytes = 3

// decoder turns bytes into keys. The zero value is ready to use. Unknown sequences, whole or
// cut off, are not keys, and their bytes never become other keys.
type decoder struct {
	in      escape.Scanner
	escaped bool // the last byte was ESC
	more    int  // bytes of the last sequence that are still to come, which the scanner leaves out
	last    time.Time
}

// decode returns the keys in bytes that arrived at that time.
func (d *decoder) decode(b []byte, at time.Time) []stroke {
	if at.Sub(d.last) > sequenceGap {
		*d = decoder{}
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
	after := d.escaped
	d.escaped = c == 0x1b
	switch {
	case c == 0x03, c == 0x1c: // also in the middle of a sequence
		*d = decoder{last: d.last}
		if c == 0x1c {
			return keyQuit
		}
		return keyInterrupt
	case d.more > 0 && !d.escaped:
		if d.more--; d.in.Kind() == escape.Escape {
			return arrow(c)
		}
		return keyNone
	}
	d.more = 0
	step := d.in.Take(c)
	switch {
	case step == escape.Broken && d.escaped:
		d.in.Take(c) // it begins another
	case step == escape.Text:
		return plain(c)
	case step == escape.End && d.in.Kind() == escape.Control:
		return d.control(c)
	case step == escape.End && after && c == 'O':
		d.more = 1
	case step == escape.End && (c == 0x18 || c == 0x1a || c == 0x9c): // they end a text, and whoever wrote it may have put them there
		d.more = math.MaxInt
	}
	return keyNone
}

// control returns the key of a sequence that began with ESC [ and ends with c.
func (d *decoder) control(c byte) key {
	switch params := string(d.in.Parameters()); {
	case params == "" && c == 'M':
		d.more = mouseBytes
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
	return map[byte]key{'A': keyUp, 'B': keyDown, 'H': keyFirst, 'F': keyLast}[c]
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
