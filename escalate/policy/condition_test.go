package policy

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// rule is a policy with one rule that has this condition.
func rule(t testing.TB, guard, when string) (*Policy, error) {
	t.Helper()
	return Parse("p.yaml", []byte("version: 1\nrules:\n  - guard: "+strconv.Quote(guard)+"\n    when: "+strconv.Quote(when)+"\n    answer: pause\n    reason: r\n"), known(t))
}

func TestConditions(t *testing.T) {
	facts := core.Facts{
		Guard: "max_iterations", Iteration: 10, MaxIterations: 10, Runtime: 4 * time.Minute, Trips: 2, Continues: 1,
		Improved: true, Failing: 2, Passing: 3, Total: 5, FailingChecks: []string{"auth", "logout"}, Repeats: 2, Period: 1,
		Signature: "test-fail:2-auth,logout", Outcome: "not_done", LastExitCode: 1, Errors: 0, Cost: 1.5, Tokens: 1000,
		CI: true, CIName: "github", CIEvent: "push", CIAttempt: 1, Branch: "main", PullRequest: 7,
	}
	unknown := core.UnknownFacts("max_iterations")
	for _, c := range []struct {
		when         string
		known, blank bool // whether it holds for the facts, and when nothing is known
	}{
		{"improved && continues < 2", true, false},
		{"improved and not (continues >= 2)", true, false},
		{"!improved", false, true},
		{"failing < 3", true, false},
		{"failing != 0", true, false},
		{"failing > 2", false, false},
		{"not (failing > 2)", true, false},
		{"3 > failing", true, false},
		{"failing >= 0 && failing < 3", true, false},
		{"failing < 0 || failing < 3", true, true},
		{"0 > failing", false, true},
		{"failing == -1", false, true},
		{"failing <= 0", false, false},
		{"failing + passing == total", true, false},
		{"failing / total < 0.5", true, false},
		{"iteration < max_iterations", false, false},
		{"max_iterations == -1 || max_iterations > 5", true, true},
		{"runtime < 5m && runtime * 2 > 7m30s", true, false},
		{"failing not in [1, 3]", true, false},
		{`-failing < 0 and len(signature) == 23`, true, false},
		{`'logout' in failing_checks`, true, false},
		{`signature startsWith "test-fail:"`, true, false},
		{`signature != "build-fail:1-main.go"`, true, false},
		{`signature == "" or signature contains "auth"`, true, true},
		{`signature matches "^test-fail:[12]-"`, true, false},
		{`outcome == "not_done"`, true, false},
		{`last_exit_code in [1, 2]`, true, false},
		{`last_exit_code in [-1, 1]`, true, true},
		{"cost < 2", true, false},
		{"cost == -1 || cost < 2", true, true},
		{"tokens < 2000", true, false},
		{`any(failing_checks, # == "auth")`, true, false},
		{`none(failing_checks, # startsWith "db")`, true, false},
		{`all(failing_checks, # in ["auth", "logout"])`, true, false},
		{`"auth" in failing_checks`, true, false},
		{`not ("db" in failing_checks)`, true, false},
		{`len(failing_checks) <= 2`, true, false},
		{`branch != "release"`, true, false},
		{`branch in ["main", ""]`, true, false},
		{`branch == "" || branch == "main"`, true, false},
		{`sender == "" && cause == ""`, true, true},
		{`tag == ""`, true, true},
		{`ci && ci_name == "github" && ci_attempt < 3`, true, false},
		{"pull_request > 0", true, false},
		{`guard == "max_iterations"`, true, true},
		{"true", true, true},
		{"errors == 0 && repeats / 2 >= 0", true, true},
		{"cost > 1.4 and cost < 1.6 && cost != 1.4", true, false},
		{`branch != "b" && branch != "c" && branch != "" && continues > 0 && continues < 2`, true, false},
		{`signature startsWith "test" && not (signature startsWith "build") && ci_name != ""`, true, false},
	} {
		p, err := rule(t, "max_iterations", c.when)
		if err != nil {
			t.Errorf("%s: %v", c.when, err)
			continue
		}
		for _, with := range []struct {
			facts core.Facts
			want  bool
		}{{facts, c.known}, {unknown, c.blank}} {
			if got, why := p.Rules[0].when.eval(with.facts, false); got != with.want || got == (why != "") {
				t.Errorf("%s: %v %q, want %v", c.when, got, why, with.want)
			}
		}
	}
}

// That no check fails is known even if no check is named.
func TestNoChecks(t *testing.T) {
	p, err := rule(t, "max_iterations", "none(failing_checks, # == \"auth\")")
	if err != nil {
		t.Fatal(err)
	}
	for failing, want := range map[int]bool{0: true, 3: false, -1: false} {
		if got, _ := p.Rules[0].when.eval(core.Facts{Failing: failing}, false); got != want {
			t.Errorf("%d failing: %v", failing, got)
		}
	}
}

func TestWhy(t *testing.T) {
	for when, want := range map[string]string{
		"improved && continues < 2":            "improved && continues < 2 does not hold: continues is 0, improved is false",
		"failing < 3":                          "failing is not known, and failing < 3 does not handle that",
		`len(signature) == 0 || ci`:            "signature is not known",
		`tag == "" && repeats / trips == 0`:    "cannot be evaluated: ",
		`repeats / trips == 0 || ci`:           "cannot be evaluated: a division by zero",
		`tag == "" && len(failing_checks) < 1`: "failing_checks is not known",
	} {
		p, err := rule(t, "max_iterations", when)
		if err != nil {
			t.Errorf("%s: %v", when, err)
			continue
		}
		got, why := p.Rules[0].when.eval(core.UnknownFacts("max_iterations"), false)
		if got || !strings.Contains(why, want) || strings.Contains(why, "\n") {
			t.Errorf("%s: %v %q, want %q", when, got, why, want)
		}
	}
	p, err := rule(t, "max_iterations", `signature == "x"`)
	if err != nil {
		t.Fatal(err)
	}
	if _, why := p.Rules[0].when.eval(core.Facts{Signature: "\x1b[2Jevil\n" + strings.Repeat("y", 1000)}, false); strings.ContainsAny(why, "\x1b\n") || len(why) > 300 {
		t.Errorf("what the command printed is not tamed: %q", why)
	}
}

func TestBadConditions(t *testing.T) {
	deep := strings.Repeat("(", 400) + "1" + strings.Repeat(")", 400)
	for _, c := range []struct{ when, want string }{
		{"", `"when" is empty`},
		{" ", `"when" is empty`},
		{"improvd", `p.yaml:4:12: unknown fact "improvd"; did you mean "improved"?`},
		{"improved && failng < 3 && signature2 == \"\"", "p.yaml:4:24: unknown fact \"failng\"; did you mean \"failing\"?\np.yaml:4:38: unknown fact \"signature2\"; did you mean \"signature\"?"},
		{"failing", "failing is a number, not true or false; compare it"},
		{"ci ? 1 : true", "the operator ? is not supported"},
		{"trips % 2 == 0", "the operator % is not supported"},
		{"failing <", "not a condition"},
		{"failing = 3", "compare with =="},
		{`failing < "3"`, `< compares values of one type; failing is a number, and "3" is a text`},
		{"runtime < 10", "write times with a unit, such as 90s, 10m or 1h30m"},
		{`guard == "max_iteration"`, `guard is never "max_iteration"; did you mean "max_iterations"?`},
		{`guard in ["max_runtime", "loop"]`, `guard is never "loop"; did you mean "loop_detected"?`},
		{`"notdone" == outcome`, `outcome is never "notdone"; did you mean "not_done"?`},
		{`outcome == "waiting"`, `outcome is never "waiting"; use one of done, not_done, error`},
		{"false", "can never hold for max_iterations"},
		{"1 > 2", "can never hold"},
		{"improved && false", "can never hold"},
		{"not (improved or true)", "can never hold"},
		{"continues < 2 && continues > 5", "can never hold for max_iterations"},
		{"improved && !improved", "can never hold"},
		{"improved && ci && not (improved || tag == \"\")", "can never hold"},
		{"cost > 1.5 and cost < 1.5", "can never hold"},
		{`branch == "a" && branch == "b"`, "can never hold"},
		{`branch in ["a", "b"] && branch not in ["b", "a"]`, "can never hold"},
		{"runtime < 10m && runtime > 1h", "can never hold"},
		{`reason_type == "BLOCKER"`, "can never hold for max_iterations"},
		{`cause == "security_concern" && improved`, "can never hold for max_iterations"},
		{`reason_type == "SCOPECREEP"`, `reason_type is never "SCOPECREEP"; did you mean "SCOPE_CREEP"?`},
		{`cause in ["security"]`, `cause is never "security"; did you mean "security_concern"?`},
		{`ci_name == "GitHub"`, `ci_name is never "GitHub"; did you mean "github"?`},
		{`guard == "max_runtime" && improved`, "can never hold for max_iterations"},
		{"length(failing_checks) > 0", `unknown function "length"`},
		{"now().Year() > 2000", "a fact has no parts"},
		{"now() > now()", `unknown function "now"`},
		{`env("HOME") == ""`, `unknown function "env"`},
		{`$env["improved"]`, "the operator $ is not supported"},
		{`$env[branch] == true`, "the operator $ is not supported"},
		{"any(1..1000000, # > 5)", "neither a number nor a time"},
		{"any(failing_checks, any(failing_checks, # == #))", "any inside another predicate"},
		{`repeat("x", 1000000) == ""`, `unknown function "repeat"`},
		{"let x = 1; x > 0", "unexpected x"},
		{"branch?.x == 1", "a fact has no parts"},
		{"failing_checks.x == 1", "a fact has no parts"},
		{"branch ?? true", "the operator ?? is not supported"},
		{"nil == branch", `unknown fact "nil"`},
		{"{\"a\": 1} == {}", "unexpected {"},
		{`failing_checks[0] == "a"`, "unexpected ["},
		{"any(failing_checks, #index > 0)", "#index is not supported"},
		{"2 ** 99999 > 0", "the operator ** is not supported"},
		{"failing > 0 || " + strings.Repeat("x", maxCondition), "shorten it to at most 1000"},
		{deep, "not a condition"},
		{strings.Repeat("!", 900) + "ci", "not a condition"},
		{"signature matches branch", "matches wants a pattern in quotes"},
		{`signature matches "("`, "not a pattern: missing closing )"},
		{"signature == \"\x1b\"", "a control character"},
		{"failing > 1 & ci", "write && or and"},
		{`signature == "a`, "close the quotes"},
		{"signature == 'a", "no closing quote"},
		{"not failing > 2", "put parentheses around a comparison"},
		{"1 < failing < 3", "< compares values of one type"},
		{"failing < 10x", "neither a number nor a time"},
		{"# > 1", "there is no list here"},
		{"any(failing_checks)", "any takes 2 arguments, not 1"},
		{"len(failing_checks, ci) > 1", "len takes 1 argument, not 2"},
		{"len(failing) > 1", "len counts the entries of a list"},
		{"any(branch, ci)", "branch is a text, not a list"},
		{"any(failing_checks, 1)", "1 is a number, not true or false"},
		{"count(failing_checks, ci) > 1", `unknown function "count"; use one of all, any, none, len`},
		{"signature in branch", "write the values in brackets"},
		{`failing in ["a"]`, "the entries of the list are of another type"},
		{`"a" + 1 == "a1"`, "+ cannot join a text and a number"},
	} {
		_, err := rule(t, "max_iterations", c.when)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.when, err, c.want)
		}
	}
}

// A condition that was not compiled does not hold, for any guard.
func TestUncompiled(t *testing.T) {
	c := condition{text: "improved"}
	if holds, why := c.eval(core.Facts{Improved: true}, false); holds || why == "" || c.holdsAlways(core.MaxRuntime) {
		t.Errorf("%v %q", holds, why)
	}
}

// The place of a fault in a condition is that of its word.
func TestConditionPosition(t *testing.T) {
	_, err := Parse("p.yaml", []byte(`version: 1
rules:
  - guard: max_runtime
    when: ci && braanch == "ä" && labl == ""
    answer: pause
    reason: r
  - guard: max_runtime
    when: |
      improved &&
      failing <
    answer: pause
    reason: r
`), known(t))
	for _, want := range []string{`p.yaml:4:17: unknown fact "braanch"`, `p.yaml:4:35: unknown fact "labl"`, "p.yaml:10:16: not a condition"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got\n%v\nwant %s", err, want)
		}
	}
}

// Every fact is documented under its name, can be given in a test of the file
// and be mentioned; those that can be unuse one of so when nothing is known.
func TestFactList(t *testing.T) {
	fields := reflect.TypeFor[core.Facts]()
	list := core.FactList()
	if fields.NumField() != len(list) {
		t.Fatalf("%d facts, %d documented", fields.NumField(), len(list))
	}
	unknown := core.UnknownFacts("")
	types := map[string]string{"string": "text", "int": "number", "float64": "number", "bool": "true or false", "[]string": "list of texts", "time.Duration": "time"}
	for i, f := range list {
		field := fields.Field(i)
		if field.Tag.Get("yaml") != f.Name || types[field.Type.String()] != f.Type {
			t.Errorf("field %s is documented as %+v", field.Name, f)
		}
		if f.Unknown != nil && !unknown.Unknown(f) {
			t.Errorf("%s is %v when nothing is known", f.Name, unknown.Value(f.Name))
		}
		if strings.ReplaceAll(strings.ToLower(field.Name), "_", "") != strings.ReplaceAll(f.Name, "_", "") {
			t.Errorf("the fact %s is {{.%s}} in templates", f.Name, field.Name)
		}
	}
}

func TestFactsOf(t *testing.T) {
	code := 2
	s := &core.State{
		Iterations: 9, Elapsed: time.Minute, Trips: 3, Continues: 2, Streaks: core.Streaks{ErrorRun: 1},
		Limits:   core.Limits{Iterations: 10, Runtime: core.Off},
		Baseline: &core.Progress{Failing: 5},
		Last: &core.IterationFinished{
			Iteration: 9, Outcome: core.OutcomeNotDone, ExitCode: code,
			Signature: signature.Signature{Hash: 7, Label: "test-fail:2-auth", Failing: 2, Passed: 3, Total: 5, Checks: []string{"auth"}},
		},
		Trip: &core.Trip{Guard: core.LoopDetected, Iteration: 9, Period: 2, Repeats: 3},
	}
	got := core.FactsOf(core.LoopDetected, s, core.CI{In: true, Name: "github", Event: "push", Attempt: 2, Branch: "b", BaseBranch: "main", Tag: "v1", PullRequest: 4, ChangedFiles: new(0)})
	want := core.Facts{
		Guard: "loop_detected", Iteration: 9, MaxIterations: 10, Runtime: time.Minute, Trips: 3, Continues: 2, Improved: true,
		Failing: 2, Passing: 3, Total: 5, ChecksTotal: -1, ChecksMost: -1, Skipped: -1, FailingChecks: []string{"auth"}, Repeats: 3, Period: 2, Signature: "test-fail:2-auth",
		Outcome: "not_done", LastExitCode: 2, Errors: 1, Cost: -1, Tokens: -1, Attempts: -1,
		CI: true, CIName: "github", CIEvent: "push", CIAttempt: 2, Branch: "b", BaseBranch: "main", Tag: "v1", PullRequest: 4, ChangedFiles: 0,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	s.Cost, s.Tokens = 0.25, 1200
	if got := core.FactsOf(core.LoopDetected, s, core.CI{}); got.Cost != 0.25 || got.Tokens != 1200 {
		t.Errorf("of what was reported: %+v", got)
	}
	s.Trip, s.LastTrip = nil, s.Trip
	if got := core.FactsOf(core.LoopDetected, s, core.CI{}); got.Period != 2 {
		t.Errorf("of a settled trip: %+v", got)
	}
	if got := core.FactsOf(core.MaxRuntime, &core.State{}, core.CI{}); !reflect.DeepEqual(got, core.UnknownFacts("max_runtime")) {
		t.Errorf("of nothing: %+v", got)
	}
}

// A condition that was never compiled holds for nothing.
func TestAConditionThatWasNotCompiled(t *testing.T) {
	c := condition{text: "true"}
	if holds, why := c.eval(core.Facts{}, false); holds || why == "" {
		t.Errorf("%v, %q", holds, why)
	}
}

// A rule for several guards may have a condition that holds for one of them.
func TestAConditionForOneOfItsGuards(t *testing.T) {
	for _, guards := range []string{"[max_iterations, max_runtime]", "[max_runtime, max_iterations]"} {
		for when, good := range map[string]bool{`guard == "max_iterations"`: true, `guard == "loop_detected"`: false} {
			text := "version: 1\nrules: [{guard: " + guards + ", when: '" + when + "', answer: cancel, reason: r}]\n"
			if _, err := Parse("p.yaml", []byte(text), known(t)); (err == nil) != good {
				t.Errorf("%s when %s: %v", guards, when, err)
			}
		}
	}
}

// What the command itself said of its task, where that is what the run was stopped for.
func TestFactsOfWhatTheCommandSaid(t *testing.T) {
	s := &core.State{Task: "upload"}
	s.Rejected = &core.RejectionSubmitted{Rejection: rejection.Rejection{Task: "T-1", Agent: "fixer", ReasonType: rejection.ScopeCreep, Attempted: []string{"a b", "c d"}}}
	s.Signal = &signal.Signal{Name: signal.Clarify, Agent: "coder", Cause: "security_concern"}
	for guard, want := range map[core.GuardID][5]any{
		core.Rejection:     {"T-1", "fixer", "SCOPE_CREEP", "", 2},
		core.Clarification: {"upload", "coder", "", "security_concern", -1},
		core.MaxIterations: {"upload", "", "", "", -1},
	} {
		f := core.FactsOf(guard, s, core.CI{})
		if got := [5]any{f.Task, f.Sender, f.ReasonType, f.Cause, f.Attempts}; got != want {
			t.Errorf("%s: %v, want %v", guard, got, want)
		}
	}
}
