package looprun_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/looprun/looprun"
)

// Who answers a question of the command with what it does not take is asked once
// more; who fails has tried again by itself, and a guard asks once.
func TestHowOftenAResponderIsAsked(t *testing.T) {
	for _, c := range []struct {
		name    string
		command bool
		err     error
		want    int
	}{
		{"a wrong answer to the command", true, nil, 2},
		{"a failure at the command's question", true, errors.New("it crashed"), 1},
		{"a wrong answer to a guard", false, nil, 1},
		{"a failure at a guard's question", false, errors.New("it crashed"), 1},
	} {
		asked, answered := 0, error(nil)
		var run *testRun
		runner := looprun.Runner(&script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}})
		if c.command {
			runner = once(func(ctx context.Context) { _, answered = run.Ask(ctx, "key", database()) })
		}
		run = start(t, defaults, runner, looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
			asked++
			return chosen("nonsense"), c.err
		}))
		res := run.run(t)
		if asked != c.want || c.command != errors.Is(answered, looprun.ErrNoAnswer) || c.command == (res.ExitCode == 111) {
			t.Errorf("%s: asked %d times, want %d; %+v, %v", c.name, asked, c.want, res, answered)
		}
	}
}

// The command that asks the same again under the same name has the answer that it had.
// What lets something happen, and what a person alone may answer, is asked each time.
func TestTheSameQuestionIsAskedOnce(t *testing.T) {
	change := func(change func(*looprun.Question)) looprun.Question {
		q := database()
		change(&q)
		return q
	}
	words, nothing := "SQLite", looprun.Answer{Responder: looprun.RespondedByUser, Person: true}
	typed, declined, defaulted := nothing, nothing, chosen("pg")
	typed.Text, declined.Cancelled, defaulted.Responder = &words, true, looprun.RespondedByDetached
	yes, token := chosen(looprun.Yes), nothing
	token.Text = new(secret)
	freely := func(q *looprun.Question) { q.Kind, q.Options = looprun.KindText, nil }
	advised := &looprun.Advice{Text: "The assistant recommended rejecting this."}
	for _, c := range []struct {
		name          string
		first, second looprun.Question
		answer        looprun.Answer
		asked         int
	}{
		{"select", database(), database(), chosen("my"), 1},
		{"text", change(freely), change(freely), typed, 1},
		{"other evidence", database(), change(func(q *looprun.Question) { q.Details = []string{"iteration 2"} }), chosen("my"), 1},
		{"without a name", change(func(q *looprun.Question) { q.AskID = "" }), change(func(q *looprun.Question) { q.AskID = "" }), chosen("my"), 2},
		{"a name by its place", change(func(q *looprun.Question) { q.AskID = "q1" }), change(func(q *looprun.Question) { q.AskID = "q1" }), chosen("my"), 2},
		{"again", database(), change(func(q *looprun.Question) { q.Again = true }), chosen("my"), 2},
		{"another name", database(), change(func(q *looprun.Question) { q.AskID = "store" }), chosen("my"), 2},
		{"other words", database(), change(func(q *looprun.Question) { q.Text = "Which one now?" }), chosen("my"), 2},
		{"other labels", database(), change(func(q *looprun.Question) { q.Options[0].Label = "MySQL 8" }), chosen("my"), 2},
		{"another meaning", database(), change(func(q *looprun.Question) { q.Options[1].Description = "all is deleted" }), chosen("my"), 2},
		{"for others", database(), change(func(q *looprun.Question) { q.To = "user" }), chosen("my"), 2},
		{"confirm", change(func(q *looprun.Question) { freely(q); q.Kind = looprun.KindConfirm }), change(func(q *looprun.Question) { freely(q); q.Kind = looprun.KindConfirm }), yes, 2},
		{"exclusive", change(func(q *looprun.Question) { q.Exclusive = true }), change(func(q *looprun.Question) { q.Exclusive = true }), chosen("my"), 2},
		{"mandatory", change(func(q *looprun.Question) { q.Mandatory = true }), change(func(q *looprun.Question) { q.Mandatory = true }), chosen("my"), 2},
		{"advised against", change(func(q *looprun.Question) { q.Advice = advised }), change(func(q *looprun.Question) { q.Advice = advised }), chosen("my"), 2},
		{"advised against before", change(func(q *looprun.Question) { q.Advice = advised }), database(), chosen("my"), 2},
		{"advised against since", database(), change(func(q *looprun.Question) { q.Advice = advised }), chosen("my"), 2},
		{"of a run inside", change(func(q *looprun.Question) { q.Path = []string{"x"} }), change(func(q *looprun.Question) { q.Path = []string{"x"} }), chosen("my"), 2},
		{"declined", change(func(q *looprun.Question) { q.AllowCancel = true }), change(func(q *looprun.Question) { q.AllowCancel = true }), declined, 2},
		{"by default", database(), database(), defaulted, 2},
		{"a secret", change(freely), change(freely), token, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var run *testRun
			var got []looprun.Asked
			asked := 0
			run = start(t, defaults, once(func(ctx context.Context) {
				for _, q := range []looprun.Question{c.first, c.second} {
					a, err := run.Ask(ctx, "key", q)
					if err != nil {
						t.Error(err)
					}
					got = append(got, a)
				}
			}), looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
				asked++
				return c.answer, nil
			}))
			run.Mask = func(s string) string { return strings.ReplaceAll(s, secret, "***") }
			run.run(t)
			if asked != c.asked || len(got) != 2 || got[0].Earlier || got[1].Earlier != (asked == 1) {
				t.Fatalf("asked %d times, want %d: %+v", asked, c.asked, got)
			}
			if got[1].Answer == nil || got[1].Answer.String() != c.answer.String() {
				t.Errorf("the second answer is %v, want %v", got[1].Answer, c.answer)
			}
		})
	}
}
