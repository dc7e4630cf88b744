package assistant

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

func TestEscalation(t *testing.T) {
	for name, c := range map[string]struct {
		q     core.Question
		reply string
		want  string // the option that is escalated; empty: it is an answer
	}{
		"a trip cancelled":  {trip(), `{"reason": "Stuck.", "answer": "cancel"}`, "cancel"},
		"a trip continued":  {trip(), valid, ""},
		"a trip accepted":   {trip(), `{"reason": "Stuck.", "answer": "accept"}`, ""},
		"confirm no":        {asked(core.KindConfirm), `{"reason": "Stuck.", "answer": false}`, core.No},
		"confirm yes":       {asked(core.KindConfirm), `{"reason": "Stuck.", "answer": true}`, ""},
		"select cancelling": {asked(core.KindSelect), `{"reason": "Stuck.", "answer": "cancel"}`, ""},
		"the text cancel":   {asked(core.KindText), `{"reason": "Stuck.", "answer": "cancel"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, "say "+c.reply)
			plain, err := New(f.Options).Respond(t.Context(), c.q, stuck())
			if err != nil {
				t.Fatal(err)
			}
			f.Escalation = true
			a, err := New(f.Options).Respond(t.Context(), c.q, stuck())
			e, escalated := errors.AsType[*Escalated](err)
			switch {
			case escalated != (c.want != "") || !escalated && (err != nil || !reflect.DeepEqual(a, plain)):
				t.Fatalf("%+v %v", a, err)
			case !escalated:
				return
			}
			if *e != (Escalated{QuestionID: c.q.ID, Option: c.want, Reason: "Stuck."}) || !errors.Is(err, core.ErrNoAnswer) || a.Option != "" {
				t.Errorf("%+v %v", a, e)
			}
			if want := "The assistant recommended rejecting this: “Stuck.”: no answer"; err.Error() != want {
				t.Errorf("%q", err)
			}
		})
	}
}

// A question can ask for escalation itself; another one it does not get it.
func TestEscalationThatTheQuestionAsksFor(t *testing.T) {
	for to, want := range map[string]bool{"assistant_with_escalation": true, "assistant": false, "": false} {
		f := newFake(t, `say {"reason": "Stuck.", "answer": false}`)
		q := asked(core.KindConfirm)
		q.From, q.To = core.FromCommand, to
		a, err := New(f.Options).Respond(t.Context(), q, stuck())
		if _, escalated := errors.AsType[*Escalated](err); escalated != want || (a.Option == core.No) == want {
			t.Errorf("to %q: %+v %v", to, a, err)
		}
	}
}

// What an assistant rejected before it is not asked again, whatever it would say now.
func TestARejectedQuestionIsNotPutToItAgain(t *testing.T) {
	for _, q := range []core.Question{trip(), asked(core.KindConfirm), asked(core.KindText)} {
		f := newFake(t, `say {"reason": "Fine now.", "answer": true}`)
		advice := core.Assistant{}.AdviseAgainst("Stuck\x1b[31m.")
		q.Advice = &advice
		a, err := New(f.Options).Respond(t.Context(), q, stuck())
		if want := "The assistant recommended rejecting this: “Stuck.”: no answer"; !errors.Is(err, core.ErrNoAnswer) || err.Error() != want || a.Option != "" {
			t.Errorf("%s: %+v %v", q.Kind, a, err)
		}
		if n := f.runs(t); n != 0 {
			t.Errorf("%s: it was asked %d times", q.Kind, n)
		}
	}
}

func TestRejection(t *testing.T) {
	q := asked(core.KindConfirm)
	for name, c := range map[string]struct {
		a     core.Answer
		words []string
	}{
		"assistant": {
			core.Answer{Option: core.No, Responder: core.RespondedByAssistant, Reason: "Two tests\x1b[1m fail."},
			[]string{"Reviewed: Deploy to production?", "Rejected by the assistant.", "Reason: Two tests fail.", "What can be done next: ", "looprun ask --to user"},
		},
		"person":    {core.Answer{Responder: core.RespondedByUser, Person: true}, []string{"Rejected by a person.", "(no reason given)"}},
		"elsewhere": {core.Answer{Responder: core.RespondedByParent}, []string{"Rejected by a person."}},
		"policy":    {core.Answer{Responder: core.RespondedByPolicy, Rule: "p.yaml:7"}, []string{"Rejected by the policy (p.yaml:7)."}},
		"any rule":  {core.Answer{Responder: core.RespondedByPolicy}, []string{"Rejected by the policy."}},
		"detached":  {core.Answer{Responder: core.RespondedByDetached}, []string{"nobody could be asked"}},
		"unknown":   {core.Answer{}, []string{"Rejected by looprun."}},
	} {
		text := Rejection(q, c.a)
		for _, want := range c.words {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
		if lower := strings.ToLower(text); strings.Contains(lower, "inquiry") || strings.Contains(lower, "enquiry") || strings.Contains(text, "\x1b") {
			t.Errorf("%s:\n%s", name, text)
		}
		if strings.Contains(text, "--to user") == (c.a.Person || c.a.Responder == core.RespondedByParent) {
			t.Errorf("%s: a person's no is not put to a person again:\n%s", name, text)
		}
	}
	q.Text = " "
	if text := Rejection(q, core.Answer{}); !strings.HasPrefix(text, "Reviewed: Deploy\n") {
		t.Error(text)
	}
}
