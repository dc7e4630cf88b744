package core_test

import (
	"context"
	"slices"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/guards/guardtest"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// A command that exits with 0 and said that something is open is not done; only
// a check that passes knows better.
func TestWhatTheCommandLeftOpenIsNotDone(t *testing.T) {
	for name, data := range map[string]core.Data{
		"blocked":              core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}},
		"clarify":              core.SignalReceived{Signal: signal.Signal{Name: signal.Clarify, Question: "which?"}},
		"a rejection":          core.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker}},
		"an invalid rejection": core.RejectionInvalid{Issues: []rejection.Issue{{Problem: "p", Remedy: "r"}}},
		"a question":           core.QuestionAsked{Question: looptest.Database()},
		"unreadable questions": core.SignalReceived{Signal: signal.Signal{Name: core.NameChoices}, Problem: "it is empty"},
		"an unreadable signal": core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked}, Problem: "two words"},
	} {
		for _, check := range [][]string{nil, {"make", "test"}} {
			run := &looptest.Run{}
			r := looptest.Reports(func(_ context.Context, it core.Iteration) core.IterationResult {
				if it.Number > 1 {
					return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeError, Fatal: 7}}
				}
				return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}, Said: []core.Data{data}}
			})
			run.Loop = &engine.Loop{Guards: looptest.Start(t, looptest.Defaults, r).Guards, Journal: &run.Kept, Questions: looptest.Decisions{}, Runner: r}
			if err := run.Start(core.RunStarted{RunID: "test", Check: check, Limits: looptest.Defaults}); err != nil {
				t.Fatal(err)
			}
			if res := run.ToEnd(t); (res.Status == core.StatusDone) != (check != nil) {
				t.Errorf("%s, check %q: got %+v", name, check, res)
			}
		}
	}
}

// An answer to a guard, or one that overrides a rejection, does not keep the
// person from being asked whom the ladder wants.
func TestOnlyItsOwnAnswerStartsTheLadderOver(t *testing.T) {
	for _, c := range []struct {
		name   string
		said   core.Data
		option string
		words  string
		policy bool
		total  int // attempts on record after the answer
	}{
		{"a guard", nil, "override", "", false, 3},
		{"a guard, with a person's words", nil, "override", "go on", false, 0},
		{"a guard, with a policy's words", nil, "override", "go on", true, 3},
		{"a rejection that is overridden", core.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker, Suggested: "do the other"}}, "override", "", false, 3},
		{"a rejection with another task", core.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker, Suggested: "do the other"}}, "reformulate", "", false, 0},
		{"a signal", core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}, "override", "go on", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := looptest.Defaults
			if c.said == nil {
				limits.IdleIterations = 1
			}
			s := new(core.State)
			apply := func(d core.Data) {
				t.Helper()
				if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
					t.Fatal(err)
				}
			}
			apply(core.RunStarted{RunID: "test", Name: "climb", Limits: limits, Ladder: ladder.Config{{Rung: ladder.SelfSolve}, {Rung: ladder.Human}}})
			for i := range 3 {
				step := guardtest.Step{Outcome: core.OutcomeNotDone, Same: i + 1, Tree: i + 1}
				if c.said != nil && i == 2 {
					step.Said = []core.Data{c.said}
				}
				guardtest.Finish(t, s, step)
			}
			others := slices.DeleteFunc(guards.Default(), func(g core.Guard) bool { return g.ID() == core.NoProgress || g.ID() == core.LadderExhausted })
			run := &looptest.Run{}
			run.Loop = &engine.Loop{
				Guards: append([]core.Guard{tripsOnce{core.NoProgress}, tripsOnce{core.LadderExhausted}}, others...), Journal: &run.Kept, Questions: looptest.Decisions{},
				Responders: []core.Responder{core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
					a := looptest.Chosen(c.option)
					if a.Guidance = c.words; c.policy {
						a.Responder, a.Person = core.RespondedByPolicy, false
					}
					return a, nil
				})},
				Runner: looptest.Works(func(context.Context, core.Iteration) core.IterationFinished {
					return core.IterationFinished{Outcome: core.OutcomeDone}
				}),
			}
			if c.said != nil {
				run.Guards = looptest.Start(t, looptest.Defaults, looptest.Said(1)).Guards
			}
			if err := run.Resume(*s, core.RunResumed{}); err != nil {
				t.Fatal(err)
			}
			if _, err := run.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := run.State().Ladder.Task("climb").Total; got != c.total {
				t.Errorf("%d attempts are on record, want %d", got, c.total)
			}
		})
	}
}

// tripsOnce is a guard that trips until an answer reset something.
type tripsOnce struct{ id core.GuardID }

func (g tripsOnce) ID() core.GuardID { return g.id }

func (g tripsOnce) Check(s *core.State) *core.Trip {
	if s.ResetAt != nil {
		return nil
	}
	return &core.Trip{Guard: g.id, Reason: "once"}
}

// A continuing answer to a cost that is still over its limit would be asked about
// for ever.
func TestCostHasToBeExtended(t *testing.T) {
	limits := looptest.Defaults
	limits.Cost, limits.Tokens = 1, 100
	for guard, c := range map[core.GuardID]struct {
		said   core.CostReported
		extend core.Extend
	}{
		core.MaxCost:   {core.CostReported{USD: 2}, core.Extend{CostPercent: 50}},
		core.MaxTokens: {core.CostReported{Tokens: 200}, core.Extend{TokensPercent: 50}},
	} {
		s := guardtest.Start(t, limits)
		guardtest.Finish(t, s, guardtest.Step{Outcome: core.OutcomeNotDone, Said: []core.Data{c.said}})
		if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: core.GuardTripped{Trip: core.Trip{Guard: guard, Iteration: 1, Reason: "over"}}}); err != nil {
			t.Fatal(err)
		}
		o := core.Option{ID: "continue", Action: core.ActionContinue}
		if _, err := s.Effect(o, looptest.Chosen("continue")); err == nil {
			t.Errorf("%s: going on without more room was taken", guard)
		}
		o.Extend = c.extend
		if d, err := s.Effect(o, looptest.Chosen("continue")); err != nil || d.Limits == s.Limits {
			t.Errorf("%s: %+v %v", guard, d.Limits, err)
		}
	}
}
