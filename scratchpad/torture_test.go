//go:build torture

package scratchpad

// The long forms of the tests that repeat: go test -tags torture.
const (
	kills, perRun = 1000, 20
	flipStep      = 23
)
