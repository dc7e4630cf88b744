package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/signature"
)

// reruns is a runner whose check always fails in the same way, and can run once more.
type reruns struct {
	looptest.Works
	again func(context.Context) (core.IterationResult, int, error)
}

func (r reruns) Confirm(ctx context.Context, _ core.Iteration) (core.IterationResult, int, error) {
	return r.again(ctx)
}

var sameAgain = signature.Signature{Hash: 7, Loose: 7, Label: "output:7", Failing: -1, Passed: -1, Total: -1}

// startRerun starts a run that trips after three iterations, unless its check passes when it
// runs once more; without again it cannot.
func startRerun(t *testing.T, again func(context.Context) (core.IterationResult, int, error), responders ...core.Responder) *looptest.Run {
	t.Helper()
	fails := looptest.Works(func(context.Context, core.Iteration) core.IterationFinished {
		return core.IterationFinished{Outcome: notDone, Signature: sameAgain, Check: &core.CheckRun{DurationMS: 1, Hash: 7, Loose: 7}}
	})
	run := &looptest.Run{}
	run.Loop = &engine.Loop{Guards: guards.Default(), Runner: fails, Journal: &run.Kept, Questions: looptest.Asks{}, Responders: responders}
	if again != nil {
		run.Runner = reruns{fails, again}
	}
	if err := run.Start(core.RunStarted{RunID: "test", Limits: looptest.Defaults, Caps: core.DefaultCaps(looptest.Defaults), Confirm: true}); err != nil {
		t.Fatal(err)
	}
	return run
}

// Whatever interrupts the check that runs once more, or keeps it from running, decides nothing.
func TestACheckThatRunsOnceMoreDecides(t *testing.T) {
	eventually.Ends(t)
	passes := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: done, Signature: signature.Pass}}
	fails := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: notDone, Signature: sameAgain}}
	broken := errors.New("the output cannot be kept")
	for _, c := range []struct {
		name    string
		again   func(context.Context, *looptest.Run, context.CancelCauseFunc) (core.IterationResult, int, error)
		status  core.Status
		rerun   core.Confirmation
		failure error
		slow    bool
	}{
		{name: "it passes", again: func(context.Context, *looptest.Run, context.CancelCauseFunc) (core.IterationResult, int, error) {
			return passes, 2, nil
		}, status: core.StatusDone, rerun: core.ConfirmedPassed},
		{name: "it fails", again: func(context.Context, *looptest.Run, context.CancelCauseFunc) (core.IterationResult, int, error) {
			return fails, 0, nil
		}, status: core.StatusTripped, rerun: core.ConfirmedSame},
		{name: "there is none", status: core.StatusTripped},
		{name: "it never ends", again: func(ctx context.Context, _ *looptest.Run, _ context.CancelCauseFunc) (core.IterationResult, int, error) {
			<-ctx.Done()
			return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: failed, Cause: core.CauseMaxRuntime}}, 0, nil
		}, status: core.StatusTripped, slow: true},
		{name: "looprun fails", again: func(context.Context, *looptest.Run, context.CancelCauseFunc) (core.IterationResult, int, error) {
			return passes, 2, broken
		}, status: core.StatusFailed, failure: broken},
		{name: "the run is interrupted", again: func(ctx context.Context, _ *looptest.Run, end context.CancelCauseFunc) (core.IterationResult, int, error) {
			end(&engine.Interrupt{Signal: "SIGTERM", Code: 143})
			<-ctx.Done()
			return passes, 2, nil
		}, status: core.StatusInterrupted},
		{name: "a person interrupts its question", again: func(ctx context.Context, run *looptest.Run, _ context.CancelCauseFunc) (core.IterationResult, int, error) {
			if _, err := run.Ask(ctx, "key", looptest.Database()); err == nil {
				t.Error("the question was answered")
			}
			<-ctx.Done()
			return passes, 2, nil
		}, status: core.StatusInterrupted},
		{name: "it reports a cost", again: func(ctx context.Context, run *looptest.Run, _ context.CancelCauseFunc) (core.IterationResult, int, error) {
			err := run.Tell(ctx, core.CostReported{USD: 1})
			time.Sleep(time.Second) // of simulated time
			return passes, 2, errors.Join(err, ctx.Err())
		}, status: core.StatusDone, rerun: core.ConfirmedPassed},
		{name: "the journal fails meanwhile", again: func(ctx context.Context, run *looptest.Run, _ context.CancelCauseFunc) (core.IterationResult, int, error) {
			run.Journal = &looptest.BrokenJournal{}
			_ = run.Tell(ctx, core.CostReported{USD: 1})
			<-ctx.Done()
			return passes, 2, nil
		}, status: core.StatusFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancelCause(t.Context())
				defer end(nil)
				var run *looptest.Run
				var again func(context.Context) (core.IterationResult, int, error)
				if c.again != nil {
					again = func(ctx context.Context) (core.IterationResult, int, error) { return c.again(ctx, run, end) }
				}
				run = startRerun(t, again, core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
					if q.AskID != "" {
						return core.Answer{}, core.ErrInterrupted
					}
					return core.Answer{}, core.ErrNoAnswer
				}))
				began := time.Now()
				res, err := run.Run(ctx)
				if res.Status != c.status || run.State().Confirmed != c.rerun || c.failure != nil && !errors.Is(err, c.failure) || (err != nil) != (c.status == core.StatusFailed) || (time.Since(began) > time.Minute) != c.slow {
					t.Errorf("%+v, %q, %v", res, run.State().Confirmed, err)
				}
			})
		})
	}
}
