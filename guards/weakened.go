package guards

import "github.com/looprun/looprun/core"

// Weakened trips where the judge has passed, and less was checked than this run has seen
// before, or a protected file has changed. The run is then not done before somebody says
// that it is correct. Limits.Weakened turns it off.
type Weakened struct{}

// ID is weakened.
func (Weakened) ID() core.GuardID { return core.Weakened }

// Check trips as long as the pass waits for somebody to say what it is worth.
func (Weakened) Check(s *core.State) *core.Trip {
	why := s.Weakened()
	if why == "" || s.Ending != nil {
		return nil
	}
	return &core.Trip{Guard: core.Weakened, Iteration: s.Iterations, Reason: why}
}
