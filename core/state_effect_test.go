package core_test

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
	"github.com/looprun/looprun/internal/looptest"
)

// What a policy's answers add is counted: its budget is bounded by it.
func TestWhatAPolicyAddsIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := looptest.Defaults
		l.Iterations = 2
		run := looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, looptest.Rule("continue"))
		res := run.ToEnd(t)
		if s := run.State(); res.Iterations != 50 || s.PolicyContinues != 10 || s.PolicyIterations != 48 {
			t.Errorf("after %d iterations the policy has continued %d times and added %d", res.Iterations, s.PolicyContinues, s.PolicyIterations)
		}
		run = looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: 20 * time.Minute}}}, looptest.Rule("continue"))
		if res, s := run.ToEnd(t), run.State(); res.Status != core.StatusDone || s.PolicyRuntime < 9*time.Minute {
			t.Errorf("got %+v, and the policy has added %s", res, s.PolicyRuntime)
		}
		run = looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, looptest.Says("continue"))
		run.ToEnd(t)
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
		{"more than is spent and added", 10, 50, 10, looptest.Says("continue")},
		{"above the cap", 10, 5, 10, looptest.Says("continue")},
		{"off", core.Off, 50, core.Off, looptest.Says("continue")},
		{"spent and added", 6, 50, 8, looptest.Says("continue")},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := looptest.Defaults
			l.Iterations = c.limit
			journal := &core.MemoryJournal{}
			loop := &engine.Loop{
				Guards: guards.Default(), Journal: journal, Questions: looptest.Asks{}, Responders: []core.Responder{c.responder},
				Runner: &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}, {Outcome: core.OutcomeNotDone, Same: 1}, {Outcome: core.OutcomeNotDone, Same: 1}, {Outcome: core.OutcomeDone}}},
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
type defaulted struct{ looptest.Asks }

func (d defaulted) Question(s *core.State, t core.Trip) (core.Question, error) {
	q, err := d.Asks.Question(s, t)
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
			l := looptest.Defaults
			if c.took > 0 {
				l.Iterations = core.Off
			}
			var asked []core.Question
			run := looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Took: c.took}}})
			run.Questions = defaulted{}
			run.Responders = []core.Responder{looptest.Watched(&asked, looptest.Says(slices.Repeat([]string{"continue"}, 50)...))}
			res := run.ToEnd(t)
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
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Took: took}}}, looptest.Rule("nothing"))
			run.Journal = &looptest.BrokenJournal{Left: 1000}
			if res, err := run.Run(t.Context()); err != nil || res.ExitCode != 124 || run.State().Continues != 0 {
				t.Errorf("got %+v, %v after %d answers; want 124 after none", res, err, run.State().Continues)
			}
		}
	})
}

// Skipping needs something to skip, and skips all of a cycle.
func TestSkippingTakesTheWholeWindow(t *testing.T) {
	unsigned := looptest.RunnerFunc(func(context.Context, core.Iteration) (core.IterationResult, error) {
		return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeError}}, nil
	})
	run := looptest.Start(t, looptest.Defaults, unsigned, looptest.Rule("skip"))
	if res := run.ToEnd(t); res.ExitCode != 112 || run.State().Continues != 0 {
		t.Errorf("nothing to skip: got %+v, want 112", res)
	}

	a, b := looptest.Play{Outcome: core.OutcomeNotDone, Same: 1}, looptest.Play{Outcome: core.OutcomeNotDone, Same: 2}
	run = looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{a, b, a, b, a, b, a, {Outcome: core.OutcomeDone}}}, looptest.Says("skip"))
	if res := run.ToEnd(t); res.Status != core.StatusDone || len(run.State().Known) != 2 {
		t.Errorf("a cycle: got %+v with %+v known, want both", res, run.State().Known)
	}

	e, f := looptest.Play{Outcome: core.OutcomeError, Same: 1}, looptest.Play{Outcome: core.OutcomeError, Same: 2}
	run = looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{e, f, e, f, {Outcome: core.OutcomeDone}}}, looptest.Says("skip"))
	if res := run.ToEnd(t); res.Status != core.StatusDone || len(run.State().Known) != 2 {
		t.Errorf("errors: got %+v with %+v known, want both", res, run.State().Known)
	}
}

// Files are taken of the iteration that is kept, and of no other.
func TestOnlyTheKeptIterationIsTaken(t *testing.T) {
	s := looptest.Folded(t, looptest.Begun, core.IterationStarted{Iteration: 1}, core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone}, looptest.Tripped, looptest.Question)
	take := core.Option{ID: "accept_best", Action: core.ActionAccept, Restore: 2}
	for name, best := range map[string]*core.Best{"none": nil, "another": {Iteration: 1, Checkpoint: "abc"}} {
		s.Best = best
		if d, err := s.Effect(take, core.Answer{Option: take.ID}); err == nil || d.Restore != 0 {
			t.Errorf("%s is kept: %+v, %v", name, d, err)
		}
	}
	s.Best = &core.Best{Iteration: 2, Checkpoint: "abc"}
	d, err := s.Effect(take, core.Answer{Option: take.ID})
	if err != nil || d.Restore != 2 || d.Checkpoint != "abc" {
		t.Errorf("%+v, %v", d, err)
	}
	if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: looptest.Answered}); err != nil {
		t.Fatal(err)
	}
	for name, best := range map[string]*core.Best{"none": nil, "another": {Iteration: 1, Checkpoint: "abc"}, "other files": {Iteration: 2, Checkpoint: "abd"}, "this one": s.Best} {
		s := s.Clone()
		s.Best = best
		if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); (err == nil) != (name == "this one") {
			t.Errorf("%s is kept, on record: %v", name, err)
		}
	}
}
