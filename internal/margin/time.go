package margin

import (
	"bytes"
	"strconv"

	"github.com/looprun/looprun/internal/ascii"
)

// enclosed returns the end of what find matches, including surrounding brackets and the
// delimiter after it; 0 if there is no match.
func enclosed(b []byte, find func(b []byte, i int) int) int {
	if len(b) == 0 || ascii.Letter(b[0]) && b[0] >= 'a' || b[0] >= 0x80 || b[0] == '-' || b[0] == '=' {
		return 0
	}
	i := 0
	for i < len(b) && i < 2 && (b[i] == '[' || b[i] == '(' || b[i] == '<') {
		i++
	}
	for i < len(b) && i < 12 && b[i] == ' ' && i > 0 {
		i++
	}
	e := find(b, i)
	if e == i {
		return 0
	}
	for e < len(b) && bytes.IndexByte([]byte("])>:,;"), b[e]) >= 0 {
		e++
	}
	if e+1 < len(b) && b[e-1] == ']' && ascii.Letter(b[e]) && b[e+1] == ':' {
		e += 2 // what kind of line it is
	}
	if e < len(b) && b[e] != ' ' && b[e] != '\t' && !(b[e] >= 0x80) {
		return 0
	}
	if e+1 < len(b) && b[e] == ' ' && (b[e+1] == '-' || b[e+1] == '|' || b[e+1] == ':') && (e+2 == len(b) || b[e+2] == ' ' || b[e+2] == '\t') {
		e += 2
	}
	return e
}

// mayGoOn reports whether text that begins with c may belong to the time in front of it.
func mayGoOn(c byte) bool { return ascii.Digit(c) || bytes.IndexByte([]byte("ZUGCAP+-|:"), c) >= 0 }

// epoch reports whether a margin has a number that may count seconds since 1970; whether it
// does depends on its digits.
func epoch(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if e := ascii.Digits(b, i); e-i >= 10 {
			return true
		} else if e > i {
			i = e
		}
	}
	return false
}

// readingEnd returns the end of a number that a running clock may show, or i: one with
// decimals, perhaps after a step number.
func readingEnd(b []byte, i int) int {
	e := readingStart(b, i)
	n := ascii.Digits(b, e)
	f := n
	if n == e || n == len(b) {
		return i
	}
	if b[n] == '.' {
		f = ascii.Digits(b, n+1)
	}
	if f < len(b) && b[f] == 's' {
		f++
	} else if f < n+3 {
		return i
	}
	if f == n+1 && b[n] == '.' {
		return i
	}
	return f
}

// readingStart returns where the number starts: after a sign or a step number.
func readingStart(b []byte, i int) int {
	if i < len(b) && b[i] == '+' {
		i++
	}
	if i < len(b) && b[i] == '#' {
		if n := ascii.Digits(b, i+1); n > i+1 && n < len(b) && b[n] == ' ' {
			return n + 1
		}
	}
	return i
}

// rising reports whether the clock readings in front of the lines never go back by more than a
// little; unrelated numbers would.
func rising(lines [][]byte) bool {
	last, back, n := -1.0, 0, 0
	first := -1.0
	for _, b := range lines {
		b = bytes.TrimLeft(b, " [(<")
		s := readingStart(b, 0)
		e := s
		for e < len(b) && (ascii.Digit(b[e]) || b[e] == '.') {
			e++
		}
		v, err := strconv.ParseFloat(string(b[s:e]), 64)
		if err != nil {
			continue
		}
		if first < 0 {
			first = v
		}
		if v < last {
			back++
		}
		last, n = v, n+1
	}
	return 10*back <= n && last > first
}
