// Command library shows the loop used from Go: the work and the check are
// functions, and a guard that trips is a result, not an error.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	limits := looprun.DefaultLimits()
	limits.Runtime = time.Minute
	for _, fixer := range []struct {
		name string
		step int // bugs mended in an iteration
	}{{"a fixer that works", 1}, {"a fixer that is stuck", 0}} {
		bugs := 3
		result, err := looprun.Run(ctx, looprun.Config{
			Name: fixer.name,
			Work: looprun.Func(func(context.Context, looprun.Invocation) error {
				bugs -= fixer.step
				return nil
			}),
			Check: looprun.Func(func(_ context.Context, in looprun.Invocation) error {
				if bugs == 0 {
					return nil
				}
				in.Stdout([]byte("checking the ledger\n"))
				return fmt.Errorf("error: %d entries do not balance", bugs)
			}),
			Limits: limits,
			Guards: guards.Default(),
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s after %d iterations", fixer.name, result.Status, result.Iterations)
		if result.Guard != "" {
			fmt.Fprintf(out, " (%s)", result.Guard)
		}
		fmt.Fprintln(out)
	}
	return nil
}
