// Package rounds says how often a test repeats what it does: a tenth as often with
// -short, and fifty times as often in the long form, go test -tags torture.
package rounds

import "testing"

// Of is how many rounds there are where n are usual; at least one.
func Of(n int) int {
	switch {
	case long:
		return 50 * n
	case testing.Short():
		return max(1, n/10)
	}
	return n
}

// Step is how many cases a test goes on by that usually looks at every n-th of them: 3n
// with -short, and 1 in the long form, which looks at each.
func Step(n int) int {
	switch {
	case long:
		return 1
	case testing.Short():
		return 3 * n
	}
	return n
}
