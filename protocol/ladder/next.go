package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/convert"
)

// Step is what the ladder requires before the next iteration.
type Step string

// The steps.
const (
	StepNone      Step = "none"      // nothing: the work goes on
	StepExpert    Step = "expert"    // run this expert
	StepMandatory Step = "mandatory" // a person has to decide
)

// Next returns the step that the ladder requires now. With StepExpert it returns the expert to
// run; with StepMandatory the reason, in one sentence with the numbers.
func (s *State) Next(c Config, task string) (Step, Expert, string) {
	t := s.Task(task)
	if reason := t.mandatory(c); reason != "" {
		return StepMandatory, Expert{}, reason
	}
	if len(c) == 0 || t.Guided != "" || !t.wantsExpert(c) {
		return StepNone, Expert{}, ""
	}
	if left := t.untried(c); len(left) > 0 {
		i := slices.IndexFunc(left, func(e Expert) bool { return t.Wanted != "" && name(e.Name) == t.Wanted })
		return StepExpert, left[max(0, i)], ""
	}
	return StepNone, Expert{}, "" // asked for, but the command has attempts of its own left
}

// Untried returns the experts that can still be asked for this question, in order. If none is
// left, a request for an expert has no effect.
func (s *State) Untried(c Config, task string) []Expert {
	t := s.Task(task)
	return t.untried(c)
}

// untried is also empty if the attempts of the rung are used up.
func (t *Tracking) untried(c Config) []Expert {
	r, _ := c.rung(Experts)
	if t.Delegation >= c.attempts(Experts) {
		return nil
	}
	return convert.Where(r.Experts, func(e Expert) bool { return !slices.Contains(t.ExpertsTried, name(e.Name)) })
}

// wantsExpert reports whether it is an expert's turn: the command asked for one, or the last
// attempt failed and the command has no attempts of its own left.
func (t *Tracking) wantsExpert(c Config) bool {
	return t.Requested || t.Failing && t.SelfSolve >= c.attempts(SelfSolve)
}

// mandatory returns why a person must decide; "" if none has to.
func (t *Tracking) mandatory(c Config) string {
	switch {
	case len(t.Causes) > 0:
		return "the command named " + t.causes() + " after " + t.made() + ", so a person has to decide"
	case len(c) == 0:
		return ""
	case t.Total >= MaxAttempts:
		return fmt.Sprintf("%s, so a person has to decide before attempt %d", t.made(), t.Total+1)
	case t.Delegation >= MaxExpertFailures:
		return fmt.Sprintf("the experts failed %d times of at most %d, so a person has to decide after %s", t.Delegation, MaxExpertFailures, t.made())
	case t.Guided == "" && t.Failing && t.SelfSolve >= c.attempts(SelfSolve) && len(t.untried(c)) == 0:
		return "the ladder is used up after " + t.made() + t.why(c) + ", so a person has to decide"
	}
	return ""
}

// why returns how the last rung was used up.
func (t *Tracking) why(c Config) string {
	r, ok := c.rung(Experts)
	switch {
	case !ok:
		return fmt.Sprintf(" of %d", c.attempts(SelfSolve))
	case t.Delegation >= c.attempts(Experts):
		return fmt.Sprintf(", %d of %d with experts", t.Delegation, c.attempts(Experts))
	}
	return fmt.Sprintf(", %d of %d experts asked", len(t.ExpertsTried), len(r.Experts))
}

// made returns the number of attempts in words.
func (t *Tracking) made() string {
	text := fmt.Sprintf("%d failed attempts", t.Total)
	if t.Total == 1 {
		text = "1 failed attempt"
	}
	if t.Delegation > 0 {
		text += fmt.Sprintf(" (%d self-solve, %d expert delegation)", t.SelfSolve, t.Delegation)
	}
	return text
}

func (t *Tracking) causes() string {
	return strings.Join(convert.Each(t.Causes, func(c Cause) string { return c.words() }), " and ")
}

func (c Cause) words() string {
	known := map[Cause]string{
		CircularDependency: "a circular dependency",
		SecurityConcern:    "a security concern",
		AmbiguousCriteria:  "ambiguous criteria",
		Clarification:      "a need for clarification",
		"":                 "no cause",
	}
	return cmp.Or(known[c], "“"+name(string(c))+"”")
}
