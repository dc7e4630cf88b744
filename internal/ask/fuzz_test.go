package ask

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

var requests = []string{
	`{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"B b"}],"default":"b-b"}]}`,
	`{"type":"ask","schema":"looprun.dev/question/v1","id":"r","to":"user","questions":[{"id":"q","header":"h","question":"Sure?","kind":"confirm","safe":"no"},{"question":"N?","kind":"text","default":"é"}]}`,
	`{"questions":[{"question":"x","options":[{"id":"\u0000","label":"é"},{"label":"é"}],"multi_select":1}],"questions":[]}`,
	`{"a":[[[{"b":"\ud800"}]]]}`,
}

// FuzzParse: a request is refused with problems that can be shown on a terminal, or
// it keeps the schema, is complete, comes back the same when it is written and read
// again, and has an answer for each of its questions.
func FuzzParse(f *testing.F) {
	for _, r := range requests {
		f.Add([]byte(r))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			showable(t, err)
			return
		}
		written, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if broken := conforms(t, "question", data); len(broken) > 0 {
			t.Fatalf("%s: %v", data, broken)
		}
		if broken := conforms(t, "question", written); len(broken) > 0 {
			t.Fatalf("%s: %v", written, broken)
		}
		again, err := Parse(written)
		if rewritten, _ := json.Marshal(again); err != nil || string(rewritten) != string(written) {
			t.Fatalf("%s\n%s\n%v", written, rewritten, err)
		}
		answerable(t, r.Questions)
	})
}

// answerable checks that each option answers its question, directly and through
// the form of other interfaces, where labels stand for the options.
func answerable(t *testing.T, questions []Question) {
	t.Helper()
	for _, q := range questions {
		if q.ID == "" || q.Kind == "" {
			t.Fatalf("%+v is not complete", q)
		}
		for _, o := range q.choices() {
			selected := One(o.ID)
			if q.MultiSelect {
				selected = Several(o.ID)
			}
			a := Answer{ID: q.ID, Selected: selected}
			if err := CheckAnswer(q, a); err != nil {
				t.Fatalf("%+v does not answer %+v: %v", a, q, err)
			}
			if same, err := Transfer(q, q, a); err != nil || !reflect.DeepEqual(same, a) {
				t.Fatalf("%+v became %+v: %v", a, same, err)
			}
			data, _ := json.Marshal(map[string]string{q.ID: o.Label})
			back, err := ParseAnswers(data, []Question{q})
			if err != nil || len(back) != 1 || !reflect.DeepEqual(back[0], a) {
				t.Fatalf("%s became %+v, %v; want %+v", data, back, err, a)
			}
		}
	}
}

func showable(t *testing.T, err error) {
	t.Helper()
	var ps Problems
	if !errors.As(err, &ps) || len(ps) == 0 {
		t.Fatalf("%v has no problems", err)
	}
	if text := err.Error(); strings.ContainsAny(text, "\x00\x1b\x07\r\u202e") || len(text) > 100_000 {
		t.Fatalf("%q", text)
	}
}

// FuzzParseChoices: as FuzzParse.
func FuzzParseChoices(f *testing.F) {
	f.Add([]byte(document("x")))
	f.Add([]byte(`{"status":"paused_awaiting_choices","partial_result":{"a":[1e999]},"pending_user_choices":[{"question":"x","options":[{"label":"C"},{"label":"C++"}]}]}`))
	f.Add([]byte(`{"status":"paused_awaiting_choices","pending_user_choices":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseChoices(data)
		if err != nil {
			showable(t, err)
			return
		}
		if len(c.PendingUserChoices) == 0 || c.Status != StatusChoices {
			t.Fatalf("%+v", c)
		}
		written, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseChoices(written)
		if rewritten, _ := json.Marshal(again); err != nil || string(rewritten) != string(written) {
			t.Fatalf("%s\n%s\n%v", written, rewritten, err)
		}
		answerable(t, c.PendingUserChoices)
		exported, _ := AskUserQuestion(c.PendingUserChoices)
		if exported != nil && !json.Valid(exported) {
			t.Fatalf("%s", exported)
		}
	})
}

// FuzzParseAnswers: what is given back are right answers to different questions,
// in their order; all else is refused with problems.
func FuzzParseAnswers(f *testing.F) {
	for _, s := range []string{`{"answers":{"Which?":"Postgres"}}`, `{"sure":true,"name":"x"}`, `{"many":"Y, Z","db":null}`, `{"many":["z"],"":[]}`, `{"answers":{},"questions":[]}`} {
		f.Add([]byte(s))
	}
	questions := []Question{
		selectQuestion(func(q *Question) { q.AllowCancel = true }),
		{ID: "sure", Question: "Really sure?", Kind: core.KindConfirm},
		{ID: "name", Question: "Name?", Kind: core.KindText},
		{ID: "many", Question: "Which ones?", MultiSelect: true, Options: []Option{{ID: "y", Label: "Y"}, {ID: "z", Label: "Z"}}},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		answers, err := ParseAnswers(data, questions)
		if err != nil {
			showable(t, err)
			return
		}
		next := 0
		for _, a := range answers {
			for next < len(questions) && questions[next].ID != a.ID {
				next++
			}
			if next == len(questions) {
				t.Fatalf("%+v is out of order", answers)
			}
			if err := CheckAnswer(questions[next], a); err != nil {
				t.Fatal(err)
			}
			next++
		}
		if next == 0 {
			t.Fatal("no answers and no error")
		}
	})
}
