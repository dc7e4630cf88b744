package ask

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

func selectQuestion(change func(*Question)) Question {
	q := Question{ID: "db", Question: "Which?", Kind: core.KindSelect, Options: []Option{{ID: "pg", Label: "Postgres"}, {ID: "my", Label: "MySQL"}}}
	if change != nil {
		change(&q)
	}
	return q
}

func TestCheckAnswer(t *testing.T) {
	sel := selectQuestion(nil)
	noText := selectQuestion(func(q *Question) { q.AllowText = pointer(false) })
	cancel := selectQuestion(func(q *Question) { q.AllowCancel, q.AllowText = true, pointer(false) })
	multi := selectQuestion(func(q *Question) { q.MultiSelect = true })
	implicit := selectQuestion(func(q *Question) { q.Kind = ""; q.Options[0].ID = "" })
	confirm := Question{ID: "db", Question: "Sure?", Kind: core.KindConfirm}
	chatty := Question{ID: "db", Question: "Sure?", Kind: core.KindConfirm, AllowText: pointer(true)}
	free := Question{ID: "db", Question: "Name?", Kind: core.KindText}
	cancelText := Question{ID: "db", Question: "Name?", Kind: core.KindText, AllowCancel: true}
	typed := pointer("SQLite")
	for _, c := range []struct {
		name string
		q    Question
		a    Answer
		want string // empty: it is right
	}{
		{"one", sel, Answer{Selected: One("pg")}, ""},
		{"made id", implicit, Answer{Selected: One("postgres")}, ""},
		{"unknown id", sel, Answer{Selected: One("pgg")}, `did you mean "pg"?`},
		{"label", sel, Answer{Selected: One("Postgres")}, "no option"},
		{"empty id", sel, Answer{Selected: One("")}, "no option"},
		{"other question", sel, Answer{ID: "x", Selected: One("pg")}, "the question is"},
		{"nothing", sel, Answer{}, "nothing is selected"},
		{"text", sel, Answer{Text: typed}, ""},
		{"text not allowed", noText, Answer{Text: typed}, "takes no text"},
		{"text and selection", sel, Answer{Text: typed, Selected: One("pg")}, "either a text or a selection"},
		{"blank text", sel, Answer{Text: pointer(" \n\u200b")}, "blank"},
		{"NUL in text", sel, Answer{Text: pointer("a\x00b")}, "NUL"},
		{"cancelled", cancel, Answer{Cancelled: true}, ""},
		{"cancel not allowed", sel, Answer{Cancelled: true}, "cannot be cancelled"},
		{"cancel and selection", cancel, Answer{Cancelled: true, Selected: One("pg")}, "leave one of the two out"},
		{"cancel and empty list", cancel, Answer{Cancelled: true, Selected: Several()}, "leave one of the two out"},
		{"cancel takes precedence over text", cancel, Answer{Cancelled: true, Text: typed}, ""},
		{"list for one", sel, Answer{Selected: Several("pg")}, "not by a list"},
		{"list", multi, Answer{Selected: Several("my", "pg")}, ""},
		{"list of one", multi, Answer{Selected: Several("my")}, ""},
		{"one for list", multi, Answer{Selected: One("pg")}, "by a list"},
		{"twice", multi, Answer{Selected: Several("pg", "my", "pg")}, "twice"},
		{"empty list", multi, Answer{Selected: Several()}, "no option is selected"},
		{"unknown in list", multi, Answer{Selected: Several("pg", "x")}, "no option"},
		{"yes", confirm, Answer{Selected: One(core.Yes)}, ""},
		{"no", confirm, Answer{Selected: One(core.No)}, ""},
		{"Yes", confirm, Answer{Selected: One("Yes")}, "no option"},
		{"confirm by list", confirm, Answer{Selected: Several(core.Yes)}, "not by a list"},
		{"confirm by text", confirm, Answer{Text: typed}, "takes no text"},
		{"confirm with text", chatty, Answer{Text: typed}, ""},
		{"free text", free, Answer{Text: typed}, ""},
		{"free selection", free, Answer{Selected: One("x")}, "nothing to select"},
		{"free nothing", free, Answer{}, "give a text"},
		{"free cancelled", free, Answer{Cancelled: true, Text: typed}, "cannot be cancelled"},
		{"free cancel", cancelText, Answer{Cancelled: true, Text: typed}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.a.ID == "" {
				c.a.ID = "db"
			}
			err := CheckAnswer(c.q, c.a)
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if a := Normalize(Answer{Cancelled: true, Text: typed}); a.Text != nil || !a.Cancelled {
		t.Errorf("%+v", a)
	}
	if a := Normalize(Answer{Text: typed}); a.Text != typed {
		t.Errorf("%+v", a)
	}
}

func TestSelectedJSON(t *testing.T) {
	for text, want := range map[string]Selected{
		`null`: {}, `"a"`: One("a"), `""`: One(""), `[]`: Several(), `["a"]`: Several("a"), `["a","b"]`: Several("a", "b"),
	} {
		var got Selected
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Error(err)
		}
		back, err := json.Marshal(want)
		if err != nil || string(back) != text || got.IsNull() != want.IsNull() || got.IsList() != want.IsList() || len(got.IDs()) != len(want.IDs()) {
			t.Errorf("%s: %+v, %s, %v", text, got, back, err)
		}
	}
	var s Selected
	for _, text := range []string{`1`, `{}`, `[1]`, `true`} {
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

func TestResponse(t *testing.T) {
	request := Request{ID: "r", Questions: []Question{selectQuestion(nil), {ID: "sure", Question: "Sure?", Kind: core.KindConfirm}}}
	good := `{"schema":"looprun.dev/answer/v1","id":"r","answers":[{"id":"sure","selected":"yes","text":null,"cancelled":false,"responder":"user","reason":""},{"id":"db","text":"SQLite"}]}`
	r, err := parseResponse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckResponse(request, r); err != nil {
		t.Error(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseResponse(data)
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("%+v, %v", again, err)
	}
	for name, c := range map[string]struct{ old, with, path, words string }{
		"another request":  {`"id":"r"`, `"id":"s"`, "id", "the request is"},
		"unknown question": {`"id":"db"`, `"id":"bd"`, "", "no question"},
		"answered twice":   {`"id":"db"`, `"id":"sure"`, "", "twice"},
		"wrong answer":     {`"yes"`, `"maybe"`, "answers[0]", "no option"},
	} {
		r, err := parseResponse([]byte(strings.Replace(good, c.old, c.with, 1)))
		if err != nil {
			t.Fatal(err)
		}
		ps := problems(t, CheckResponse(request, r))
		if !strings.Contains(ps.Error(), c.words) || (c.path != "" && ps[0].Path != c.path) {
			t.Errorf("%s: %v", name, ps)
		}
	}
	r.Answers = r.Answers[:1]
	wrong(t, CheckResponse(request, r), "answers", "no answer to", "db")
	for name, c := range map[string]struct{ text, path, words string }{
		"unknown key": {`{"answers":[{"id":"a","select":"x"}]}`, "answers[0].select", `"selected"`},
		"selected":    {`{"answers":[{"id":"a","selected":{}}]}`, "answers[0].selected", "a list of texts"},
		"no id":       {`{"answers":[{"selected":"x"}]}`, "answers[0].id", "missing"},
		"no answers":  {`{"answers":[]}`, "answers", "empty"},
		"schema":      {`{"schema":"v1","answers":[{"id":"a"}]}`, "schema", AnswerSchema},
	} {
		_, err := parseResponse([]byte(c.text))
		t.Run(name, func(t *testing.T) { wrong(t, err, c.path, c.words) })
	}
}

func TestKey(t *testing.T) {
	base := Question{ID: "a", Header: "DB", Question: "Which café?", Options: []Option{{ID: "1", Label: "x"}, {ID: "2", Label: "y"}}}
	change := func(f func(*Question)) Question {
		q := base
		q.Options = append([]Option(nil), base.Options...)
		f(&q)
		return q
	}
	for name, c := range map[string]struct {
		q    Question
		same bool
	}{
		"itself":         {base, true},
		"other ids":      {change(func(q *Question) { q.ID, q.Options[0].ID = "b", "z" }), true},
		"other order":    {change(func(q *Question) { q.Options[0], q.Options[1] = q.Options[1], q.Options[0] }), true},
		"description":    {change(func(q *Question) { q.Options[0].Description = "d" }), true},
		"cancel":         {change(func(q *Question) { q.AllowCancel = true }), true},
		"explicit kind":  {change(func(q *Question) { q.Kind = core.KindSelect }), true},
		"NFD":            {change(func(q *Question) { q.Question = "Which cafe\u0301?" }), true},
		"blanks":         {change(func(q *Question) { q.Question = " Which café?\n"; q.Options[0].Label = "x " }), true},
		"other header":   {change(func(q *Question) { q.Header = "Db" }), false},
		"other question": {change(func(q *Question) { q.Question = "Which cafe?" }), false},
		"other label":    {change(func(q *Question) { q.Options[0].Label = "X" }), false},
		"more labels":    {change(func(q *Question) { q.Options = append(q.Options, Option{Label: "z"}) }), false},
		"shifted":        {change(func(q *Question) { q.Header, q.Question = "", "DB Which café?" }), false},
	} {
		if got := Key(c.q) == Key(base); got != c.same || len(Key(c.q)) != 64 {
			t.Errorf("%s: same is %t", name, got)
		}
	}
	if Key(Question{Question: "x", Kind: core.KindText}) == Key(Question{Question: "x", Kind: core.KindConfirm}) {
		t.Error("a text question is no confirm question")
	}
}

// An answer that is shared is one to each question by its own rules.
func TestTransfer(t *testing.T) {
	from := selectQuestion(func(q *Question) { q.AllowCancel = true })
	to := selectQuestion(func(q *Question) {
		q.ID, q.AllowText = "store", pointer(false)
		q.Options = []Option{{ID: "m", Label: "MySQL"}, {ID: "p", Label: "Postgres"}}
	})
	a, err := Transfer(from, to, Answer{ID: "db", Selected: One("pg"), Responder: "user", Reason: "r"})
	if err != nil || !reflect.DeepEqual(a, Answer{ID: "store", Selected: One("p"), Responder: "user", Reason: "r"}) {
		t.Errorf("%+v, %v", a, err)
	}
	for name, a := range map[string]Answer{
		"cancelled": {ID: "db", Cancelled: true}, "text": {ID: "db", Text: pointer("x")}, "wrong at the start": {ID: "db", Selected: One("m")},
	} {
		if _, err := Transfer(from, to, a); err == nil {
			t.Errorf("%s was transferred", name)
		}
	}
	to.MultiSelect = true
	if a, err := Transfer(from, to, Answer{ID: "db", Selected: One("my")}); err != nil || !a.Selected.IsList() || a.Selected.IDs()[0] != "m" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := Transfer(to, from, Answer{ID: "store", Selected: Several("m", "p")}); err == nil {
		t.Error("two answers to a question for one")
	}
	to.Header = "other"
	if _, err := Transfer(from, to, Answer{ID: "db", Selected: One("pg")}); err == nil || !strings.Contains(err.Error(), "not equal") {
		t.Error(err)
	}
}

// parseResponse reads a response as its schema says.
func parseResponse(data []byte) (Response, error) {
	r := Response{Schema: AnswerSchema}
	if ps := responseShape().Read(data, &r); len(ps) > 0 {
		return Response{}, ps
	}
	return r, nil
}
