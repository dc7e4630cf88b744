package rejection

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/termsafe"
)

// The thresholds of the rules. Lengths are in code points.
const (
	minAttempts       = 2
	minAlternative    = 20
	minBlockingFactor = 15
	minGrowth         = 2.0
	minScopeTasks     = 2
	minInfeasible     = 2  // pieces of evidence
	minFeasible       = 50 // of the alternative to something infeasible
)

var (
	vagueAttempts     = []string{"tried to", "looked at", "checked", "considered"}
	vagueAlternatives = []string{
		"ask the user", "get more context", "clarify requirements", "break into smaller tasks",
		"ask someone else", "ask somebody else", "someone else", "somebody else", "another agent", "another person", "ask for help", "get help",
	}
	emptyFactors    = []string{"does not work", "doesn't work", "did not work", "didn't work", "cannot be done", "can't be done", "is broken", "it fails", "it failed"}
	vagueFactors    = []string{"too complex", "too hard", "not sure", "unclear", "confusing"}
	blockerEvidence = []string{"error_log", "status_check", "api_response"}
)

func (r Rejection) suggested() string      { return r.Suggested }
func (r Rejection) blockingFactor() string { return r.BlockingFactor }

func length(s string) int { return utf8.RuneCountInString(s) }

// missing returns the rule that a text must be present.
func missing(text func(Rejection) string, advice string) func(Rejection) (problem, remedy string) {
	return func(r Rejection) (string, string) {
		if blank(text(r)) {
			return "it is missing", advice
		}
		return "", ""
	}
}

// shorter returns the rule that a text, if present, has a minimum length.
func shorter(text func(Rejection) string, least int, advice string) func(Rejection) (problem, remedy string) {
	return func(r Rejection) (string, string) {
		if s := text(r); !blank(s) && length(s) < least {
			return fmt.Sprintf("it has %d characters of at least %d", length(s), least), advice
		}
		return "", ""
	}
}

// mentions returns the rule that the detail contains a phrase, in one of its forms.
func mentions(phrase, advice string, forms ...string) func(Rejection) (problem, remedy string) {
	return func(r Rejection) (string, string) {
		if len(phrasesIn(r.Detail, append(forms, phrase))) == 0 {
			return "it does not say “" + phrase + "”", advice
		}
		return "", ""
	}
}

// attempts returns the attempts that are not blank, without duplicates.
func (r Rejection) attempts() []string {
	var said []string
	for _, a := range r.Attempted {
		again := func(b string) bool { return sameText(a) == sameText(b) }
		if !blank(a) && !slices.ContainsFunc(said, again) {
			said = append(said, a)
		}
	}
	return said
}

func checkEffortCount(r Rejection) (problem, remedy string) {
	n := len(r.attempts())
	if n >= minAttempts {
		return "", ""
	}
	problem = fmt.Sprintf("it lists %d of at least %d attempts", n, minAttempts)
	if n < len(r.Attempted) {
		problem += ", because blank or repeated ones do not count"
	}
	return problem, "make another attempt at the task, and describe the action and its result"
}

func checkEffortConcrete(r Rejection) (problem, remedy string) {
	attempts := r.attempts()
	for _, a := range attempts {
		if len(phrasesIn(a, vagueAttempts)) == 0 && strings.ContainsRune(string(read(a).runes), ' ') {
			return "", ""
		}
	}
	problem = "every attempt is vague"
	if len(attempts) == 0 {
		problem = "no attempt describes an action"
	}
	return problem, "describe at least one by what was done, in more than a word and without " + quoted(vagueAttempts, "or")
}

func checkAlternativeVague(r Rejection) (problem, remedy string) {
	if len(r.tasks()) > 0 || !onlySays(r.Suggested, vagueAlternatives) {
		return "", ""
	}
	return "it contains only “" + termsafe.Short(r.Suggested, 60) + "”", "say what to do, or list alternative_tasks"
}

func checkBlockingVague(r Rejection) (problem, remedy string) {
	found := convert.Where(phrasesIn(r.BlockingFactor, vagueFactors), func(phrase string) bool {
		return phrase != "unclear" || r.ReasonType != UnclearRequirements
	})
	if len(found) == 0 && onlySays(r.BlockingFactor, emptyFactors) {
		return "it contains only “" + termsafe.Short(r.BlockingFactor, 60) + "”", "name the fact that stops the work"
	}
	if len(found) == 0 {
		return "", ""
	}
	return "it says " + quoted(found, "and") + ", which is an impression", "name the fact that stops the work"
}

func checkReason(r Rejection) (problem, remedy string) {
	known := make([]string, len(Reasons()))
	for i, reason := range Reasons() {
		if r.ReasonType == reason {
			return "", ""
		}
		known[i] = string(reason)
	}
	if blank(string(r.ReasonType)) {
		return "it is missing", "give one of " + strings.Join(known, ", ")
	}
	return "“" + termsafe.Short(string(r.ReasonType), 60) + "” is not a type", nearest.DidYouMean(string(r.ReasonType), known)
}

// evidence returns the pieces of evidence that contain data.
func (r Rejection) evidence() []Evidence {
	return slices.DeleteFunc(slices.Clone(r.Evidence), func(e Evidence) bool { return blank(e.Data) })
}

func checkBlockerEvidence(r Rejection) (problem, remedy string) {
	if len(r.evidence()) > 0 {
		return "", ""
	}
	return "a BLOCKER needs evidence with data", "add a piece of type " + quoted(blockerEvidence, "or")
}

func checkBlockerEvidenceType(r Rejection) (problem, remedy string) {
	pieces := r.evidence()
	shows := func(e Evidence) bool {
		return slices.ContainsFunc(blockerEvidence, func(of string) bool { return strings.EqualFold(e.Type, of) })
	}
	if len(pieces) == 0 || slices.ContainsFunc(pieces, shows) { // none at all is said already
		return "", ""
	}
	return "no piece shows the blocker itself", "add one of type " + quoted(blockerEvidence, "or")
}

func checkGrowth(r Rejection) (problem, remedy string) {
	if r.Growth >= minGrowth && !math.IsInf(r.Growth, 0) {
		return "", ""
	}
	return fmt.Sprintf("the scope has become %g times what it was; SCOPE_CREEP begins at %.1f", r.Growth, minGrowth),
		"give how many times the scope has grown, or another reason_type"
}

// tasks returns the alternative tasks that have a title.
func (r Rejection) tasks() []Task {
	return slices.DeleteFunc(slices.Clone(r.Alternatives), func(t Task) bool { return blank(t.Title) })
}

func checkScopeTasks(r Rejection) (problem, remedy string) {
	if n := len(r.tasks()); n < minScopeTasks {
		return fmt.Sprintf("it lists %d of at least %d tasks with a title", n, minScopeTasks), "list the tasks that this one should be"
	}
	return "", ""
}

func checkDependencyID(r Rejection) (problem, remedy string) {
	const advice = "write “depends on” and the id of what is missing, as in “depends on TASK-12”; put a name that looks like prose in quotes"
	switch {
	case namesDependency(r.BlockingFactor):
		return "", ""
	case holds(r.BlockingFactor, "depends on"):
		return "no id follows “depends on”", advice
	}
	return "it does not say “depends on”", advice
}

func checkInfeasibleEvidence(r Rejection) (problem, remedy string) {
	if n := len(r.evidence()); n < minInfeasible {
		return fmt.Sprintf("it has %d of at least %d pieces with data", n, minInfeasible), "add what was observed on both sides of the contradiction"
	}
	return "", ""
}

func checkFeasible(r Rejection) (problem, remedy string) {
	n := length(r.Suggested)
	if blank(r.Suggested) {
		n = 0
	}
	if n >= minFeasible {
		return "", ""
	}
	return fmt.Sprintf("it has %d characters of the at least %d that INFEASIBLE needs", n, minFeasible), "describe the feasible task, as it can take the place of this one"
}

func checkQuestion(r Rejection) (problem, remedy string) {
	if strings.Contains(r.Detail, "?") {
		return "", ""
	}
	return "it asks no question", "write the question whose answer would make the requirement clear, with a “?”"
}

// quoted returns the words as a quoted list in prose.
func quoted(words []string, conjunction string) string {
	list := convert.Each(words, func(w string) string { return "“" + w + "”" })
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " " + conjunction + " " + list[last]
}
