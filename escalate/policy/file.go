package policy

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/termsafe"
)

// policyFile is the YAML form of a policy.
type policyFile struct {
	Version       int            `yaml:"version,required"`
	Include       []string       `yaml:"include"`
	Never         []string       `yaml:"never"`
	Rules         []ruleFile     `yaml:"rules"`
	VerifyTimeout time.Duration  `yaml:"verify_timeout"`
	Budget        budgetFile     `yaml:"budget"`
	Detached      string         `yaml:"detached"`
	ExitCodes     map[string]int `yaml:"exit_codes"`
	Tests         []testFile     `yaml:"tests"`
}

type ruleFile struct {
	Guard  guardList     `yaml:"guard,required"`
	When   string        `yaml:"when"`
	Doubt  string        `yaml:"unknown"`
	Answer string        `yaml:"answer,required"`
	Verify string        `yaml:"verify"`
	Limit  time.Duration `yaml:"verify_timeout"`
	Reason string        `yaml:"reason,required"`
	Words  string        `yaml:"guidance"`
	Notify bool          `yaml:"notify"`
}

type budgetFile struct {
	Used `yaml:",inline"`
	Per  string `yaml:"per"`
}

// guardList is a guard id or a list of them.
type guardList struct {
	ids    []core.GuardID
	listed bool
}

// FromYAML reads a text or a list of texts.
func (l *guardList) FromYAML(value any) error {
	items, ok := value.([]any)
	if l.listed = ok; !ok {
		items = []any{value}
	}
	for _, item := range items {
		id, ok := item.(string)
		if !ok {
			return errors.New(`wants a guard id, a list of them, or "*"`)
		}
		l.ids = append(l.ids, core.GuardID(id))
	}
	return nil
}

// report collects the problems of the file.
type report struct {
	doc      *strictyaml.Document
	problems problem.List
}

// value reports a problem at the value that the path leads to. A second problem at the same
// place is left out, because it results from the first.
func (r *report) value(text, remedy string, path ...any) {
	p := r.doc.Problem(text, remedy, path...)
	taken := func(q problem.Problem) bool { return q.Line == p.Line && q.Column == p.Column }
	if !slices.ContainsFunc(r.problems, taken) {
		r.problems = append(r.problems, p)
	}
}

// in reports a problem at that byte offset of the text at the path.
func (r *report) in(offset int, text, remedy string, path ...any) {
	r.problems = append(r.problems, r.doc.ProblemIn(offset, text, remedy, path...))
}

// positive reports a number that is present but not above 0.
func (r *report) positive(ok bool, remedy string, path ...any) {
	if !ok && r.doc.Has(path...) {
		r.value(fmt.Sprintf("%q has to be above 0", path[len(path)-1]), remedy, path...)
	}
}

// quote returns a text of the file on one line, shortened if it is long.
func quote(text string) string { return termsafe.Quoted(text, 60) }
