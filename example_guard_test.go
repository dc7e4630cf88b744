package looprun_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
)

// comesBack trips when a failure comes back that had given way to another one: what
// was mended was broken again. All that it needs to know is in the state, since a
// guard keeps nothing of its own; an answer makes it begin anew, which ResetAt says.
// guardtest.Check checks these and the other rules.
type comesBack struct{}

func (comesBack) ID() looprun.GuardID { return "comes_back" }

func (g comesBack) Check(s *looprun.State) *looprun.Trip {
	var failures []core.IterationFinished
	for _, d := range s.History {
		if d.Iteration > s.ResetAt[g.ID()] && d.Signature.Hash != 0 {
			failures = append(failures, d)
		}
	}
	n := len(failures) - 1
	if n < 2 || failures[n].Signature.Hash == failures[n-1].Signature.Hash {
		return nil
	}
	for _, d := range failures[:n-1] {
		if d.Signature.Hash == failures[n].Signature.Hash {
			return &looprun.Trip{Guard: g.ID(), Reason: fmt.Sprintf("the failure of iteration %d came back", d.Iteration)}
		}
	}
	return nil
}

// A guard of one's own stands beside those of looprun, or in their place.
func ExampleGuard() {
	failures := []string{"Error: the door is locked", "Error: the key is lost", "Error: the door is locked"}
	result, err := looprun.Run(context.Background(), looprun.Config{
		Work: looprun.Func(func(_ context.Context, in looprun.Invocation) error {
			return errors.New(failures[in.Iteration.Number-1])
		}),
		Limits: looprun.DefaultLimits(),
		Guards: append(guards.Default(), comesBack{}),
	})
	fmt.Println(result.Status, result.Guard, result.Iterations, err)
	// Output: tripped comes_back 3 <nil>
}
