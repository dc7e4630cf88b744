package signal

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	got, err := Parse([]byte(`{"name":"clarify","task":" a-1 ","agent":"coder","cause":"security_concern","question":" Which \u001b[31mkey?\n",
		"context":"c","options_considered":[{"option":"one","why_insufficient":"leaks"},{"option":"two"}],"attempts_made":[" x "],"what_would_help":"w","text":"t"}`))
	want := Signal{
		Name: Clarify, Task: "a-1", Agent: "coder", Cause: SecurityConcern, Question: "Which key?", Context: "c", Text: "t",
		Considered: []Considered{{"one", "leaks"}, {"two", ""}}, Attempts: []string{"x"}, WouldHelp: "w",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	for _, valid := range []string{
		`{"name":"done"}`, `{"schema":"looprun.dev/signal/v1","name":"done"}`, `{"name":"progress","text":"half"}`, `{"name":"unsuccessful","text":"no"}`, `{"name":"expert"}`,
		`{"name":"expert","expert":"crypto"}`, `{"name":"blocked","text":"no key"}`, `{"name":"blocked","question":"which?"}`,
		`{"name":"attempt","approach":"retry","outcome":"fails","why_different":"w"}`, `{"name":"cost","usd":0.12,"tokens":3400}`,
		`{"name":"cost","usd":10000}`, `{"name":"cost","tokens":10000000000}`, " {\"name\":\"done\"}\n",
	} {
		if _, err := Parse([]byte(valid)); err != nil {
			t.Errorf("%s: %v", valid, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	long := strings.Repeat("x", MaxText+1)
	for _, c := range []struct{ in, want string }{
		{``, "the document is empty; give a JSON object"},
		{`[]`, "the document has to be an object, not a list"},
		{`null`, "the document has to be an object, not null"},
		{`{"name":"done"`, "it ends too early"},
		{`{"name":"done"} {}`, "there is more after its end"},
		{`{"name":"done","schema":"looprun.dev/signal/v2"}`, "it has to be looprun.dev/signal/v1"},
		{`{"name":"done","schema":1}`, "schema: it has to be a text, not 1"},
		{`{"tsk":1,"text":7,"usd":"1"}`, "tsk: the key is not known; did you mean \"task\"?\ntext: it has to be a text, not 7\nusd: it has to be a number, not a text"},
		{`{}`, `unknown signal ""`},
		{`{"name":"don"}`, `unknown signal "don"; did you mean "done"?`},
		{`{"name":"done","tsk":"a"}`, `tsk: the key is not known; did you mean "task"?`},
		{`{"name":"done","Task":"a"}`, `Task: the key is not known; did you mean "task"?`},
		{`{"name":"done","name":"blocked"}`, `name: the key is there twice`},
		{`{"name":"done","text":7}`, "text: it has to be a text, not 7"},
		{`{"name":"cost","tokens":1.5}`, "tokens: it has to be a whole number, not 1.5"},
		{`{"name":"cost","usd":"1"}`, "usd: it has to be a number, not a text"},
		{`{"name":"cost"}`, "neither usd nor tokens"},
		{`{"name":"cost","usd":-1}`, "usd is negative"},
		{`{"name":"cost","tokens":-1}`, "tokens is negative"},
		{`{"name":"cost","usd":10000.01}`, "more than the 10000"},
		{`{"name":"cost","tokens":10000000001}`, "more than the 10000000000"},
		{`{"name":"done","usd":1}`, "belong to a cost"},
		{`{"name":"done","tokens":1}`, "belong to a cost"},
		{`{"name":"attempt","approach":"  "}`, "no approach"},
		{`{"name":"blocked","context":"c"}`, "blocked has neither a question nor a text"},
		{`{"name":"clarify"}`, "clarify has neither a question nor a text"},
		{`{"name":"clarify","text":"t","cause":"security"}`, `unknown cause "security"; did you mean "security_concern"?`},
		{`{"name":"blocked","text":"t","cause":"security_concern"}`, "a cause belongs to clarify"},
		{`{"name":"done","via":"mail"}`, "via is socket or text"},
		{`{"name":"done","options_considered":[{"option":"a","why":"b"}]}`, `options_considered[0].why: the key is not known; did you mean "why_insufficient"?`},
		{`{"name":"done","options_considered":[{"option":" "}]}`, "options_considered[0] names no option"},
		{`{"name":"done","options_considered":["a"]}`, "options_considered[0]: it has to be an object, not a text"},
		{`{"name":"done","text":"` + long + `"}`, "text has 8193 bytes; shorten it to at most 8192"},
		{`{"name":"done","task":"` + long[:MaxID+1] + `"}`, "task has 201 bytes"},
		{`{"name":"done","attempts_made":[` + strings.Repeat(`"a",`, MaxList) + `"a"]}`, "attempts_made has 51 entries"},
		{`{"name":"done","text":"` + strings.Repeat(" ", MaxSize) + `"}`, "shorten it to at most 65536"},
	} {
		_, err := Parse([]byte(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v, want %s", c.in, err, c.want)
		}
	}
	for _, c := range []string{
		`{"name":"done","text":"` + long[1:] + `"}`, `{"name":"done","task":"` + long[:MaxID] + `"}`,
		`{"name":"done","attempts_made":[` + strings.Repeat(`"a",`, MaxList-1) + `"a"]}`,
		`{"name":"done"}` + strings.Repeat(" ", MaxSize-len(`{"name":"done"}`)),
	} {
		if _, err := Parse([]byte(c)); err != nil {
			t.Errorf("at the limit: %v", err)
		}
	}
}

func TestValidateReportsAll(t *testing.T) {
	err := Signal{Name: "cots", USD: math.NaN(), Cause: "x", Via: "y"}.Validate()
	if err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("not all problems are reported: %v", err)
	}
	for _, usd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.01, MaxUSD * 1.01} {
		if err := (Signal{Name: Cost, USD: usd, Tokens: 1}).Validate(); err == nil {
			t.Errorf("%g dollars are taken", usd)
		}
	}
}

func TestActing(t *testing.T) {
	list := func(names ...Name) []Signal {
		var l []Signal
		for _, n := range names {
			l = append(l, Signal{Name: n})
		}
		return l
	}
	for _, c := range []struct {
		list []Signal
		want int
	}{
		{nil, -1},
		{list(Progress), 0},
		{list(Done, Cost, Progress), 0},
		{list(Done, Expert), 1},
		{list(Expert, Clarify), 1},
		{list(Clarify, Expert, Blocked), 2},
		{list(Done, Blocked, Blocked, Clarify), 1},
		{list(Clarify, Expert, Unsuccessful, Attempt), 0},
	} {
		if got := Acting(c.list); got != c.want {
			t.Errorf("%v: %d, want %d", c.list, got, c.want)
		}
	}
}

// Every signal that Parse takes can be written and read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"name":"done"}`, `{"name":"cost","usd":0.5}`, `{"name":"clarify","question":"\u202e","options_considered":[{"option":"a"}]}`,
		`{"name":"done","name":"done"}`, `{"name":"done"}x`, `{"name":`, `{"options_considered":[[[`, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			if s.Name != "" {
				t.Errorf("a refused signal is returned: %+v", s)
			}
			return
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > MaxSize {
			return // escapes can be longer than what was escaped
		}
		again, err := Parse(text)
		if err != nil || !reflect.DeepEqual(compactLists(s), compactLists(again)) {
			t.Errorf("%+v became %+v, %v", s, again, err)
		}
	})
}

// compactLists: an empty list is as good as none.
func compactLists(s Signal) Signal {
	if len(s.Considered) == 0 {
		s.Considered = nil
	}
	if len(s.Attempts) == 0 {
		s.Attempts = nil
	}
	return s
}
