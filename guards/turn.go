package guards

import (
	"time"

	"github.com/looprun/looprun/core"
)

// Turn trips when a coding agent repeats itself within a turn for the second time in a run, in
// the middle of the iteration. The first time, the turn was ended and the next one was told
// why, which has not helped. An answer lets the turn continue.
type Turn struct{}

// ID returns turn_loop.
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

// Remaining returns false: time does not make this guard trip.
func (Turn) Remaining(*core.State) (time.Duration, bool) { return 0, false }
