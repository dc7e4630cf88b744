package guards

import (
	"fmt"

	"github.com/looprun/looprun/core"
)

// Errors trips when that many iterations in a row ended as an error: killed, timed out, not
// startable, or failed work that something else judges. An iteration that is merely not done
// ends the streak. Skipped issues neither end nor extend it, but if only skipped issues
// occurred that often, the guard trips once more. An answer resets the count. An iteration
// whose runner was lost again and again trips at once: its work was not done.
type Errors struct{}

// ID returns consecutive_errors.
func (Errors) ID() core.GuardID { return core.ConsecutiveErrors }

// Check trips at Limits.Errors.
func (Errors) Check(s *core.State) *core.Trip {
	limit := s.Limits.Errors
	if limit <= 0 {
		return nil
	}
	if s.SkippedBy == core.ConsecutiveErrors && s.KnownRun >= limit {
		return &core.Trip{
			Guard: core.ConsecutiveErrors, Window: s.KnownRun, Known: true,
			Reason: fmt.Sprintf("the last %d iterations showed nothing but skipped issues", s.KnownRun),
		}
	}
	if s.ErrorRun > 0 && s.Last != nil && s.Last.Cause == core.CauseCrash && !s.IsKnown(s.Match(s.Last.Signature)) {
		return &core.Trip{Guard: core.ConsecutiveErrors, Window: s.ErrorRun, Reason: fmt.Sprintf("iteration %d: %s", s.Last.Iteration, s.Last.Detail)}
	}
	if s.ErrorRun < limit {
		return nil
	}
	reason := fmt.Sprintf("the last %s ended as errors", latest(s, s.ErrorRun))
	if s.ErrorRun == 1 {
		reason = "the last iteration ended as an error"
	}
	return &core.Trip{Guard: core.ConsecutiveErrors, Window: s.ErrorRun, Reason: reason}
}
