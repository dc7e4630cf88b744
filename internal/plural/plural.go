// Package plural formats counts, sizes and durations in English.
package plural

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count returns the number followed by the word: 1 run, 2 runs. The word's plural must end in
// an added s.
func Count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// Of returns a number and its limit: 1 of 10 iterations. A limit of 0 means no limit.
func Of(n, limit int, word string) string {
	if limit <= 0 {
		return Count(n, word)
	}
	return fmt.Sprintf("%d of %d %ss", n, limit, word)
}

// Duration formats a duration without the parts that are zero: 15m and 2h, not 15m0s and
// 2h0m0s.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Round formats a duration for a person, with as many digits as matter.
func Round(d time.Duration) string {
	switch {
	case d < time.Second:
		d = d.Round(time.Millisecond)
	case d < 10*time.Second:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Second)
	}
	return Duration(d)
}

// Seconds is [Round] for a number of seconds.
func Seconds(s float64) string { return Round(time.Duration(s * float64(time.Second))) }

// Bytes formats a number of bytes for a person: 1 byte, 1.5 KiB.
func Bytes(n int64) string {
	const step = 1024
	if n < step {
		return Count(int(n), "byte")
	}
	value, units := float64(n)/step, "KMGT"
	for ; value >= step && len(units) > 1; units = units[1:] {
		value /= step
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + units[:1] + "iB"
}

// First joins the first names with commas, and counts the rest: a, b and 3 more.
func First(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
