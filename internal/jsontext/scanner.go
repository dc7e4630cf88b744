// Package jsontext finds the parts of JSON in text that streams past, cut anywhere. It stores
// none of it; callers interpret the texts and numbers.
package jsontext

import "encoding/json"

// Step is the role of a byte in the value being read.
type Step byte

// The steps.
const (
	Inside    Step = iota // of a text or a word, or between values
	Open                  // { or [
	Close                 // } or ]
	Text                  // the quote before a text; Scanner.Name says whether it is a name
	TextEnd               // the quote after it
	Word                  // the first byte of a number, true, false or null
	WordEnd               // not taken: a word ends before it. Take it again
	Malformed             // it cannot be there
)

const (
	// MaxDepth is how deeply a value may be nested.
	MaxDepth = 100
	// maxWord is the maximum length of a number, in bytes.
	maxWord = 512
)

// Scanner reads one value byte by byte (RFC 8259). The value is complete when a [Close] leaves
// a depth of zero, or a text or a word ends at that depth. The zero value is ready to use.
type Scanner struct {
	// Lenient allows control characters and unknown escapes in texts.
	Lenient bool

	state  state
	array  [MaxDepth]bool // of each open object or array, whether it is one
	depth  int
	name   bool
	hex    int // digits to come of \uXXXX
	number []byte
}

type state byte

const (
	wantValue      state = iota
	wantValueOrEnd       // after [
	wantName
	wantNameOrEnd // after {
	wantColon
	wantCommaOrEnd
	inText
	inEscape
	inHex
	inWord
)

// Reset starts another value.
func (s *Scanner) Reset() { s.state, s.depth = wantValue, 0 }

// Depth returns how many objects and arrays are open.
func (s *Scanner) Depth() int { return s.depth }

// InText reports whether the next byte belongs to a text.
func (s *Scanner) InText() bool { return s.state >= inText && s.state <= inHex }

// InWord reports whether the next byte may belong to a number, true, false or null.
func (s *Scanner) InWord() bool { return s.state == inWord }

// Name reports whether the last text is a member's name.
func (s *Scanner) Name() bool { return s.name }

// Plain reads the bytes of a text that stand for themselves, and returns their number.
func (s *Scanner) Plain(p []byte) int {
	if s.state != inText {
		return 0
	}
	for i, c := range p {
		if c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(p)
}

// Take reads the next byte.
func (s *Scanner) Take(c byte) Step {
	switch s.state {
	case inText:
		switch {
		case c == '"':
			if s.state = wantCommaOrEnd; s.name {
				s.state = wantColon
			}
			return TextEnd
		case c == '\\':
			s.state = inEscape
		case c < ' ' && !s.Lenient:
			return Malformed
		}
		return Inside
	case inEscape, inHex:
		return s.escape(c)
	case inWord:
		if isWord(c) && len(s.number) < maxWord {
			s.number = append(s.number, c)
			return Inside
		}
		if s.state = wantCommaOrEnd; !json.Valid(s.number) {
			return Malformed
		}
		return WordEnd
	}
	if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return Inside
	}
	return s.structure(c)
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

func (s *Scanner) escape(c byte) Step {
	switch {
	case s.Lenient:
		s.state = inText
	case s.state == inHex:
		if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
			return Malformed
		}
		if s.hex--; s.hex == 0 {
			s.state = inText
		}
	case c == 'u':
		s.state, s.hex = inHex, 4
	case c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't':
		s.state = inText
	default:
		return Malformed
	}
	return Inside
}

// structure reads a byte outside of texts, words and white space.
func (s *Scanner) structure(c byte) Step {
	switch {
	case c == '}' || c == ']':
		return s.close(c == ']')
	case s.state == wantColon:
		if s.state = wantValue; c == ':' {
			return Inside
		}
	case s.state == wantCommaOrEnd:
		if c == ',' && s.depth > 0 {
			if s.state = wantName; s.array[s.depth-1] {
				s.state = wantValue
			}
			return Inside
		}
	case s.state == wantName || s.state == wantNameOrEnd:
		if c == '"' {
			s.state, s.name = inText, true
			return Text
		}
	default:
		return s.value(c)
	}
	return Malformed
}

// value reads the first byte of a value.
func (s *Scanner) value(c byte) Step {
	switch {
	case c == '"':
		s.state, s.name = inText, false
		return Text
	case (c == '{' || c == '[') && s.depth < MaxDepth:
		s.array[s.depth] = c == '['
		s.depth++
		if s.state = wantNameOrEnd; c == '[' {
			s.state = wantValueOrEnd
		}
		return Open
	case isWord(c):
		s.state, s.number = inWord, append(s.number[:0], c)
		return Word
	}
	return Malformed
}

// close closes the innermost object or array.
func (s *Scanner) close(array bool) Step {
	ends := s.state == wantCommaOrEnd || s.state == wantValueOrEnd || s.state == wantNameOrEnd
	if s.depth == 0 || !ends || s.array[s.depth-1] != array {
		return Malformed
	}
	s.depth--
	s.state = wantCommaOrEnd
	return Close
}
