// Package datetime finds dates and times of day in text, in any of the forms that
// programs print them in.
package datetime

import "bytes"

// Stamp returns the end of the time stamp that a line has at i, or i: a date, a time of
// day with its seconds, both, or seconds or milliseconds since 1970.
func Stamp(b []byte, i int) int {
	e := i
	if isDay(b, e) && !letter(at(b, e+3)) {
		e += 3
		for at(b, e) == ',' || at(b, e) == ' ' {
			e++
		}
	}
	if m := Month(b, e); m > 0 {
		d := m
		for at(b, d) == ' ' {
			d++
		}
		n := digits(b, d)
		if end := YearAfter(b, n); n > d && n <= d+2 && bytes.IndexByte(b[n:end], ':') > 0 {
			return end
		}
		return i
	}
	n := digits(b, e)
	if n == e+10 || n == e+13 {
		if b[e] != '1' {
			return i
		}
		return fractionAfter(b, n)
	}
	if end := From(b, e, n); end > e && (bytes.Count(b[e:end], []byte(":")) > 1 || end >= e+8) {
		return end
	}
	return i
}

// Clock returns the end of a time of day at i (9:12, 09:12:05, 09:12:05.719,
// with a zone), or 0.
func Clock(b []byte, i int) int {
	h := digits(b, i)
	if h == i || h-i > 2 || at(b, h) != ':' {
		return 0
	}
	m := digits(b, h+1)
	if m != h+3 {
		return 0
	}
	e := m
	if at(b, e) == ':' && digits(b, e+1) == e+3 {
		e += 3
	}
	return zoneAfter(b, fractionAfter(b, e))
}

// fractionAfter returns the end of .719, ,719 or :719 at e, or e.
func fractionAfter(b []byte, e int) int {
	if c := at(b, e); (c == '.' || c == ',') && digit(at(b, e+1)) {
		return digits(b, e+1)
	}
	return e
}

// zoneAfter returns the end of a zone at e: Z, +0100, -07:00, " +0000", " UTC", " PM".
func zoneAfter(b []byte, e int) int {
	c := at(b, e)
	if c == 'Z' && !word(at(b, e+1)) {
		return e + 1
	}
	z := e
	if c == ' ' {
		z++
	}
	if c = at(b, z); c == '+' || c == '-' {
		n := digits(b, z+1)
		switch {
		case n == z+5:
			return n
		case n == z+3 && at(b, n) == ':' && digits(b, n+1) == n+3:
			return n + 3
		case n == z+3 && z == e:
			return n
		}
		return e
	}
	for _, name := range [...]string{"UTC", "GMT", "CET", "CEST", "AM", "PM"} {
		if bytes.HasPrefix(b[z:], []byte(name)) && !word(at(b, z+len(name))) {
			return z + len(name)
		}
	}
	return e
}

// From returns the end of a date, a time of day or both at k, whose first digits end at
// n, or 0. A bare 12:34 counts: it is a time or a position.
func From(b []byte, k, n int) int {
	switch at(b, n) {
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
		if n-k == 8 && digits(b, n+1) == n+7 { // 20261121T091205
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
		if m := digits(b, n+1); m == n+3 && at(b, m) == sep && digits(b, m+1) == m+3 {
			return m + 3
		}
		return 0
	}
	if n-k > 2 {
		return 0
	}
	m := Month(b, n+1)
	if m == 0 {
		if m = digits(b, n+1); m == n+1 || m > n+3 {
			return 0
		}
	}
	if at(b, m) == sep && digits(b, m+1) == m+5 {
		return m + 5
	}
	return 0
}

// timeAfter extends a date that ends at e over the time of day that follows.
func timeAfter(b []byte, e int) int {
	if c := at(b, e); c == ' ' || c == 'T' || c == ':' || c == '_' {
		if t := Clock(b, e+1); t > 0 {
			return t
		}
		if s := at(b, e+3); (s == '_' || s == '-') && at(b, e+6) == s { // T09_12_05_719Z, in the names of files
			t := digits(b, e+7)
			if digits(b, e+1) != e+3 || digits(b, e+4) != e+6 || t != e+9 {
				return e
			}
			if at(b, t) == s {
				t = digits(b, t+1)
			}
			return zoneAfter(b, t)
		}
	}
	return e
}

// Month returns the end of an English month name at i, short or long, or 0.
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
	for e < len(b) && letter(b[e]) {
		e++
	}
	if e-i > 9 || (e > i+3 && e < i+4) {
		return 0
	}
	return e
}

// WithMonth returns where a date starts whose day is at k: before the month and
// the week day in front of it, if they are there.
func WithMonth(b []byte, from, k int) int {
	i := k
	for i > from && b[i-1] == ' ' {
		i--
	}
	if i-from < 3 || i == k || !letter(b[i-1]) {
		return dayName(b, from, k)
	}
	if Month(b[:i], i-3) != i {
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

// YearAfter extends a date whose day or month ends at e over time and year.
func YearAfter(b []byte, e int) int {
	for range 2 {
		i := e
		for at(b, i) == ' ' || at(b, i) == ',' {
			i++
		}
		if i == e {
			return e
		}
		if t := Clock(b, i); t > 0 {
			e = t
			continue
		}
		if n := digits(b, i); n == i+4 {
			e = n
			continue
		}
		return e
	}
	return e
}

// isDay says whether the short name of a week day stands at i.
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

func digit(c byte) bool  { return c-'0' < 10 }
func letter(c byte) bool { return c|0x20-'a' < 26 }
func word(c byte) bool   { return letter(c) || digit(c) || c == '_' }

func digits(b []byte, i int) int {
	for i < len(b) && digit(b[i]) {
		i++
	}
	return i
}

// at returns b[i], or 0 outside of b.
func at(b []byte, i int) byte {
	if uint(i) < uint(len(b)) {
		return b[i]
	}
	return 0
}
