package rejection

import (
	"cmp"
	"fmt"

	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// Decision is the decision about a valid rejection.
type Decision string

// The possible decisions.
const (
	Override    Decision = "override"    // go on, with a message as guidance
	Accept      Decision = "accept"      // end the run as rejected
	Defer       Decision = "defer"       // record a blocker task and pause
	Decompose   Decision = "decompose"   // record the sub-tasks and go on with the first
	Reformulate Decision = "reformulate" // go on with the feasible task
)

// Decisions returns all decisions in the order in which they are offered.
func Decisions() []Decision {
	return []Decision{Override, Accept, Defer, Decompose, Reformulate}
}

// Suggest returns the decision that fits the type of the reason, and the reason for it in one
// sentence. An unknown type is deferred, which decides nothing.
func (r Rejection) Suggest() (Decision, string) {
	switch r.Normalize().ReasonType {
	case Blocker:
		return Defer, "The obstacle is outside the task, so more iterations cannot remove it: the task waits until the obstacle is gone."
	case ScopeCreep:
		return Decompose, "The task has grown beyond the request, and the alternative tasks can be done one by one."
	case MissingDependency:
		return Defer, "Another task must be done first; this one waits for it."
	case Infeasible:
		return Reformulate, "The task contradicts itself or the facts, and the suggested alternative can be done."
	case UnclearRequirements:
		return Defer, "Only the author of the task can explain it, so it waits for that answer."
	}
	return Defer, "The type of the reason is not known: the task waits until somebody looks at it."
}

// shown is the maximum length of a quotation in a rationale, in code points.
const shown = 160

// Rationale explains the decision in a sentence or two, on one line and safe to show. An
// unknown decision has no rationale.
func Rationale(d Decision, r Rejection) string {
	r = r.Normalize()
	factor := "what blocks it"
	if !blank(r.BlockingFactor) {
		factor = "“" + termsafe.Short(r.BlockingFactor, shown) + "”"
	}
	switch d {
	case Override:
		return fmt.Sprintf("The task can be done after all: choose this if %s can be overcome with guidance that the %s so far did not have.", factor, plural.Count(len(r.attempts()), "attempt"))
	case Accept:
		return fmt.Sprintf("The reason holds and the task is not worth more: choose this if nobody is going to change %s.", factor)
	case Defer:
		return fmt.Sprintf("The task is right, but too early: choose this if somebody will resolve %s, so that the run can continue then.", factor)
	case Decompose:
		if n := len(r.tasks()); n > 0 {
			return fmt.Sprintf("The task is too much for one: choose this if the %s cover what is wanted, beginning with “%s”.", plural.Count(n, "alternative task"), termsafe.Short(r.first(), shown))
		}
		return "The task is too much for one: the rejection lists no tasks, so they have to be given with the decision."
	case Reformulate:
		if blank(r.Suggested) {
			return "Another task would do: the rejection suggests none, so it has to be given with the decision."
		}
		return fmt.Sprintf("Another task would do: choose this if “%s” is good enough.", termsafe.Short(r.Suggested, shown))
	}
	return ""
}

// first returns the title of the first sub-task.
func (r Rejection) first() string {
	tasks, _ := r.Subtasks()
	for _, t := range tasks {
		if !blank(t.Title) {
			return t.Title
		}
	}
	return ""
}

// Reformulated returns the feasible task: the suggested alternative, safe to show.
func (r Rejection) Reformulated() string { return termsafe.Text(r.Normalize().Suggested) }

// BlockerTask returns the task that is recorded when the rejection is deferred, on one line
// and safe to show. It contains the whole blocking factor.
func (r Rejection) BlockerTask() string {
	r = r.Normalize()
	factor := cmp.Or(termsafe.Line(r.BlockingFactor), termsafe.Line(r.Summary))
	verb := "Resolve what blocks"
	switch r.ReasonType {
	case MissingDependency:
		verb = "Provide what is missing for"
	case UnclearRequirements:
		verb = "Clarify the requirements of"
	}
	task := "the task"
	if !blank(r.Task) {
		task = "“" + termsafe.Short(r.Task, shown) + "”"
	}
	if factor == "" {
		return verb + " " + task
	}
	return verb + " " + task + ": " + factor
}
