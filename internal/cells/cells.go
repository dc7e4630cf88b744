// Package cells counts the columns that text takes on a terminal, and cuts and
// pads it by them. The text is one that is safe to show (see termsafe): without
// control characters.
package cells

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Rune is how many columns the character takes: two when Unicode calls it wide,
// none when it is drawn over the one before.
func Rune(r rune) int {
	switch {
	case r < 0x300: // below the first that combines
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), 0x1160 <= r && r <= 0x11ff: // vowels and ends of Hangul syllables
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Width is how many columns the text takes.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += Rune(r)
	}
	return n
}

// Cut is as much of the text as n columns hold, with … at its end where some is
// left out. Zero or less holds nothing.
func Cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	used, end := 0, 0 // end is behind the last character that leaves room for …
	for i, r := range s {
		w := Rune(r)
		if used+w > n {
			return s[:end] + "…"
		}
		if used += w; used < n {
			end = i + len(string(r))
		}
	}
	return s
}

// Pad adds blanks up to n columns.
func Pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Width(s)))
}
