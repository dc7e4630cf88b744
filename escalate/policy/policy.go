package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
)

// DefaultVerifyTimeout is how long a verify command may take if the file does not set it.
const DefaultVerifyTimeout = 2 * time.Minute

// Policy is a valid policy file. Create one with [Parse] or [Load]; it is immutable and safe
// for concurrent use. The zero value answers nothing.
type Policy struct {
	// File is the name under which the file was read; rules are called FILE:LINE.
	File   string
	Rules  []Rule
	Budget Budget
	// Detached is what happens if no rule matched and nobody else answered; empty if the file
	// does not set it.
	Detached Detached
	// ExitCodes maps statuses and guard ids to exit codes; the id takes precedence.
	ExitCodes map[string]int
	// Tests are the file's own test cases.
	Tests  []Test
	nevers []never
	known  Known
}

// never is an action that no rule may take, and where that is stated.
type never struct {
	action core.Action
	where  string
}

// forbids returns what forbids rules the action; nil if nothing does.
func (p *Policy) forbids(a core.Action) *never {
	for i := range p.nevers {
		if q := (core.Question{Never: []core.Action{p.nevers[i].action}}); q.Forbids(a) {
			return &p.nevers[i]
		}
	}
	return nil
}

// Budget bounds the total of the policy's continuing answers in one run, including its
// resumes. A zero field of Used means no bound.
type Budget struct {
	Used
	// Daily means that the runs of the last 24 hours share the budget.
	Daily bool
}

// Detached is what decides if nobody answered.
type Detached string

// The detached modes.
const (
	DetachedDeny     Detached = "deny"     // the run ends with the guard's exit code
	DetachedDefaults Detached = "defaults" // the question's default option
	DetachedAuto     Detached = "auto"     // the assistant
	DetachedDefer    Detached = "defer"    // the question is kept, the run pauses
)

// Load reads the policy files and the files that they include as one policy.
func Load(known Known, files ...string) (*Policy, error) {
	sources, err := Read(files...)
	if err != nil {
		return nil, err
	}
	return sources.Policy(known)
}

// Problems are all problems of a file. Each is an error with File, Line, Column, Text and Remedy.
type Problems = problem.List

// Parse parses a policy that includes no others. The error is of type [Problems] and holds
// everything that is wrong, each with file, line and column; the policy is then nil. If known
// is nil, rules can only answer accept, pause and cancel.
func Parse(file string, data []byte, known Known) (*Policy, error) {
	return Sources{{Name: file, Text: string(data)}}.Policy(known)
}

// read parses this file alone.
func (s Source) read(known Known) (*Policy, *report) {
	var f struct {
		policyFile `yaml:",inline"`
		Untested   any `yaml:"tests"` // of a recorded file, whose tests are not run
	}
	into := any(&f.policyFile)
	if s.recorded {
		into = &f
	}
	file := s.Name
	doc, err := strictyaml.Decode(file, []byte(s.Text), into)
	r := &report{strictyaml.Report{Document: doc, Problems: problem.Of(err)}}
	p := &Policy{File: file, known: known}
	if !doc.Has() {
		return p, r
	}
	if doc.Has("version") && f.Version != 1 {
		r.Value(fmt.Sprintf("version %d is not known", f.Version), "write version: 1", "version")
	}
	if says := len(f.Rules) + len(f.Include) + len(f.Never) + len(f.ExitCodes); says == 0 && len(r.Problems) == 0 && !doc.Has("detached") && !doc.Has("budget") {
		r.Value("the policy has no rules and decides nothing", "add rules, or leave the file out", "version")
	}
	r.positive(f.VerifyTimeout > 0, fmt.Sprintf("leave it out for %s", DefaultVerifyTimeout), "verify_timeout")
	for i, action := range f.Never {
		line, _ := doc.Pos("never", i)
		p.nevers = append(p.nevers, never{action, fmt.Sprintf("%s:%d", file, line)})
		switch {
		case !slices.Contains(core.CanForbid(), action):
			r.Value("unknown action "+quote(string(action)), "write accept or continue", "never", i)
		case slices.Contains(f.Never[:i], action):
			r.Value("the action "+quote(string(action))+" is in the list twice", "remove one of them", "never", i)
		}
	}
	p.Budget = f.Budget.read(r)
	p.Detached = f.Detached
	modes := []Detached{DetachedDeny, DetachedDefaults, DetachedAuto, DetachedDefer}
	if doc.Has("detached") && !slices.Contains(modes, f.Detached) {
		r.Value("unknown detached mode "+quote(string(f.Detached)), nearest.DidYouMean(f.Detached, modes), "detached")
	}
	p.ExitCodes = f.ExitCodes
	checkExitCodes(r, f.ExitCodes, known)
	for i, rule := range f.Rules {
		read := rule.read(r, file, known, i)
		read.VerifyTimeout = cmp.Or(rule.Limit, f.VerifyTimeout, DefaultVerifyTimeout)
		p.Rules = append(p.Rules, read)
	}
	checkReach(r, p)
	for i, test := range f.Tests {
		p.Tests = append(p.Tests, test.read(r, p, i))
	}
	return p, r
}

// Asks reports whether the condition of a rule mentions the fact.
func (p *Policy) Asks(fact string) bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool {
		return slices.ContainsFunc(r.when.facts, func(f core.Fact) bool { return f.Name == fact })
	})
}

// Never returns the actions that only a person may take.
func (p *Policy) Never() []core.Action {
	return convert.Each(p.nevers, func(n never) core.Action { return n.action })
}

func (b budgetFile) read(r *report) Budget {
	for key, ok := range map[string]bool{"continues": b.Continues > 0, "iterations": b.Iterations > 0, "runtime": b.Runtime > 0, "cost": b.Cost > 0, "tokens": b.Tokens > 0} {
		r.positive(ok, "leave it out for no bound; to never continue, write no rule that does", "budget", key)
	}
	if r.Has("budget", "per") && b.Per != "run" && b.Per != "day" {
		r.Value("unknown span "+quote(b.Per), "write run or day", "budget", "per")
	}
	return Budget{b.Used, b.Per == "day"}
}
