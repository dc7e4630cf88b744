package margin

import (
	"bytes"
	"slices"

	"github.com/looprun/looprun/internal/ascii"
)

// A common beginning of all lines, except for its numbers, is a margin with a form of its own:
// "1>", "INFO[0004] ", "app[148e] ams [info]". It is tried only if nothing else is found.
const (
	sharedLines = 6 // fewer may begin alike by chance
	sharedFirst = 4 // so many ways of going on, or white space behind it, are a message's
	maxShared   = 160
)

// learnShared looks for a common beginning of all lines.
func learnShared(lines [][]byte) (column, int) {
	var common []byte
	objects := true
	for _, b := range lines {
		if len(b) == 0 {
			return column{}, 0
		}
		objects = objects && b[0] == '{' && b[len(b)-1] == '}'
		if common == nil {
			common = b[:min(len(b), maxShared)]
		}
		n, _ := begins(common, b)
		common = common[:n]
	}
	end := bytes.LastIndexAny(common, " >,])|}!") + 1
	if end > 0 && end < len(common) && common[end] == ':' && common[end-1] != ' ' {
		end++
	}
	common = common[:end]
	if len(lines) < sharedLines || objects || !signed(common) || hasLetter(common) && located(bytes.TrimRight(common, " :>,])|}!")) {
		return column{}, 0
	}
	var first [256]bool
	ways, indented := 0, 0
	name := bytes.Clone(common)
	for _, b := range lines {
		_, n := alike(common, b)
		differ(name, common, b[:n])
		c := byte(' ') // white space, and nothing, say that a message is set off
		if n < len(b) {
			c = b[n]
		}
		if c == ' ' || c == '\t' {
			ways = sharedFirst
			indented++
		} else if !first[c] {
			first[c] = true
			ways++
		}
	}
	if told := tells(common); ways < sharedFirst || told == 0 || told > 0 && 12*indented < len(lines) {
		return column{}, 0
	}
	return column{shape: shared, names: []string{string(common)}, fixed: string(bytes.TrimSpace(name))}, len(lines)
}

// differ replaces the numbers of a name with zeros if they are separate words, or if they
// differ in another line.
func differ(name, a, b []byte) {
	for i, k := 0, 0; i < len(a) && k < len(b); i, k = i+1, k+1 {
		n, m := ascii.Digits(a, i), ascii.Digits(b, k)
		alone := (i == 0 || !ascii.Letter(a[i-1])) && (n == len(a) || !ascii.Letter(a[n]))
		if alone || !bytes.Equal(a[i:n], b[k:m]) {
			for at := range n - i {
				name[i+at] = '0'
			}
		}
		i, k = n, m
	}
}

// signed reports whether a common beginning contains more than words and numbers.
func signed(common []byte) bool {
	sign := false
	for _, c := range common {
		sign = sign || bytes.IndexByte([]byte(">,])|}!:="), c) >= 0
	}
	return sign && (hasLetter(common) || common[len(common)-1] == '>' || bytes.HasSuffix(common, []byte(": ")))
}

// tells returns which word of a common beginning describes an outcome, or -1 if none does: a
// log level that is on all lines means nothing. After a name it says nothing about the
// messages either if some are empty or indented, as a tool's are.
func tells(common []byte) int {
	words := bytes.FieldsFunc(common, func(r rune) bool { return r < 0x80 && !ascii.Letter(byte(r)) })
	return slices.IndexFunc(words, func(w []byte) bool {
		_, n := Level(w)
		return telling(w) && (n == 0 || bytes.EqualFold(w[:1], []byte("e")) || bytes.EqualFold(w[:1], []byte("w")))
	})
}

// sharedAt matches the whole common beginning at the start of a line, or nothing.
func sharedAt(b []byte, common string) (p piece, ok bool) {
	n, end := begins([]byte(common), b)
	if n < len(common) {
		return piece{}, false
	}
	return piece{b[:end], end}, true
}

// begins is alike, except that an empty message may lack the trailing space.
func begins(a, b []byte) (i, k int) {
	if i, k = alike(a, b); k == len(b) && i < len(a) && a[i] == ' ' {
		i++
	}
	return i, k
}

// alike returns how far two lines begin alike, treating numbers as equal: the lengths in both.
func alike(a, b []byte) (i, k int) {
	for i < len(a) && k < len(b) {
		if ascii.Digit(a[i]) && ascii.Digit(b[k]) {
			i, k = ascii.Digits(a, i), ascii.Digits(b, k)
			continue
		}
		if a[i] != b[k] {
			break
		}
		i, k = i+1, k+1
	}
	return i, k
}
