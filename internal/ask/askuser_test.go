package ask

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

func TestAskUserQuestion(t *testing.T) {
	six := Question{ID: "six", Header: "Iteration Limit", Question: "How to proceed?", MultiSelect: true}
	for _, label := range []string{"A", "B", "C", "D", "E", "F"} {
		six.Options = append(six.Options, Option{Label: label, Description: "does " + label})
	}
	data, leftOut := AskUserQuestion([]Question{six, {Question: "Sure?", Kind: core.KindConfirm}, {ID: "name", Question: "Name?", Kind: core.KindText}, selectQuestion(nil), selectQuestion(nil), {ID: "sixth", Question: "x"}})
	var got any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal([]byte(`{"questions":[
		{"question":"How to proceed?","header":"Iteration Li","multiSelect":true,"options":[
			{"label":"A","description":"does A"},{"label":"B","description":"does B"},{"label":"C","description":"does C"},{"label":"D","description":"does D"}]},
		{"question":"Sure?","header":"","multiSelect":false,"options":[{"label":"Yes","description":""},{"label":"No","description":""}]},
		{"question":"Which?","header":"","multiSelect":false,"options":[{"label":"Postgres","description":""},{"label":"MySQL","description":""}]},
		{"question":"Which?","header":"","multiSelect":false,"options":[{"label":"Postgres","description":""},{"label":"MySQL","description":""}]}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s", data)
	}
	if want := []string{"six: E", "six: F", "name", "sixth"}; !reflect.DeepEqual(leftOut, want) {
		t.Errorf("left out: %q", leftOut)
	}
	if data, leftOut := AskUserQuestion([]Question{selectQuestion(func(q *Question) {
		q.Options = append(q.Options, Option{Label: "c"}, Option{Label: "d"})
	})}); len(leftOut) != 0 || strings.Count(string(data), "label") != 4 {
		t.Errorf("four options fit: %q %s", leftOut, data)
	}
	if data, leftOut := AskUserQuestion([]Question{{ID: "name", Question: "Name?", Kind: core.KindText}}); data != nil || !slices.Equal(leftOut, []string{"name"}) {
		t.Errorf("%s, %q", data, leftOut)
	}
}

func TestParseAnswers(t *testing.T) {
	questions := []Question{
		selectQuestion(func(q *Question) { q.AllowCancel = true }),
		{ID: "sure", Question: "Really sure?", Kind: core.KindConfirm},
		{ID: "name", Question: "Name?", Kind: core.KindText},
		{ID: "many", Question: "Which ones?", MultiSelect: true, AllowText: pointer(false), Options: []Option{{ID: "x", Label: "X, really"}, {ID: "y", Label: "Y"}, {ID: "z", Label: "Z"}}},
	}
	one := func(id string, s Selected) []Answer { return []Answer{{ID: id, Selected: s}} }
	for name, c := range map[string]struct {
		text string
		want []Answer
	}{
		"by text and label":  {`{"Which?":"Postgres"}`, one("db", One("pg"))},
		"under answers":      {`{"answers":{"Which?":"Postgres"}}`, one("db", One("pg"))},
		"with the questions": {`{"questions":[{"question":"Which?"}],"answers":{"Which?":"Postgres"}}`, one("db", One("pg"))},
		"by id and id":       {`{"db":"my"}`, one("db", One("my"))},
		"key not normal":     {`{" Which?  ":" Postgres "}`, one("db", One("pg"))},
		"another case":       {`{"db":"POSTGRES"}`, one("db", One("pg"))},
		"free text":          {`{"db":"SQLite, please"}`, []Answer{{ID: "db", Text: pointer("SQLite, please")}}},
		"null cancels":       {`{"db":null}`, []Answer{{ID: "db", Cancelled: true}}},
		"true":               {`{"sure":true}`, one("sure", One(core.Yes))},
		"false":              {`{"sure":false}`, one("sure", One(core.No))},
		"Yes":                {`{"sure":"Yes"}`, one("sure", One(core.Yes))},
		"no":                 {`{"Really sure?":"no"}`, one("sure", One(core.No))},
		"text":               {`{"name":"yes"}`, []Answer{{ID: "name", Text: pointer("yes")}}},
		"list":               {`{"many":["Z","x"]}`, one("many", Several("z", "x"))},
		"one of a list":      {`{"many":"Y"}`, one("many", Several("y"))},
		"comma in a label":   {`{"many":"X, really"}`, one("many", Several("x"))},
		"with commas":        {`{"many":"Y, Z"}`, one("many", Several("y", "z"))},
		"their order":        {`{"name":"n","db":"pg"}`, []Answer{{ID: "db", Selected: One("pg")}, {ID: "name", Text: pointer("n")}}},
	} {
		got, err := ParseAnswers([]byte(c.text), questions)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, c := range map[string]struct{ text, path, words string }{
		"unknown question":  {`{"dbb":"pg"}`, "dbb", `did you mean "db"?`},
		"far from all":      {`{"frobnicate":"pg"}`, "frobnicate", "the ids are db, sure, name, many"},
		"twice":             {`{"db":"pg","Which?":"my"}`, "Which?", "answered twice"},
		"same key twice":    {`{"db":"pg","db":"my"}`, "db", "answered twice"},
		"empty":             {`{}`, "", "no answer"},
		"a list":            {`["pg"]`, "", "an object"},
		"answers no object": {`{"answers":["pg"]}`, "answers", "an object"},
		"beside answers":    {`{"answers":{"db":"pg"},"sure":true}`, "sure", "beside answers"},
		"no cancel":         {`{"sure":null}`, "sure", "cannot be cancelled"},
		"bool for select":   {`{"db":true}`, "db", "select one of pg, my"},
		"number":            {`{"db":1}`, "db", "a number"},
		"object":            {`{"db":{"selected":"pg"}}`, "db", "an object is not an answer"},
		"list for one":      {`{"db":["pg"]}`, "db", "not by a list"},
		"not an option":     {`{"many":"W"}`, "many", "no option"},
		"not all options":   {`{"many":"Y, W"}`, "many", "no option"},
		"not in list":       {`{"many":["y","W"]}`, "many", "something else"},
		"number in list":    {`{"many":["y",1]}`, "many", "something else"},
		"empty list":        {`{"many":[]}`, "many", "no option is selected"},
		"twice in list":     {`{"many":["y","Y"]}`, "many", "twice"},
		"text for confirm":  {`{"sure":"maybe"}`, "sure", "no option"},
		"blank text":        {`{"name":"  "}`, "name", "blank"},
		"not JSON":          {`db=pg`, "", "not valid JSON"},
	} {
		got, err := ParseAnswers([]byte(c.text), questions)
		t.Run(name, func(t *testing.T) {
			if wrong(t, err, c.path, c.words); got != nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What can mean two things is refused, never guessed.
func TestAmbiguousAnswers(t *testing.T) {
	same := []Question{selectQuestion(nil), selectQuestion(func(q *Question) { q.ID = "db2" })}
	_, err := ParseAnswers([]byte(`{"Which?":"pg"}`), same)
	wrong(t, err, "Which?", "names both questions", `"db2"`)
	if got, err := ParseAnswers([]byte(`{"db2":"pg"}`), same); err != nil || got[0].ID != "db2" {
		t.Errorf("%+v, %v", got, err)
	}
	crossed := selectQuestion(func(q *Question) { q.Options = []Option{{ID: "a", Label: "b"}, {ID: "b", Label: "a"}} })
	_, err = ParseAnswers([]byte(`{"db":"a"}`), []Question{crossed})
	wrong(t, err, "db", "can mean a or b")
	cased := selectQuestion(func(q *Question) { q.Options = []Option{{ID: "1", Label: "GO"}, {ID: "2", Label: "Go"}} })
	if got, err := ParseAnswers([]byte(`{"db":"Go"}`), []Question{cased}); err != nil || got[0].Selected.IDs()[0] != "2" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = ParseAnswers([]byte(`{"db":"go"}`), []Question{cased})
	wrong(t, err, "db", "can mean 1 or 2")
	// A question can be called answers.
	called := []Question{selectQuestion(func(q *Question) { q.ID = "answers" })}
	if got, err := ParseAnswers([]byte(`{"answers":"pg"}`), called); err != nil || got[0].ID != "answers" {
		t.Errorf("%+v, %v", got, err)
	}
}
