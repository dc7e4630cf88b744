package ladder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/termsafe"
)

// Limits that no configuration can change; beyond them a person must decide.
const (
	// MaxAttempts is how many attempts of all kinds may fail for one question.
	MaxAttempts = 6
	// MaxExpertFailures is how many of them may be failures of experts.
	MaxExpertFailures = 3
)

// defaultSelfSolve is the default for self_solve if there are experts; without experts it is
// MaxAttempts.
const defaultSelfSolve = 3

// RungName names a step of the ladder.
type RungName string

// The rungs, from the bottom up.
const (
	SelfSolve RungName = "self_solve" // the command tries by itself
	Experts   RungName = "experts"    // experts are asked, in their order
	Human     RungName = "human"      // a person decides
)

var rungNames = []string{string(SelfSolve), string(Experts), string(Human)}

// Rung is one step of the ladder.
type Rung struct {
	Rung RungName `json:"rung" yaml:"rung"`
	// Attempts is how many attempts may fail on the rung. If it is zero, self_solve has 3 with
	// experts and 6 without, and experts have 3, or whatever self_solve leaves of the 6. The
	// reader of a file must reject an explicit 0.
	Attempts int `json:"attempts,omitempty" yaml:"attempts"`
	// Experts are asked in this order, at most once each for one question.
	Experts []Expert `json:"experts,omitempty" yaml:"-"`
}

// Expert is a command that gives advice.
type Expert struct {
	// Name consists of at most 40 letters, digits, "-", "_" and ".".
	Name string `json:"name" mask:"own"`
	// Command is a shell line.
	Command string `json:"command" mask:"command"`
}

// Config is the ladder from the bottom up. Without rungs there is no ladder: nothing counts as
// an attempt, and only the causes named by the command require a person.
type Config []Rung

// Problem is one problem of a configuration.
type Problem struct {
	// Path leads to the value inside the ladder: an index, a key, and below experts the name
	// of an expert. It is empty for the ladder as a whole.
	Path   []any
	Text   string
	Remedy string // empty when the text says it all
}

// Validate returns all problems, in the order of the rungs.
func (c Config) Validate() []Problem {
	if len(c) == 0 {
		return nil
	}
	var problems []Problem
	add := func(text, remedy string, path ...any) {
		problems = append(problems, Problem{path, text, remedy})
	}
	for i, r := range c {
		switch before := slices.IndexFunc(c[:i], func(b Rung) bool { return b.Rung == r.Rung }); {
		case !slices.Contains(rungNames, string(r.Rung)):
			add("unknown rung "+quote(string(r.Rung)), nearest.DidYouMean(string(r.Rung), rungNames), i, "rung")
			continue
		case before >= 0:
			add(fmt.Sprintf("the rung %s is there twice", r.Rung), "put its attempts and experts into one", i, "rung")
			continue
		case i == 0 && r.Rung != SelfSolve:
			add(fmt.Sprintf("the first rung is %s, not self_solve", r.Rung), "begin with {rung: self_solve}", i, "rung")
		case r.Rung == Human && i < len(c)-1:
			add("the rung human is not the last one", "nothing comes after a person; move it to the end", i, "rung")
		}
		r.validate(i, add)
	}
	if _, ok := c.rung(Human); !ok {
		add("the ladder does not end with a person", "add {rung: human} as the last rung")
	}
	if n := c.attempts(SelfSolve) + c.attempts(Experts); len(problems) == 0 && n > MaxAttempts {
		add(fmt.Sprintf("the rungs have %d attempts in all, but after %d a person has to decide", n, MaxAttempts),
			fmt.Sprintf("lower them to %d in all, such as %d and %d", MaxAttempts, defaultSelfSolve, MaxExpertFailures), 0, "attempts")
	}
	return problems
}

func (r Rung) validate(i int, add func(text, remedy string, path ...any)) {
	switch {
	case r.Attempts < 0:
		add(fmt.Sprintf("%d attempts cannot be made", r.Attempts), "state 1 or more, or leave it out", i, "attempts")
	case r.Rung == Human && r.Attempts > 0:
		add("the rung human has no attempts", "remove \"attempts\"; a person decides once for each question", i, "attempts")
	case r.Rung == SelfSolve && r.Attempts > MaxAttempts:
		add(fmt.Sprintf("self_solve has %d attempts, but after %d a person has to decide", r.Attempts, MaxAttempts),
			fmt.Sprintf("lower it to at most %d", MaxAttempts), i, "attempts")
	case r.Rung == Experts && r.Attempts > MaxExpertFailures:
		add(fmt.Sprintf("experts have %d attempts, but after %d failures of experts a person has to decide", r.Attempts, MaxExpertFailures),
			fmt.Sprintf("lower it to at most %d", MaxExpertFailures), i, "attempts")
	}
	switch {
	case r.Rung == Experts && len(r.Experts) == 0:
		add("the rung experts has no experts", "add \"experts: {NAME: COMMAND}\", or remove the rung", i)
	case r.Rung != Experts && len(r.Experts) > 0:
		add(fmt.Sprintf("the rung %s cannot have experts", r.Rung), "move them to a rung {rung: experts}", i, "experts")
	default:
		r.validateExperts(i, add)
	}
}

func (r Rung) validateExperts(i int, add func(text, remedy string, path ...any)) {
	for j, e := range r.Experts {
		switch {
		case !isName(e.Name):
			add(quote(e.Name)+" is not a name for an expert", fmt.Sprintf("use 1 to %d letters, digits, -, _ and .", maxName), i, "experts", e.Name)
		case slices.ContainsFunc(r.Experts[:j], func(b Expert) bool { return b.Name == e.Name }):
			add("the expert "+quote(e.Name)+" is there twice", "give each its own name", i, "experts", e.Name)
		case strings.TrimSpace(e.Command) == "":
			add("the expert "+quote(e.Name)+" has no command", "state the shell line that asks it", i, "experts", e.Name)
		}
	}
}

const maxName = 40

func isName(s string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, other)
}

func quote(s string) string { return termsafe.Quoted(s, maxName) }

func (c Config) rung(name RungName) (Rung, bool) {
	i := slices.IndexFunc(c, func(r Rung) bool { return r.Rung == name })
	if i < 0 {
		return Rung{}, false
	}
	return c[i], true
}

// attempts returns how many attempts may fail on the rung: its setting, or else its default.
// It is 0 for a rung that is not in the ladder.
func (c Config) attempts(name RungName) int {
	r, ok := c.rung(name)
	_, experts := c.rung(Experts)
	switch {
	case !ok || name == Human:
		return 0
	case r.Attempts > 0:
		return r.Attempts
	case name == Experts: // what self_solve leaves of the six
		return max(1, min(MaxExpertFailures, MaxAttempts-c.attempts(SelfSolve)))
	case experts:
		return defaultSelfSolve
	}
	return MaxAttempts
}
