// Package escape finds escape sequences in terminal output (ECMA-48). It is their only parser;
// callers decide what a sequence means.
package escape

import "bytes"

// Kind is the form of a sequence.
type Kind byte

// The kinds.
const (
	// Escape is ESC and one byte, or ESC, bytes from 0x20 to 0x2f and one more.
	Escape Kind = iota
	// Control is ESC [, parameters and a final byte: colours, moves of the cursor, modes.
	Control
	// String is a command with a text that terminals do not show: a title, a link, a device
	// command. It can contain line breaks.
	String
)

// Step is the role of a byte in the stream.
type Step byte

// The steps.
const (
	Text   Step = iota // outside of sequences
	Inside             // of a sequence that goes on
	End                // the last byte of a sequence
	Broken             // not taken: the sequence ends before it, incomplete. Take it again
)

// Scanner follows one stream byte by byte. The zero value is at its beginning. Memory use is
// bounded by MaxParameters.
type Scanner struct {
	state  state
	kind   Kind
	bell   bool // a bell ends the string
	final  byte
	params [MaxParameters]byte
	length int // of the parameters
}

// MaxParameters is how many bytes of parameters are kept; the rest is read and dropped.
const MaxParameters = 64

type state byte

const (
	inText state = iota
	afterEscape
	inIntermediate
	inControl
	inString
	stringEscape // after ESC in a string
	stringC1     // after the first byte of an eight-bit control in a string
)

const (
	esc        = 0x1b
	bell       = 0x07
	cancel     = 0x18
	substitute = 0x1a
	c1         = 0xc2 // U+0080 to U+00BF begin with it in UTF-8
	terminator = 0x9c // after c1: ends a string
)

// Open reports whether the stream is within a sequence.
func (s *Scanner) Open() bool { return s.state != inText }

// Kind returns the kind of the last sequence, as far as it has been read.
func (s *Scanner) Kind() Kind { return s.kind }

// Final returns the last byte of an [Escape] or a [Control]; zero if it has not been read yet.
func (s *Scanner) Final() byte { return s.final }

// Parameters returns the parameters of the last [Control], valid until the next sequence
// begins.
func (s *Scanner) Parameters() []byte { return s.params[:s.length] }

// Reset starts another stream.
func (s *Scanner) Reset() { s.state = inText }

// Take reads the next byte. A line break is text, even in a [Control], which it breaks off; in
// a [String] it is part of the sequence.
func (s *Scanner) Take(c byte) Step {
	switch s.state {
	case afterEscape:
		return s.introduce(c)
	case inIntermediate:
		if c >= 0x20 && c < 0x30 {
			return Inside
		}
		return s.end(c, c >= 0x30 && c < 0x7f)
	case inControl:
		if c >= 0x20 && c < 0x40 {
			if s.length < MaxParameters {
				s.params[s.length] = c
				s.length++
			}
			return Inside
		}
		return s.end(c, c >= 0x40 && c < 0x7f)
	case stringEscape:
		if c == '\\' {
			s.state = inText
			return End
		}
		return s.introduce(c) // the ESC breaks the string off, and begins another sequence
	case inString, stringC1:
		if c == cancel || c == substitute || c == bell && s.bell || c == terminator && s.state == stringC1 {
			s.state = inText
			return End
		}
		switch s.state = inString; c {
		case esc:
			s.state = stringEscape
		case c1:
			s.state = stringC1
		}
		return Inside
	case inText:
		if c == esc {
			s.state, s.kind, s.length, s.final = afterEscape, Escape, 0, 0
			return Inside
		}
	}
	return Text
}

// introduce reads the byte after ESC.
func (s *Scanner) introduce(c byte) Step {
	s.kind, s.length, s.final = Escape, 0, 0
	switch {
	case c == '[':
		s.state, s.kind = inControl, Control
	case c == ']', c == 'P', c == 'X', c == '^', c == '_', c == 'k': // k is the title of screen and tmux
		s.state, s.kind, s.bell = inString, String, c == ']' || c == '_'
	case c >= 0x20 && c < 0x30:
		s.state = inIntermediate
	default:
		return s.end(c, c >= 0x30 && c < 0x7f)
	}
	return Inside
}

// end ends the sequence, either with the byte c or before it.
func (s *Scanner) end(c byte, with bool) Step {
	s.state = inText
	if !with {
		return Broken
	}
	s.final = c
	return End
}

// Introduces reports whether two bytes are an eight-bit control that stands for ESC and one
// more byte, which begins a sequence: U+009B is ESC [. In UTF-8 it also has two bytes.
func Introduces(first, second byte) bool {
	return first == c1 && (second == 0x90 || second == 0x98 || second == 0x9b || second >= 0x9d && second <= 0x9f)
}

// Next reads the sequence at the beginning of a text and returns its length, or 0 if there is
// none. An unterminated sequence extends to the end of its line: half a sequence is as
// dangerous as a whole one.
func Next[T string | []byte](s *Scanner, text T) int {
	s.state = inText
	n := 0
	switch {
	case len(text) > 0 && text[0] == esc:
	case len(text) > 1 && Introduces(text[0], text[1]):
		s.introduce(text[1] - 0x40)
		n = 2
	default:
		return 0
	}
	for ; n < len(text) && text[n] != '\n'; n++ {
		switch s.Take(text[n]) {
		case End:
			return n + 1
		case Broken:
			return n
		case Inside, Text:
		}
	}
	return n
}

// Filter removes the sequences from a stream. The zero value is at its beginning.
type Filter struct {
	scanner Scanner
	held    bool // a c1, whose next byte decides
	out     []byte
}

// Reset starts another stream and keeps the memory.
func (f *Filter) Reset() { f.scanner.Reset(); f.held = false }

// Drop returns the next piece of the stream, which can be cut anywhere, without the sequences.
// The result is valid until the next call.
func (f *Filter) Drop(b []byte) []byte {
	if !f.scanner.Open() && !f.held && Free(b) {
		return b
	}
	f.out = f.out[:0]
	for _, c := range b {
		if f.held {
			f.held = false
			if Introduces(c1, c) {
				f.scanner.introduce(c - 0x40)
				continue
			}
			f.out = append(f.out, c1)
		}
		step := f.scanner.Take(c)
		if step == Broken {
			step = f.scanner.Take(c)
		}
		switch {
		case step != Text:
		case c == c1:
			f.held = true
		default:
			f.out = append(f.out, c)
		}
	}
	return f.out
}

// Free reports whether no sequence begins in the text or could begin with its last byte.
func Free(text []byte) bool {
	if bytes.IndexByte(text, esc) >= 0 {
		return false
	}
	for {
		i := bytes.IndexByte(text, c1)
		if i < 0 {
			return true
		}
		if text = text[i+1:]; len(text) == 0 || Introduces(c1, text[0]) {
			return false
		}
	}
}
