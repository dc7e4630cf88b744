//go:build !torture

package scratchpad

// The short forms of the tests that repeat: see torture_test.go.
const (
	kills, perRun = 40, 10
	flipStep      = 397 // a prime: all places in a line come up
)
