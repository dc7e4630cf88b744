package guards

import (
	"fmt"

	"github.com/looprun/looprun/core"
)

// Progress trips when nothing has changed for too long: neither the signature of the output
// nor the work tree.
type Progress struct{}

// ID returns no_progress.
func (Progress) ID() core.GuardID { return core.NoProgress }

// Check trips after the allowed number of iterations without any change.
func (Progress) Check(s *core.State) *core.Trip {
	n := s.Limits.IdleIterations
	if n <= 0 || s.Idle < n {
		return nil
	}
	return &core.Trip{
		Guard: core.NoProgress, Iteration: s.Iterations, Window: s.Idle,
		Reason: fmt.Sprintf("%s in a row changed nothing: the same output, the same files", counted(s.Idle, "iteration")),
	}
}

// Workspace trips when the work tree keeps returning to an earlier state: one iteration undoes
// the changes of another.
type Workspace struct{}

// ID returns workspace_cycle.
func (Workspace) ID() core.GuardID { return core.WorkspaceCycle }

// Check trips when the files have returned to the same state too often.
func (Workspace) Check(s *core.State) *core.Trip {
	n := s.Limits.WorkspaceCycles
	if n <= 0 || len(s.Trees) == 0 {
		return nil
	}
	now := s.Trees[len(s.Trees)-1]
	if now.Returns < n {
		return nil
	}
	return &core.Trip{
		Guard: core.WorkspaceCycle, Iteration: s.Iterations, Repeats: now.Returns,
		Reason: fmt.Sprintf("the files came back %s to a state that they had left", counted(now.Returns, "time")),
	}
}
