package looprun_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/looprun/looprun"
)

// A function may print from several goroutines at once; what they print when it has
// returned is not the output of the next step.
func TestAFunctionPrintsFromAllItsGoroutines(t *testing.T) {
	line := []byte(strings.Repeat("x", 99) + "\n")
	const lines = 5000 // of each: long enough to be signed beside
	returned, printed := make(chan struct{}), make(chan struct{})
	x := &looprun.Executor{
		Work: looprun.Func(func(_ context.Context, in looprun.Invocation) error {
			var all sync.WaitGroup
			for _, print := range []func([]byte){in.Stdout, in.Stderr, in.Stdout} {
				all.Go(func() {
					for range lines {
						print(line)
					}
				})
			}
			all.Wait()
			go func() {
				<-returned
				in.Stderr([]byte("too late"))
				close(printed)
			}()
			return nil
		}),
		Check: looprun.Func(func(_ context.Context, in looprun.Invocation) error {
			close(returned)
			<-printed
			in.Stdout([]byte("checked"))
			return nil
		}),
	}
	d, err := x.Run(t.Context(), looprun.Iteration{Number: 1})
	if want := int64(3*lines*len(line) + len("checked")); err != nil || d.OutputBytes != want || d.Excerpt != "checked" {
		t.Errorf("%d bytes were printed, want %d: %q, %v", d.OutputBytes, want, d.Excerpt, err)
	}
	if e := looprun.Func(func(context.Context, looprun.Invocation) error { return os.ErrNotExist }).Run(t.Context(), looprun.Invocation{}); e.Code != 1 {
		t.Errorf("without anywhere to print: %+v", e)
	}
}
