//go:build !torture

package proc

// The short form of the tests that repeat: see torture_test.go.
const (
	torture  = false
	kills    = 3
	manyRuns = 300
)
