package core_test

import (
	"reflect"
	"testing"

	"github.com/looprun/looprun/core"
)

// Which answers a question takes, and from whom.
func TestResolve(t *testing.T) {
	q := core.Question{
		Options: []core.Option{
			{ID: "continue", Action: core.ActionContinue},
			{ID: "accept", Action: core.ActionAccept},
			{ID: "review", Action: core.ActionReview},
		},
		Given: []core.Given{{Option: "continue", Responder: core.RespondedByPolicy, Rule: "p.yaml:3"}, {Option: "continue", Responder: core.RespondedByUser}},
	}
	by := func(option, responder string) core.Answer {
		return core.Answer{Option: option, Responder: responder, Person: responder == core.RespondedByUser}
	}
	from := func(a core.Answer, rule string, unlisted bool) core.Answer {
		a.Rule, a.Unlisted = rule, unlisted
		return a
	}
	policy, user := core.RespondedByPolicy, core.RespondedByUser
	for _, c := range []struct {
		name   string
		answer core.Answer
		takes  core.Action // empty: it is refused
	}{
		{"one of its options", by("accept", policy), core.ActionAccept},
		{"none of its options", by("go-on", user), ""},
		{"nothing", by("", user), ""},
		{"another case", by("Accept", user), ""},
		{"review, by a person too", by("review", user), ""},
		{"the same rule once more", from(by("continue", policy), "p.yaml:3", false), ""},
		{"another rule", from(by("continue", policy), "p.yaml:9", false), core.ActionContinue},
		{"a person once more", by("continue", user), core.ActionContinue},
		{"an option it does not list", by("cancel", policy), ""},
		{"to cancel, unlisted", from(by("cancel", policy), "p.yaml:9", true), core.ActionCancel},
		{"to pause, unlisted", from(by("pause", policy), "p.yaml:9", true), core.ActionPause},
		{"to skip, unlisted", from(by("skip", policy), "p.yaml:9", true), ""},
		{"to debug, unlisted", from(by("debug", policy), "p.yaml:9", true), ""},
		{"anything, unlisted", from(by("go-on", policy), "p.yaml:9", true), ""},
		{"to cancel, unlisted, by somebody else", from(by("cancel", core.RespondedByAssistant), "", true), ""},
	} {
		o, err := q.Resolve(c.answer)
		if (err == nil) != (c.takes != "") || err == nil && o.Action != c.takes {
			t.Errorf("%s: %q, %v; want %q", c.name, o.Action, err, c.takes)
		}
	}
	cancel := from(by("cancel", policy), "p.yaml:9", true)
	q.Given = append(q.Given, core.Given{Option: "cancel", Responder: policy, Rule: "p.yaml:9"})
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
	q := core.Question{From: core.FromCommand, Kind: core.KindConfirm}
	if err := q.Accepts(core.Answer{Option: core.Yes, Person: true}); err != nil {
		t.Error(err)
	}
	if err := q.Accepts(core.Answer{Option: core.Yes, Options: []string{core.No}, Person: true}); err == nil {
		t.Error("yes, and a list with no: it is taken")
	}
}

// An answer that came over a wire says what is answered, and nothing of who did: what
// stands there of that is not believed, nor what a field says that comes to be.
func TestWhoAnsweredIsNotBelieved(t *testing.T) {
	text := "words"
	says := core.Answer{Option: "o", Options: []string{"o"}, Text: &text, Cancelled: true, Reason: "r", Guidance: "g", OwnWords: true}
	all := says
	v := reflect.ValueOf(&all).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.IsZero() {
			switch f.Kind() {
			case reflect.Bool:
				f.SetBool(true)
			case reflect.String:
				f.SetString("claimed")
			case reflect.Int:
				f.SetInt(3)
			case reflect.Struct:
				f.Field(0).SetString("claimed")
			default:
				t.Fatalf("no claim for %s", v.Type().Field(i).Name)
			}
		}
	}
	program, person, web := says, says, all
	program.Responder = core.RespondedByProgram
	person.Responder, person.Person = core.RespondedByUser, true
	if got := all.ByProgram(); !reflect.DeepEqual(got, program) {
		t.Errorf("a program's is %+v", got)
	}
	if got := all.ByPerson(); !reflect.DeepEqual(got, person) {
		t.Errorf("a person's is %+v", got)
	}
	web.Via = core.ViaWeb
	if got := web.ByPerson(); got.Via != core.ViaWeb {
		t.Errorf("what came from the page says that it came from %q", got.Via)
	}
}

// An answer that the run above gave is not said to be a parent's.
func TestTheRunAboveIsNamed(t *testing.T) {
	if got := (core.Answer{Responder: core.RespondedByParent}).Who(); got != "the run above" {
		t.Error(got)
	}
	if got := (core.PastAnswer{Responder: core.RespondedByParent}).Who(); got != "the run above" {
		t.Error(got)
	}
}
