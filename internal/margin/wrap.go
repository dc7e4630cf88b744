package margin

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/ascii"
)

const (
	leastWidth = 40 // of a screen or a page that cuts lines
	nearWidth  = 8  // lines that end so shortly before it were broken between words
)

// unwrap joins lines that were cut at a width: none is longer, hardly any is a little shorter,
// as lines that end at a word are, and one of them ends in a space, or within a word at a
// usual screen width.
func unwrap(lines [][]byte) [][]byte {
	width, space := 0, false
	for _, b := range lines {
		if len(b) > width {
			width = max(width, utf8.RuneCount(b))
		}
		space = space || len(b) > 0 && b[len(b)-1] == ' '
	}
	usual := width%20 == 0 || width == 132
	if width < leastWidth || !space && !usual {
		return lines
	}
	cut, near, spaced, within := 0, 0, false, false
	for i, b := range lines {
		if len(b) < width-nearWidth {
			continue
		}
		switch n := utf8.RuneCount(b); {
		case n < width && n >= width-nearWidth:
			near++
		case n == width && i+1 < len(lines) && cutOff(b, lines[i+1]):
			cut++
			next := lines[i+1]
			spaced = spaced || len(next) > 0 && next[0] != ' ' && b[len(b)-1] == ' '
			within = within || len(next) > 0 && next[0]-'a' < 26 && ascii.Letter(b[len(b)-1]) && usual
		}
	}
	if !spaced && (!within || cut < 2) || near > cut+1 {
		return lines
	}
	out := make([][]byte, 0, len(lines))
	for i := 0; i < len(lines); i++ {
		b := lines[i]
		for utf8.RuneCount(lines[i]) == width && i+1 < len(lines) && cutOff(lines[i], lines[i+1]) {
			i++
			b = append(b[:len(b):len(b)], lines[i]...)
		}
		out = append(out, b)
	}
	return out
}

// cutOff reports whether a line that ends at the width may continue in the next: sentences,
// rules and the sides of boxes do not, and a line that begins with a place is a new line.
func cutOff(b, next []byte) bool {
	n := len(b)
	if last := b[n-1]; last >= 0x80 || strings.IndexByte(".:;!?)]}|", last) >= 0 || last != ' ' && last == b[n-2] && last == b[n-3] {
		return false
	}
	first, _, _ := bytes.Cut(next, []byte(" "))
	return bytes.IndexByte(first, ':') < 0 && bytes.IndexByte(first, '(') < 0
}
