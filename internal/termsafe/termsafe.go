// Package termsafe makes a program's output safe to show elsewhere: on a terminal, in a file
// that a person opens, in a prompt. It removes escape sequences, control characters and the
// characters that reverse the reading direction; invalid UTF-8 becomes U+FFFD.
package termsafe

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/escape"
)

// Line is Text reduced to one line: every run of white space becomes one blank.
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

// Cut keeps at most n characters. If there are more, the last one kept is an ellipsis.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:max(0, n-1)]), " ") + "…"
}

// Short returns the text on one line, at most n characters of it.
func Short(s string, n int) string { return Cut(Line(s), n) }

// Quoted returns at most n characters of a text in double quotes, as a Go string.
func Quoted(s string, n int) string { return strconv.Quote(Cut(s, n)) }

// LastLines returns the last lines that are not blank, each passed through Short. most is the
// maximum number of lines.
func LastLines(s string, most, n int) []string {
	var lines []string
	all := strings.Split(Text(s), "\n")
	for i := len(all) - 1; i >= 0 && len(lines) < most; i-- {
		if l := Short(all[i], n); l != "" {
			lines = append(lines, l)
		}
	}
	slices.Reverse(lines)
	return lines
}

// Quote returns the beginning of a text from outside on one line, at most n characters of it,
// in double quotes.
func Quote(s string, n int) string {
	return `"` + Cut(Line(s[:min(len(s), 8*n)]), n) + `"`
}

// Text removes everything that is not text, except line breaks and tabs. Of a line redrawn
// with carriage returns it keeps the last version.
func Text(s string) string {
	if clean(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	line := 0 // where the current line starts in b
	var sequence escape.Scanner
	for i := 0; i < len(s); {
		if n := escape.Next(&sequence, s[i:]); n > 0 {
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

// clean reports whether there is nothing to remove, which is the common case.
func clean(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || (hidden(r) && r != '\n' && r != '\t') {
			return false
		}
	}
	return true
}

// hidden reports whether the character is itself invisible but changes how the rest is shown
// or read.
func hidden(r rune) bool {
	if r < 0x7f { // nearly all there is
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// CutBytes returns at most n bytes of text, cut between two characters.
func CutBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
