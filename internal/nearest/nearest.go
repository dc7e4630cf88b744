// Package nearest finds the known word that a mistyped one was probably meant to be.
package nearest

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

// Word returns the known word that was probably meant: one that differs only in case or in -
// and _, the only one that begins with the word, or the one with the fewest typing slips, at
// most one in three letters. It returns an empty string if none is near; of equally near ones
// it returns the first.
func Word[T ~string](word T, known []T) T {
	const longest = 64
	w := fold(string(word))
	if len(w) == 0 || len(w) > longest {
		return ""
	}
	best, fewest := T(""), max(1, len(w)/3)+1
	begins, prefixed := T(""), 0
	for _, candidate := range known {
		k := fold(string(candidate))
		if len(k) == 0 || len(k) > longest || candidate == word {
			continue
		}
		if len(w) >= 3 && strings.HasPrefix(string(k), string(w)) {
			begins, prefixed = candidate, prefixed+1
		}
		if n := slips(w, k); n < fewest && n < len(k) {
			best, fewest = candidate, n
		}
	}
	if best == "" && prefixed == 1 {
		return begins
	}
	return best
}

// DidYouMean returns a remedy that names the nearest known word, or all of them if none is
// near and there are few; otherwise it is empty.
func DidYouMean[T ~string](word T, known []T) string {
	const few = 12
	near := Word(word, known)
	switch {
	case near != "":
		return "did you mean " + strconv.Quote(termsafe.Cut(string(near), 40)) + "?"
	case len(known) > 0 && len(known) <= few:
		return useOne(known)
	}
	return ""
}

// OneOf is [DidYouMean] that names all known words, however many, if none is near.
func OneOf[T ~string](word T, known []T) string {
	return cmp.Or(DidYouMean(word, known), useOne(known))
}

func useOne[T ~string](known []T) string {
	return "use one of " + strings.Join(convert.Strings(known), ", ")
}

func fold(s string) []rune {
	return []rune(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "-", "_"))
}

// slips returns the number of letters to insert, drop, replace or swap with the next one to
// turn a into b (optimal string alignment).
func slips(a, b []rune) int {
	before := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
