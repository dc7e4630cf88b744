package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// question is the question of a guard as the built-in templates have it.
func question(t testing.TB, guard core.GuardID) core.Question {
	return core.Question{ID: "q", Guard: guard, Kind: core.KindSelect, Options: known(t).question(guard).Options}
}

func state(guard core.GuardID) *core.State {
	return &core.State{
		Iterations: 10, Elapsed: 5 * time.Minute, Limits: core.DefaultLimits(), Trips: 1,
		Trip:    &core.Trip{Guard: guard, Iteration: 10},
		Streaks: core.Streaks{ErrorHashes: []core.KnownIssue{{Hash: 1, Label: "error:x"}}},
	}
}

// improving is a run in which two checks fail where five did.
func improving(s *core.State) {
	s.Baseline = &core.Progress{Failing: 5}
	s.Last = &core.IterationFinished{Outcome: core.OutcomeNotDone, ExitCode: 1, Signature: signature.Signature{Hash: 1, Label: "test-fail:2-a,b", Failing: 2, Passed: 3, Total: 5, Checks: []string{"a", "b"}}}
}

func respond(t testing.TB, p *Policy, q core.Question, s *core.State) (core.Answer, error) {
	t.Helper()
	return p.Responder(Options{Dir: t.TempDir()}).Respond(t.Context(), q, s)
}

const (
	goOn   = "  - {guard: max_iterations, answer: continue, reason: go on}\n"
	verify = `  - {guard: "*", answer: accept, verify: "exit 0", reason: it verifies}` + "\n"
	cancel = `  - {guard: "*", answer: cancel, reason: enough}` + "\n"
)

// Every way in which a rule can fail to match, each beside what makes it match.
func TestMatching(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		guard        core.GuardID
		change       func(*core.Question, *core.State)
		want         string // option and rule; empty: no answer
		why          string // of the first rule, or why none was looked at
	}{
		{"no rules", "detached: deny\n", core.MaxIterations, nil, "", "the policy has no rules"},
		{"no conditions", "rules:\n" + goOn, core.MaxIterations, nil, "continue p.yaml:3", ""},
		{"first match wins", "rules:\n" + goOn + cancel, core.MaxIterations, nil, "continue p.yaml:3", ""},
		{"another guard", "rules:\n" + goOn, core.MaxRuntime, nil, "", "it is for max_iterations"},
		{"every guard", "rules:\n" + goOn + cancel, core.WorkspaceCycle, nil, "cancel p.yaml:4", "it is for max_iterations"},
		{"every guard is no rejection", "rules:\n" + cancel, "", nil, "", "the questions of guards"},
		{"every guard is not the ladder", "rules:\n" + cancel, core.LadderExhausted, nil, "", "it is for looprun's own guards"},
		{"every guard is no unknown one", "rules:\n" + cancel, "disk_full", nil, "", "it is for looprun's own guards"},
		{"exclusive", "rules:\n" + goOn + cancel, core.MaxIterations, func(q *core.Question, _ *core.State) { q.Exclusive = true }, "", "only a person"},
		{"confirm", "rules:\n" + cancel, core.MaxIterations, func(q *core.Question, _ *core.State) { q.Kind = core.KindConfirm }, "", "questions with options"},
		{
			"option not offered", "rules:\n" + goOn + cancel, core.MaxIterations,
			func(q *core.Question, _ *core.State) { q.Options = q.Options[2:] }, "cancel p.yaml:4", "continue is not among its options: accept, cancel",
		},
		{
			"condition holds", "rules:\n  - {guard: max_iterations, when: improved, answer: continue, reason: r}\n", core.MaxIterations,
			func(_ *core.Question, s *core.State) { improving(s) }, "continue p.yaml:3", "",
		},
		{"condition does not hold", "rules:\n  - {guard: max_iterations, when: improved, answer: continue, reason: r}\n" + cancel, core.MaxIterations, nil, "cancel p.yaml:4", "improved does not hold: improved is false"},
		{"condition about what is not known", "rules:\n  - {guard: max_iterations, when: failing < 3, answer: continue, reason: r}\n", core.MaxIterations, nil, "", "failing is not known"},
		{
			"condition fails", "rules:\n  - {guard: max_iterations, when: '1 / trips > 0 && 1 / (trips - trips) > 0', answer: continue, reason: r}\n", core.MaxIterations,
			func(_ *core.Question, s *core.State) { improving(s) }, "", "cannot be evaluated",
		},
		{
			"what was spent", "rules:\n  - {guard: max_iterations, when: cost < 2 && tokens < 5000, answer: continue, reason: r}\n", core.MaxIterations,
			func(_ *core.Question, s *core.State) { s.Cost, s.Tokens = 1.99, 4999 }, "continue p.yaml:3", "",
		},
		{
			"too much spent", "rules:\n  - {guard: max_iterations, when: cost < 2 && tokens < 5000, answer: continue, reason: r}\n", core.MaxIterations,
			func(_ *core.Question, s *core.State) { s.Cost, s.Tokens = 2, 4999 }, "", "cost < 2",
		},
		{
			"nothing reported", "rules:\n  - {guard: max_iterations, when: tokens < 5000, answer: continue, reason: r}\n", core.MaxIterations,
			nil, "", "tokens is not known",
		},
		{"unlisted pause", "rules:\n  - {guard: loop_detected, answer: pause, reason: r}\n", core.LoopDetected, nil, "pause p.yaml:3 unlisted", ""},
		{"unlisted cancel", "rules:\n" + cancel, core.MaxRuntime, func(q *core.Question, _ *core.State) { q.Options = q.Options[:1] }, "cancel p.yaml:3 unlisted", ""},
		{"listed accept", "rules:\n  - {guard: \"*\", answer: accept, reason: r}\n", core.LoopDetected, nil, "accept p.yaml:3", ""},
		{"unlisted accept without verify", "rules:\n  - {guard: \"*\", answer: accept, reason: r}\n", core.ConsecutiveErrors, nil, "", "such an accept needs a verify command"},
		{
			"accept that is not offered", "rules:\n  - {guard: max_runtime, answer: accept, reason: r}\n", core.MaxRuntime,
			func(q *core.Question, _ *core.State) { q.Options = q.Options[:1] }, "", "such an accept needs a verify command",
		},
		{"unlisted accept with verify", "rules:\n" + verify, core.ConsecutiveErrors, nil, "accept p.yaml:3 unlisted", ""},
		{
			"an option that reviews", "rules:\n  - {guard: max_runtime, answer: pause, reason: r}\n", core.MaxRuntime,
			func(q *core.Question, _ *core.State) {
				q.Options = []core.Option{{ID: "pause", Action: core.ActionReview}}
			}, "", "shows the history to a person",
		},
		{
			"an option that cannot be carried out", "rules:\n  - {guard: consecutive_errors, answer: skip, reason: r}\n" + cancel, core.ConsecutiveErrors,
			func(_ *core.Question, s *core.State) { s.ErrorHashes = nil }, "cancel p.yaml:4", "it cannot be carried out: ",
		},
		{
			"an option that is not what it is called", "rules:\n  - {guard: max_runtime, answer: cancel, reason: r}\n", core.MaxRuntime,
			func(q *core.Question, _ *core.State) {
				q.Options = []core.Option{{ID: "cancel", Action: core.ActionContinue}}
			}, "", "the option cancel does not do what its name says: continue",
		},
		{
			"given already", "rules:\n" + goOn + goOn + cancel, core.MaxIterations,
			func(q *core.Question, _ *core.State) {
				q.Given = []core.Given{{Option: "continue", Responder: "policy", Rule: "p.yaml:3"}}
			}, "continue p.yaml:4", "it gave this answer in this trip already",
		},
		{
			"rejected by an assistant", "rules:\n" + goOn + cancel, core.MaxIterations,
			func(q *core.Question, _ *core.State) { q.Advice = &core.Advice{Text: "no"} }, "cancel p.yaml:4",
			"an assistant recommended rejecting it, and only a person may continue",
		},
		{
			"given by someone else", "rules:\n" + goOn, core.MaxIterations,
			func(q *core.Question, _ *core.State) {
				q.Given = []core.Given{{Option: "continue", Responder: "assistant"}}
			}, "continue p.yaml:3", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, s := question(t, c.guard), state(c.guard)
			if c.change != nil {
				c.change(&q, s)
			}
			p := parse(t, strings.TrimPrefix(c.policy, "\n"))
			check(t, p, q, s, c.want, c.why)
		})
	}
}

// check compares the answer with what it should be, and checks it against the
// question as the loop does.
func check(t *testing.T, p *Policy, q core.Question, s *core.State, want, why string) {
	t.Helper()
	a, err := respond(t, p, q, s)
	got := strings.TrimSpace(a.Option + " " + a.Rule)
	if a.Unlisted {
		got += " unlisted"
	}
	if got != want || (want == "") != errors.Is(err, core.ErrNoAnswer) || a.Responder != core.RespondedByPolicy || a.Person {
		t.Errorf("got %+v %v, want %q", a, err, want)
	}
	if want != "" {
		if _, err := q.Resolve(a); err != nil || a.Reason == "" {
			t.Errorf("the loop would not take %+v: %v", a, err)
		}
	}
	e, err := p.Evaluate(t.Context(), q, s, Options{Verifying: VerifyPass})
	if err != nil || (e.Answer == nil) != (want == "") || (e.Answer == nil && want == "" && e.Why == "" && len(e.Rules) == 0) {
		t.Errorf("evaluation: %+v %v", e, err)
	}
	reason := e.Why
	if len(e.Rules) > 0 {
		reason = e.Rules[0].Why
	}
	if !strings.Contains(reason, why) || (want == "" && why == "") {
		t.Errorf("why: %q, want %q", reason, why)
	}
}

// A rule that forbids holds unless it certainly does not.
func TestForbidding(t *testing.T) {
	inCI := func(name string) core.Facts {
		f := core.UnknownFacts(core.MaxIterations)
		f.CI, f.CIName = true, name
		return f
	}
	here := core.UnknownFacts(core.MaxIterations)
	pull := inCI("github")
	pull.BaseBranch = "main"
	for _, c := range []struct {
		when  string
		facts core.Facts
		want  bool
	}{
		{`branch startsWith "release/"`, here, true},
		{`branch != "main"`, here, true},
		{`branch == ""`, here, true},
		{`branch != "" && branch startsWith "release/"`, here, true}, // "" says no more of what is not known
		{`failing != -1 && failing > 10`, here, false},               // -1 does
		{`sender == "fixer"`, here, false},
		{`not (branch startsWith "release/")`, here, true},
		{`failing > 10`, here, true},
		{`failing > 10 && iteration > 5`, here, false}, // the rest is certain
		{`cost > 5`, here, true},
		{`any(failing_checks, # contains "security")`, here, true},
		{`1 / iteration > 2`, here, true}, // it cannot be evaluated
		{`task == "deploy"`, here, false},
		{`last_exit_code == 3`, here, false},
		{`tag startsWith "v"`, here, false},
		{`tag startsWith "v"`, inCI("gitlab"), false},
		{`tag startsWith "v"`, inCI(""), true},
		{`pull_request == 7`, inCI("github"), false},
		{`pull_request == 7`, pull, true},
		{`pull_request == 7`, inCI(""), true},
		{`base_branch == "main"`, inCI("github"), false},
		{`ci_event == "push"`, here, false},
		{`ci_event == "push"`, inCI("azure"), true},
	} {
		for answer, want := range map[string]bool{"cancel": c.want, "pause": c.want, "cancel, unknown: skip": false, "accept": false} {
			p := parse(t, fmt.Sprintf("rules:\n  - {guard: max_iterations, when: '%s', answer: %s, verify: \"true\", reason: r}\n", c.when, answer))
			d := decision{policy: p, question: question(t, core.MaxIterations), facts: c.facts, verify: assume(true)}
			e, err := d.decide(t.Context())
			if err != nil || (e.Answer != nil) != want {
				t.Errorf("%s, %s: got %+v, %v, want an answer: %v", c.when, answer, e, err, want)
			}
		}
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		name, budget string
		guard        core.GuardID
		used         Used
		want         string
	}{
		{"none stated", "{}", core.MaxIterations, Used{Continues: 99, Iterations: 999, Runtime: 99 * time.Hour}, "continue"},
		{"within", "{continues: 2}", core.MaxIterations, Used{Continues: 1}, "continue"},
		{"continues spent", "{continues: 2}", core.MaxIterations, Used{Continues: 2}, "cancel"},
		{"continues spent, of a guard without a limit", "{continues: 2}", core.NoProgress, Used{Continues: 2}, "cancel"},
		{"iterations just enough", "{iterations: 10}", core.MaxIterations, Used{Iterations: 5}, "continue"},
		{"iterations too many", "{iterations: 10}", core.MaxIterations, Used{Iterations: 6}, "cancel"},
		{"iterations passed, of an answer that adds none", "{iterations: 10}", core.NoProgress, Used{Iterations: 11}, "cancel"},
		{"runtime just enough", "{runtime: 20m}", core.MaxRuntime, Used{Runtime: 10*time.Minute + 7*time.Millisecond}, "continue"},
		{"runtime too long", "{runtime: 20m}", core.MaxRuntime, Used{Runtime: 10*time.Minute + time.Second}, "cancel"},
		{"the other bound", "{runtime: 20m, iterations: 100, continues: 1}", core.MaxRuntime, Used{Continues: 1}, "cancel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parse(t, "budget: "+c.budget+"\nrules:\n  - {guard: \"*\", answer: continue, reason: r}\n"+cancel)
			s := state(c.guard)
			s.PolicyContinues, s.PolicyIterations, s.PolicyRuntime = c.used.Continues, c.used.Iterations, c.used.Runtime
			if a, err := respond(t, p, question(t, c.guard), s); a.Option != c.want {
				t.Errorf("got %+v %v, want %s", a, err, c.want)
			}
		})
	}
	// An extension counts from what is spent: beyond a limit it adds more than it promises.
	for guard, spent := range map[core.GuardID]func(*core.State){
		core.MaxRuntime: func(s *core.State) { s.Limits.Runtime, s.Elapsed = 5*time.Minute, 8*time.Minute },
		core.MaxCost:    func(s *core.State) { s.Limits.Cost, s.Initial.Cost, s.Cost = 2, 2, 3 },
		core.MaxTokens:  func(s *core.State) { s.Limits.Tokens, s.Initial.Tokens, s.Tokens = 300, 300, 450 },
	} {
		for budget, want := range map[string]string{"{runtime: 12m, cost: 1.50, tokens: 290}": "cancel", "{runtime: 13m, cost: 2, tokens: 300}": "continue"} {
			p := parse(t, "budget: "+budget+"\nrules:\n  - {guard: \"*\", answer: continue, reason: r}\n"+cancel)
			s := state(guard)
			spent(s)
			if a, err := respond(t, p, question(t, guard), s); a.Option != want {
				t.Errorf("%s with %s: %+v %v", guard, budget, a, err)
			}
		}
	}
	// Debug and skip let the run go on as well; pause does not.
	p := parse(t, "budget: {continues: 1}\nrules:\n  - {guard: consecutive_errors, answer: skip, reason: r}\n  - {guard: consecutive_errors, answer: debug, reason: r}\n  - {guard: consecutive_errors, answer: pause, reason: r}\n")
	s := state(core.ConsecutiveErrors)
	s.PolicyContinues = 1
	if a, err := respond(t, p, question(t, core.ConsecutiveErrors), s); a.Option != "pause" {
		t.Errorf("past the budget: %+v %v", a, err)
	}
}

func TestZeroPolicy(t *testing.T) {
	a, err := new(Policy).Responder(Options{}).Respond(t.Context(), question(t, core.MaxRuntime), &core.State{})
	if !errors.Is(err, core.ErrNoAnswer) || a.Option != "" {
		t.Errorf("%+v %v", a, err)
	}
}

// No guard's question is ever answered with what its file does not say.
func TestOnlyWhatTheFileSays(t *testing.T) {
	for _, guard := range core.GuardIDs() {
		for _, o := range known(t).answers([]core.GuardID{guard}) {
			p := parse(t, "rules: [{guard: "+string(guard)+", answer: "+o+", verify: exit 0, reason: r}]")
			for _, asked := range core.GuardIDs() {
				s := state(asked)
				s.Passed = asked == core.Weakened
				a, err := respond(t, p, question(t, asked), s)
				if asked == guard && a.Option != o {
					t.Errorf("%s to %s: %+v %v", o, guard, a, err)
				}
				if asked != guard && !errors.Is(err, core.ErrNoAnswer) {
					t.Errorf("%s to %s answers %s: %+v %v", o, guard, asked, a, err)
				}
			}
		}
	}
}

func TestEvaluated(t *testing.T) {
	p := parse(t, "rules:\n"+goOn+cancel)
	var told []Evaluation
	_, err := p.Responder(Options{Evaluated: func(e Evaluation) { told = append(told, e) }}).Respond(context.Background(), question(t, core.MaxIterations), state(core.MaxIterations))
	if err != nil || len(told) != 1 || !told[0].Rules[0].Matched || told[0].Rules[1].Why != "an earlier rule answered" {
		t.Errorf("%+v %v", told, err)
	}
}

func TestWrite(t *testing.T) {
	p := parse(t, `
rules:
  - guard: loop_detected
    answer: cancel
    reason: stuck
  - guard: max_iterations
    when: failing < 2
    answer: continue
    reason: nearly there
  - guard: "*"
    answer: accept
    verify: make smoke
    reason: The smoke test passes.
  - guard: "*"
    answer: pause
    reason: for a person
`)
	s := state(core.MaxIterations)
	improving(s)
	for _, c := range []struct {
		verifying Verifying
		change    func(*core.Question)
		want      string
	}{
		{VerifyPass, nil, `question: max_iterations
  iteration=10 max_iterations=10 runtime=5m0s trips=1 continues=0 improved=true failing=2
  passing=3 total=5 failing_checks=["a" "b"] protected_changed=false repeats=0 period=0
  signature="test-fail:2-a,b" outcome="not_done" last_exit_code=1 errors=0 ci=false
rules:
  p.yaml:4   cancel    no: it is for loop_detected
  p.yaml:7   continue  no: failing < 2 does not hold: failing is 2
  p.yaml:11  accept    matches
  p.yaml:15  pause     no: an earlier rule answered
answer: accept (p.yaml:11)
reason: The smoke test passes.
`},
		{VerifyFail, func(q *core.Question) {
			q.Given = []core.Given{{Option: "pause", Responder: "policy", Rule: "p.yaml:15"}}
		}, `question: max_iterations
  iteration=10 max_iterations=10 runtime=5m0s trips=1 continues=0 improved=true failing=2
  passing=3 total=5 failing_checks=["a" "b"] protected_changed=false repeats=0 period=0
  signature="test-fail:2-a,b" outcome="not_done" last_exit_code=1 errors=0 ci=false
rules:
  p.yaml:4   cancel    no: it is for loop_detected
  p.yaml:7   continue  no: failing < 2 does not hold: failing is 2
  p.yaml:11  accept    no: "make smoke" was not run, and is taken to fail
  p.yaml:15  pause     no: it gave this answer in this trip already
answer: none, as no rule matches
`},
		{VerifyRun, func(q *core.Question) { q.Exclusive = true }, `question: max_iterations
  iteration=10 max_iterations=10 runtime=5m0s trips=1 continues=0 improved=true failing=2
  passing=3 total=5 failing_checks=["a" "b"] protected_changed=false repeats=0 period=0
  signature="test-fail:2-a,b" outcome="not_done" last_exit_code=1 errors=0 ci=false
answer: none, as only a person may answer this question
`},
	} {
		q := question(t, core.MaxIterations)
		if c.change != nil {
			c.change(&q)
		}
		e, err := p.Evaluate(t.Context(), q, s, Options{Verifying: c.verifying})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := e.Write(&b); err != nil || b.String() != c.want {
			t.Errorf("%v got\n%s\nwant\n%s", err, b.String(), c.want)
		}
	}
	var b bytes.Buffer
	if err := WriteFacts(&b); err != nil || strings.Count(b.String(), "\n") != len(core.FactList()) {
		t.Errorf("facts: %v\n%s", err, b.String())
	}
}
