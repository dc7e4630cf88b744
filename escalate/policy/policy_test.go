package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/templates"
)

// use one of the options of the built-in questions.
func known(t testing.TB) Known {
	t.Helper()
	set, err := templates.Load()
	if err != nil {
		t.Fatal(err)
	}
	return set.Known()
}

// parse reads a policy of which the version is left out.
func parse(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := Parse("p.yaml", []byte("version: 1\n"+text), known(t))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

func TestParse(t *testing.T) {
	p := parse(t, `
rules:
  - guard: max_iterations
    when: >-
      improved &&
      continues < 2
    answer: new_approach
    reason: |
      Fewer tests
      fail.
  - guard: [max_runtime, loop_detected]
    answer: accept
    verify: "make smoke "
    reason: usable
  - guard: "*"
    answer: cancel
    reason: nothing else fits
verify_timeout: 30s
budget: {continues: 3, iterations: 30, runtime: 45m}
detached: defer
exit_codes: {accepted: 0, tripped: 7, max_runtime: 9}
`)
	first, second := p.Rules[0], p.Rules[1]
	if first.Where != "p.yaml:4" || first.Reason != "Fewer tests fail." || first.when.text != "improved && continues < 2" {
		t.Errorf("first rule: %+v", first)
	}
	if second.Where != "p.yaml:12" || len(second.Guards) != 2 || second.Verify != "make smoke" {
		t.Errorf("second rule: %+v", second)
	}
	if p.Budget != (Budget{Used: Used{Continues: 3, Iterations: 30, Runtime: 45 * time.Minute}}) || p.Detached != DetachedDefer || p.ExitCodes["max_runtime"] != 9 {
		t.Errorf("policy: %+v", p)
	}
	if p := parse(t, "never: [accept]\n"); p.Budget != (Budget{}) || p.Detached != "" {
		t.Errorf("defaults: %+v", p)
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ci.yaml")
	if _, err := Load(nil, file); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), file) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(file, []byte("version: 1\nrules: [{guard: max_runtime, answer: pause, reason: r}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := Load(nil, file); err != nil || p.Rules[0].Where != file+":2" {
		t.Errorf("%+v %v", p, err)
	}
	if err := os.WriteFile(file, []byte("version: 1\n#"+strings.Repeat("x", strictyaml.MaxSize)), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := Load(nil, file); err == nil || p != nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("oversized file: %v", err)
	}
	if _, err := Load(nil, t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

// Each case lists all problems of its file, in the order of their positions.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty file", "", "p.yaml: the file is empty; write its keys into it, or remove the file"},
		{"no version", "detached: deny\n", `p.yaml:1:1: the key "version" is missing`},
		{"version", "version: 2\n", "p.yaml:1:10: version 2 is not known; write version: 1"},
		{"unknown key", "version: 1\nrule: []\n", `p.yaml:2:1: unknown key "rule"; did you mean "rules"?`},
		{"two tests of one name", "version: 1\nrules: [{guard: \"*\", answer: cancel, reason: r}]\ntests:\n  - {name: a, facts: {guard: max_iterations}, expect: cancel}\n  - {name: a, facts: {guard: loop_detected}, expect: cancel}\n", `p.yaml:5:12: two tests are called "a"; give each a name of its own`},
		{"second document", "version: 1\n---\nversion: 1\n", `p.yaml:2:1: a second document begins here; one file holds one document: remove the line "---", or use two files`},
		{
			"empty rule", "version: 1\nrules:\n  - {}\n",
			"p.yaml:3:5: the key \"guard\" is missing\np.yaml:3:5: the key \"answer\" is missing\np.yaml:3:5: the key \"reason\" is missing",
		},
		{
			"everything at once", `version: 1
rules:
  - guard: max_iteration
    answer: continue
    reason: r
  - guard: max_iterations
    when: improvd && continues < 2
    answer: contine
    reason: " "
    verify: ""
  - guard: [loop_detected, loop_detected, "*"]
    answer: debug
    reason: r
verify_timeout: 0s
budget: {continues: 0, iterations: -1, runtime: 5}
detached: defr
exit_codes: {acepted: 0, tripped: 0, max_runtime: 0, accepted: 256}
`, `p.yaml:3:12: unknown guard "max_iteration"; did you mean "max_iterations"?
p.yaml:7:11: unknown fact "improvd"; did you mean "improved"?
p.yaml:8:13: max_iterations has no option "contine"; did you mean "continue"?
p.yaml:9:13: "reason" is empty; say why this is the right answer: the journal and the result show it
p.yaml:10:13: "verify" is empty; write a shell command, or remove the key
p.yaml:11:28: the guard "loop_detected" is in the list twice; remove one of them
p.yaml:11:43: "*" in a list of guards; write guard: "*" for every guard
p.yaml:14:17: "verify_timeout" has to be above 0; leave it out for 2m0s
p.yaml:15:21: "continues" has to be above 0; leave it out for no bound; to never continue, write no rule that does
p.yaml:15:36: "iterations" has to be above 0; leave it out for no bound; to never continue, write no rule that does
p.yaml:15:49: "runtime" wants a time, not "5"; write it with a unit, such as 90s, 10m or 1h30m
p.yaml:16:11: unknown detached mode "defr"; did you mean "defer"?
p.yaml:17:14: unknown status or guard "acepted"; did you mean "accepted"?
p.yaml:17:35: tripped cannot exit with 0, because the work is not done and nobody accepted it; use a code from 1 to 255; only done and accepted can be 0
p.yaml:17:51: max_runtime cannot exit with 0, because the work is not done and nobody accepted it; use a code from 1 to 255; only done and accepted can be 0
p.yaml:17:64: 256 is not an exit code; use 0 to 255`,
		},
		{"failed as 0", "version: 1\nexit_codes: {failed: 0, interrupted: 0}\n", `p.yaml:2:22: failed cannot exit with 0, because the work is not done and nobody accepted it; use a code from 1 to 255; only done and accepted can be 0
p.yaml:2:38: interrupted cannot exit with 0, because the work is not done and nobody accepted it; use a code from 1 to 255; only done and accepted can be 0`},
		{"cancelled as 0", "version: 1\nexit_codes: {cancelled: 0}\n", `p.yaml:2:25: cancelled cannot exit with 0, because the work is not done and nobody accepted it; use a code from 1 to 255; only done and accepted can be 0`},
		{"paused as 0", "version: 1\nexit_codes: {paused: 0}\n", `p.yaml:2:22: paused cannot exit with 0, because the work is not done and nobody accepted it; use a code from 1 to 255; only done and accepted can be 0`},
		{"rejected as 0", "version: 1\nexit_codes: {rejected: 0}\n", `p.yaml:2:24: rejected cannot exit with 0, because the work is not done and nobody accepted it; use a code from 1 to 255; only done and accepted can be 0`},
		{"control character", "version: 1\nrules: [{guard: max_runtime, answer: pause, reason: \"a\\eb\"}]\n", `p.yaml:2:53: "reason" holds a control character; remove it`},
		{"empty list", "version: 1\nrules: [{guard: [], answer: pause, reason: r}]\n", `p.yaml:2:17: the list of guards is empty; name a guard, or write "*" for every guard`},
		{"not an id", "version: 1\nrules: [{guard: {a: b}, answer: pause, reason: r}]\n", `p.yaml:2:17: "guard": wants a guard id, a list of them, or "*"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Parse("p.yaml", []byte(c.text), known(t))
			if p != nil || err == nil || err.Error() != c.want {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

// Each case is a list of rules, and what is wrong with it; empty: nothing.
func TestRules(t *testing.T) {
	for _, c := range []struct{ name, rules, want string }{
		{"option of the guard", "[{guard: loop_detected, answer: new_approach, reason: r}]", ""},
		{"option of another guard", "[{guard: loop_detected, answer: retry, reason: r}]", `loop_detected has no option "retry"; use one of new_approach, debug, accept, cancel, pause`},
		{"a list where one has it", "[{guard: [loop_detected, consecutive_errors], answer: retry, reason: r}]", ""},
		{"a list where none has it", "[{guard: [loop_detected, max_iterations], answer: retry, reason: r}]", `none of these guards has an option "retry"`},
		{"every guard", `[{guard: "*", answer: retry, reason: r}]`, ""},
		{"no guard", `[{guard: "*", answer: retri, reason: r}]`, `none of these guards has an option "retri"; did you mean "retry"?`},
		{"guard of the template for all", "[{guard: no_progress, answer: continue, reason: r}]", ""},
		{"review", "[{guard: max_cost, answer: review, reason: r}]", "a policy cannot answer review"},
		{"verify_timeout", "[{guard: max_cost, answer: accept, verify: x, verify_timeout: 5s, reason: r}]", ""},
		{"verify_timeout of nothing", "[{guard: max_cost, answer: accept, verify_timeout: 5s, reason: r}]", `"verify_timeout" without "verify"; add the command, or remove the time`},
		{"verify_timeout of 0", "[{guard: max_cost, answer: accept, verify: x, verify_timeout: 0s, reason: r}]", `"verify_timeout" has to be above 0; leave it out for that of the file`},
		{"unlisted pause", "[{guard: loop_detected, answer: pause, reason: r}]", ""},
		{"unlisted cancel of every guard", `[{guard: "*", answer: pause, reason: r}]`, ""},
		{"unlisted accept", "[{guard: consecutive_errors, answer: accept, reason: r}]", "accept is not among the options of consecutive_errors; add a verify command"},
		{"verified unlisted accept", `[{guard: consecutive_errors, answer: accept, verify: "true", reason: r}]`, ""},

		{"hidden", "[{guard: loop_detected, answer: cancel, reason: r}, {guard: loop_detected, answer: accept, reason: r}]", "p.yaml:2:68: the rule can never match: line 2 answers first"},
		{"hidden by all", `[{guard: "*", answer: cancel, reason: r}, {guard: [max_runtime, loop_detected], answer: pause, reason: r}]`, "the rule can never match: line 2 answers first"},
		{"hidden by two", `[{guard: max_runtime, answer: accept, reason: r}, {guard: loop_detected, answer: cancel, reason: r}, {guard: [max_runtime, loop_detected], answer: pause, reason: r}]`, "the rule can never match"},
		{"half hidden", `[{guard: max_runtime, answer: accept, reason: r}, {guard: [max_runtime, loop_detected], answer: pause, reason: r}]`, ""},
		{"hidden but for guards without the option", `[{guard: [max_iterations, max_runtime, no_progress, workspace_cycle, turn_loop, max_cost, max_tokens], answer: cancel, reason: r}, {guard: "*", answer: continue, reason: r}]`, "the rule can never match"},
		{"hidden by a condition on the guard", `[{guard: "*", when: 'guard != "max_cost"', answer: cancel, reason: r}, {guard: max_runtime, answer: pause, reason: r}]`, "the rule can never match"},
		{"left open by a condition on the guard", `[{guard: "*", when: 'guard != "max_runtime"', answer: cancel, reason: r}, {guard: max_runtime, answer: pause, reason: r}]`, ""},
		{"left open by a condition", "[{guard: max_runtime, when: improved, answer: cancel, reason: r}, {guard: max_runtime, answer: pause, reason: r}]", ""},
		{"left open by a condition that can fail", `[{guard: max_runtime, when: 'guard == "max_runtime" || failing < 2', answer: cancel, reason: r}, {guard: max_runtime, answer: pause, reason: r}]`, ""},
		{"left open by a condition that always fails", `[{guard: max_runtime, when: '1 / (len(guard) - len(guard)) == 0', answer: cancel, reason: r}, {guard: max_runtime, answer: pause, reason: r}]`, ""},
		{"hidden by the same condition", "[{guard: max_runtime, when: cost > 5, answer: cancel, reason: r}, {guard: max_runtime, when: 'cost  > 5', answer: pause, reason: r}]", "the rule can never match: line 2 answers first"},
		{"left open where the same condition forbids", "[{guard: max_runtime, when: failing < 2, answer: accept, reason: r}, {guard: max_runtime, when: failing < 2, answer: cancel, reason: r}]", ""},
		{"left open by the same condition that skips", "[{guard: max_runtime, when: cost > 5, unknown: skip, answer: cancel, reason: r}, {guard: max_runtime, when: cost > 5, answer: pause, reason: r}]", ""},
		{"left open by a verify command", `[{guard: max_runtime, answer: accept, verify: "true", reason: r}, {guard: max_runtime, answer: pause, reason: r}]`, ""},
		{"left open by a budget or a cap", "[{guard: max_runtime, answer: continue, reason: r}, {guard: max_runtime, answer: pause, reason: r}]", ""},
		{"left open by a pause", "[{guard: max_runtime, answer: pause, reason: r}, {guard: max_runtime, answer: cancel, reason: r}]", ""},
		{"every guard skips an unverified unlisted accept", `[{guard: "*", answer: accept, reason: r}, {guard: consecutive_errors, answer: cancel, reason: r}]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("p.yaml", []byte("version: 1\nrules: "+c.rules), known(t))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Without templates a policy can only end or pause a run.
func TestNothingKnown(t *testing.T) {
	for answer, ok := range map[string]bool{"pause": true, "cancel": true, "accept": false, "continue": false} {
		_, err := Parse("p.yaml", []byte("version: 1\nrules: [{guard: max_runtime, answer: "+answer+", reason: r}]"), nil)
		if (err == nil) != ok {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// An option that is called like an action and has another is not what a policy
// that names it says.
func TestMisleadingOptions(t *testing.T) {
	for _, c := range []struct {
		id     string
		action core.Action
		ok     bool
	}{
		{"cancel", core.ActionContinue, false},
		{"pause", core.ActionAccept, false},
		{"debug", core.ActionContinue, false},
		{"continue", core.ActionAccept, false},
		{"continue", core.ActionContinue, true},
		{"give_up", core.ActionAccept, true},
	} {
		k := Known{core.LoopDetected: {Options: []core.Option{{ID: c.id, Action: c.action}}}}
		_, err := Parse("p.yaml", []byte("version: 1\nrules: [{guard: loop_detected, answer: "+c.id+", reason: r}]"), k)
		if (err == nil) != c.ok || (err != nil && !strings.Contains(err.Error(), "does not do what its name says")) {
			t.Errorf("%s that means %s: %v", c.id, c.action, err)
		}
	}
}

// What an exit code can be, at both ends.
func TestExitCodesAtTheirLimits(t *testing.T) {
	for code, good := range map[string]bool{"-1": false, "0": true, "255": true, "256": false} {
		if _, err := Parse("p.yaml", []byte("version: 1\nexit_codes: {accepted: "+code+"}\n"), known(t)); (err == nil) != good {
			t.Errorf("accepted: %s: %v", code, err)
		}
	}
	for _, key := range []string{"tripped", "failed", "interrupted", "max_runtime"} {
		for code, good := range map[string]bool{"0": false, "1": true} {
			if _, err := Parse("p.yaml", []byte("version: 1\nexit_codes: {"+key+": "+code+"}\n"), known(t)); (err == nil) != good {
				t.Errorf("%s: %s: %v", key, code, err)
			}
		}
	}
}
