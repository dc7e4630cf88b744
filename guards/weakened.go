package guards

import "github.com/looprun/looprun/core"

// Weakened trips when the judge has passed but less was checked than earlier in the run, or a
// protected file has changed. The run is then not done until somebody confirms that it is
// correct. Limits.Weakened turns it off.
type Weakened struct{}

// ID returns weakened.
func (Weakened) ID() core.GuardID { return core.Weakened }

// Check trips as long as the pass waits for somebody to confirm it.
func (Weakened) Check(s *core.State) *core.Trip {
	why := s.Weakened()
	if why == "" || s.Ending != nil {
		return nil
	}
	return &core.Trip{Guard: core.Weakened, Iteration: s.Iterations, Reason: why}
}
