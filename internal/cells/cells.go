// Package cells counts the columns that text takes on a terminal, and cuts, pads and wraps it
// by columns. The text must be safe to show (see termsafe), that is, without control
// characters.
package cells

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Width returns how many columns the text takes.
func Width(s string) int {
	n := 0
	for s != "" {
		size, w := next(s)
		n, s = n+w, s[size:]
	}
	return n
}

// next returns the size in bytes and the number of columns of the first character as a reader
// sees it. An emoji may be several code points: ⚠️ (with U+FE0F, drawn as a picture), 👍🏽 (with
// a skin tone), 👩‍🚀 (joined by U+200D), 🇩🇪 (two letters). It takes two columns.
func next(s string) (size, columns int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, 1
	}
	r, size := utf8.DecodeRuneInString(s)
	columns = Rune(r)
	for joined := false; size < len(s); {
		follower, n := utf8.DecodeRuneInString(s[size:])
		switch {
		case joined && columns == 2, '\U0001f3fb' <= follower && follower <= '\U0001f3ff' && columns == 2:
			joined = false
		case follower == 0xfe0f && columns > 0:
			columns = 2
		case isFlagLetter(r) && isFlagLetter(follower):
			return size + n, 2
		case follower == 0x200d && columns == 2:
			joined = true
		default:
			return size, columns
		}
		size += n
	}
	return size, columns
}

func isFlagLetter(r rune) bool { return '\U0001f1e6' <= r && r <= '\U0001f1ff' }

// Rune returns how many columns a character of one code point takes: two if Unicode calls it
// wide, none if it is drawn over the previous one.
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

// Cut returns as much of the text as fits in n columns, with … at its end if some is cut off.
// If n is zero or less, nothing fits.
func Cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	used, end := 0, 0 // end is behind the last character that leaves room for …
	for i := 0; i < len(s); {
		size, w := next(s[i:])
		if used+w > n {
			return s[:end] + "…"
		}
		i += size
		if used += w; used < n {
			end = i
		}
	}
	return s
}

// Pad appends blanks up to n columns.
func Pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Width(s)))
}

// Wrap breaks a line between words, and within words that are too long. Lines after the first
// begin with the indent. A tab becomes four blanks.
func Wrap(s string, n int, indent string) []string {
	rest := []rune(strings.ReplaceAll(s, "\t", "    "))
	if Width(indent) > n/2 {
		indent = ""
	}
	var lines []string
	lead := ""
	for {
		end := fit(rest, n-Width(lead))
		lines = append(lines, lead+strings.TrimRight(string(rest[:end]), " "))
		for rest = rest[end:]; len(rest) > 0 && rest[0] == ' '; rest = rest[1:] {
		}
		if len(rest) == 0 {
			return lines
		}
		lead = indent
	}
}

// fit returns how many characters fit on a line; it is at least one if there are any.
func fit(s []rune, n int) int {
	used, word, blank := 0, false, 0
	for i, r := range s {
		used += Rune(r)
		if used > n {
			if blank > 0 && r != ' ' {
				return blank
			}
			return max(1, i)
		}
		if r == ' ' && word {
			blank = i + 1
		}
		word = word || !unicode.IsSpace(r)
	}
	return len(s)
}
