package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
)

// hidden is a word that the mask takes out.
const hidden = "hunter2-hunter2"

// Who answers a question of the command with what it does not take is asked once
// more; who fails has tried again by itself, and a guard asks once.
func TestHowOftenAResponderIsAsked(t *testing.T) {
	eventually.Ends(t)
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
		var run *looptest.Run
		runner := engine.Runner(&looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}})
		if c.command {
			runner = looptest.Once(func(ctx context.Context) { _, answered = run.Ask(ctx, "key", looptest.Database()) })
		}
		run = looptest.Start(t, looptest.Defaults, runner, core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			asked++
			return looptest.Chosen("nonsense"), c.err
		}))
		res := run.ToEnd(t)
		if asked != c.want || c.command != errors.Is(answered, core.ErrNoAnswer) || c.command == (res.ExitCode == 111) {
			t.Errorf("%s: asked %d times, want %d; %+v, %v", c.name, asked, c.want, res, answered)
		}
	}
}

// The command that asks the same again under the same name has the answer that it had.
// What lets something happen, and what a person alone may answer, is asked each time.
func TestTheSameQuestionIsAskedOnce(t *testing.T) {
	eventually.Ends(t)
	change := func(change func(*core.Question)) core.Question {
		q := looptest.Database()
		change(&q)
		return q
	}
	words, nothing := "SQLite", core.Answer{Responder: core.RespondedByUser, Person: true}
	typed, declined, defaulted := nothing, nothing, looptest.Chosen("pg")
	typed.Text, declined.Cancelled, defaulted.Responder = &words, true, core.RespondedByDetached
	yes, token := looptest.Chosen(core.Yes), nothing
	token.Text = new(hidden)
	freely := func(q *core.Question) { q.Kind, q.Options = core.KindText, nil }
	advised := &core.Advice{Text: "The assistant recommended rejecting this."}
	for _, c := range []struct {
		name          string
		first, second core.Question
		answer        core.Answer
		asked         int
	}{
		{"select", looptest.Database(), looptest.Database(), looptest.Chosen("my"), 1},
		{"text", change(freely), change(freely), typed, 1},
		{"other evidence", looptest.Database(), change(func(q *core.Question) { q.Details = []string{"iteration 2"} }), looptest.Chosen("my"), 1},
		{"without a name", change(func(q *core.Question) { q.AskID = "" }), change(func(q *core.Question) { q.AskID = "" }), looptest.Chosen("my"), 2},
		{"a name by its place", change(func(q *core.Question) { q.AskID = "q1" }), change(func(q *core.Question) { q.AskID = "q1" }), looptest.Chosen("my"), 2},
		{"again", looptest.Database(), change(func(q *core.Question) { q.Again = true }), looptest.Chosen("my"), 2},
		{"another name", looptest.Database(), change(func(q *core.Question) { q.AskID = "store" }), looptest.Chosen("my"), 2},
		{"other words", looptest.Database(), change(func(q *core.Question) { q.Text = "Which one now?" }), looptest.Chosen("my"), 2},
		{"other labels", looptest.Database(), change(func(q *core.Question) { q.Options[0].Label = "MySQL 8" }), looptest.Chosen("my"), 2},
		{"another meaning", looptest.Database(), change(func(q *core.Question) { q.Options[1].Description = "all is deleted" }), looptest.Chosen("my"), 2},
		{"for others", looptest.Database(), change(func(q *core.Question) { q.To = "user" }), looptest.Chosen("my"), 2},
		{"confirm", change(func(q *core.Question) { freely(q); q.Kind = core.KindConfirm }), change(func(q *core.Question) { freely(q); q.Kind = core.KindConfirm }), yes, 2},
		{"exclusive", change(func(q *core.Question) { q.Exclusive = true }), change(func(q *core.Question) { q.Exclusive = true }), looptest.Chosen("my"), 2},
		{"mandatory", change(func(q *core.Question) { q.Mandatory = true }), change(func(q *core.Question) { q.Mandatory = true }), looptest.Chosen("my"), 2},
		{"advised against", change(func(q *core.Question) { q.Advice = advised }), change(func(q *core.Question) { q.Advice = advised }), looptest.Chosen("my"), 2},
		{"advised against before", change(func(q *core.Question) { q.Advice = advised }), looptest.Database(), looptest.Chosen("my"), 2},
		{"advised against since", looptest.Database(), change(func(q *core.Question) { q.Advice = advised }), looptest.Chosen("my"), 2},
		{"of a run inside", change(func(q *core.Question) { q.Path = []string{"x"} }), change(func(q *core.Question) { q.Path = []string{"x"} }), looptest.Chosen("my"), 2},
		{"declined", change(func(q *core.Question) { q.AllowCancel = true }), change(func(q *core.Question) { q.AllowCancel = true }), declined, 2},
		{"by default", looptest.Database(), looptest.Database(), defaulted, 2},
		{"a secret", change(freely), change(freely), token, 2},
		{"a secret option", change(func(q *core.Question) { q.Options[0].ID = hidden }), change(func(q *core.Question) { q.Options[0].ID = hidden }), looptest.Chosen(hidden), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var run *looptest.Run
			var got []core.Asked
			asked := 0
			run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
				for _, q := range []core.Question{c.first, c.second} {
					a, err := run.Ask(ctx, "key", q)
					if err != nil {
						t.Error(err)
					}
					got = append(got, a)
				}
			}), core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
				asked++
				return c.answer, nil
			}))
			run.Mask = func(s string) string { return strings.ReplaceAll(s, hidden, "***") }
			run.ToEnd(t)
			if asked != c.asked || len(got) != 2 || got[0].Earlier || got[1].Earlier != (asked == 1) {
				t.Fatalf("asked %d times, want %d: %+v", asked, c.asked, got)
			}
			if got[1].Answer == nil || got[1].Answer.String() != c.answer.String() {
				t.Errorf("the second answer is %v, want %v", got[1].Answer, c.answer)
			}
		})
	}
}
