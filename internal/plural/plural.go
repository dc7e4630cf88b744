// Package plural says in English how many of something there are.
package plural

import "strconv"

// Count is the number with the word behind it: 1 run, 2 runs. The word is one
// that takes an s.
func Count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
