package looprun_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
)

// A configuration with which nothing could run, or nothing could stop it, is
// refused before anything runs.
func TestRunRefusesWhatCannotBeMeant(t *testing.T) {
	ran := false
	work := engine.Func(func(context.Context, engine.Invocation) error { ran = true; return nil })
	for _, c := range []struct {
		name   string
		config looprun.Config
		want   error
	}{
		{"no work", looprun.Config{Limits: looptest.Defaults, Guards: guards.Default()}, nil},
		{"no guards", looprun.Config{Work: work, Limits: looptest.Defaults}, core.ErrNoGuards},
		{"no limits", looprun.Config{Work: work, Guards: guards.Default()}, core.ErrNoGuards},
		{"responders without questions", looprun.Config{Work: work, Limits: looptest.Defaults, Guards: guards.Default(), Responders: []core.Responder{looptest.Says("accept")}}, nil},
		{"limits below Off", looprun.Config{Work: work, Limits: core.Limits{Iterations: -2, Runtime: 1, Loop: 2, Errors: 1}, Guards: guards.Default()}, nil},
		{"a blank check", looprun.Config{Work: work, Check: engine.Shell(""), Limits: looptest.Defaults, Guards: guards.Default()}, nil},
		{"a check that is a comment", looprun.Config{Work: work, Check: engine.Shell(" \n # go test"), Limits: looptest.Defaults, Guards: guards.Default()}, nil},
		{"a check without a command", looprun.Config{Work: work, Check: engine.Argv(), Limits: looptest.Defaults, Guards: guards.Default()}, nil},
		{"a blank line as work", looprun.Config{Work: engine.Shell("  "), Limits: looptest.Defaults, Guards: guards.Default()}, nil},
		{"work without a command", looprun.Config{Work: engine.Argv(), Limits: looptest.Defaults, Guards: guards.Default()}, nil},
		{"a negative timeout", looprun.Config{Work: work, Limits: looptest.Defaults, Guards: guards.Default(), IterationTimeout: -1}, nil},
		{"a negative count of passes", looprun.Config{Work: work, Limits: looptest.Defaults, Guards: guards.Default(), Passes: -3}, nil},
		{"a negative rate", looprun.Config{Work: work, Limits: looptest.Defaults, Guards: guards.Default(), CallsPerHour: -3}, nil},
		{"an empty promise", looprun.Config{Work: work, Limits: looptest.Defaults, Guards: guards.Default(), Promise: " "}, nil},
	} {
		if _, err := looprun.Run(t.Context(), c.config); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if ran {
		t.Error("it ran")
	}
}

func TestARunThatHasEndedIsNotResumed(t *testing.T) {
	journal := &core.MemoryJournal{}
	c := looprun.Config{
		Journal: journal, Guards: guards.Default(), Limits: looptest.Defaults,
		Work: engine.Func(func(context.Context, engine.Invocation) error { return nil }),
	}
	if res, err := looprun.Run(t.Context(), c); err != nil || res.Status != core.StatusDone {
		t.Fatalf("%+v, %v", res, err)
	}
	c.Resume = looptest.Replay(t, journal.Events)
	if _, err := looprun.Run(t.Context(), c); !errors.Is(err, looprun.ErrEnded) {
		t.Errorf("got %v", err)
	}
}

// With a promise exit 0 is not enough, and a check that passes before is not asked.
func TestRunNeedsThePromise(t *testing.T) {
	calls, checks := 0, 0
	pass := engine.Func(func(context.Context, engine.Invocation) error { checks++; return nil })
	c := looprun.Config{
		Limits: looptest.Defaults, Guards: guards.Default(), Check: pass, Promise: "DONE",
		Work: engine.Func(func(_ context.Context, in engine.Invocation) error {
			if calls++; calls == 2 {
				in.Stdout([]byte("DONE\n"))
			}
			return nil
		}),
	}
	if res, err := looprun.Run(t.Context(), c); err != nil || res.Status != core.StatusDone || res.Iterations != 2 || checks != 2 {
		t.Errorf("got %+v, %v after %d checks; want done in iteration 2, each with its check", res, err, checks)
	}
}

// A judge for which no code passes is not the default one.
func TestRunWithAnEmptyJudge(t *testing.T) {
	pass := engine.Func(func(context.Context, engine.Invocation) error { return nil })
	for judge, want := range map[*engine.Judge]core.Status{nil: core.StatusDone, {}: core.StatusTripped} {
		c := looprun.Config{Limits: looptest.Defaults, Guards: guards.Default(), Work: pass, Judge: judge}
		if res, err := looprun.Run(t.Context(), c); err != nil || res.Status != want {
			t.Errorf("with the judge %v: %+v, %v; want %s", judge, res, err, want)
		}
	}
}

// Without caps of its own a run has the default ones: no answer adds for ever.
func TestRunHasCaps(t *testing.T) {
	eventually.Ends(t)
	c := looprun.Config{
		Limits: looptest.Defaults, Guards: guards.Default(), Questions: looptest.Asks{},
		Work: engine.Func(func(context.Context, engine.Invocation) error { return errors.New("no") }),
		Responders: []core.Responder{core.ResponderFunc(func(_ context.Context, _ core.Question, s *core.State) (core.Answer, error) {
			if s.Iterations > 200 {
				return core.Answer{}, core.ErrNoAnswer
			}
			return core.Answer{Option: "continue", Responder: core.RespondedByUser, Person: true}, nil
		})},
	}
	if res, err := looprun.Run(t.Context(), c); err != nil || res.ExitCode != 110 || res.Iterations != 50 {
		t.Errorf("got %+v, %v; want 110 at the cap of 50", res, err)
	}
}

func TestDefaultCaps(t *testing.T) {
	for _, c := range []struct {
		limits core.Limits
		want   core.Caps
	}{
		{looptest.Defaults, core.Caps{Iterations: 50, Runtime: time.Hour}},
		{core.Limits{Iterations: 40, Runtime: 3 * time.Hour, Cost: 2, Tokens: 3}, core.Caps{Iterations: 80, Runtime: 6 * time.Hour, Cost: 4, Tokens: 6}},
		{core.Limits{Iterations: core.Off, Runtime: core.Off, Cost: core.Off, Tokens: core.Off}, core.Caps{Iterations: 50, Runtime: time.Hour}},
	} {
		if got := core.DefaultCaps(c.limits); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.limits, got, c.want)
		}
	}
}

// A limit that cannot be read is an error, never a limit that is not there.
func TestLimitsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{`{"iterations":"many"}`, `{"loop":"x"}`, `{"errors":[]}`, `{"runtime":"soon"}`, `{"runtime":15}`, `[]`} {
		var l core.Limits
		if err := json.Unmarshal([]byte(text), &l); err == nil {
			t.Errorf("%s is read as %+v", text, l)
		}
	}
	var l core.Limits
	if err := json.Unmarshal([]byte(`{"iterations":3,"runtime":"off","loop":"off","errors":2}`), &l); err != nil || l != (core.Limits{Iterations: 3, Runtime: core.Off, Loop: core.Off, Errors: 2}) {
		t.Errorf("%+v, %v", l, err)
	}
}

// The exit codes of the specification; no trip is 0, whichever guard it was.
func TestExitCodes(t *testing.T) {
	for guard, want := range map[core.GuardID]int{
		core.Weakened: 116, core.MaxIterations: 110, core.LoopDetected: 111, core.ConsecutiveErrors: 112, core.MaxCost: 113, core.MaxTokens: 113,
		core.NoProgress: 114, core.WorkspaceCycle: 114, core.MaxRuntime: 124, "another": 115, "": 115,
	} {
		if got := guard.ExitCode(); got != want {
			t.Errorf("%s: %d, want %d", guard, got, want)
		}
	}
	for status, want := range map[core.Status]int{
		core.StatusDone: 0, core.StatusAccepted: 100, core.StatusCancelled: 101, core.StatusPaused: 102, core.StatusRejected: 103,
		core.StatusTripped: 115, core.StatusFailed: 125, core.StatusInterrupted: 130, "another": 125, "": 125,
	} {
		if got := status.ExitCode(); got != want {
			t.Errorf("%s: %d, want %d", status, got, want)
		}
	}
}

// What is not known is no progress.
func TestUnknownIsNoProgress(t *testing.T) {
	after := func(was, now int, hash bool) *core.State {
		d, e := looptest.Ended1, core.IterationFinished{Iteration: 2, Outcome: core.OutcomeNotDone}
		d.Signature.Hash, d.Signature.Failing, d.Signature.Passed = 1, was, 3
		if e.Signature.Failing, e.Signature.Passed = now, 3; hash {
			e.Signature.Hash = 2
		}
		return looptest.Folded(t, looptest.Begun, looptest.First, d, core.IterationStarted{Iteration: 2}, e)
	}
	for _, c := range []struct {
		was, now int
		hash     bool
		want     bool
	}{{3, 2, true, true}, {3, 3, true, false}, {2, 3, true, false}, {3, -1, true, false}, {-1, 3, true, false}, {3, 2, false, false}} {
		if got := after(c.was, c.now, c.hash).Improved(); got != c.want {
			t.Errorf("%d and then %d failing (known: %v): improved %v", c.was, c.now, c.hash, got)
		}
	}
}

// Zero values work where nothing has to be stated: the judge, the backoff, the
// signature, the journals, a state that has not started.
func TestZeroValuesWork(t *testing.T) {
	tries := 0
	loop := &engine.Loop{Guards: guards.Default(), Runner: &engine.Executor{
		Work: engine.Func(func(context.Context, engine.Invocation) error {
			if tries++; tries < 2 {
				return errors.New("no")
			}
			return nil
		}),
	}}
	if err := loop.Start(core.RunStarted{Limits: looptest.Defaults}); err != nil {
		t.Fatal(err)
	}
	if res, err := loop.Run(t.Context()); err != nil || res.Status != core.StatusDone || res.Iterations != 2 {
		t.Errorf("got %+v, %v; want done after 2", res, err)
	}
	var journal core.MemoryJournal
	if err := errors.Join(journal.Append(core.Event{Seq: 1, Data: core.RunAlive{}}), journal.Sync()); err != nil || len(journal.Events) != 1 {
		t.Errorf("the zero journal keeps %d events: %v", len(journal.Events), err)
	}
	var s core.State
	if trip := core.Evaluate(guards.Default(), &s); trip != nil {
		t.Errorf("the zero state trips: %+v", trip)
	}
	if r := s.Result(); r.Status != core.StatusRunning || s.Summary() == "" || s.Pending() != nil {
		t.Errorf("the zero state is %+v", r)
	}
	if d := (engine.Backoff{}).Delay(7); d != 0 {
		t.Errorf("the zero backoff waits %s", d)
	}
	if err := (core.Limits{}).Validate(); !errors.Is(err, core.ErrNoGuards) {
		t.Errorf("zero limits are taken: %v", err)
	}
}

// A run goes on where its state ends: with the limits it had, or with new ones.
func TestRunResumes(t *testing.T) {
	journal := &core.MemoryJournal{}
	numbers := []int{}
	c := looprun.Config{
		RunID: "r-1", Journal: journal, Guards: guards.Default(), Limits: core.Limits{Iterations: 2, Runtime: time.Hour, Loop: 9, Errors: 9},
		Work: engine.Func(func(_ context.Context, in engine.Invocation) error {
			numbers = append(numbers, in.Iteration.Number)
			return errors.New("no")
		}),
	}
	run := func(want int) {
		t.Helper()
		res, err := looprun.Run(t.Context(), c)
		if err != nil || res.Status != core.StatusTripped || res.Guard != core.MaxIterations || res.Iterations != want || res.RunID != "r-1" {
			t.Fatalf("got %+v, %v; want max_iterations after %d", res, err, want)
		}
	}
	run(2)
	c.Resume, c.Limits = looptest.Replay(t, journal.Events), core.Limits{}
	run(2) // the limits are as they were: it is asked again, and nothing runs
	c.Resume, c.Limits = looptest.Replay(t, journal.Events), core.Limits{Iterations: 4, Runtime: time.Hour, Loop: 9, Errors: 9}
	run(4)
	c.Resume, c.Limits = looptest.Replay(t, journal.Events), core.Limits{Iterations: 6}
	run(6) // the other limits are as they were
	if l := looptest.Replay(t, journal.Events).Limits; l != (core.Limits{Iterations: 6, Runtime: time.Hour, Loop: 9, Errors: 9}) {
		t.Errorf("resumed with the limits %+v", l)
	}
	// Caps count without limits.
	c.Resume, c.Limits, c.Caps = looptest.Replay(t, journal.Events), core.Limits{}, core.Caps{Iterations: 6}
	c.Observe = func(_ core.Event, s *core.State) {
		if s.Caps != c.Caps {
			t.Errorf("resumed with the caps %+v", s.Caps)
		}
	}
	run(6)
	if want := []int{1, 2, 3, 4, 5, 6}; !slices.Equal(numbers, want) {
		t.Errorf("iterations %v were run, want %v", numbers, want)
	}
}

// Runs that go on at once share nothing.
func TestRunsShareNothing(t *testing.T) {
	for n := range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			tries := 0
			res, err := looprun.Run(t.Context(), looprun.Config{
				Limits: core.Limits{Iterations: 20, Runtime: time.Minute, Loop: core.Off, Errors: core.Off}, Guards: guards.Default(),
				Work: engine.Func(func(context.Context, engine.Invocation) error {
					if tries++; tries <= n {
						return errors.New("no")
					}
					return nil
				}),
			})
			if err != nil || res.Status != core.StatusDone || res.Iterations != n+1 {
				t.Errorf("got %+v, %v; want done after %d", res, err, n+1)
			}
		})
	}
}

// Whatever a run waits for, it ends with its context, as interrupted.
func TestRunEndsWithItsContext(t *testing.T) {
	fails := func(context.Context, engine.Invocation) error { return errors.New("no") }
	hour := core.Limits{Iterations: 1, Runtime: time.Hour, Loop: 9, Errors: 9}
	for _, c := range []struct {
		name   string
		config func(cancel func()) looprun.Config
	}{
		{"in the work", func(cancel func()) looprun.Config {
			return looprun.Config{Limits: hour, Work: engine.Func(func(ctx context.Context, _ engine.Invocation) error {
				cancel()
				<-ctx.Done()
				return ctx.Err()
			})}
		}},
		{"in the check", func(cancel func()) looprun.Config {
			return looprun.Config{Limits: hour, Work: engine.Func(fails), Check: engine.Func(func(ctx context.Context, _ engine.Invocation) error {
				cancel()
				<-ctx.Done()
				return ctx.Err()
			})}
		}},
		{"in a command", func(cancel func()) looprun.Config {
			return looprun.Config{Limits: hour, Work: engine.Argv("sleep", "3600"), KillAfter: time.Second, Observe: func(e core.Event, _ *core.State) {
				if _, begins := e.Data.(core.IterationStarted); begins {
					cancel()
				}
			}}
		}},
		{"between two iterations", func(cancel func()) looprun.Config {
			return looprun.Config{
				Limits: core.Limits{Iterations: 2, Runtime: 3 * time.Hour, Loop: 9, Errors: 9}, Work: engine.Func(fails), Backoff: engine.Backoff{Base: time.Hour},
				Observe: func(e core.Event, _ *core.State) {
					if _, ends := e.Data.(core.IterationFinished); ends {
						cancel()
					}
				},
			}
		}},
		{"in a responder", func(cancel func()) looprun.Config {
			return looprun.Config{
				Limits: hour, Work: engine.Func(fails), Questions: looptest.Asks{},
				Responders: []core.Responder{core.ResponderFunc(func(ctx context.Context, _ core.Question, _ *core.State) (core.Answer, error) {
					cancel()
					<-ctx.Done()
					return core.Answer{}, ctx.Err()
				})},
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			config := c.config(cancel)
			config.Guards = guards.Default()
			if res, err := looprun.Run(ctx, config); err != nil || res.Status != core.StatusInterrupted || res.ExitCode != 130 {
				t.Errorf("got %+v, %v; want interrupted with 130", res, err)
			}
		})
	}
}

// A run that does not begin leaves nothing behind, and one that has ended has to be
// resumed before it is run again.
func TestARunThatCannotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it fails when a goroutine is left
		loop := &engine.Loop{Guards: guards.Default(), Runner: &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}}, Journal: &looptest.BrokenJournal{}}
		if err := loop.Start(core.RunStarted{Limits: looptest.Defaults}); err == nil {
			t.Error("it started without a journal")
		}
		if _, err := loop.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "before Start or Resume") {
			t.Errorf("it ran though it had not started: %v", err)
		}
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}})
		if err := run.Start(core.RunStarted{Limits: looptest.Defaults}); !errors.Is(err, core.ErrEvent) {
			t.Errorf("it started twice: %v", err)
		}
		run = looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}})
		run.ToEnd(t)
		if _, err := run.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "before Start or Resume") {
			t.Errorf("it ran twice: %v", err)
		}
		if err := run.Resume(*run.State(), core.RunResumed{}); !errors.Is(err, core.ErrEvent) {
			t.Errorf("a run that is done was resumed: %v", err)
		}
	})
}
