//go:build torture

package proc

// The long form of the tests that repeat: go test -tags torture -timeout 0.
const (
	torture  = true
	kills    = 100
	manyRuns = 10000
)
