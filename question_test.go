package looprun_test

import (
	"testing"

	"github.com/looprun/looprun"
)

// Which answers a question takes, and from whom.
func TestResolve(t *testing.T) {
	q := looprun.Question{
		Options: []looprun.Option{
			{ID: "continue", Action: looprun.ActionContinue},
			{ID: "accept", Action: looprun.ActionAccept},
			{ID: "review", Action: looprun.ActionReview},
		},
		Given: []looprun.Given{{Option: "continue", Responder: looprun.RespondedByPolicy, Rule: "p.yaml:3"}, {Option: "continue", Responder: looprun.RespondedByUser}},
	}
	by := func(option, responder string) looprun.Answer {
		return looprun.Answer{Option: option, Responder: responder, Person: responder == looprun.RespondedByUser}
	}
	from := func(a looprun.Answer, rule string, unlisted bool) looprun.Answer {
		a.Rule, a.Unlisted = rule, unlisted
		return a
	}
	policy, user := looprun.RespondedByPolicy, looprun.RespondedByUser
	for _, c := range []struct {
		name   string
		answer looprun.Answer
		takes  looprun.Action // empty: it is refused
	}{
		{"one of its options", by("accept", policy), looprun.ActionAccept},
		{"none of its options", by("go-on", user), ""},
		{"nothing", by("", user), ""},
		{"another case", by("Accept", user), ""},
		{"review, by a person too", by("review", user), ""},
		{"the same rule once more", from(by("continue", policy), "p.yaml:3", false), ""},
		{"another rule", from(by("continue", policy), "p.yaml:9", false), looprun.ActionContinue},
		{"a person once more", by("continue", user), looprun.ActionContinue},
		{"an option it does not list", by("cancel", policy), ""},
		{"to cancel, unlisted", from(by("cancel", policy), "p.yaml:9", true), looprun.ActionCancel},
		{"to pause, unlisted", from(by("pause", policy), "p.yaml:9", true), looprun.ActionPause},
		{"to skip, unlisted", from(by("skip", policy), "p.yaml:9", true), ""},
		{"to debug, unlisted", from(by("debug", policy), "p.yaml:9", true), ""},
		{"anything, unlisted", from(by("go-on", policy), "p.yaml:9", true), ""},
		{"to cancel, unlisted, by somebody else", from(by("cancel", looprun.RespondedByAssistant), "", true), ""},
	} {
		o, err := q.Resolve(c.answer)
		if (err == nil) != (c.takes != "") || err == nil && o.Action != c.takes {
			t.Errorf("%s: %q, %v; want %q", c.name, o.Action, err, c.takes)
		}
	}
	cancel := from(by("cancel", policy), "p.yaml:9", true)
	q.Given = append(q.Given, looprun.Given{Option: "cancel", Responder: policy, Rule: "p.yaml:9"})
	if _, err := q.Resolve(cancel); err == nil {
		t.Error("to cancel, unlisted, a second time: it is taken")
	}
	q.Given, q.Exclusive = nil, true
	if _, err := q.Resolve(cancel); err == nil {
		t.Error("to cancel, unlisted, where only a person may answer: it is taken")
	}
	q.Exclusive = false
	q.Options = q.Options[1:]
	if _, err := q.Resolve(from(by("continue", policy), "p.yaml:9", true)); err == nil {
		t.Error("to go on, unlisted: it is taken")
	}
}

// An answer to a question of the command that says two things is none.
func TestAcceptsOneThing(t *testing.T) {
	q := looprun.Question{From: looprun.FromCommand, Kind: looprun.KindConfirm}
	if err := q.Accepts(looprun.Answer{Option: looprun.Yes, Person: true}); err != nil {
		t.Error(err)
	}
	if err := q.Accepts(looprun.Answer{Option: looprun.Yes, Options: []string{looprun.No}, Person: true}); err == nil {
		t.Error("yes, and a list with no: it is taken")
	}
}
