package looprun_test

import (
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards/guardtest"
)

// The guard of the example keeps the rules, by the kit that is there for guards of
// one's own.
func TestOwnGuard(t *testing.T) {
	off := core.Limits{Iterations: core.Off, Runtime: core.Off, Loop: core.Off, Errors: core.Off}
	step := func(same int) guardtest.Step {
		return guardtest.Step{Outcome: core.OutcomeNotDone, Same: same}
	}
	guardtest.Check(t, comesBack{}, guardtest.Story{
		Limits: off, Off: off, Always: true,
		Steps: []guardtest.Step{step(1), step(1), step(2), step(0), step(3), step(1)},
	})
}
