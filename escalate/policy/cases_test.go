package policy

import (
	"os"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

const tested = `version: 1
budget: {continues: 3, iterations: 10}
rules:
  - guard: max_iterations
    when: improved && failing < 3
    answer: continue
    reason: r
  - guard: "*"
    answer: accept
    verify: touch /nonexistent/never
    reason: r
tests:
`

func TestRunTests(t *testing.T) {
	for _, c := range []struct{ test, failure string }{
		{"{facts: {guard: max_iterations, improved: true, failing: 2}, expect: continue}", ""},
		{"{facts: {guard: max_iterations, improved: true, failing: 0}, expect: continue}", ""},
		{"{facts: {guard: max_iterations, improved: true}, expect: none}", ""},
		{"{facts: {guard: max_iterations, improved: true}, verify: pass, expect: accept}", ""},
		{"{facts: {guard: max_iterations, improved: true, failing: 2}, used: {continues: 3}, expect: none}", ""},
		{"{facts: {guard: max_iterations, improved: true, failing: 2}, used: {iterations: 6}, expect: none}", ""},
		{"{facts: {guard: consecutive_errors}, verify: pass, expect: accept}", ""},
		{
			"{name: too many, facts: {guard: max_iterations, improved: true, failing: 3}, expect: continue}",
			`p.yaml:13:90: the test "too many" expects continue, and the policy answers none; p.yaml:4 does not match: improved && failing < 3 does not hold: improved is true, failing is 3`,
		},
		{
			"{facts: {guard: max_runtime}, verify: pass, expect: none}",
			`p.yaml:13:57: the test "1" expects none, and the policy answers accept by p.yaml:8`,
		},
	} {
		p, err := Parse("p.yaml", []byte(tested+"  - "+c.test+"\n"), known(t))
		if err != nil {
			t.Errorf("%s: %v", c.test, err)
			continue
		}
		results, err := p.RunTests()
		if len(results) != 1 || results[0].Passed() != (c.failure == "") || (err != nil) != (c.failure != "") {
			t.Errorf("%s: %+v %v", c.test, results, err)
		}
		if err != nil && err.Error() != c.failure {
			t.Errorf("got  %v\nwant %s", err, c.failure)
		}
	}
}

func TestBadTests(t *testing.T) {
	for test, want := range map[string]string{
		"{expect: none}":                                                          `p.yaml:13:5: the key "facts" is missing`,
		"{facts: {guard: max_runtime}}":                                           `p.yaml:13:5: the key "expect" is missing`,
		"{facts: {improved: true}, expect: none}":                                 "the test has no guard",
		"{facts: {guard: max_runtim}, expect: none}":                              `unknown guard "max_runtim"; did you mean "max_runtime"?`,
		"{facts: {guard: max_runtime, failin: 1}, expect: none}":                  `unknown key "failin"; did you mean "failing"?`,
		"{facts: {guard: max_runtime, failing: two}, expect: none}":               `"failing" wants a whole number, not "two"`,
		"{facts: {guard: max_runtime}, expect: contineu}":                         `nothing can answer "contineu" to max_runtime; did you mean "continue"?`,
		"{facts: {guard: max_runtime}, expect: review}":                           `nothing can answer "review"`,
		"{facts: {guard: max_runtime}, verify: passes, expect: none}":             `unknown end of the verify commands "passes"; write pass or fail`,
		"{facts: {guard: max_runtime}, used: {continue: 1}, expect: none}":        `unknown key "continue"; did you mean "continues"?`,
		"{facts: {guard: max_runtime}, verify: fail, expect: none, signature: x}": `unknown key "signature"`,
	} {
		_, err := Parse("p.yaml", []byte(tested+"  - "+test+"\n"), known(t))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", test, err, want)
		}
	}
}

// The policy that comes with the examples is correct and does what it says.
func TestExample(t *testing.T) {
	p, err := Load(known(t), "../../examples/ci/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if results, err := p.RunTests(); err != nil || len(results) == 0 {
		t.Error(results, err)
	}
	a, err := p.Responder(Options{}).Respond(t.Context(), question(t, core.LoopDetected), state(core.LoopDetected))
	if a.Option != "cancel" || a.Reason == "" {
		t.Errorf("%+v %v", a, err)
	}
	// The example in the package documentation, too.
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var example strings.Builder
	for line := range strings.Lines(string(doc)) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok {
			example.WriteString(text)
		}
	}
	if _, err := Parse("doc.go", []byte(example.String()), known(t)); err != nil || example.Len() < 100 {
		t.Errorf("%v\n%s", err, example.String())
	}
}

// What a test of the file does not give is not known, as in a run: no condition
// about it holds.
func TestFactsThatATestDoesNotGive(t *testing.T) {
	for _, fact := range core.FactList() {
		if fact.Unknown != -1 && fact.Unknown != float64(-1) {
			continue
		}
		text := "version: 1\nrules: [{guard: max_iterations, when: " + fact.Name + " < 100, answer: continue, reason: r}]\ntests:\n" +
			"  - {facts: {guard: max_iterations}, expect: none}\n" +
			"  - {facts: {guard: max_iterations, " + fact.Name + ": 5}, expect: continue}\n" +
			"  - {facts: {guard: max_iterations, " + fact.Name + ": 0}, expect: continue}\n"
		p, err := Parse("p.yaml", []byte(text), known(t))
		if err != nil {
			t.Errorf("%s: %v", fact.Name, err)
			continue
		}
		if _, err := p.RunTests(); err != nil {
			t.Errorf("%s: %v", fact.Name, err)
		}
	}
}
