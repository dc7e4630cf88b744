package looprun_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// A function goes on while somebody is asked whether it may: what it comes to of itself
// meanwhile counts, but not against what somebody decided.
func TestAFunctionThatEndsWhileSomebodyIsAsked(t *testing.T) {
	for _, c := range []struct {
		option string // empty: nobody answers
		err    error
		want   looprun.Status
		after  int
	}{
		{"", nil, looprun.StatusDone, 1},
		{"", os.ErrNotExist, looprun.StatusTripped, 1},
		{"continue", nil, looprun.StatusDone, 1},
		{"pause", nil, looprun.StatusDone, 1},
		{"cancel", nil, looprun.StatusCancelled, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := &looprun.Executor{Work: looprun.Func(func(context.Context, looprun.Invocation) error {
				time.Sleep(16 * time.Minute)
				return c.err
			})}
			run := start(t, defaults, x, looprun.ResponderFunc(func(ctx context.Context, q looprun.Question, s *looprun.State) (looprun.Answer, error) {
				time.Sleep(10 * time.Minute)
				if c.option == "" {
					return looprun.Answer{}, looprun.ErrNoAnswer
				}
				return chosen(c.option), nil
			}))
			if res := run.run(t); res.Status != c.want || res.Iterations != c.after || run.State().Ran.Cause != looprun.CauseExited {
				t.Errorf("%q, %v: got %+v, the iteration %+v", c.option, c.err, res, run.State().Ran)
			}
		})
	}
	// What was still running is cut off as before.
	synctest.Test(t, func(t *testing.T) {
		x := &looprun.Executor{Work: looprun.Func(func(ctx context.Context, _ looprun.Invocation) error {
			<-ctx.Done()
			return nil
		})}
		run := start(t, defaults, x)
		if res := run.run(t); res.ExitCode != 124 || res.Iterations != 0 || run.State().Ran.Cause != looprun.CauseMaxRuntime {
			t.Errorf("got %+v, the iteration %+v", res, run.State().Ran)
		}
	})
}

// The time limit of an iteration stands still while a question of the command waits:
// for the function that asks, and for a check that begins meanwhile.
func TestTheTimeLimitStandsStillWhileAQuestionWaits(t *testing.T) {
	for _, c := range []struct {
		name         string
		before, work time.Duration // the question
		check        time.Duration
		beside       bool // the work does not wait for the answer
		want         looprun.Outcome
	}{
		{name: "the work waits for it", before: time.Minute, work: 3 * time.Minute, want: looprun.OutcomeDone},
		{name: "and takes too long", before: 3 * time.Minute, work: 3 * time.Minute, want: looprun.OutcomeError},
		{name: "the check begins meanwhile", beside: true, check: 14*time.Minute + 15*time.Second, want: looprun.OutcomeDone},
		{name: "and is limited when it is answered", beside: true, check: time.Hour, want: looprun.OutcomeError},
	} {
		synctest.Test(t, func(t *testing.T) {
			var run *testRun
			x := &looprun.Executor{IterationTimeout: 5 * time.Minute}
			x.Work = looprun.Func(func(ctx context.Context, in looprun.Invocation) error {
				asks := func(ctx context.Context) {
					_, _ = run.Ask(ctx, "k", looprun.Question{Kind: looprun.KindConfirm, Text: "ok?"})
				}
				if c.beside {
					go asks(context.WithoutCancel(ctx))
					time.Sleep(30 * time.Second)
					return nil
				}
				time.Sleep(c.before)
				asks(ctx)
				select {
				case <-time.After(c.work):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			if c.beside {
				x.Check = looprun.Func(func(ctx context.Context, in looprun.Invocation) error {
					select {
					case <-time.After(c.check):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
			}
			l := defaults
			l.Iterations, l.Runtime = 1, looprun.Off
			run = start(t, l, x, looprun.ResponderFunc(func(_ context.Context, q looprun.Question, _ *looprun.State) (looprun.Answer, error) {
				if q.From != looprun.FromCommand {
					return looprun.Answer{}, looprun.ErrNoAnswer
				}
				time.Sleep(10 * time.Minute)
				return chosen(looprun.Yes), nil
			}))
			run.run(t)
			if d := run.State().Ran; d.Outcome != c.want || d.Outcome == looprun.OutcomeError && d.Cause != looprun.CauseIterationTimeout {
				t.Errorf("%s: the iteration ended as %+v", c.name, d)
			}
		})
	}
}
