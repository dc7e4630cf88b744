package policy

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
)

// DefaultVerifyTimeout is how long a verify command may take where the file
// does not say it.
const DefaultVerifyTimeout = 2 * time.Minute

// Policy is a policy file that was found to be correct. Make one with [Parse]
// or [Load]; it does not change and can be used by several goroutines. The zero
// value answers nothing.
type Policy struct {
	// File is the name it was read under; rules are called FILE:LINE.
	File  string
	Rules []Rule
	// VerifyTimeout is how long each verify command may take.
	VerifyTimeout time.Duration
	Budget        Budget
	// Detached says what happens when no rule matched and nobody else answered;
	// empty where the file does not say it.
	Detached Detached
	// ExitCodes maps statuses and guard ids to exit codes; the id wins.
	ExitCodes map[string]int
	// Tests are the file's own test cases.
	Tests []Test
	// Exclusive are the guards whose question is a person's alone, by the templates
	// as they were loaded; [EveryGuard] for those without a template of their own.
	// [Policy.RunTests] needs to know them; a run sees it in its question.
	Exclusive []core.GuardID

	known Known
}

// Budget bounds what continuing answers of the policy add up to in one run,
// resumes included. A zero field is no bound.
type Budget struct {
	Continues  int
	Iterations int           // iterations added to the limit
	Runtime    time.Duration // time added to the limit
}

// Detached is what decides when nobody answered.
type Detached string

// The detached modes.
const (
	DetachedDeny     Detached = "deny"     // the run ends with the guard's exit code
	DetachedDefaults Detached = "defaults" // the question's default option
	DetachedAuto     Detached = "auto"     // the assistant
	DetachedDefer    Detached = "defer"    // the question is kept, the run pauses
)

// Load reads the policy file. The error is what [Parse] reports, or says why
// the file could not be read.
func Load(file string, known Known) (*Policy, error) {
	f, err := inputfile.Open(file)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, strictyaml.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return Parse(file, data, known)
}

// Problems are all that is wrong with a file, each with its place.
type Problems = problem.List

// Parse reads a policy. The error is of type [Problems] and holds
// everything that is wrong, each with file, line and column; there is no policy
// then. With nil for known only accept, pause and cancel can be answered.
func Parse(file string, data []byte, known Known) (*Policy, error) {
	var f policyFile
	doc, err := strictyaml.Decode(file, data, &f)
	r := &report{doc: doc, problems: problem.Of(err)}
	if !doc.Has() {
		return nil, r.problems.Err()
	}
	p := &Policy{File: file, VerifyTimeout: DefaultVerifyTimeout, known: known}
	if doc.Has("version") && f.Version != 1 {
		r.value(fmt.Sprintf("version %d is not known", f.Version), "write version: 1", "version")
	}
	if doc.Has("verify_timeout") {
		p.VerifyTimeout = f.VerifyTimeout
		r.positive(f.VerifyTimeout > 0, fmt.Sprintf("leave it out for %s", DefaultVerifyTimeout), "verify_timeout")
	}
	p.Budget = f.Budget.read(r)
	p.Detached = readDetached(r, f.Detached)
	p.ExitCodes = f.ExitCodes
	checkExitCodes(r, f.ExitCodes, known)
	for i, rule := range f.Rules {
		p.Rules = append(p.Rules, rule.read(r, file, known, i))
	}
	checkReach(r, p)
	for i, test := range f.Tests {
		p.Tests = append(p.Tests, test.read(r, p, i))
	}
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

func readDetached(r *report, text string) Detached {
	modes := []string{string(DetachedDeny), string(DetachedDefaults), string(DetachedAuto), string(DetachedDefer)}
	if r.doc.Has("detached") && !slices.Contains(modes, text) {
		r.value("unknown detached mode "+quote(text), nearest.DidYouMean(text, modes), "detached")
	}
	return Detached(text)
}

func (b budgetFile) read(r *report) Budget {
	for key, ok := range map[string]bool{"continues": b.Continues > 0, "iterations": b.Iterations > 0, "runtime": b.Runtime > 0} {
		r.positive(ok, "leave it out for no bound; to never go on, write no rule that does", "budget", key)
	}
	return Budget(b)
}
