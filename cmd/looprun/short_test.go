//go:build linux && !torture

package main

import "github.com/looprun/looprun/internal/rounds"

// The short forms of the tests that repeat; the long ones are in
// disk_torture_test.go and kill_torture_test.go.
const (
	faultStep = 23
	callStep  = 67 // of some thousand faults of system calls
)

func killRuns() int { return max(6, rounds.Of(10)) }

// leakIterations is how long a run is that may leave nothing behind.
const leakIterations = 100
