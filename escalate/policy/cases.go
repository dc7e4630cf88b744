package policy

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
)

// ExpectNone is the expectation of a test in which no rule may match.
const ExpectNone = "none"

// Test is one of a file's own test cases.
type Test struct {
	Name string
	// Where is its location in the file, FILE:LINE.
	Where string
	// Facts are the given facts; all others are unknown.
	Facts core.Facts
	Used  Used
	// VerifyPasses treats verify commands as exiting with 0; none is run.
	VerifyPasses bool
	// Expect is the expected answer, or [ExpectNone].
	Expect string

	line, column int
}

type testFile struct {
	Name   string     `yaml:"name" doc:"What the case shows."`
	Facts  core.Facts `yaml:"facts,required" doc:"What is known; all else is not."`
	Used   Used       `yaml:"used" doc:"What of the budget is spent already."`
	Verify string     `yaml:"verify" doc:"How verify commands are taken to end. None is run." also:"enum=pass|fail default=fail"`
	Expect string     `yaml:"expect,required" doc:"The answer, or none." also:"minLength=1 pattern=\\S"`
}

// TestResult is the result of a test.
type TestResult struct {
	Test       Test
	Evaluation Evaluation
	// Got is the actual answer, or [ExpectNone].
	Got string
}

// Passed reports whether the policy answered as the test expects.
func (r TestResult) Passed() bool { return r.Got == r.Test.Expect }

// RunTests runs the file's own tests without running verify commands. The error is of type
// [Problems] and contains each test that did not pass.
func (p *Policy) RunTests() ([]TestResult, error) {
	var results []TestResult
	var failed problem.List
	for _, t := range p.Tests {
		guard := core.GuardID(t.Facts.Guard)
		c := decision{
			policy: p, facts: t.Facts, used: t.Used, verify: assume(t.VerifyPasses),
			question: p.known.question(guard),
		}
		e, _ := c.decide(context.Background()) // nothing is run that could fail
		r := TestResult{Test: t, Evaluation: e, Got: ExpectNone}
		if e.Answer != nil {
			r.Got = e.Answer.Option
		}
		results = append(results, r)
		if !r.Passed() {
			failed = append(failed, r.problem(p.File))
		}
	}
	return results, failed.Err()
}

func (r TestResult) problem(file string) problem.Problem {
	text := fmt.Sprintf("the test %q expects %s, and the policy answers %s", r.Test.Name, r.Test.Expect, r.Got)
	if a := r.Evaluation.Answer; a != nil {
		text += " by " + a.Rule
	}
	p := problem.Problem{File: file, Line: r.Test.line, Column: r.Test.column, Text: text, Remedy: r.Evaluation.Why}
	for _, v := range r.Evaluation.Rules {
		if v.Answer == r.Test.Expect && !v.Matched {
			p.Remedy = fmt.Sprintf("%s does not match: %s", v.Rule, v.Why)
			break
		}
	}
	return p
}

// read reads and checks one test of the file.
func (f testFile) read(r *report, p *Policy, i int) Test {
	at := func(keys ...any) []any { return append([]any{"tests", i}, keys...) }
	line, _ := r.Pos(at()...)
	t := Test{
		Name: strings.Join(strings.Fields(f.Name), " "), Where: fmt.Sprintf("%s:%d", p.File, line),
		Facts: f.Facts, Used: f.Used, VerifyPasses: f.Verify == "pass", Expect: f.Expect,
	}
	if t.Name != "" && slices.ContainsFunc(p.Tests, func(other Test) bool { return other.Name == t.Name }) {
		r.Value("two tests are called "+quote(t.Name), "give each a name of its own", at("name")...)
	}
	if t.Name == "" {
		t.Name = fmt.Sprintf("%d", i+1)
	}
	t.line, t.column = r.Pos(at("expect")...)
	if r.Has(at("verify")...) && f.Verify != "pass" && f.Verify != "fail" {
		r.Value("unknown end of the verify commands "+quote(f.Verify), "write pass or fail", at("verify")...)
	}
	if !r.Has(at("facts")...) {
		return t
	}
	given := func(name string) bool { return r.Has(at("facts", name)...) }
	t.Facts = core.UnknownFacts(core.GuardID(f.Facts.Guard))
	g := Given{facts: f.Facts, names: slices.DeleteFunc(factNames(), func(name string) bool { return !given(name) })}
	g.set(&t.Facts)
	guards := p.known.guards()
	switch guard := core.GuardID(f.Facts.Guard); {
	case !given("guard"):
		r.Value("the test has no guard", "add guard to its facts", at("facts")...)
	case !slices.Contains(guards, guard):
		r.Value("unknown guard "+quote(f.Facts.Guard), nearest.DidYouMean(guard, guards), at("facts", "guard")...)
	case r.Has(at("expect")...):
		answers := append(p.known.answers([]core.GuardID{guard}), ExpectNone)
		if !slices.Contains(answers, f.Expect) {
			r.Value(fmt.Sprintf("nothing can answer %s to %s", quote(f.Expect), guard), nearest.DidYouMean(f.Expect, answers), at("expect")...)
		}
	}
	return t
}

// Given holds facts that are set by hand. The zero value sets none.
type Given struct {
	facts core.Facts
	names []string
}

// ParseGiven parses facts in the form NAME=VALUE. The error reports what is wrong with a fact.
func ParseGiven(texts []string) (g Given, err error) {
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || name == "guard" || slices.Contains(g.names, name):
			return g, fmt.Errorf("%s does not set a fact; write each once, as branch=main", quote(text))
		case !slices.Contains(factNames(), name):
			return g, fmt.Errorf("unknown fact %s; %s", quote(name), nearest.OneOf(name, factNames()))
		}
		if _, err := strictyaml.Decode(name, []byte(name+": "+value+"\n"), &g.facts); err != nil {
			return g, errors.New(problem.Of(err)[0].Text)
		}
		g.names = append(g.names, name)
	}
	return g, nil
}

// set overwrites f with the given facts.
func (g Given) set(f *core.Facts) {
	to, from := reflect.ValueOf(f).Elem(), reflect.ValueOf(g.facts)
	for field := range to.Type().Fields() {
		if slices.Contains(g.names, field.Tag.Get("yaml")) {
			to.FieldByIndex(field.Index).Set(from.FieldByIndex(field.Index))
		}
	}
}
