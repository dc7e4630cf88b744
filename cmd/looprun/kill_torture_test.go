//go:build linux && torture

package main

import (
	"os"
	"strconv"
)

// killRuns is how many runs the long form of the kill test kills: TORTURE_RUNS,
// or 1,000.
func killRuns() int {
	if n, err := strconv.Atoi(os.Getenv("TORTURE_RUNS")); err == nil && n > 0 {
		return n
	}
	return 1000
}

// leakIterations is how long a run is that may leave nothing behind.
const leakIterations = 10_000
