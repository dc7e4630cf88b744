package engine

import (
	"context"
	"time"

	"github.com/looprun/looprun/core"
)

// confirmMost bounds the total time of running a check once more. The check was short the
// first time.
const confirmMost = 5 * time.Minute

// confirm runs the check of the last iteration once more and meanwhile handles incoming
// messages.
func (l *Loop) confirm(ctx context.Context) error {
	limited, cancel := l.within(ctx)
	defer cancel()
	limited, stop := context.WithTimeoutCause(limited, confirmMost, core.ErrRuntime)
	defer stop()
	it := core.Iteration{Number: l.state.Iterations, Limit: l.state.Limits.Iterations, Last: l.state.Last, Task: l.state.Task, Subtasks: l.state.Decomposed(), Tasks: l.state.Tasks}
	end, passes := core.IterationResult{}, 0
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		if c, ok := l.Runner.(Confirmer); ok {
			end, passes, err = c.Confirm(limited, it)
		} else {
			end.Cause = core.CauseStartFailed
		}
	}()
	for running := true; running; {
		select {
		case m := <-l.inbox.next():
			if err := l.handle(ctx, m); err != nil {
				stop()
				<-over
				return err
			}
			if l.state.Interrupt != nil {
				stop()
			}
		case <-over:
			running = false
		}
	}
	switch {
	case err != nil, l.state.Interrupt != nil:
		return err
	case ctx.Err() != nil:
		return l.record(interrupted(ctx))
	}
	return l.driver.Confirmed(end, passes)
}
