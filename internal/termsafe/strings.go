package termsafe

import "bytes"

// Strings takes control strings out of a stream of output: titles, hyperlinks,
// device commands. A terminal shows nothing of them, however many lines they
// have. The zero value is at the beginning of a stream.
type Strings struct {
	within stringKind
	held   byte // an ESC or the first byte of an eight bit control, whose second one decides
	out    []byte
}

// stringKind is what a terminal is reading.
type stringKind byte

const (
	plainText  stringKind = iota
	ofSystem              // an operating system command, which a bell ends, too
	ofAnything            // DCS, SOS, PM, APC, and the title of screen and tmux
)

const (
	esc        = 0x1b
	eightBit   = 0xc2 // U+0080 to U+00BF begin with it in UTF-8
	bell       = 0x07
	cancel     = 0x18
	substitute = 0x1a
)

// Drop returns what is left of the next piece of the stream, which may be cut
// anywhere. It holds until the next call.
func (s *Strings) Drop(b []byte) []byte {
	if s.within == plainText && s.held == 0 && bytes.IndexByte(b, esc) < 0 && bytes.IndexByte(b, eightBit) < 0 {
		return b
	}
	s.out = s.out[:0]
	for _, c := range b {
		s.take(c)
	}
	return s.out
}

// Reset begins another stream.
func (s *Strings) Reset() { s.within, s.held = plainText, 0 }

func (s *Strings) take(c byte) {
	if held := s.held; held != 0 {
		s.held = 0
		if s.control(held, c) {
			return
		}
	}
	switch {
	case c == esc, c == eightBit:
		s.held = c
	case s.within == plainText:
		s.out = append(s.out, c)
	case c == cancel, c == substitute, c == bell && s.within == ofSystem:
		s.within = plainText
	}
}

// control reads a control of two bytes, and reports whether the second is part of
// it. Within a string an ESC that ends it otherwise than in order begins the next
// sequence.
func (s *Strings) control(first, second byte) bool {
	name := second // as it follows an ESC
	if first == eightBit {
		name = second - 0x40
	}
	switch name {
	case ']':
		s.within = ofSystem
		return true
	case 'P', 'X', '^', '_':
		s.within = ofAnything
		return true
	case 'k':
		if first == esc {
			s.within = ofAnything
			return true
		}
	case '\\':
		if s.within != plainText {
			s.within = plainText
			return true
		}
	}
	if first == esc {
		s.within = plainText
	}
	if s.within == plainText {
		s.out = append(s.out, first)
	}
	return false
}
