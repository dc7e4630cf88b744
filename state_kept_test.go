package looprun_test

import (
	"context"
	"errors"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// An answer that was kept is for the next question with that name, of that kind,
// with those options, and for no other.
func TestAKeptAnswerIsForTheSameQuestion(t *testing.T) {
	named := func(id string, change func(*looprun.Question)) looprun.Question {
		q := database()
		q.AskID = id
		if change != nil {
			change(&q)
		}
		return q
	}
	for _, c := range []struct {
		name        string
		first, then looprun.Question
		kept        bool
	}{
		{"the same", named("db", nil), named("db", nil), true},
		{"other words", named("db", nil), named("db", func(q *looprun.Question) { q.Text = "And now?" }), true},
		{"another name", named("db", nil), named("db2", nil), false},
		{"no name", named("", nil), named("", nil), false},
		{"another kind", named("db", func(q *looprun.Question) { q.Kind, q.Options = looprun.KindText, nil }), named("db", func(q *looprun.Question) { q.Kind, q.Options = looprun.KindConfirm, nil }), false},
		{"fewer options", named("db", nil), named("db", func(q *looprun.Question) { q.Options = q.Options[:1] }), false},
		{"other options", named("db", nil), named("db", func(q *looprun.Question) { q.Options[1].ID = "lite" }), false},
	} {
		var run *testRun
		var first, then error
		run = start(t, defaults, once(func(ctx context.Context) {
			_, first = run.Ask(ctx, "first", c.first)
			_, then = run.Ask(ctx, "then", c.then)
		}), looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
			return looprun.Answer{}, looprun.ErrDeferred
		}))
		want := 2
		if c.kept {
			want = 1
		}
		if res := run.run(t); res.Status != looprun.StatusPaused || len(run.State().Pending()) != want || !errors.Is(first, looprun.ErrDeferred) || !errors.Is(then, looprun.ErrDeferred) {
			t.Errorf("%s: %d are kept, want %d; %+v, %v, %v", c.name, len(run.State().Pending()), want, res, first, then)
		}
	}
}

// Who asks for an expert is not done, as long as there is one left to ask.
func TestAskingForAnExpertIsNotDone(t *testing.T) {
	wants := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Expert}}
	half := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: "half"}}
	for _, c := range []struct {
		name  string
		rungs ladder.Config
		said  looprun.Data
		done  bool
	}{
		{"an expert is there", rungs, wants, false},
		{"no ladder", nil, wants, true},
		{"no experts", ladder.Config{{Rung: ladder.SelfSolve}, {Rung: ladder.Human}}, wants, true},
		{"another signal", rungs, half, true},
	} {
		r := reports(func(_ context.Context, it looprun.Iteration) looprun.IterationResult {
			if it.Number > 1 {
				return looprun.IterationResult{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeError, Fatal: 7}}
			}
			return looprun.IterationResult{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeDone}, Said: []looprun.Data{c.said}}
		})
		run := &testRun{}
		run.Loop = &looprun.Loop{Guards: start(t, defaults, r).Guards, Journal: &run.journal, Questions: asks{}, Runner: r}
		if err := run.Start(looprun.RunStarted{RunID: "test", Limits: defaults, Ladder: c.rungs}); err != nil {
			t.Fatal(err)
		}
		if res := run.run(t); (res.Status == looprun.StatusDone) != c.done {
			t.Errorf("%s: got %+v, done should be %v", c.name, res, c.done)
		}
	}
}

// What an answer to a limit has to leave: room for one iteration, some time, and
// what may be spent up to the limit itself.
func TestTheRoomThatAnAnswerHasToLeave(t *testing.T) {
	o := looprun.Option{ID: "continue", Action: looprun.ActionContinue}
	a := looprun.Answer{Option: "continue", Responder: looprun.RespondedByUser, Person: true}
	for _, c := range []struct {
		name  string
		guard looprun.GuardID
		state looprun.State
		takes bool
	}{
		{"no iteration", looprun.MaxIterations, looprun.State{Iterations: 5, Limits: looprun.Limits{Iterations: 5}}, false},
		{"one iteration", looprun.MaxIterations, looprun.State{Iterations: 5, Limits: looprun.Limits{Iterations: 6}}, true},
		{"no time", looprun.MaxRuntime, looprun.State{Elapsed: 5, Limits: looprun.Limits{Runtime: 5}}, false},
		{"some time", looprun.MaxRuntime, looprun.State{Elapsed: 5, Limits: looprun.Limits{Runtime: 6}}, true},
		{"the cost itself", looprun.MaxCost, looprun.State{Cost: 5, Limits: looprun.Limits{Cost: 5}}, true},
		{"more than the cost", looprun.MaxCost, looprun.State{Cost: 5.01, Limits: looprun.Limits{Cost: 5}}, false},
		{"the tokens themselves", looprun.MaxTokens, looprun.State{Tokens: 5, Limits: looprun.Limits{Tokens: 5}}, true},
		{"more than the tokens", looprun.MaxTokens, looprun.State{Tokens: 6, Limits: looprun.Limits{Tokens: 5}}, false},
	} {
		c.state.Trip = &looprun.Trip{Guard: c.guard}
		if _, err := c.state.Effect(o, a); (err == nil) != c.takes {
			t.Errorf("%s: %v, taken should be %v", c.name, err, c.takes)
		}
	}
}

// Another task takes the place of a rejected one only where the rejection names
// it; a rule's reason stands for the words that an answer needs.
func TestWhatAnAnswerNeeds(t *testing.T) {
	by := func(responder, reason, guidance string) looprun.Answer {
		return looprun.Answer{Option: "o", Responder: responder, Person: responder == looprun.RespondedByUser, Reason: reason, Guidance: guidance}
	}
	rejected := func(r rejection.Rejection) looprun.State {
		return looprun.State{Trip: &looprun.Trip{Guard: looprun.Rejection}, Rejected: &looprun.RejectionSubmitted{Rejection: r}}
	}
	blocked := looprun.State{Trip: &looprun.Trip{Guard: looprun.Blocked}, Signal: &signal.Signal{Name: signal.Blocked, Text: "no key"}}
	for _, c := range []struct {
		name   string
		state  looprun.State
		action looprun.Action
		answer looprun.Answer
		takes  bool
	}{
		{"another task", rejected(rejection.Rejection{Suggested: "the other"}), looprun.ActionReformulate, by("user", "", ""), true},
		{"no other task", rejected(rejection.Rejection{}), looprun.ActionReformulate, by("user", "", ""), false},
		{"no sub-tasks", rejected(rejection.Rejection{Suggested: "the other"}), looprun.ActionDecompose, by("user", "", ""), false},
		{"no rejection", looprun.State{Trip: &looprun.Trip{Guard: looprun.Rejection}}, looprun.ActionReformulate, by("user", "", ""), false},
		{"words", blocked, looprun.ActionContinue, by("user", "", "ask there"), true},
		{"no words of a person", blocked, looprun.ActionContinue, by("user", "so", ""), false},
		{"the reason of a rule", blocked, looprun.ActionContinue, by("policy", "Use the test key.", ""), true},
		{"no reason either", blocked, looprun.ActionContinue, by("policy", "", ""), false},
	} {
		d, err := c.state.Effect(looprun.Option{ID: "o", Action: c.action}, c.answer)
		if (err == nil) != c.takes {
			t.Errorf("%s: %v, taken should be %v", c.name, err, c.takes)
		}
		if c.takes && c.state.Signal != nil && d.Guidance == "" {
			t.Errorf("%s: nothing reaches the command", c.name)
		}
	}
}
