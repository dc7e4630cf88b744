package looprun_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
)

// What a policy's answers add is counted: its budget is bounded by it.
func TestWhatAPolicyAddsIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := defaults
		l.Iterations = 2
		run := start(t, l, &script{steps: []play{{outcome: core.OutcomeNotDone}}}, rule("continue"))
		res := run.run(t)
		if s := run.State(); res.Iterations != 50 || s.PolicyContinues != 10 || s.PolicyIterations != 48 {
			t.Errorf("after %d iterations the policy has continued %d times and added %d", res.Iterations, s.PolicyContinues, s.PolicyIterations)
		}
		run = start(t, defaults, &script{steps: []play{{outcome: core.OutcomeDone, took: 20 * time.Minute}}}, rule("continue"))
		if res, s := run.run(t), run.State(); res.Status != core.StatusDone || s.PolicyRuntime < 9*time.Minute {
			t.Errorf("got %+v, and the policy has added %s", res, s.PolicyRuntime)
		}
		run = start(t, l, &script{steps: []play{{outcome: core.OutcomeNotDone}}}, says("continue"))
		run.run(t)
		if s := run.State(); s.Continues != 1 || s.PolicyContinues != 0 || s.PolicyIterations != 0 {
			t.Error("a person's answer was counted as the policy's")
		}
	})
}

// A limit that is not the question's is never raised by more than what is spent
// plus what is added, never lowered, and never turned on.
func TestAnAnswerNeverMovesALimitTheWrongWay(t *testing.T) {
	for _, c := range []struct {
		name      string
		limit     int
		capped    int
		want      int
		responder core.Responder
	}{
		{"more than is spent and added", 10, 50, 10, says("continue")},
		{"above the cap", 10, 5, 10, says("continue")},
		{"off", core.Off, 50, core.Off, says("continue")},
		{"spent and added", 6, 50, 8, says("continue")},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := defaults
			l.Iterations = c.limit
			journal := &core.MemoryJournal{}
			loop := &engine.Loop{
				Guards: guards.Default(), Journal: journal, Questions: asks{}, Responders: []core.Responder{c.responder},
				Runner: &script{steps: []play{{outcome: core.OutcomeNotDone, same: 1}, {outcome: core.OutcomeNotDone, same: 1}, {outcome: core.OutcomeNotDone, same: 1}, {outcome: core.OutcomeDone}}},
			}
			if err := loop.Start(core.RunStarted{Limits: l, Caps: core.Caps{Iterations: c.capped}}); err != nil {
				t.Fatal(err)
			}
			if res, err := loop.Run(t.Context()); err != nil || res.Status != core.StatusDone {
				t.Fatalf("got %+v, %v", res, err)
			}
			if got := loop.State().Limits.Iterations; got != c.want {
				t.Errorf("the limit is %d, want %d", got, c.want)
			}
		})
	}
}

// defaulted makes a question whose default is to go on.
type defaulted struct{ asks }

func (d defaulted) Question(s *core.State, t core.Trip) (core.Question, error) {
	q, err := d.asks.Question(s, t)
	q.Default = "continue"
	return q, err
}

// At the cap going on is not offered, also not by default, and the question
// says why.
func TestAtTheCapGoingOnIsNotOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			guard core.GuardID
			took  time.Duration
			flag  string
		}{{core.MaxIterations, 0, "--cap-iterations"}, {core.MaxRuntime, 4 * time.Minute, "--cap-runtime"}} {
			l := defaults
			if c.took > 0 {
				l.Iterations = core.Off
			}
			var asked []core.Question
			run := start(t, l, &script{steps: []play{{outcome: core.OutcomeNotDone, took: c.took}}})
			run.Questions = defaulted{}
			run.Responders = []core.Responder{watched(&asked, says(slices.Repeat([]string{"continue"}, 50)...))}
			res := run.run(t)
			if res.Guard != c.guard || res.Status != core.StatusTripped || res.Iterations > 50 || res.Runtime.Truncate(time.Second) > time.Hour {
				t.Errorf("got %+v, want %s at its cap", res, c.guard)
			}
			q := asked[len(asked)-1]
			if slices.ContainsFunc(q.Options, func(o core.Option) bool { return o.Action.Continues() }) || q.Default != "" {
				t.Errorf("%s: offered are %v, by default %q", c.guard, q.OptionIDs(), q.Default)
			}
			if !strings.Contains(strings.Join(q.Details, "\n"), c.flag) {
				t.Errorf("%s: it does not say why: %q", c.guard, q.Details)
			}
			if asked[0].Default != "continue" || len(asked) < 2 {
				t.Errorf("%s: before the cap the default is %q", c.guard, asked[0].Default)
			}
		}
	})
}

// An answer that would go on past max_runtime without extending it is none.
func TestContinuingPastMaxRuntimeNeedsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, took := range []time.Duration{4 * time.Minute, time.Hour} { // between iterations, in one
			run := start(t, defaults, &script{steps: []play{{outcome: core.OutcomeNotDone, took: took}}}, rule("nothing"))
			run.Journal = &limitedJournal{1000}
			if res, err := run.Run(t.Context()); err != nil || res.ExitCode != 124 || run.State().Continues != 0 {
				t.Errorf("got %+v, %v after %d answers; want 124 after none", res, err, run.State().Continues)
			}
		}
	})
}

// Skipping needs something to skip, and skips all of a cycle.
func TestSkippingTakesTheWholeWindow(t *testing.T) {
	unsigned := runnerFunc(func(context.Context, core.Iteration) (core.IterationResult, error) {
		return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeError}}, nil
	})
	run := start(t, defaults, unsigned, rule("skip"))
	if res := run.run(t); res.ExitCode != 112 || run.State().Continues != 0 {
		t.Errorf("nothing to skip: got %+v, want 112", res)
	}

	a, b := play{outcome: core.OutcomeNotDone, same: 1}, play{outcome: core.OutcomeNotDone, same: 2}
	run = start(t, defaults, &script{steps: []play{a, b, a, b, a, b, a, {outcome: core.OutcomeDone}}}, says("skip"))
	if res := run.run(t); res.Status != core.StatusDone || len(run.State().Known) != 2 {
		t.Errorf("a cycle: got %+v with %+v known, want both", res, run.State().Known)
	}

	e, f := play{outcome: core.OutcomeError, same: 1}, play{outcome: core.OutcomeError, same: 2}
	run = start(t, defaults, &script{steps: []play{e, f, e, f, {outcome: core.OutcomeDone}}}, says("skip"))
	if res := run.run(t); res.Status != core.StatusDone || len(run.State().Known) != 2 {
		t.Errorf("errors: got %+v with %+v known, want both", res, run.State().Known)
	}
}

// debugs is a debug command that ends so.
type debugs func(context.Context) (core.DebugFinished, error)

func (d debugs) Debug(ctx context.Context, _ *core.State, _ core.Option, _ core.Answer) (core.DebugFinished, error) {
	return d(ctx)
}
