package core_test

import (
	"encoding/json"
	"math"
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

// Each limit has a cap of its own, and only its own: at it, whether by what is
// spent or by what was granted, and not one step before.
func TestEachLimitHasItsCap(t *testing.T) {
	caps := core.Caps{Iterations: 50, Runtime: time.Hour, Cost: 4, Tokens: 1000}
	for _, c := range []struct {
		guard            core.GuardID
		below, spent, at core.State // the last: the limit is the cap
	}{
		{
			core.MaxIterations,
			core.State{Iterations: 49, Limits: core.Limits{Iterations: 49}},
			core.State{Iterations: 50},
			core.State{Limits: core.Limits{Iterations: 50}},
		},
		{
			core.MaxRuntime,
			core.State{Elapsed: time.Hour - 1, Limits: core.Limits{Runtime: time.Hour - 1}},
			core.State{Elapsed: time.Hour},
			core.State{Limits: core.Limits{Runtime: time.Hour}},
		},
		{
			core.MaxCost,
			core.State{Cost: 3.99, Limits: core.Limits{Cost: 3.99}},
			core.State{Cost: 4},
			core.State{Limits: core.Limits{Cost: 4}},
		},
		{
			core.MaxTokens,
			core.State{Tokens: 999, Limits: core.Limits{Tokens: 999}},
			core.State{Tokens: 1000},
			core.State{Limits: core.Limits{Tokens: 1000}},
		},
	} {
		for _, s := range []core.State{c.below, c.spent, c.at} {
			want := !same(s, c.below)
			s.Caps = caps
			for _, id := range core.GuardIDs() {
				if _, capped := s.Capped(id); capped != (want && id == c.guard) {
					t.Errorf("%s, asked for %s with limits %+v, %d iterations, %s, $%g, %d tokens: capped %v",
						c.guard, id, s.Limits, s.Iterations, s.Elapsed, s.Cost, s.Tokens, capped)
				}
			}
			s.Caps = core.Caps{}
			if note, capped := s.Capped(c.guard); capped {
				t.Errorf("%s without a cap: %s", c.guard, note)
			}
		}
	}
}

func same(a, b core.State) bool {
	return a.Iterations == b.Iterations && a.Elapsed == b.Elapsed && a.Cost == b.Cost && a.Tokens == b.Tokens && a.Limits == b.Limits
}

// spending asks as asks does, and its continue adds to what was spent.
type spending struct{ looptest.Asks }

func (p spending) Question(s *core.State, t core.Trip) (core.Question, error) {
	q, err := p.Asks.Question(s, t)
	q.Options[0].Extend.CostPercent, q.Options[0].Extend.TokensPercent = 50, 50
	return q, err
}

// What costs money is bounded as what costs time is.
func TestAtTheCapNothingMoreIsSpent(t *testing.T) {
	for _, c := range []struct {
		guard      core.GuardID
		report     core.CostReported
		limits     core.Limits
		caps       core.Caps
		flag       string
		iterations int
	}{
		{core.MaxCost, core.CostReported{USD: 1}, core.Limits{Cost: 2}, core.Caps{Cost: 5}, "--cap-cost", 5},
		{core.MaxTokens, core.CostReported{Tokens: 100}, core.Limits{Tokens: 200}, core.Caps{Tokens: 500}, "--cap-tokens", 5},
	} {
		c.limits.Iterations, c.limits.Runtime, c.limits.Loop, c.limits.Errors = core.Off, core.Off, core.Off, core.Off
		var asked []core.Question
		run := &looptest.Run{}
		run.Loop = &engine.Loop{
			Guards: guards.Default(), Journal: &run.Kept, Questions: spending{}, Runner: looptest.Said(100, c.report),
			Responders: []core.Responder{looptest.Watched(&asked, looptest.Says(slices.Repeat([]string{"continue"}, 20)...))},
		}
		if err := run.Start(core.RunStarted{RunID: "test", Limits: c.limits, Caps: c.caps}); err != nil {
			t.Fatal(err)
		}
		if res := run.ToEnd(t); res.ExitCode != 113 || res.Guard != c.guard || res.Iterations != c.iterations {
			t.Errorf("got %+v, want %s with 113 after %d iterations", res, c.guard, c.iterations)
		}
		q := asked[len(asked)-1]
		if slices.ContainsFunc(q.Options, func(o core.Option) bool { return o.Action.Continues() }) || !strings.Contains(strings.Join(q.Details, "\n"), c.flag) {
			t.Errorf("%s at its cap offers %v and says %q", c.guard, q.OptionIDs(), q.Details)
		}
		if _, ok := asked[0].Option("continue"); !ok || len(asked) < 2 {
			t.Errorf("%s below its cap offers %v", c.guard, asked[0].OptionIDs())
		}
	}
}

// An option that promises more than the cap leaves says how much there is.
func TestTheQuestionSaysWhatTheCapLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name  string
			guard core.GuardID
			play  looptest.Play
			caps  core.Caps
			want  string
		}{
			{"enough iterations", core.MaxIterations, looptest.Play{}, core.Caps{Iterations: 7, Runtime: time.Second}, ""},
			{"too few iterations", core.MaxIterations, looptest.Play{}, core.Caps{Iterations: 6, Runtime: time.Second}, "room for 4 iterations more (--cap-iterations)"},
			{"enough time", core.MaxRuntime, looptest.Play{Took: 5 * time.Minute}, core.Caps{Iterations: 3, Runtime: 15 * time.Minute}, ""},
			{"too little time", core.MaxRuntime, looptest.Play{Took: 5 * time.Minute}, core.Caps{Iterations: 3, Runtime: 14 * time.Minute}, "room for 9m more (--cap-runtime)"},
			{"another guard", core.LoopDetected, looptest.Play{Same: 1, Took: time.Minute}, core.Caps{Iterations: 3, Runtime: 6 * time.Minute}, ""},
		} {
			l := core.Limits{Iterations: 2, Runtime: 5 * time.Minute, Loop: core.Off, Errors: core.Off}
			if c.guard == core.LoopDetected {
				l.Iterations, l.Loop = 5, 2
			}
			c.play.Outcome = core.OutcomeNotDone
			var asked []core.Question
			run := &looptest.Run{}
			run.Loop = &engine.Loop{
				Guards: guards.Default(), Journal: &run.Kept, Questions: looptest.Asks{},
				Runner: &looptest.Script{Steps: []looptest.Play{c.play}}, Responders: []core.Responder{looptest.Watched(&asked, looptest.Says())},
			}
			if err := run.Start(core.RunStarted{RunID: "test", Limits: l, Caps: c.caps}); err != nil {
				t.Fatal(err)
			}
			if res := run.ToEnd(t); res.Guard != c.guard || len(asked) != 1 {
				t.Fatalf("%s: got %+v after %d questions", c.name, res, len(asked))
			}
			got := strings.Join(asked[0].Details, "\n")
			if c.want == "" && strings.Contains(got, "room") || !strings.Contains(got, c.want) {
				t.Errorf("%s: it says %q, want %q", c.name, got, c.want)
			}
		}
	})
}

// The largest limits that can be written are limits: nothing that is added to them, or
// to what was spent, goes round to the other end.
func TestLimitsAreCountedToTheirEnd(t *testing.T) {
	most := core.Limits{Iterations: math.MaxInt, Runtime: math.MaxInt64, Loop: 3, Errors: 3, Cost: math.MaxFloat64, Tokens: math.MaxInt64, IdleIterations: math.MaxInt, WorkspaceCycles: math.MaxInt}
	caps := core.DefaultCaps(most)
	if caps != (core.Caps{Iterations: math.MaxInt, Runtime: math.MaxInt64, Cost: math.MaxFloat64, Tokens: math.MaxInt64}) {
		t.Errorf("caps %+v", caps)
	}
	if caps := core.DefaultCaps(core.Limits{Iterations: core.Off, Runtime: core.Off, Cost: core.Off, Tokens: core.Off}); caps != (core.Caps{Iterations: 50, Runtime: time.Hour}) {
		t.Errorf("caps of limits that are off: %+v", caps)
	}
	text, err := json.Marshal(core.RunStarted{Limits: most, Caps: caps})
	var back core.RunStarted
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil || back.Limits != most || back.Caps != caps {
		t.Errorf("%s is read as %+v, %+v, %v", text, back.Limits, back.Caps, err)
	}

	// Answers add up to the most there is, and what is spent does too.
	started := looptest.Begun
	started.Limits, started.Caps = core.Limits{Iterations: 1, Runtime: 1, Loop: 3, Errors: 3, Cost: 1, Tokens: 1}, core.Caps{}
	spent := core.CostReported{USD: math.MaxFloat64, Tokens: math.MaxInt64}
	s := looptest.Folded(t, started, looptest.First, spent, spent, looptest.Ended1, looptest.Tripped, looptest.Question)
	s.Iterations, s.Elapsed = 5, 5
	if s.Cost != math.MaxFloat64 || s.Tokens != math.MaxInt64 {
		t.Errorf("$%g and %d tokens were spent", s.Cost, s.Tokens)
	}
	s.Initial.Cost, s.Initial.Tokens = math.MaxFloat64, math.MaxInt64
	for name, e := range map[string]core.Extend{
		"amounts":     {Iterations: math.MaxInt, Runtime: math.MaxInt64, Cost: math.MaxFloat64, Tokens: math.MaxInt64},
		"percentages": {Iterations: math.MaxInt, Runtime: math.MaxInt64, CostPercent: 200, TokensPercent: 200},
	} {
		d, err := s.Effect(core.Option{Action: core.ActionContinue, Extend: e}, core.Answer{})
		if l := d.Limits; err != nil || l.Iterations != math.MaxInt || l.Runtime != math.MaxInt64 || l.Cost != math.MaxFloat64 || l.Tokens != math.MaxInt64 {
			t.Errorf("%s: limits %+v, %v", name, d.Limits, err)
		}
	}

	// The longest time is no deadline that has passed.
	synctest.Test(t, func(t *testing.T) {
		run := looptest.Start(t, most, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: 25 * time.Second}}})
		if res := run.ToEnd(t); res.Status != core.StatusDone || len(run.Kept.Events) != 6 {
			t.Errorf("got %+v after %d events", res, len(run.Kept.Events))
		}
	})
}
