package looprun_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
)

func ExampleRun() {
	bugs := 3
	result, err := looprun.Run(context.Background(), looprun.Config{
		Work: looprun.Func(func(context.Context, looprun.Invocation) error {
			bugs--
			return nil
		}),
		Check: looprun.Func(func(context.Context, looprun.Invocation) error {
			if bugs > 0 {
				return fmt.Errorf("%d bugs are left", bugs)
			}
			return nil
		}),
		Limits: looprun.DefaultLimits(),
		Guards: guards.Default(),
	})
	fmt.Println(result.Status, result.Iterations, err)
	// Output: done 3 <nil>
}

func ExampleRun_stuck() {
	result, err := looprun.Run(context.Background(), looprun.Config{
		Work: looprun.Func(func(context.Context, looprun.Invocation) error {
			return errors.New("error: the file is locked")
		}),
		Limits: looprun.DefaultLimits(),
		Guards: guards.Default(),
	})
	fmt.Println(result.Status, result.Guard, result.Iterations, err)
	// Output: tripped loop_detected 3 <nil>
}

func ExampleRun_noGuards() {
	_, err := looprun.Run(context.Background(), looprun.Config{
		Work: looprun.Argv("true"),
	})
	fmt.Println(errors.Is(err, looprun.ErrNoGuards))
	// Output: true
}
