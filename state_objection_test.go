package looprun_test

import (
	"context"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/guards/guardtest"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// A command that exits with 0 and said that something is open is not done; only
// a check that passes knows better.
func TestWhatTheCommandLeftOpenIsNotDone(t *testing.T) {
	for name, data := range map[string]looprun.Data{
		"blocked":              looprun.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}},
		"clarify":              looprun.SignalReceived{Signal: signal.Signal{Name: signal.Clarify, Question: "which?"}},
		"a rejection":          looprun.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker}},
		"an invalid rejection": looprun.RejectionInvalid{Issues: []rejection.Issue{{Problem: "p", Remedy: "r"}}},
		"a question":           looprun.QuestionAsked{Question: database()},
		"unreadable questions": looprun.SignalReceived{Signal: signal.Signal{Name: looprun.NameChoices}, Problem: "it is empty"},
		"an unreadable signal": looprun.SignalReceived{Signal: signal.Signal{Name: signal.Blocked}, Problem: "two words"},
	} {
		for _, check := range [][]string{nil, {"make", "test"}} {
			run := &testRun{}
			r := reports(func(_ context.Context, it looprun.Iteration) looprun.IterationResult {
				if it.Number > 1 {
					return looprun.IterationResult{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeError, Fatal: 7}}
				}
				return looprun.IterationResult{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeDone}, Said: []looprun.Data{data}}
			})
			run.Loop = &looprun.Loop{Guards: start(t, defaults, r).Guards, Journal: &run.journal, Questions: decisions{}, Runner: r}
			if err := run.Start(looprun.RunStarted{RunID: "test", Check: check, Limits: defaults}); err != nil {
				t.Fatal(err)
			}
			if res := run.run(t); (res.Status == looprun.StatusDone) != (check != nil) {
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
		said   looprun.Data
		option string
		total  int // attempts on record after the answer
	}{
		{"a guard", nil, "override", 3},
		{"a rejection that is overridden", looprun.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker, Suggested: "do the other"}}, "override", 3},
		{"a rejection with another task", looprun.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker, Suggested: "do the other"}}, "reformulate", 0},
		{"a signal", looprun.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}, "override", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := defaults
			if c.said == nil {
				limits.IdleIterations = 1
			}
			s := new(looprun.State)
			apply := func(d looprun.Data) {
				t.Helper()
				if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: d}); err != nil {
					t.Fatal(err)
				}
			}
			apply(looprun.RunStarted{RunID: "test", Name: "climb", Limits: limits, Ladder: ladder.Config{{Rung: ladder.SelfSolve}, {Rung: ladder.Human}}})
			for i := range 3 {
				step := guardtest.Step{Outcome: looprun.OutcomeNotDone, Same: i + 1, Tree: i + 1}
				if c.said != nil && i == 2 {
					step.Said = []looprun.Data{c.said}
				}
				guardtest.Finish(t, s, step)
			}
			run := &testRun{}
			run.Loop = &looprun.Loop{
				Guards: append([]looprun.Guard{tripsOnce{looprun.NoProgress}, tripsOnce{looprun.LadderExhausted}}, guards.Default()...), Journal: &run.journal, Questions: decisions{},
				Responders: []looprun.Responder{answers(c.option, "go on")},
				Runner: works(func(context.Context, looprun.Iteration) looprun.IterationFinished {
					return looprun.IterationFinished{Outcome: looprun.OutcomeDone}
				}),
			}
			if c.said != nil {
				run.Guards = start(t, defaults, said(1)).Guards
			}
			if err := run.Resume(*s, looprun.RunResumed{}); err != nil {
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
type tripsOnce struct{ id looprun.GuardID }

func (g tripsOnce) ID() looprun.GuardID { return g.id }

func (g tripsOnce) Check(s *looprun.State) *looprun.Trip {
	if s.ResetAt != nil {
		return nil
	}
	return &looprun.Trip{Guard: g.id, Reason: "once"}
}

// A continuing answer to a cost that is still over its limit would be asked about
// for ever.
func TestCostHasToBeExtended(t *testing.T) {
	limits := defaults
	limits.Cost, limits.Tokens = 1, 100
	for guard, c := range map[looprun.GuardID]struct {
		said   looprun.CostReported
		extend looprun.Extend
	}{
		looprun.MaxCost:   {looprun.CostReported{USD: 2}, looprun.Extend{CostPercent: 50}},
		looprun.MaxTokens: {looprun.CostReported{Tokens: 200}, looprun.Extend{TokensPercent: 50}},
	} {
		s := guardtest.Start(t, limits)
		guardtest.Finish(t, s, guardtest.Step{Outcome: looprun.OutcomeNotDone, Said: []looprun.Data{c.said}})
		if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: looprun.GuardTripped{Trip: looprun.Trip{Guard: guard, Iteration: 1, Reason: "over"}}}); err != nil {
			t.Fatal(err)
		}
		o := looprun.Option{ID: "continue", Action: looprun.ActionContinue}
		if _, err := s.Effect(o, chosen("continue")); err == nil {
			t.Errorf("%s: going on without more room was taken", guard)
		}
		o.Extend = c.extend
		if d, err := s.Effect(o, chosen("continue")); err != nil || d.Limits == s.Limits {
			t.Errorf("%s: %+v %v", guard, d.Limits, err)
		}
	}
}
