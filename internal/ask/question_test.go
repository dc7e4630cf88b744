package ask

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

func TestParse(t *testing.T) {
	got := parse(t, []byte(`{"type":"ask","schema":"looprun.dev/question/v1","id":"r1","to":"user","questions":[
		{"header":"Database","question":"Which database?","options":[{"label":"PostgreSQL 17"},{"label":"C++","description":"d"},{"label":"C"},{"label":" Größe "}],
		 "multi_select":true,"allow_text":false,"allow_cancel":true,"exclusive":true,"default":"postgresql-17"},
		{"id":"go","question":"Go on?","kind":"confirm","default":"no","safe":"yes"},
		{"question":"Name?","kind":"text","default":"any text"}]}`))
	want := Request{
		Type: "ask", Schema: QuestionSchema, ID: "r1", To: ToUser,
		Questions: []Question{
			{
				ID: "q1", Header: "Database", Question: "Which database?", Kind: core.KindSelect,
				Options:     []Option{{ID: "postgresql-17", Label: "PostgreSQL 17"}, {"C++", "C++", "d"}, {ID: "C", Label: "C"}, {ID: "Größe", Label: " Größe "}},
				MultiSelect: true, AllowText: pointer(false), AllowCancel: true, Exclusive: true, Default: "postgresql-17",
			},
			{ID: "go", Question: "Go on?", Kind: core.KindConfirm, Default: core.No, Safe: core.Yes},
			{ID: "q3", Question: "Name?", Kind: core.KindText, Default: "any text"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

// Each rule, with what just keeps it and what just breaks it.
func TestRules(t *testing.T) {
	const (
		o2 = `[{"label":"a"},{"label":"b"}]`
		o4 = `[{"label":"a"},{"label":"b"},{"label":"c"},{"label":"d"}]`
		o5 = `[{"label":"a"},{"label":"b"},{"label":"c"},{"label":"d"},{"label":"e"}]`
		at = "questions[0]"
	)
	for _, c := range []struct{ name, change, path, words string }{
		{"nothing changed", `{}`, "", ""},
		{"header of 12", `{"header":"äöüäöüäöüäöü"}`, "", ""},
		{"header of 13", `{"header":"äöüäöüäöüäöüx"}`, at + ".header", "13 characters"},
		{"no header", `{"header":"-"}`, "", ""},
		{"no question", `{"question":"-"}`, at + ".question", "missing"},
		{"blank question", `{"question":" \t\n"}`, at + ".question", "blank"},
		{"invisible question", `{"question":"\u200b\u0007"}`, at + ".question", "blank"},
		{"question is a number", `{"question":5}`, at + ".question", "a text"},
		{"NUL", `{"question":"a\u0000b"}`, at + ".question", "NUL"},
		{"1 option", `{"options":[{"label":"a"}]}`, at + ".options", "it has 1 option;"},
		{"2 options", `{"options":` + o2 + `}`, "", ""},
		{"4 options", `{"options":` + o4 + `}`, "", ""},
		{"5 options", `{"options":` + o5 + `}`, at + ".options", "at most 4"},
		{"no options", `{"options":"-"}`, at + ".options", "0 options"},
		{"options of text", `{"options":["a","b"]}`, "", "an object"},
		{"blank label", `{"options":[{"id":"a","label":" "},{"label":"b"}]}`, at + ".options[0].label", "blank"},
		{"no label", `{"options":[{"id":"a"},{"label":"b"}]}`, at + ".options[0].label", "missing"},
		{"same labels", `{"options":[{"id":"a","label":"x"},{"id":"b","label":"x"}]}`, at + ".options[1].label", "options[0]"},
		{"same after trimming", `{"options":[{"id":"a","label":"x y"},{"id":"b","label":" x y\t"}]}`, at + ".options[1].label", "options[0]"},
		{"same after NFC", `{"options":[{"id":"a","label":"\u00e9"},{"id":"b","label":"e\u0301"}]}`, at + ".options[1].label", "options[0]"},
		{"same to the eye", `{"options":[{"id":"a","label":"x"},{"id":"b","label":"x\u200b"}]}`, at + ".options[1].label", "options[0]"},
		{"other case", `{"options":[{"label":"x"},{"label":"X"}]}`, "", ""},
		{"same ids", `{"options":[{"id":"a","label":"x"},{"id":"a","label":"y"}]}`, at + ".options[1].id", "options[0]"},
		{"label is an id", `{"options":[{"id":"b","label":"a"},{"id":"c","label":"b"}]}`, at + ".options[1].label", "id of options[0]"},
		{"id is a label", `{"options":[{"id":"b","label":"a"},{"id":"a","label":"c"}]}`, at + ".options[1].id", "label of options[0]"},
		{"id with a line break", `{"options":[{"id":"a\nb","label":"x"},{"label":"y"}]}`, at + ".options[0].id", "blank space"},
		{"id of 100", `{"id":"` + strings.Repeat("x", 100) + `"}`, "", ""},
		{"id of 101", `{"id":"` + strings.Repeat("x", 101) + `"}`, at + ".id", "100"},
		{"unknown key", `{"multiselect":true}`, at + ".multiselect", `did you mean "multi_select"?`},
		{"unknown option key", `{"options":[{"label":"a","lable":"b"},{"label":"b"}]}`, at + ".options[0].lable", `"label"`},
		{"unknown kind", `{"kind":"selct"}`, at + ".kind", `did you mean "select"?`},
		{"default is an id", `{"default":"my"}`, "", ""},
		{"default is a label", `{"default":"MySQL"}`, at + ".default", "write the id of the option, my"},
		{"default is nothing", `{"default":"sqlite"}`, at + ".default", "no option"},
		{"multi", `{"multi_select":true}`, "", ""},
		{"multi as text", `{"multi_select":"true"}`, at + ".multi_select", "true or false"},
		{"safe of select", `{"safe":"yes"}`, at + ".safe", "confirm"},
		{"confirm with options", `{"kind":"confirm"}`, at + ".options", "no options"},
		{"text with options", `{"kind":"text"}`, at + ".options", "no options"},
		{"confirm", `{"kind":"confirm","options":"-","safe":"no","default":"yes"}`, "", ""},
		{"confirm with empty options", `{"kind":"confirm","options":[]}`, "", ""},
		{"confirm, text allowed", `{"kind":"confirm","options":"-","allow_text":true}`, "", ""},
		{"confirm, bad default", `{"kind":"confirm","options":"-","default":"true"}`, at + ".default", "no option"},
		{"confirm, bad safe", `{"kind":"confirm","options":"-","safe":"maybe"}`, at + ".safe", "yes"},
		{"confirm, multi", `{"kind":"confirm","options":"-","multi_select":true}`, at + ".multi_select", "kind confirm"},
		{"text", `{"kind":"text","options":"-","default":"whatever","allow_text":true}`, "", ""},
		{"text without text", `{"kind":"text","options":"-","allow_text":false}`, at + ".allow_text", "takes text"},
		{"text, multi", `{"kind":"text","options":"-","multi_select":true}`, at + ".multi_select", "kind text"},
		{"null", `{"default":null}`, at + ".default", "a text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Parse(question(c.change))
			switch {
			case c.path == "" && c.words == "":
				if err != nil {
					t.Error(err)
				}
			case c.path == "":
				if ps := problems(t, err); !strings.Contains(ps.Error(), c.words) {
					t.Error(ps)
				}
			default:
				wrong(t, err, c.path, c.words)
			}
			if err != nil && len(r.Questions) > 0 {
				t.Error("a broken request was returned")
			}
		})
	}
}

func TestRequestRules(t *testing.T) {
	q := `{"question":"Sure?","kind":"confirm"}`
	times := func(n int) string { return strings.TrimSuffix(strings.Repeat(q+",", n), ",") }
	for _, c := range []struct{ name, text, path, words string }{
		{"1 question", `{"questions":[` + q + `]}`, "", ""},
		{"4 questions", `{"questions":[` + times(4) + `]}`, "", ""},
		{"5 questions", `{"questions":[` + times(5) + `]}`, "questions", "at most 4"},
		{"0 questions", `{"questions":[]}`, "questions", "empty"},
		{"no questions", `{}`, "questions", "missing"},
		{"no list", `{"questions":` + q + `}`, "questions", "a list"},
		{"no object", `[` + q + `]`, "", "an object"},
		{"an item is null", `{"questions":[null]}`, "questions[0]", "an object"},
		{"same ids", `{"questions":[{"id":"a","kind":"text","question":"x"},{"id":"a","kind":"text","question":"y"}]}`, "questions[1].id", "questions[0]"},
		{"to", `{"questions":[` + q + `],"to":"assistant_with_escalation"}`, "", ""},
		{"bad to", `{"questions":[` + q + `],"to":"assistent"}`, "to", `did you mean "assistant"?`},
		{"bad schema", `{"questions":[` + q + `],"schema":"looprun.dev/question/v2"}`, "schema", QuestionSchema},
		{"bad type", `{"questions":[` + q + `],"type":"signal"}`, "type", "ask"},
		{"twice", `{"questions":[` + q + `],"id":"a","id":"b"}`, "id", "twice"},
		{"unknown", `{"questions":[` + q + `],"question":"x"}`, "question", `did you mean "questions"?`},
		{"other case", `{"Questions":[` + q + `],"questions":[` + q + `]}`, "Questions", `did you mean "questions"?`},
		{"no JSON", "{\n\n\"a\": x}", "", "line 3"},
		{"two documents", `{"questions":[` + q + `]} {}`, "", "not valid JSON"},
		{"empty", ``, "", "the document is empty"},
		{"no UTF-8", "{\"questions\":[" + q + "],\"id\":\"\xff\"}", "", "not UTF-8"},
		{"hostile key", `{"questions":[` + q + `],"\u001b[31mx":1}`, `"x"`, "not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			if c.words == "" && err != nil {
				t.Error(err)
			}
			if c.words != "" {
				wrong(t, err, c.path, c.words)
			}
		})
	}
}

// Everything is reported in one go, each with its place, and nothing twice.
func TestAllProblemsAtOnce(t *testing.T) {
	_, err := Parse([]byte(`{"to":"me","questions":[
		{"header":"much too long","question":"","options":[{"label":"a","x":1},{"label":"a"}],"default":"c"},
		7,
		{"question":"ok?","kind":"confirm","safe":5,"options":[{"label":"a"},{"label":"b"}]}]}`))
	want := []string{
		"to", "questions[0].header", "questions[0].question", "questions[0].options[0].x", "questions[0].options[1].label",
		"questions[0].default", "questions[1]", "questions[2].safe", "questions[2].options",
	}
	got := map[string]int{}
	for _, p := range problems(t, err) {
		got[p.Path]++
	}
	for _, path := range want {
		if got[path] != 1 {
			t.Errorf("%d problems at %s", got[path], path)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", err)
	}
	many := `{"questions":[{"question":"x","kind":"text"`
	for i := range 300 {
		many += `,"k` + strconv.Itoa(i) + `":1`
	}
	_, err = Parse([]byte(many + "}]}"))
	if lines := strings.Split(problems(t, err).Error(), "\n"); len(lines) != 101 || lines[100] != "and 200 more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

// A request made in Go keeps the same rules.
func TestValidate(t *testing.T) {
	r := Request{Questions: []Question{{Question: "Which?", Options: []Option{{Label: "a"}}}}}
	wrong(t, r.Validate(), "questions[0].options", "it has 1 option;")
	r.Questions[0].Options = append(r.Questions[0].Options, Option{Label: "b"})
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if r.Questions[0].ID != "" || r.Questions[0].Options[0].ID != "" {
		t.Error("Validate has changed the request")
	}
	if filled := r.WithDefaults(); filled.Questions[0].Options[1].ID != "b" || filled.Questions[0].Kind != core.KindSelect || r.Questions[0].Options[1].ID != "" {
		t.Errorf("%+v", filled)
	}
}

// Whatever the command calls a key or an id, the message about it is short and can
// be shown; what is as long as allowed is named whole.
func TestNamesInMessagesAreShort(t *testing.T) {
	for n, whole := range map[int]bool{60: true, 61: false, 5000: false} {
		key := strings.Repeat("k", n)
		_, err := Parse([]byte(`{"type":"ask","schema":"looprun.dev/question/v1","questions":[{"kind":"text","header":"h","question":"q"}],"` + key + `":1}`))
		if err == nil || strings.Contains(err.Error(), key) != whole || len(err.Error()) > 400 {
			t.Errorf("%d characters: %.500v", n, err)
		}
	}
	for _, id := range []string{"a\ufffd", " a", "a\u200b"} {
		if _, err := Parse([]byte(`{"type":"ask","questions":[{"kind":"text","question":"q","id":"` + id + `"}]}`)); err == nil || !strings.Contains(err.Error(), "cannot be seen") {
			t.Errorf("%q: %v", id, err)
		}
	}
}
