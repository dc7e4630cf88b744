// Package termsafe makes text that a program printed safe to show elsewhere:
// on a terminal, in a file that a person opens, in a prompt. Escape sequences,
// control characters and the characters that turn the reading direction around
// are removed; invalid UTF-8 becomes U+FFFD.
package termsafe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is Text on one line: every run of white space becomes one blank.
func Line(s string) string {
	if tidy(s) {
		return s
	}
	return strings.Join(strings.Fields(Text(s)), " ")
}

// tidy reports whether a text is plain ASCII with single blanks between words.
func tidy(s string) bool {
	blank := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && blank {
			return false
		}
		blank = s[i] == ' '
	}
	return !blank || s == ""
}

// Cut keeps at most n characters. Where there are more, the last of them is an
// ellipsis.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:max(0, n-1)]), " ") + "…"
}

// Quote is the beginning of a text that somebody sent on one line, at most n characters
// of it, in double quotes.
func Quote(s string, n int) string {
	return `"` + Cut(Line(s[:min(len(s), 8*n)]), n) + `"`
}

// Text removes what is not text and keeps line breaks and tabs. A carriage
// return that redraws a line leaves what was drawn last.
func Text(s string) string {
	if clean(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	line := 0 // where the current line starts in b
	for i := 0; i < len(s); {
		if n := Escape(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\n':
			b = append(b, '\n')
			line = len(b)
		case r == '\r':
			if i < len(s) && s[i] != '\n' && s[i] != '\r' {
				b = b[:line]
			}
		case r == '\t' || !hidden(r):
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

// Unescaped is s without escape sequences. Everything else stays, hidden characters
// too.
func Unescaped(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := Escape(s)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s)
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// clean reports whether there is nothing to do, which is the common case.
func clean(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || (hidden(r) && r != '\n' && r != '\t') {
			return false
		}
	}
	return true
}

// hidden reports whether the character shows nothing of its own but changes
// how the rest is shown or read.
func hidden(r rune) bool {
	if r < 0x7f { // nearly all there is
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// Escape is the length of the escape sequence that s begins with, 0 for none.
// A sequence without an end takes the rest of the line: half a sequence is as
// dangerous as a whole one.
func Escape[text string | []byte](s text) int {
	intro, n := byte(0), 2
	switch {
	case len(s) >= 2 && s[0] == 0x1b:
		intro = s[1]
	case len(s) == 1 && s[0] == 0x1b:
		return 1
	case len(s) >= 2 && s[0] == 0xc2 && strings.IndexByte("\x90\x98\x9b\x9d\x9e\x9f", s[1]) >= 0: // U+009B is ESC [
		intro = s[1] - 0x40
	default:
		return 0
	}
	switch intro {
	case '[':
		for ; n < len(s); n++ {
			if s[n] >= 0x40 && s[n] <= 0x7e {
				return n + 1
			}
			if s[n] < 0x20 {
				return n
			}
		}
		return n
	case ']', 'P', 'X', '^', '_':
		for ; n < len(s); n++ {
			switch {
			case s[n] == 0x07:
				return n + 1
			case s[n] == '\n':
				return n
			case n+1 < len(s) && (s[n] == 0x1b && s[n+1] == '\\' || s[n] == 0xc2 && s[n+1] == 0x9c):
				return n + 2
			case s[n] == 0x1b:
				return n
			}
		}
		return n
	case '(', ')', '*', '+', '#', '%', ' ':
		return min(3, len(s))
	}
	if intro < 0x20 || intro > 0x7e {
		return 1
	}
	return 2
}

// CutBytes is text of at most n bytes, cut between two characters.
func CutBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
