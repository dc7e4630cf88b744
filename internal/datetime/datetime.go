// Package datetime finds dates and times of day in text, in any of the forms in which programs
// print them.
package datetime

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// Stamp returns the end of the time stamp at i, or i if there is none: a date, a time of day
// with its seconds, both, seconds or milliseconds since 1970, or a TAI64N label.
func Stamp(b []byte, i int) int {
	e := i
	if ascii.At(b, i) == '@' {
		return label(b, i)
	}
	if isDay(b, e) && !ascii.Letter(ascii.At(b, e+3)) {
		e += 3
		for ascii.At(b, e) == ',' || ascii.At(b, e) == ' ' {
			e++
		}
	}
	if m := Month(b, e); m > 0 {
		d := m
		for ascii.At(b, d) == ' ' {
			d++
		}
		n := ascii.Digits(b, d)
		if end := YearAfter(b, n); n > d && n <= d+2 && bytes.IndexByte(b[n:end], ':') > 0 {
			return end
		}
		return i
	}
	n := ascii.Digits(b, e)
	if n == e+10 || n == e+13 {
		if b[e] != '1' {
			return i
		}
		return fractionAfter(b, n)
	}
	if end := From(b, e, n); end > e && (bytes.Count(b[e:end], []byte(":")) > 1 || end >= e+8 || b[end-1] == 'M') { // 3:04PM
		return end
	}
	return i
}

// label returns the end of @4000000065f1c2e80a1b2c3d at i, or i.
func label(b []byte, i int) int {
	const digits = 24
	e := i + 1
	for e < len(b) && e <= i+digits && (ascii.Digit(b[e]) || b[e]-'a' < 6) {
		e++
	}
	if e != i+1+digits || b[i+1] != '4' || word(ascii.At(b, e)) {
		return i
	}
	return e
}

// Clock returns the end of a time of day at i (9:12, 09:12:05, 09:12:05.719,
// with a zone), or 0.
func Clock(b []byte, i int) int {
	h := ascii.Digits(b, i)
	if h == i || h-i > 2 || ascii.At(b, h) != ':' {
		return 0
	}
	m := ascii.Digits(b, h+1)
	if m != h+3 {
		return 0
	}
	e := m
	if ascii.At(b, e) == ':' && ascii.Digits(b, e+1) == e+3 {
		e += 3
	}
	return zoneAfter(b, fractionAfter(b, e))
}

// fractionAfter returns the end of the fraction (.719, ,719 or :719) that starts at e, or e if
// there is none.
func fractionAfter(b []byte, e int) int {
	if c := ascii.At(b, e); (c == '.' || c == ',') && ascii.Digit(ascii.At(b, e+1)) {
		return ascii.Digits(b, e+1)
	}
	return e
}

// zoneAfter returns the end of a zone at e: Z, +0100, -07:00, " +0000", " UTC", " PM".
func zoneAfter(b []byte, e int) int {
	c := ascii.At(b, e)
	if c == 'Z' && !word(ascii.At(b, e+1)) {
		return e + 1
	}
	z := e
	if c == ' ' {
		z++
	}
	if c = ascii.At(b, z); c == '+' || c == '-' {
		n := ascii.Digits(b, z+1)
		switch {
		case n == z+5:
			return n
		case n == z+3 && ascii.At(b, n) == ':' && ascii.Digits(b, n+1) == n+3:
			return n + 3
		case n == z+3 && z == e:
			return n
		}
		return e
	}
	if c-'A' >= 26 {
		return e
	}
	for _, name := range [...]string{"UTC", "GMT", "CET", "CEST", "AM", "PM"} {
		if bytes.HasPrefix(b[z:], []byte(name)) && !word(ascii.At(b, z+len(name))) {
			return z + len(name)
		}
	}
	return e
}

// From returns the end of a date, a time of day or both at k, whose first digits end at n, or
// 0. A bare 12:34 counts: it is a time or a position.
func From(b []byte, k, n int) int {
	switch ascii.At(b, n) {
	case '-', '/', '.':
		if e := dateAt(b, k, n); e > 0 {
			return timeAfter(b, e)
		}
	case ':':
		if k > 0 && (b[k-1] == '.' || b[k-1] == ':') {
			return 0
		}
		return Clock(b, k)
	case ' ':
		if n-k <= 2 { // 21 Nov 2026 09:12:05
			if m := Month(b, n+1); m > 0 {
				if y := YearAfter(b, m); y > m {
					return y
				}
			}
		}
	case 'T', '_':
		if n-k == 8 && ascii.Digits(b, n+1) == n+7 { // 20261121T091205
			return zoneAfter(b, n+7)
		}
	}
	return 0
}

// dateAt returns the end of 2026-11-21, 2026/11/21, 21/11/2026, 21/Nov/2026 or
// 21-Nov-2026 at k, whose first digits end at n; or 0.
func dateAt(b []byte, k, n int) int {
	sep := b[n]
	if n-k == 4 {
		if m := ascii.Digits(b, n+1); m == n+3 && ascii.At(b, m) == sep && ascii.Digits(b, m+1) == m+3 {
			return m + 3
		}
		return 0
	}
	if n-k > 2 {
		return 0
	}
	m := Month(b, n+1)
	if m == 0 {
		if m = ascii.Digits(b, n+1); m == n+1 || m > n+3 {
			return 0
		}
	}
	if ascii.At(b, m) == sep && ascii.Digits(b, m+1) == m+5 {
		return m + 5
	}
	return 0
}

// timeAfter extends a date that ends at e over a time of day that follows.
func timeAfter(b []byte, e int) int {
	if c := ascii.At(b, e); c == ' ' || c == 'T' || c == ':' || c == '_' {
		if t := Clock(b, e+1); t > 0 {
			return t
		}
		if s := ascii.At(b, e+3); (s == '_' || s == '-') && ascii.At(b, e+6) == s { // T09_12_05_719Z, in the names of files
			t := ascii.Digits(b, e+7)
			if ascii.Digits(b, e+1) != e+3 || ascii.Digits(b, e+4) != e+6 || t != e+9 {
				return e
			}
			if ascii.At(b, t) == s {
				t = ascii.Digits(b, t+1)
			}
			return zoneAfter(b, t)
		}
	}
	return e
}

// Month returns the index after the English month name, short or long, at i; 0 if there is none.
func Month(b []byte, i int) int {
	if i+3 > len(b) {
		return 0
	}
	switch string(b[i : i+3]) {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec":
	default:
		return 0
	}
	e := i + 3
	for e < len(b) && ascii.Letter(b[e]) {
		e++
	}
	if e-i > 9 {
		return 0
	}
	return e
}

// WithMonth returns the start of a date whose day is at k, including the month and the week
// day in front of it, if present.
func WithMonth(b []byte, from, k int) int {
	i := k
	for i > from && b[i-1] == ' ' {
		i--
	}
	if i-from < 3 || i == k || !ascii.Letter(b[i-1]) || Month(b[:i], i-3) != i {
		return dayName(b, from, k)
	}
	return dayName(b, from, i-3)
}

// dayName returns where the week day in front of s starts, or s.
func dayName(b []byte, from, s int) int {
	i := s
	for i > from && (b[i-1] == ' ' || b[i-1] == ',') {
		i--
	}
	if i == s || i-from < 3 {
		return s
	}
	if isDay(b, i-3) {
		return i - 3
	}
	return s
}

// YearAfter extends a date whose day or month ends at e over the time and year that follow.
func YearAfter(b []byte, e int) int {
	for range 2 {
		i := e
		for ascii.At(b, i) == ' ' || ascii.At(b, i) == ',' {
			i++
		}
		if i == e {
			return e
		}
		if t := Clock(b, i); t > 0 {
			e = t
			continue
		}
		if n := ascii.Digits(b, i); n == i+4 {
			e = n
			continue
		}
		return e
	}
	return e
}

// isDay reports whether there is the short name of a week day at i.
func isDay(b []byte, i int) bool {
	if i+3 > len(b) {
		return false
	}
	switch string(b[i : i+3]) {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

func word(c byte) bool { return ascii.Letter(c) || ascii.Digit(c) || c == '_' }
