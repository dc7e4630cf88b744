//go:build linux && !torture

package main

import "github.com/looprun/looprun/internal/rounds"

// The short forms of the tests that repeat; the long ones are in kill_torture_test.go.
func killRuns() int { return max(6, rounds.Of(10)) }

// leakIterations is how long a run is that may leave nothing behind.
const leakIterations = 100
