package looprun_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
)

// tooLoud trips when an iteration printed more than so many bytes. What it needs
// to know is in the state: a guard keeps nothing of its own. guardtest.Check
// checks that it keeps this and the other rules.
type tooLoud int64

func (tooLoud) ID() looprun.GuardID { return "too_loud" }

func (most tooLoud) Check(s *looprun.State) *looprun.Trip {
	if s.Last == nil || s.Last.OutputBytes <= int64(most) {
		return nil
	}
	return &looprun.Trip{
		Guard: most.ID(), Iteration: s.Iterations,
		Reason: fmt.Sprintf("an iteration printed %d bytes", s.Last.OutputBytes),
	}
}

// A guard of one's own stands beside those of looprun, or in their place.
func ExampleGuard() {
	result, err := looprun.Run(context.Background(), looprun.Config{
		Work: looprun.Func(func(_ context.Context, in looprun.Invocation) error {
			for range in.Iteration.Number {
				in.Stdout([]byte("still looking\n"))
			}
			return errors.New("nothing was found")
		}),
		Limits: looprun.DefaultLimits(),
		Guards: append(guards.Default(), tooLoud(40)),
	})
	fmt.Println(result.Status, result.Guard, result.Iterations, err)
	// Output: tripped too_loud 2 <nil>
}
