package guards

import (
	"time"

	"github.com/looprun/looprun/core"
)

// Turn trips when a coding agent has repeated itself within a turn for the second time in
// a run, in the middle of the iteration: the first time the turn was ended, and the next
// was told why, so telling has not helped. An answer lets the turn go on.
type Turn struct{}

// ID is turn_loop.
func (Turn) ID() core.GuardID { return core.TurnLoop }

// Check trips from the second repetition on.
func (Turn) Check(s *core.State) *core.Trip {
	if s.Limits.TurnLoop <= 0 || s.Repeated == nil || s.Repetitions < 2 {
		return nil
	}
	return &core.Trip{
		Guard: core.TurnLoop, Iteration: s.Iterations, Repeats: s.Repeated.Times,
		Reason: s.Repeated.String(),
	}
}

// Remaining is nothing: it is not time that makes it trip.
func (Turn) Remaining(*core.State) (time.Duration, bool) { return 0, false }
