package looprun_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
)

// Each limit has a cap of its own, and only its own: at it, whether by what is
// spent or by what was granted, and not one step before.
func TestEachLimitHasItsCap(t *testing.T) {
	caps := looprun.Caps{Iterations: 50, Runtime: time.Hour, Cost: 4, Tokens: 1000}
	for _, c := range []struct {
		guard            looprun.GuardID
		below, spent, at looprun.State // the last: the limit is the cap
	}{
		{
			looprun.MaxIterations,
			looprun.State{Iterations: 49, Limits: looprun.Limits{Iterations: 49}},
			looprun.State{Iterations: 50},
			looprun.State{Limits: looprun.Limits{Iterations: 50}},
		},
		{
			looprun.MaxRuntime,
			looprun.State{Elapsed: time.Hour - 1, Limits: looprun.Limits{Runtime: time.Hour - 1}},
			looprun.State{Elapsed: time.Hour},
			looprun.State{Limits: looprun.Limits{Runtime: time.Hour}},
		},
		{
			looprun.MaxCost,
			looprun.State{Cost: 3.99, Limits: looprun.Limits{Cost: 3.99}},
			looprun.State{Cost: 4},
			looprun.State{Limits: looprun.Limits{Cost: 4}},
		},
		{
			looprun.MaxTokens,
			looprun.State{Tokens: 999, Limits: looprun.Limits{Tokens: 999}},
			looprun.State{Tokens: 1000},
			looprun.State{Limits: looprun.Limits{Tokens: 1000}},
		},
	} {
		for _, s := range []looprun.State{c.below, c.spent, c.at} {
			want := !same(s, c.below)
			s.Caps = caps
			for _, id := range looprun.GuardIDs() {
				if _, capped := s.Capped(id); capped != (want && id == c.guard) {
					t.Errorf("%s, asked for %s with limits %+v, %d iterations, %s, $%g, %d tokens: capped %v",
						c.guard, id, s.Limits, s.Iterations, s.Elapsed, s.Cost, s.Tokens, capped)
				}
			}
			s.Caps = looprun.Caps{}
			if note, capped := s.Capped(c.guard); capped {
				t.Errorf("%s without a cap: %s", c.guard, note)
			}
		}
	}
}

func same(a, b looprun.State) bool {
	return a.Iterations == b.Iterations && a.Elapsed == b.Elapsed && a.Cost == b.Cost && a.Tokens == b.Tokens && a.Limits == b.Limits
}

// spending asks as asks does, and its continue adds to what was spent.
type spending struct{ asks }

func (p spending) Question(s *looprun.State, t looprun.Trip) (looprun.Question, error) {
	q, err := p.asks.Question(s, t)
	q.Options[0].Extend.CostPercent, q.Options[0].Extend.TokensPercent = 50, 50
	return q, err
}

// What costs money is bounded as what costs time is.
func TestAtTheCapNothingMoreIsSpent(t *testing.T) {
	for _, c := range []struct {
		guard      looprun.GuardID
		report     looprun.CostReported
		limits     looprun.Limits
		caps       looprun.Caps
		flag       string
		iterations int
	}{
		{looprun.MaxCost, looprun.CostReported{USD: 1}, looprun.Limits{Cost: 2}, looprun.Caps{Cost: 5}, "--cap-cost", 5},
		{looprun.MaxTokens, looprun.CostReported{Tokens: 100}, looprun.Limits{Tokens: 200}, looprun.Caps{Tokens: 500}, "--cap-tokens", 5},
	} {
		c.limits.Iterations, c.limits.Runtime, c.limits.Loop, c.limits.Errors = looprun.Off, looprun.Off, looprun.Off, looprun.Off
		var asked []looprun.Question
		run := &testRun{}
		run.Loop = &looprun.Loop{
			Guards: guards.Default(), Journal: &run.journal, Questions: spending{}, Runner: said(100, c.report),
			Responders: []looprun.Responder{watched(&asked, says(slices.Repeat([]string{"continue"}, 20)...))},
		}
		if err := run.Start(looprun.RunStarted{RunID: "test", Limits: c.limits, Caps: c.caps}); err != nil {
			t.Fatal(err)
		}
		if res := run.run(t); res.ExitCode != 113 || res.Guard != c.guard || res.Iterations != c.iterations {
			t.Errorf("got %+v, want %s with 113 after %d iterations", res, c.guard, c.iterations)
		}
		q := asked[len(asked)-1]
		if slices.ContainsFunc(q.Options, func(o looprun.Option) bool { return o.Action.Continues() }) || !strings.Contains(strings.Join(q.Details, "\n"), c.flag) {
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
			guard looprun.GuardID
			play  play
			caps  looprun.Caps
			want  string
		}{
			{"enough iterations", looprun.MaxIterations, play{}, looprun.Caps{Iterations: 7, Runtime: time.Second}, ""},
			{"too few iterations", looprun.MaxIterations, play{}, looprun.Caps{Iterations: 6, Runtime: time.Second}, "room for 4 iterations more (--cap-iterations)"},
			{"enough time", looprun.MaxRuntime, play{took: 5 * time.Minute}, looprun.Caps{Iterations: 3, Runtime: 15 * time.Minute}, ""},
			{"too little time", looprun.MaxRuntime, play{took: 5 * time.Minute}, looprun.Caps{Iterations: 3, Runtime: 14 * time.Minute}, "room for 9m0s more (--cap-runtime)"},
			{"another guard", looprun.LoopDetected, play{same: 1, took: time.Minute}, looprun.Caps{Iterations: 3, Runtime: 6 * time.Minute}, ""},
		} {
			l := looprun.Limits{Iterations: 2, Runtime: 5 * time.Minute, Loop: looprun.Off, Errors: looprun.Off}
			if c.guard == looprun.LoopDetected {
				l.Iterations, l.Loop = 5, 2
			}
			c.play.outcome = looprun.OutcomeNotDone
			var asked []looprun.Question
			run := &testRun{}
			run.Loop = &looprun.Loop{
				Guards: guards.Default(), Journal: &run.journal, Questions: asks{},
				Runner: &script{steps: []play{c.play}}, Responders: []looprun.Responder{watched(&asked, says())},
			}
			if err := run.Start(looprun.RunStarted{RunID: "test", Limits: l, Caps: c.caps}); err != nil {
				t.Fatal(err)
			}
			if res := run.run(t); res.Guard != c.guard || len(asked) != 1 {
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
	most := looprun.Limits{Iterations: math.MaxInt, Runtime: math.MaxInt64, Loop: 3, Errors: 3, Cost: math.MaxFloat64, Tokens: math.MaxInt64, IdleIterations: math.MaxInt, WorkspaceCycles: math.MaxInt}
	caps := looprun.DefaultCaps(most)
	if caps != (looprun.Caps{Iterations: math.MaxInt, Runtime: math.MaxInt64, Cost: math.MaxFloat64, Tokens: math.MaxInt64}) {
		t.Errorf("caps %+v", caps)
	}
	if caps := looprun.DefaultCaps(looprun.Limits{Iterations: looprun.Off, Runtime: looprun.Off, Cost: looprun.Off, Tokens: looprun.Off}); caps != (looprun.Caps{Iterations: 50, Runtime: time.Hour}) {
		t.Errorf("caps of limits that are off: %+v", caps)
	}
	text, err := json.Marshal(looprun.RunStarted{Limits: most, Caps: caps})
	var back looprun.RunStarted
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil || back.Limits != most || back.Caps != caps {
		t.Errorf("%s is read as %+v, %+v, %v", text, back.Limits, back.Caps, err)
	}

	// Answers add up to the most there is, and what is spent does too.
	started := begun
	started.Limits, started.Caps = looprun.Limits{Iterations: 1, Runtime: 1, Loop: 3, Errors: 3, Cost: 1, Tokens: 1}, looprun.Caps{}
	spent := looprun.CostReported{USD: math.MaxFloat64, Tokens: math.MaxInt64}
	s := folded(t, started, first, spent, spent, ended1, tripped, question)
	s.Iterations, s.Elapsed = 5, 5
	if s.Cost != math.MaxFloat64 || s.Tokens != math.MaxInt64 {
		t.Errorf("$%g and %d tokens were spent", s.Cost, s.Tokens)
	}
	s.Initial.Cost, s.Initial.Tokens = math.MaxFloat64, math.MaxInt64
	for name, e := range map[string]looprun.Extend{
		"amounts":     {Iterations: math.MaxInt, Runtime: math.MaxInt64, Cost: math.MaxFloat64, Tokens: math.MaxInt64},
		"percentages": {Iterations: math.MaxInt, Runtime: math.MaxInt64, CostPercent: 200, TokensPercent: 200},
	} {
		d, err := s.Effect(looprun.Option{Action: looprun.ActionContinue, Extend: e}, looprun.Answer{})
		if l := d.Limits; err != nil || l.Iterations != math.MaxInt || l.Runtime != math.MaxInt64 || l.Cost != math.MaxFloat64 || l.Tokens != math.MaxInt64 {
			t.Errorf("%s: limits %+v, %v", name, d.Limits, err)
		}
	}

	// The longest time is no deadline that has passed.
	synctest.Test(t, func(t *testing.T) {
		run := start(t, most, &script{steps: []play{{outcome: looprun.OutcomeDone, took: 25 * time.Second}}})
		if res := run.run(t); res.Status != looprun.StatusDone || len(run.journal.Events) != 6 {
			t.Errorf("got %+v after %d events", res, len(run.journal.Events))
		}
	})
}
