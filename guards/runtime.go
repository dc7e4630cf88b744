package guards

import (
	"fmt"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/plural"
)

// Runtime trips when the run has been active for as long as the limit allows, even in the
// middle of an iteration. Questions and pauses do not count. An answer extends the limit;
// nothing resets the clock.
type Runtime struct{}

// ID returns max_runtime.
func (Runtime) ID() core.GuardID { return core.MaxRuntime }

// Check trips at Limits.Runtime.
func (Runtime) Check(s *core.State) *core.Trip {
	limit := s.Limits.Runtime
	if limit <= 0 || s.Elapsed < limit {
		return nil
	}
	return &core.Trip{
		Guard:  core.MaxRuntime,
		Reason: fmt.Sprintf("it has run for %s; the limit is %s", plural.Duration(s.Elapsed.Round(time.Millisecond)), plural.Duration(limit)),
	}
}

// Remaining returns the time until the limit.
func (Runtime) Remaining(s *core.State) (time.Duration, bool) {
	limit := s.Limits.Runtime
	return limit - s.Elapsed, limit > 0
}
