package core_test

import (
	"context"
	"errors"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// An answer that was kept is for the next question with that name, of that kind,
// with those options, and for no other.
func TestAKeptAnswerIsForTheSameQuestion(t *testing.T) {
	named := func(id string, change func(*core.Question)) core.Question {
		q := looptest.Database()
		q.AskID = id
		if change != nil {
			change(&q)
		}
		return q
	}
	for _, c := range []struct {
		name        string
		first, then core.Question
		kept        bool
	}{
		{"the same", named("db", nil), named("db", nil), true},
		{"other words", named("db", nil), named("db", func(q *core.Question) { q.Text = "And now?" }), true},
		{"another name", named("db", nil), named("db2", nil), false},
		{"no name", named("", nil), named("", nil), false},
		{"another kind", named("db", func(q *core.Question) { q.Kind, q.Options = core.KindText, nil }), named("db", func(q *core.Question) { q.Kind, q.Options = core.KindConfirm, nil }), false},
		{"fewer options", named("db", nil), named("db", func(q *core.Question) { q.Options = q.Options[:1] }), false},
		{"other options", named("db", nil), named("db", func(q *core.Question) { q.Options[1].ID = "lite" }), false},
	} {
		var run *looptest.Run
		var first, then error
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
			_, first = run.Ask(ctx, "first", c.first)
			_, then = run.Ask(ctx, "then", c.then)
		}), core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			return core.Answer{}, core.ErrDeferred
		}))
		want := 2
		if c.kept {
			want = 1
		}
		if res := run.ToEnd(t); res.Status != core.StatusPaused || len(run.State().Pending()) != want || !errors.Is(first, core.ErrDeferred) || !errors.Is(then, core.ErrDeferred) {
			t.Errorf("%s: %d are kept, want %d; %+v, %v, %v", c.name, len(run.State().Pending()), want, res, first, then)
		}
	}
}

// Who asks for an expert is not done, as long as there is one left to ask.
func TestAskingForAnExpertIsNotDone(t *testing.T) {
	wants := core.SignalReceived{Signal: signal.Signal{Name: signal.Expert}}
	half := core.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: "half"}}
	for _, c := range []struct {
		name  string
		rungs ladder.Config
		said  core.Data
		done  bool
	}{
		{"an expert is there", rungs, wants, false},
		{"no ladder", nil, wants, true},
		{"no experts", ladder.Config{{Rung: ladder.SelfSolve}, {Rung: ladder.Human}}, wants, true},
		{"another signal", rungs, half, true},
	} {
		r := looptest.Reports(func(_ context.Context, it core.Iteration) core.IterationResult {
			if it.Number > 1 {
				return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeError, Fatal: 7}}
			}
			return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}, Said: []core.Data{c.said}}
		})
		run := &looptest.Run{}
		run.Loop = &engine.Loop{Guards: looptest.Start(t, looptest.Defaults, r).Guards, Journal: &run.Kept, Questions: looptest.Asks{}, Runner: r}
		if err := run.Start(core.RunStarted{RunID: "test", Limits: looptest.Defaults, Ladder: c.rungs}); err != nil {
			t.Fatal(err)
		}
		if res := run.ToEnd(t); (res.Status == core.StatusDone) != c.done {
			t.Errorf("%s: got %+v, done should be %v", c.name, res, c.done)
		}
	}
}

// What an answer to a limit has to leave: room for one iteration, some time, and
// what may be spent up to the limit itself.
func TestTheRoomThatAnAnswerHasToLeave(t *testing.T) {
	o := core.Option{ID: "continue", Action: core.ActionContinue}
	a := core.Answer{Option: "continue", Responder: core.RespondedByUser, Person: true}
	for _, c := range []struct {
		name  string
		guard core.GuardID
		state core.State
		takes bool
	}{
		{"no iteration", core.MaxIterations, core.State{Iterations: 5, Limits: core.Limits{Iterations: 5}}, false},
		{"one iteration", core.MaxIterations, core.State{Iterations: 5, Limits: core.Limits{Iterations: 6}}, true},
		{"no time", core.MaxRuntime, core.State{Elapsed: 5, Limits: core.Limits{Runtime: 5}}, false},
		{"some time", core.MaxRuntime, core.State{Elapsed: 5, Limits: core.Limits{Runtime: 6}}, true},
		{"the cost itself", core.MaxCost, core.State{Cost: 5, Limits: core.Limits{Cost: 5}}, true},
		{"more than the cost", core.MaxCost, core.State{Cost: 5.01, Limits: core.Limits{Cost: 5}}, false},
		{"the tokens themselves", core.MaxTokens, core.State{Tokens: 5, Limits: core.Limits{Tokens: 5}}, true},
		{"more than the tokens", core.MaxTokens, core.State{Tokens: 6, Limits: core.Limits{Tokens: 5}}, false},
	} {
		c.state.Trip = &core.Trip{Guard: c.guard}
		if _, err := c.state.Effect(o, a); (err == nil) != c.takes {
			t.Errorf("%s: %v, taken should be %v", c.name, err, c.takes)
		}
	}
}

// Another task takes the place of a rejected one only where the rejection names
// it; a rule's reason stands for the words that an answer needs.
func TestWhatAnAnswerNeeds(t *testing.T) {
	by := func(responder, reason, guidance string) core.Answer {
		return core.Answer{Option: "o", Responder: responder, Person: responder == core.RespondedByUser, Reason: reason, Guidance: guidance}
	}
	rejected := func(r rejection.Rejection) core.State {
		return core.State{Trip: &core.Trip{Guard: core.Rejection}, Rejected: &core.RejectionSubmitted{Rejection: r}}
	}
	blocked := core.State{Trip: &core.Trip{Guard: core.Blocked}, Signal: &signal.Signal{Name: signal.Blocked, Text: "no key"}}
	for _, c := range []struct {
		name   string
		state  core.State
		action core.Action
		answer core.Answer
		takes  bool
	}{
		{"another task", rejected(rejection.Rejection{Suggested: "the other"}), core.ActionReformulate, by("user", "", ""), true},
		{"no other task", rejected(rejection.Rejection{}), core.ActionReformulate, by("user", "", ""), false},
		{"no sub-tasks", rejected(rejection.Rejection{Suggested: "the other"}), core.ActionDecompose, by("user", "", ""), false},
		{"no rejection", core.State{Trip: &core.Trip{Guard: core.Rejection}}, core.ActionReformulate, by("user", "", ""), false},
		{"words", blocked, core.ActionContinue, by("user", "", "ask there"), true},
		{"no words of a person, who may have unblocked it", blocked, core.ActionContinue, by("user", "so", ""), true},
		{"no words of a program", blocked, core.ActionContinue, by("program", "", ""), false},
		{"the reason of a rule", blocked, core.ActionContinue, by("policy", "Use the test key.", ""), true},
		{"no reason either", blocked, core.ActionContinue, by("policy", "", ""), false},
	} {
		d, err := c.state.Effect(core.Option{ID: "o", Action: c.action}, c.answer)
		if (err == nil) != c.takes {
			t.Errorf("%s: %v, taken should be %v", c.name, err, c.takes)
		}
		if c.takes && c.state.Signal != nil && d.Guidance == "" {
			t.Errorf("%s: nothing reaches the command", c.name)
		}
	}
}
