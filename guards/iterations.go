package guards

import (
	"fmt"

	"github.com/looprun/looprun/core"
)

// Iterations trips when the limit of iterations is reached and the run is not done. An answer
// extends the limit; nothing resets the count.
type Iterations struct{}

// ID returns max_iterations.
func (Iterations) ID() core.GuardID { return core.MaxIterations }

// Check trips at Limits.Iterations.
func (Iterations) Check(s *core.State) *core.Trip {
	limit := s.Limits.Iterations
	if limit <= 0 || s.Iterations < limit {
		return nil
	}
	reason := fmt.Sprintf("%d of %d iterations are used", s.Iterations, limit)
	if limit == 1 {
		reason = "the only iteration is used"
	}
	if s.Moving > 1 && len(s.Check) == 0 {
		reason += fmt.Sprintf("; each of the last %d turns changed files, and no check judges them", s.Moving)
	}
	return &core.Trip{Guard: core.MaxIterations, Reason: reason}
}
