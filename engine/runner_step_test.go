package engine_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/looptest"
)

// A function may print from several goroutines at once; what they print when it has
// returned is not the output of the next step.
func TestAFunctionPrintsFromAllItsGoroutines(t *testing.T) {
	line := []byte(strings.Repeat("x", 99) + "\n")
	const lines = 5000 // of each: long enough to be signed beside
	returned, printed := make(chan struct{}), make(chan struct{})
	x := &engine.Executor{
		Work: engine.Func(func(_ context.Context, in engine.Invocation) error {
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
		Check: engine.Func(func(_ context.Context, in engine.Invocation) error {
			close(returned)
			<-printed
			in.Stdout([]byte("checked"))
			return nil
		}),
	}
	d, err := x.Run(t.Context(), core.Iteration{Number: 1})
	if want := int64(3*lines*len(line) + len("checked")); err != nil || d.OutputBytes != want || d.Excerpt != "checked" {
		t.Errorf("%d bytes were printed, want %d: %q, %v", d.OutputBytes, want, d.Excerpt, err)
	}
	if e := engine.Func(func(context.Context, engine.Invocation) error { return os.ErrNotExist }).Run(t.Context(), engine.Invocation{}); e.Code != 1 {
		t.Errorf("without anywhere to print: %+v", e)
	}
}

// A function goes on while somebody is asked whether it may: what it comes to of itself
// meanwhile counts, but not against what somebody decided.
func TestAFunctionThatEndsWhileSomebodyIsAsked(t *testing.T) {
	for _, c := range []struct {
		option string // empty: nobody answers
		err    error
		want   core.Status
		after  int
	}{
		{"", nil, core.StatusDone, 1},
		{"", os.ErrNotExist, core.StatusTripped, 1},
		{"continue", nil, core.StatusDone, 1},
		{"pause", nil, core.StatusDone, 1},
		{"cancel", nil, core.StatusCancelled, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := &engine.Executor{Work: engine.Func(func(context.Context, engine.Invocation) error {
				time.Sleep(16 * time.Minute)
				return c.err
			})}
			const many = 20 // what is said meanwhile waits, and is heard if the run goes on
			told := make(chan error, many)
			var run *looptest.Run
			run = looptest.Start(t, looptest.Defaults, x, core.ResponderFunc(func(ctx context.Context, q core.Question, s *core.State) (core.Answer, error) {
				for range many {
					go func() { told <- run.Tell(context.Background(), core.CostReported{USD: 1}) }()
				}
				time.Sleep(10 * time.Minute)
				if c.option == "" {
					return core.Answer{}, core.ErrNoAnswer
				}
				return looptest.Chosen(c.option), nil
			}))
			if res := run.ToEnd(t); res.Status != c.want || res.Iterations != c.after || run.State().Ran.Cause != core.CauseExited {
				t.Errorf("%q, %v: got %+v, the iteration %+v", c.option, c.err, res, run.State().Ran)
			}
			for range many {
				if err := <-told; c.option == "continue" && err != nil {
					t.Errorf("what was said meanwhile is lost: %v", err)
				}
			}
		})
	}
	// What was still running is cut off as before.
	synctest.Test(t, func(t *testing.T) {
		x := &engine.Executor{Work: engine.Func(func(ctx context.Context, _ engine.Invocation) error {
			<-ctx.Done()
			return nil
		})}
		run := looptest.Start(t, looptest.Defaults, x)
		if res := run.ToEnd(t); res.ExitCode != 124 || res.Iterations != 0 || run.State().Ran.Cause != core.CauseMaxRuntime {
			t.Errorf("got %+v, the iteration %+v", res, run.State().Ran)
		}
	})
}

// What is held for two reasons stands still until both are over.
func TestAFunctionThatIsHeldTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &engine.Executor{IterationTimeout: time.Minute}
		x.Work = engine.Func(func(ctx context.Context, _ engine.Invocation) error {
			x.Hold()
			x.Suspend()
			time.Sleep(time.Hour)
			x.Resume()
			time.Sleep(time.Hour)
			x.Release()
			time.Sleep(30 * time.Second)
			return ctx.Err()
		})
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != core.OutcomeDone {
			t.Errorf("%+v, %v", d.IterationFinished, err)
		}
	})
}

// A step that would run nothing is none.
func TestCheckStep(t *testing.T) {
	for _, c := range []struct {
		step engine.Step
		want string
	}{
		{engine.Argv(), "there is no command"},
		{engine.Argv("", "x"), "there is no command"},
		{engine.Argv("true"), ""},
		{engine.Shell(" \n"), "is not a shell line"},
		{engine.Shell("# $CHECK\n"), "is only a comment"},
		{engine.Shell("# a\ntrue"), ""},
		{engine.Func(nil), ""},
	} {
		if err := engine.CheckStep(c.step); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.step.Argv(), err)
		}
	}
}

// The time limit of an iteration stands still while a question of the command waits:
// for the function that asks, and for a check that begins meanwhile.
func TestTheTimeLimitStandsStillWhileAQuestionWaits(t *testing.T) {
	for _, c := range []struct {
		name         string
		before, work time.Duration // the question
		check        time.Duration
		beside       bool // the work does not wait for the answer
		want         core.Outcome
	}{
		{name: "the work waits for it", before: time.Minute, work: 3 * time.Minute, want: core.OutcomeDone},
		{name: "and takes too long", before: 3 * time.Minute, work: 3 * time.Minute, want: core.OutcomeError},
		{name: "the check begins meanwhile", beside: true, check: 14*time.Minute + 15*time.Second, want: core.OutcomeDone},
		{name: "and is limited when it is answered", beside: true, check: time.Hour, want: core.OutcomeError},
	} {
		synctest.Test(t, func(t *testing.T) {
			var run *looptest.Run
			x := &engine.Executor{IterationTimeout: 5 * time.Minute}
			x.Work = engine.Func(func(ctx context.Context, in engine.Invocation) error {
				asks := func(ctx context.Context) {
					_, _ = run.Ask(ctx, "k", core.Question{Kind: core.KindConfirm, Text: "ok?"})
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
				x.Check = engine.Func(func(ctx context.Context, in engine.Invocation) error {
					select {
					case <-time.After(c.check):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
			}
			l := looptest.Defaults
			l.Iterations, l.Runtime = 1, core.Off
			run = looptest.Start(t, l, x, core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
				if q.From != core.FromCommand {
					return core.Answer{}, core.ErrNoAnswer
				}
				time.Sleep(10 * time.Minute)
				return looptest.Chosen(core.Yes), nil
			}))
			run.ToEnd(t)
			if d := run.State().Ran; d.Outcome != c.want || d.Outcome == core.OutcomeError && d.Cause != core.CauseIterationTimeout {
				t.Errorf("%s: the iteration ended as %+v", c.name, d)
			}
		})
	}
}
