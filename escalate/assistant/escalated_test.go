package assistant

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun"
)

func TestEscalation(t *testing.T) {
	for name, c := range map[string]struct {
		q     looprun.Question
		reply string
		want  string // the option that is escalated; empty: it is an answer
	}{
		"a trip cancelled":  {trip(), `{"reason": "Stuck.", "answer": "cancel"}`, "cancel"},
		"a trip continued":  {trip(), valid, ""},
		"a trip accepted":   {trip(), `{"reason": "Stuck.", "answer": "accept"}`, ""},
		"confirm no":        {asked(looprun.KindConfirm), `{"reason": "Stuck.", "answer": false}`, looprun.No},
		"confirm yes":       {asked(looprun.KindConfirm), `{"reason": "Stuck.", "answer": true}`, ""},
		"select cancelling": {asked(looprun.KindSelect), `{"reason": "Stuck.", "answer": "cancel"}`, ""},
		"the text cancel":   {asked(looprun.KindText), `{"reason": "Stuck.", "answer": "cancel"}`, ""},
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
			if *e != (Escalated{c.q.ID, c.want, "Stuck."}) || !errors.Is(err, looprun.ErrNoAnswer) || a.Option != "" {
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
		q := asked(looprun.KindConfirm)
		q.From, q.To = looprun.FromCommand, to
		a, err := New(f.Options).Respond(t.Context(), q, stuck())
		if _, escalated := errors.AsType[*Escalated](err); escalated != want || (a.Option == looprun.No) == want {
			t.Errorf("to %q: %+v %v", to, a, err)
		}
	}
}

func TestEscalatedQuestion(t *testing.T) {
	q := trip()
	got := (&Escalated{Reason: "It is\x1b[31m stuck."}).Question(q)
	if want := "The assistant recommended rejecting this: “It is stuck.”\n\n" + q.Text; got.Text != want || got.Default != "" {
		t.Errorf("%q, preselected %q", got.Text, got.Default)
	}
	if q.Default == "" || got.ID != q.ID || len(got.Options) != len(q.Options) {
		t.Errorf("%+v", got)
	}
	if got := (&Escalated{Reason: " \n"}).Question(q); !strings.HasPrefix(got.Text, "The assistant recommended rejecting this: (no reason given)\n") {
		t.Errorf("%q", got.Text)
	}
}

func TestDetached(t *testing.T) {
	confirm, reviewing, without := asked(looprun.KindConfirm), trip(), trip()
	confirm.Default, reviewing.Default, without.Default = looprun.Yes, "review", ""
	safe, odd, exclusive, mandatory := confirm, confirm, trip(), trip()
	mandatory.Mandatory = true
	safe.Default, odd.Default, exclusive.Exclusive = looprun.No, "perhaps", true
	const overrode, agreed = "the default, which overrode the assistant's rejection: “Stuck.”", "the default, as the assistant recommended: “Stuck.”"
	for name, c := range map[string]struct {
		mode   string
		q      looprun.Question
		option string
		by     string
		reason string
		err    error
	}{
		"deny a trip":           {"deny", trip(), "", "assistant", "", looprun.ErrNoAnswer},
		"auto for a trip":       {"auto", trip(), "", "assistant", "", looprun.ErrNoAnswer},
		"another mode":          {"yolo", trip(), "", "assistant", "", looprun.ErrNoAnswer},
		"deny a confirm":        {"deny", confirm, looprun.No, "assistant", "Stuck.", nil},
		"auto for a confirm":    {"auto", confirm, looprun.No, "assistant", "Stuck.", nil},
		"no mode":               {"", confirm, looprun.No, "assistant", "Stuck.", nil},
		"default of a trip":     {"defaults", trip(), "continue", "detached", overrode, nil},
		"default of a confirm":  {"defaults", confirm, looprun.Yes, "detached", overrode, nil},
		"default as advised":    {"defaults", safe, looprun.No, "detached", agreed, nil},
		"a default of no use":   {"defaults", odd, looprun.No, "assistant", "Stuck.", nil},
		"no default":            {"defaults", without, "", "assistant", "", looprun.ErrNoAnswer},
		"review is no default":  {"defaults", reviewing, "", "assistant", "", looprun.ErrNoAnswer},
		"exclusive, no default": {"defaults", exclusive, "", "assistant", "", looprun.ErrNoAnswer},
		"mandatory, no default": {"defaults", mandatory, "", "assistant", "", looprun.ErrNoAnswer},
		"defer a trip":          {"defer", trip(), "", "detached", "", looprun.ErrDeferred},
		"defer a confirm":       {"defer", confirm, "", "detached", "", looprun.ErrDeferred},
	} {
		e := &Escalated{QuestionID: c.q.ID, Option: looprun.No, Reason: "Stuck."}
		a, err := e.Detached(c.mode, c.q)
		if want := (looprun.Answer{Option: c.option, Responder: c.by, Reason: c.reason}); !reflect.DeepEqual(a, want) || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v %v", name, a, err)
		}
		if errors.Is(err, looprun.ErrDeferred) && errors.Is(err, looprun.ErrNoAnswer) {
			t.Errorf("%s: %v is both", name, err)
		}
	}
}

// A rejection reaches the person, and none but that of this question.
func TestEscalations(t *testing.T) {
	var x Escalations
	var reply error
	from := x.From(looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
		return looprun.Answer{}, reply
	}))
	var shown looprun.Question
	to := x.To(looprun.ResponderFunc(func(_ context.Context, q looprun.Question, _ *looprun.State) (looprun.Answer, error) {
		shown = q
		return looprun.Answer{Option: "continue", Person: true}, nil
	}))
	round := func(err error) {
		t.Helper()
		reply = err
		if _, got := from.Respond(t.Context(), trip(), nil); got != err {
			t.Fatal(got)
		}
		if a, err := to.Respond(t.Context(), trip(), nil); err != nil || a.Option != "continue" {
			t.Fatal(a, err)
		}
	}
	round(&Escalated{QuestionID: trip().ID, Option: "cancel", Reason: "Stuck."})
	if !strings.Contains(shown.Text, "“Stuck.”") || shown.Default != "" || x.Of(trip().ID) == nil {
		t.Errorf("%+v", shown)
	}
	other := trip()
	other.ID = "another"
	if _, err := to.Respond(t.Context(), other, nil); err != nil || shown.Text != other.Text {
		t.Errorf("%+v %v", shown, err)
	}
	round(errors.New("crashed"))
	if shown.Text != trip().Text || shown.Default == "" || x.Of(trip().ID) != nil {
		t.Errorf("%+v", shown)
	}
}

func TestRejection(t *testing.T) {
	q := asked(looprun.KindConfirm)
	for name, c := range map[string]struct {
		a     looprun.Answer
		words []string
	}{
		"assistant": {
			looprun.Answer{Option: looprun.No, Responder: looprun.RespondedByAssistant, Reason: "Two tests\x1b[1m fail."},
			[]string{"Reviewed: Deploy to production?", "Rejected by the assistant.", "Reason: Two tests fail.", "What can be done next: ", "looprun ask --to user"},
		},
		"person":    {looprun.Answer{Responder: looprun.RespondedByUser, Person: true}, []string{"Rejected by a person.", "(no reason given)"}},
		"elsewhere": {looprun.Answer{Responder: looprun.RespondedByParent}, []string{"Rejected by a person."}},
		"policy":    {looprun.Answer{Responder: looprun.RespondedByPolicy, Rule: "p.yaml:7"}, []string{"Rejected by the policy (p.yaml:7)."}},
		"any rule":  {looprun.Answer{Responder: looprun.RespondedByPolicy}, []string{"Rejected by the policy."}},
		"detached":  {looprun.Answer{Responder: looprun.RespondedByDetached}, []string{"nobody could be asked"}},
		"unknown":   {looprun.Answer{}, []string{"Rejected by looprun."}},
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
		if strings.Contains(text, "--to user") == (c.a.Person || c.a.Responder == looprun.RespondedByParent) {
			t.Errorf("%s: a person's no is not put to a person again:\n%s", name, text)
		}
	}
	q.Text = " "
	if text := Rejection(q, looprun.Answer{}); !strings.HasPrefix(text, "Reviewed: Deploy\n") {
		t.Error(text)
	}
}
