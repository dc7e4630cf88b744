package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// unruled takes rules of dashes, equal signs and the like off both ends.
func unruled(b []byte, f *front) []byte {
	if n := ruleRun(b); n > 0 {
		b, f.ruled = trim(b[n:]), true
	}
	for len(b) > 0 {
		n := len(b) - 1
		for n > 0 && b[n] >= 0x80 && b[n] < 0xc0 {
			n--
		}
		c := b[n:]
		if len(c) == 1 && !ruleByte(c[0]) || len(c) != 1 && !bytes.ContainsAny([]byte("⎯─━═"), string(c)) {
			break
		}
		k := len(b)
		for k >= len(c) && bytes.Equal(b[k-len(c):k], c) {
			k -= len(c)
		}
		if len(b)-k < 3*len(c) || k > 0 && b[k-1] != ' ' && k < len(b)-8*len(c) {
			break
		}
		if len(c) == 1 && k > 0 && b[k-1] != ' ' {
			break
		}
		b = trimRight(b[:k])
	}
	return b
}

func ruleByte(c byte) bool {
	return c == '-' || c == '=' || c == '_' || c == '*' || c == '!' || c == '~' || c == '#'
}

// ruleRun returns the length of the rule that b starts with: four or more of the
// same sign, or of ⎯ ─ ━ ═, with white space or nothing after it.
func ruleRun(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	size, least := 1, 4
	if b[0] == 0xe2 && len(b) >= 3 && (string(b[:3]) == "⎯" || string(b[:3]) == "─" || string(b[:3]) == "━" || string(b[:3]) == "═") {
		size, least = 3, 2
	} else if !ruleByte(b[0]) {
		return 0
	}
	n := 0
	for n+size <= len(b) && bytes.Equal(b[n:n+size], b[:size]) {
		n += size
	}
	if n < least*size || n < len(b) && b[n] != ' ' {
		return 0
	}
	return n
}

// codeFrame says whether a line quotes source text: "  12 |   x()", "> 12 | y()",
// "   |   ^^^".
func codeFrame(b []byte) bool {
	i := 0
	if ascii.At(b, 0) == '>' {
		i = 1
		i = runOf(b, i, isSpace)
	}
	if ascii.At(b, i) == 'L' && ascii.Digit(ascii.At(b, i+1)) { // L12 |
		i++
	}
	n := ascii.Digits(b, i)
	e := runOf(b, n, isSpace)
	if n > i && ascii.At(b, e) == '|' {
		s := runOf(b, e+1, isSpace)
		if w := max(severityEnd(b, s), warningEnd(b, s)); w > s && (ascii.At(b, w) == ' ' || ascii.At(b, w) == '|') {
			return false // a row of a table of findings
		}
		return true
	}
	if n > i && (bytes.HasPrefix(b[e:], []byte("│")) || bytes.HasPrefix(b[e:], []byte("┃"))) {
		return true
	}
	if n == i && (ascii.At(b, 0) == '|' || bytes.HasPrefix(b, []byte("│"))) {
		rest := bytes.TrimLeft(b, "| \t│")
		return len(rest) > 0 && (rest[0] == '^' || rest[0] == '~' || rest[0] == '-' && ascii.At(rest, 1) != ' ' || rest[0] == '+' && ascii.At(rest, 1) == '+') && len(rest) < 400
	}
	if len(b) > 0 && (b[0] == '^' || b[0] == '~') {
		return len(bytes.Trim(b, "^~- ")) == 0
	}
	return false
}
