package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/termsafe"
)

// policyFile is the YAML form of a policy.
type policyFile struct {
	Version       int            `yaml:"version,required" doc:"The form of this file." also:"const=1"`
	Include       []string       `yaml:"include" doc:"Policies whose rules come after those of this file."`
	Never         []core.Action  `yaml:"never" doc:"Actions that only a person may take, whatever the rules of this or another file say: accept, and continue for all options that continue." also:"uniqueItems=true"`
	Rules         []ruleFile     `yaml:"rules" doc:"Looked at from top to bottom. A policy without rules answers nothing; then include, never, exit_codes, detached or budget has to be there."`
	VerifyTimeout time.Duration  `yaml:"verify_timeout" doc:"How long each verify command may take; 2m0s where it is left out. Past it the rule does not match." also:"default=2m0s"`
	Budget        budgetFile     `yaml:"budget" doc:"The limit of all answers of this policy that continue, in one run. Past it no rule that continues matches."`
	Detached      Detached       `yaml:"detached" doc:"What happens when no rule matched and nobody else answered." also:"enum=deny|defaults|auto|defer default=deny"`
	ExitCodes     map[string]int `yaml:"exit_codes" doc:"Exit codes by status, or by the id of the guard that nobody answered; the id wins."`
	Tests         []testFile     `yaml:"tests" doc:"Cases that looprun policy check runs."`
}

type ruleFile struct {
	Guard  guardList     `yaml:"guard,required" doc:"The guard whose question it answers, a list of them, or \"*\" for every guard. What the command says (rejection, blocked, clarification) and ladder_exhausted have to be named."`
	When   string        `yaml:"when" also:"minLength=1 pattern=\\S"`
	Doubt  string        `yaml:"unknown" doc:"A rule that cancels, pauses or rejects holds where a fact of its condition is not known; skip: it does not." also:"const=skip"`
	Answer string        `yaml:"answer,required" doc:"The id of an option of that question; or accept, pause or cancel. An accept that the question does not list needs verify." also:"type=string pattern=^[a-z][a-z0-9_-]*$ not={\"const\":\"review\"}"`
	Verify string        `yaml:"verify" doc:"A shell command that has to exit with 0 for the rule to match. It runs only if all else matched." also:"minLength=1 pattern=\\S"`
	Limit  time.Duration `yaml:"verify_timeout" doc:"How long that command may take, where it is not the file's verify_timeout."`
	Reason string        `yaml:"reason,required" doc:"Why this is the right answer. The journal and the result show it." also:"minLength=1 pattern=\\S"`
	Words  string        `yaml:"guidance" doc:"Guidance for the next iterations, if the answer continues." also:"minLength=1 pattern=\\S"`
	Notify bool          `yaml:"notify" doc:"Tell the services under notify of the answer." also:"default=false"`
}

type budgetFile struct {
	Used `yaml:",inline"`
	Per  string `yaml:"per" doc:"day: all runs of the state directory in which something happened in the last 24 hours share the budget." also:"enum=run|day default=run"`
}

// guardList is a guard id or a list of them.
type guardList struct {
	ids    []core.GuardID
	listed bool
}

// FromYAML reads a text or a list of texts.
func (l *guardList) FromYAML(value any) error {
	var ok bool
	if l.ids, ok = strictyaml.OneOrMore[core.GuardID](value); !ok {
		return errors.New(`wants a guard id, a list of them, or "*"`)
	}
	_, l.listed = value.([]any)
	return nil
}

// report collects the problems of the file.
type report struct{ strictyaml.Report }

// positive reports a number that is present but not above 0.
func (r *report) positive(ok bool, remedy string, path ...any) {
	if !ok && r.Has(path...) {
		r.Value(fmt.Sprintf("%q has to be above 0", path[len(path)-1]), remedy, path...)
	}
}

// quote returns a text of the file on one line, shortened if it is long.
func quote(text string) string { return termsafe.Quoted(text, 60) }
