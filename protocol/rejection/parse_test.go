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
		{"empty", " \n", "the rejection is empty; give a JSON object"},
		{"not JSON", "{\n\"task\": x}", "line 2: the rejection is not JSON: invalid character 'x' looking for beginning of value"},
		{"cut off", "{\"task\":\n\"x\"", "line 2: the rejection is not JSON: it ends too early"},
		{"trailing", "{}\n{}", "line 2: there is more after the rejection; give one JSON object"},
		{"trailing garbage", "{} x", "line 1: there is more after the rejection; give one JSON object"},
		{"list", "[]", "the rejection is a list; give an object"},
		{"null", "null", "the rejection is null; give an object"},
		{"not UTF-8", "{\"task\": \"\xff\"}", "the rejection is not valid UTF-8; write it in that encoding"},
		{"unknown", `{"tsak": "x"}`, `the rejection has no key "tsak"; did you mean "task"?`},
		{"case", `{"Task": "x"}`, `the rejection has no key "Task"; did you mean "task"?`},
		{"far", `{"x": {"y": [1]}}`, `the rejection has no key "x"; take it out`},
		{"nested", `{"evidence": [{}, {"date": "x"}]}`, `evidence[1] has no key "date"; did you mean "data"?`},
		{"nested task", `{"alternative_tasks": [{"dependencys": []}]}`, `alternative_tasks[0] has no key "dependencys"; did you mean "dependencies"?`},
		{"twice", `{"task": "x", "task": "x"}`, "task stands twice; give it once"},
		{"twice by escape", `{"task": null, "\u0074ask": "x"}`, "task stands twice; give it once"},
		{"nested twice", `{"evidence": [{"data": "", "data": ""}]}`, "evidence[0].data stands twice; give it once"},
		{"number for text", `{"task": 1e3}`, "task is the number 1e3; give a text"},
		{"text for list", `{"what_attempted": "x"}`, "what_attempted is a text; give a list"},
		{"list of numbers", `{"what_attempted": ["x", 2]}`, "what_attempted[1] is the number 2; give a text"},
		{"null in a list", `{"what_attempted": [null]}`, "what_attempted[0] is null; give a value, or take it out"},
		{"object for text", `{"agent": {}}`, "agent is an object; give a text"},
		{"text for number", `{"scope_growth_factor": "2"}`, "scope_growth_factor is a text; give a number, such as 2.5"},
		{"too large a number", `{"scope_growth_factor": 1e999}`, "scope_growth_factor is the number 1e999; give a number, such as 2.5"},
		{"true for an object", `{"evidence": [true]}`, "evidence[0] is true or false; give an object"},
		{"another schema", `{"schema": "looprun.dev/rejection/v2"}`, `schema is "looprun.dev/rejection/v2"; this looprun reads looprun.dev/rejection/v1`},
		{"all of them", `{"x": 1, "task": 1, "agent": []}`, "the rejection has no key \"x\"; take it out\ntask is the number 1; give a text\nagent is a list; give a text"},
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
