package templates

import (
	"bytes"
	"strings"
	"unicode"
)

// wrap writes the text in lines of at most width columns: the first begins with
// first, the others with rest. A word that is longer than a line is cut.
func wrap(b *bytes.Buffer, text, first, rest string, width int) {
	line, used, empty := first, columns(first), true
	flush := func() {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		line, used, empty = rest, columns(rest), true
	}
	for word := range strings.FieldsSeq(text) {
		for word != "" {
			blank := 1
			if empty {
				blank = 0
			}
			room := width - used - blank
			if n := columns(word); n <= room {
				line += strings.Repeat(" ", blank) + word
				used += blank + n
				word, empty = "", false
				continue
			}
			if !empty {
				flush()
				continue
			}
			head := cut(word, max(room, 2))
			line += head
			word = word[len(head):]
			flush()
		}
	}
	if !empty {
		flush()
	}
}

// cut is the beginning of the word that takes at most so many columns, and at
// least one character.
func cut(word string, most int) string {
	used := 0
	for i, r := range word {
		used += width(r)
		if used > most && i > 0 {
			return word[:i]
		}
	}
	return word
}

// columns is how many columns of a terminal the text takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

// wide are the characters that take two columns, roughly: East Asian scripts,
// their full-width forms, and emoji.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}

func width(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}
