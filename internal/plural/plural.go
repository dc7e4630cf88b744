// Package plural says in English how many of something there are, and how long it takes.
package plural

import (
	"strconv"
	"strings"
	"time"
)

// Count is the number with the word behind it: 1 run, 2 runs. The word is one
// that takes an s.
func Count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// Duration is a duration without the parts that are zero: 15m and 2h, not 15m0s and 2h0m0s.
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
