// Package rounds determines how often a test repeats its work: a twentieth as often with -short,
// and fifty times as often in the long form, go test -tags torture.
package rounds

import "testing"

// Of returns the number of rounds where n are usual; at least one.
func Of(n int) int {
	switch {
	case long:
		return 50 * n
	case testing.Short():
		return max(1, n/20)
	}
	return n
}

// Step returns the step by which a test moves through cases of which it usually checks every
// n-th: 6n with -short, and 1 in the long form, which checks each.
func Step(n int) int {
	switch {
	case long:
		return 1
	case testing.Short():
		return 6 * n
	}
	return n
}
