package rejection

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const document = `{
	  "schema": "looprun.dev/rejection/v1",
	  "task": "t", "agent": "a", "reason_type": "BLOCKER", "reason_summary": "s", "reason_detail": "d",
	  "what_attempted": ["x", ""], "blocking_factor": "b",
	  "evidence": [{"type": "error_log", "data": "e", "source": "f"}, {}],
	  "suggested_alternative": "alt\u00e9",
	  "alternative_tasks": [{"title": "1", "scope": "2", "dependencies": ["3"], "estimate": "4"}],
	  "task_original_scope": "o", "scope_growth_factor": 2.5
	}`
	want := Rejection{
		Task: "t", Agent: "a", ReasonType: Blocker, Summary: "s", Detail: "d", Attempted: []string{"x", ""}, BlockingFactor: "b",
		Evidence: []Evidence{{"error_log", "e", "f"}, {}}, Suggested: "alté",
		Alternatives:  []Task{{"1", "2", []string{"3"}, "4"}},
		OriginalScope: "o", Growth: 2.5,
	}
	for _, prefix := range []string{"", "\ufeff", " \r\n"} {
		got, err := Parse([]byte(prefix + document + "\r\n"))
		if err != nil || !equal(got, want) {
			t.Errorf("got  %+v %v\nwant %+v", got, err, want)
		}
	}
	if got, err := Parse([]byte(`{"task": null, "evidence": null, "scope_growth_factor": null}`)); err != nil || !equal(got, Rejection{}) {
		t.Errorf("null is left out: %+v %v", got, err)
	}
}

// What is written can be read again.
func TestRoundTrip(t *testing.T) {
	for _, reason := range Reasons() {
		data, err := json.Marshal(valid(reason))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(data); err != nil || !equal(got, valid(reason)) {
			t.Errorf("%s: %+v %v", data, got, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, document, want string }{
		{"empty", " \n", "the document is empty; give a JSON object"},
		{"not JSON", "{\n\"task\": x}", "the document is not valid JSON: line 2: invalid character 'x' looking for beginning of value"},
		{"cut off", "{\"task\":\n\"x\"", "the document is not valid JSON: line 2: it ends too early"},
		{"trailing", "{}\n{}", "the document is not valid JSON: line 2: there is more after its end; give one JSON object and nothing else"},
		{"trailing garbage", "{} x", "the document is not valid JSON: line 1: there is more after its end; give one JSON object and nothing else"},
		{"list", "[]", "the document has to be an object, not a list"},
		{"null", "null", "the document has to be an object, not null"},
		{"not UTF-8", "{\"task\": \"\xff\"}", "the document is not UTF-8; write it in that encoding"},
		{"unknown", `{"tsak": "x"}`, `tsak: the key is not known; did you mean "task"?`},
		{"case", `{"Task": "x"}`, `Task: the key is not known; did you mean "task"?`},
		{"far", `{"x": {"y": [1]}}`, `x: the key is not known; leave it out`},
		{"nested", `{"evidence": [{}, {"date": "x"}]}`, `evidence[1].date: the key is not known; did you mean "data"?`},
		{"nested task", `{"alternative_tasks": [{"dependencys": []}]}`, `alternative_tasks[0].dependencys: the key is not known; did you mean "dependencies"?`},
		{"twice", `{"task": "x", "task": "x"}`, "task: the key is there twice; leave one of them out"},
		{"twice by escape", `{"task": null, "\u0074ask": "x"}`, "task: the key is there twice; leave one of them out"},
		{"nested twice", `{"evidence": [{"data": "", "data": ""}]}`, "evidence[0].data: the key is there twice; leave one of them out"},
		{"number for text", `{"task": 1e3}`, "task: it has to be a text, not 1e3"},
		{"text for list", `{"what_attempted": "x"}`, "what_attempted: it has to be a list, not a text"},
		{"list of numbers", `{"what_attempted": ["x", 2]}`, "what_attempted[1]: it has to be a text, not 2"},
		{"null in a list", `{"what_attempted": [null]}`, "what_attempted[0]: it has to be a text, not null"},
		{"object for text", `{"agent": {}}`, "agent: it has to be a text, not an object"},
		{"text for number", `{"scope_growth_factor": "2"}`, "scope_growth_factor: it has to be a number, not a text"},
		{"too large a number", `{"scope_growth_factor": 1e999}`, "scope_growth_factor: it has to be a number, not 1e999"},
		{"true for an object", `{"evidence": [true]}`, "evidence[0]: it has to be an object, not true"},
		{"another schema", `{"schema": "looprun.dev/rejection/v2"}`, `schema: "looprun.dev/rejection/v2" is not known here; it has to be looprun.dev/rejection/v1`},
		{"all of them", `{"x": 1, "task": 1, "agent": []}`, "x: the key is not known; leave it out\ntask: it has to be a text, not 1\nagent: it has to be a text, not a list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse([]byte(c.document))
			if err == nil || err.Error() != c.want || !equal(got, Rejection{}) {
				t.Errorf("got  %v\nwant %s\n%+v", err, c.want, got)
			}
		})
	}
}

func TestParseSize(t *testing.T) {
	fill := func(n int) []byte {
		const frame = `{"task":""}`
		return []byte(`{"task":"` + strings.Repeat("x", n-len(frame)) + `"}`)
	}
	for _, n := range []int{MaxSize - 1, MaxSize} {
		if _, err := Parse(fill(n)); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := Parse(fill(MaxSize + 1)); err == nil || !strings.Contains(err.Error(), "larger than 64 KiB") {
		t.Error(err)
	}
}
