package margin

import (
	"bytes"
	"strconv"
)

// enclosed is where what find finds ends, with brackets around it and what sets it
// off behind; 0 where there is nothing.
func enclosed(b []byte, find func(b []byte, i int) int) int {
	if len(b) == 0 || letter(b[0]) && b[0] >= 'a' || b[0] >= 0x80 || b[0] == '-' || b[0] == '=' {
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
	if e < len(b) && b[e] != ' ' && b[e] != '\t' && !(b[e] >= 0x80) {
		return 0
	}
	if e+1 < len(b) && b[e] == ' ' && (b[e+1] == '-' || b[e+1] == '|' || b[e+1] == ':') && (e+2 == len(b) || b[e+2] == ' ' || b[e+2] == '\t') {
		e += 2
	}
	return e
}

// timeEnd returns the end of a date, a time of day or both, or i.
func timeEnd(b []byte, i int) int {
	e, months := i, false
	if n := dayName(b, e); n > e {
		if n < len(b) && b[n] == ',' {
			n++
		}
		e = spaces(b, n)
	}
	if n := monthName(b, e); n > e {
		d := spaces(b, n)
		if n = digits(b, d); n == d || n > d+2 {
			return i
		}
		e, months = spaces(b, n), true
	} else if n := date(b, e); n > e {
		if n == len(b) || n+1 < len(b) && b[n] == ' ' && !digit(b[n+1]) {
			return n
		}
		if b[n] != ' ' && b[n] != 'T' && b[n] != ':' && b[n] != '_' && b[n] != ',' {
			return n
		}
		e = spaces(b, n+1)
	} else if n := digits(b, e); n == e+10 || n == e+13 { // seconds or milliseconds since 1970
		if b[e] != '1' {
			return i
		}
		return fraction(b, n)
	}
	c := clock(b, e)
	if c == e {
		return i
	}
	if months && c+5 <= len(b) && b[c] == ' ' && digits(b, c+1) == c+5 && (c+5 == len(b) || b[c+5] != '-') {
		c += 5
	}
	return c
}

// mayGoOn says whether what begins with c may belong to the time in front of it.
func mayGoOn(c byte) bool { return digit(c) || bytes.IndexByte([]byte("ZUGCAP+-|:"), c) >= 0 }

// epoch says whether a margin has a number that may count seconds since 1970: whether it
// does is not the same for all digits.
func epoch(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if e := digits(b, i); e-i >= 10 {
			return true
		} else if e > i {
			i = e
		}
	}
	return false
}

// date returns the end of 2026-11-21, 21/Nov/2026 and the like, or of 20261121T, or i.
func date(b []byte, i int) int {
	n := digits(b, i)
	if n == i+8 && n < len(b) && b[n] == 'T' {
		return n
	}
	if n == i || n > i+4 || n == len(b) || b[n] != '-' && b[n] != '/' && b[n] != '.' && b[n] != ' ' {
		return i
	}
	sep, m := b[n], monthName(b, n+1)
	if m == n+1 {
		if m = digits(b, n+1); m == n+1 || m > n+3 || sep == ' ' {
			return i
		}
	}
	if m == len(b) || b[m] != sep {
		return i
	}
	d := digits(b, m+1)
	if d == m+1 || (n-i == 4) == (d-m-1 == 4) {
		return i
	}
	return d
}

// clock returns the end of a time of day, with its fraction and zone, or i.
func clock(b []byte, i int) int {
	h := digits(b, i)
	if h == i+6 && i > 0 && b[i-1] == 'T' {
		return zone(b, fraction(b, h))
	}
	if h == i || h > i+2 || h == len(b) || b[h] != ':' {
		return i
	}
	m := digits(b, h+1)
	if m != h+3 || m == len(b) || b[m] != ':' || digits(b, m+1) != m+3 {
		return i
	}
	return zone(b, fraction(b, m+3))
}

func fraction(b []byte, e int) int {
	if e+1 < len(b) && (b[e] == '.' || b[e] == ',') && digit(b[e+1]) {
		return digits(b, e+1)
	}
	return e
}

func zone(b []byte, e int) int {
	z := e
	if z < len(b) && b[z] == ' ' {
		z++
	}
	for _, name := range [...]string{"Z", "UTC", "GMT", "CET", "CEST", "AM", "PM"} {
		if n := z + len(name); bytes.HasPrefix(b[z:], []byte(name)) && (n == len(b) || !letter(b[n]) && !digit(b[n])) {
			return n
		}
	}
	if z+1 < len(b) && (b[z] == '+' || b[z] == '-') {
		n := digits(b, z+1)
		if n == z+3 && n < len(b) && b[n] == ':' && digits(b, n+1) == n+3 {
			return n + 3
		}
		if n == z+5 || n == z+3 {
			return n
		}
	}
	return e
}

func dayName(b []byte, i int) int {
	return oneOf(b, i, "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
}

func monthName(b []byte, i int) int {
	return oneOf(b, i, "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
}

func oneOf(b []byte, i int, names ...string) int {
	if i >= len(b) || b[i]-'A' >= 26 {
		return i
	}
	for _, n := range names {
		if bytes.HasPrefix(b[i:], []byte(n)) && (i+3 == len(b) || !letter(b[i+3])) {
			return i + 3
		}
	}
	return i
}

// readingEnd returns the end of a number that a running clock may show, or i: with
// digits behind a point, perhaps after the number of a step.
func readingEnd(b []byte, i int) int {
	e := readingStart(b, i)
	n := digits(b, e)
	f := n
	if n == e || n == len(b) {
		return i
	}
	if b[n] == '.' {
		f = digits(b, n+1)
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

// readingStart is where the number starts: behind a sign or a step's number.
func readingStart(b []byte, i int) int {
	if i < len(b) && b[i] == '+' {
		i++
	}
	if i < len(b) && b[i] == '#' {
		if n := digits(b, i+1); n > i+1 && n < len(b) && b[n] == ' ' {
			return n + 1
		}
	}
	return i
}

// rising says whether the clock readings in front of the lines never go back by more
// than a little: another number that happens to stand there does.
func rising(lines [][]byte) bool {
	last, back, n := -1.0, 0, 0
	first := -1.0
	for _, b := range lines {
		b = bytes.TrimLeft(b, " [(<")
		s := readingStart(b, 0)
		e := s
		for e < len(b) && (digit(b[e]) || b[e] == '.') {
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

func digits(b []byte, i int) int {
	for i < len(b) && digit(b[i]) {
		i++
	}
	return i
}

func spaces(b []byte, i int) int {
	for i < len(b) && b[i] == ' ' {
		i++
	}
	return i
}
