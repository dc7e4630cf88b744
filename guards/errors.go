package guards

import (
	"fmt"

	"github.com/looprun/looprun"
)

// Errors trips when so many iterations in a row ended as an error: killed,
// timed out, not startable, or work that failed where something else judges.
// An iteration that merely is not done ends the row; skipped issues neither end
// nor extend it, but when nothing except skipped issues came that often it
// trips once more. An answer starts the count over.
type Errors struct{}

// ID is consecutive_errors.
func (Errors) ID() looprun.GuardID { return looprun.ConsecutiveErrors }

// Check trips at Limits.Errors.
func (Errors) Check(s *looprun.State) *looprun.Trip {
	limit := s.Limits.Errors
	if limit <= 0 {
		return nil
	}
	if s.SkippedBy == looprun.ConsecutiveErrors && s.KnownRun >= limit {
		return &looprun.Trip{
			Guard: looprun.ConsecutiveErrors, Window: s.KnownRun, Known: true,
			Reason: fmt.Sprintf("the last %d iterations showed nothing but skipped issues", s.KnownRun),
		}
	}
	if s.ErrorRun < limit {
		return nil
	}
	reason := fmt.Sprintf("the last %s ended as errors", latest(s, s.ErrorRun))
	if s.ErrorRun == 1 {
		reason = "the last iteration ended as an error"
	}
	return &looprun.Trip{Guard: looprun.ConsecutiveErrors, Window: s.ErrorRun, Reason: reason}
}
