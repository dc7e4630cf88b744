package rejection

import (
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// SchemaID names the format of the document. Its key schema may be left out.
const SchemaID = "looprun.dev/rejection/v1"

// MaxSize is the largest document in bytes.
const MaxSize = 64 << 10

// Reason is the type of the reason; each has rules of its own.
type Reason string

// The reasons that there are.
const (
	Blocker             Reason = "BLOCKER"              // something outside stops the work
	ScopeCreep          Reason = "SCOPE_CREEP"          // the task has grown beyond what was asked
	MissingDependency   Reason = "MISSING_DEPENDENCY"   // another task has to be done first
	Infeasible          Reason = "INFEASIBLE"           // the requirements contradict each other or the facts
	UnclearRequirements Reason = "UNCLEAR_REQUIREMENTS" // the task can be read in several ways
)

// Reasons lists them in the order in which they are documented.
func Reasons() []Reason {
	return []Reason{Blocker, ScopeCreep, MissingDependency, Infeasible, UnclearRequirements}
}

// Evidence is something observed that shows the reason.
type Evidence struct {
	// Type is what it is; error_log, status_check and api_response show a BLOCKER.
	Type string `json:"type"`
	// Data is what was observed. Without it the piece counts for nothing.
	Data string `json:"data"`
	// Source is where: a command, a file, an address.
	Source string `json:"source,omitempty"`
}

// Task is one of the tasks proposed in place of the rejected one.
type Task struct {
	// Title names the task; other tasks depend on it by that name.
	Title string `json:"title"`
	Scope string `json:"scope,omitempty"`
	// Dependencies are the titles of the tasks that come first.
	Dependencies []string `json:"dependencies,omitempty"`
	Estimate     string   `json:"estimate,omitempty"`
}

// Rejection is the document. The zero value is one that breaks most rules.
type Rejection struct {
	Task           string     `json:"task"`
	Agent          string     `json:"agent"`
	ReasonType     Reason     `json:"reason_type"`
	Summary        string     `json:"reason_summary"`
	Detail         string     `json:"reason_detail"`
	Attempted      []string   `json:"what_attempted"`
	BlockingFactor string     `json:"blocking_factor"`
	Evidence       []Evidence `json:"evidence,omitempty"`
	Suggested      string     `json:"suggested_alternative"`
	Alternatives   []Task     `json:"alternative_tasks,omitempty"`
	OriginalScope  string     `json:"task_original_scope,omitempty"`
	// Growth is how many times the scope has become what it was.
	Growth float64 `json:"scope_growth_factor,omitempty"`
}

// Normalize trims the white space around every text. It drops nothing: lists
// keep their lengths, also where an entry is blank.
func (r Rejection) Normalize() Rejection { return r.texts(strings.TrimSpace) }

// texts is the rejection with every text changed.
func (r Rejection) texts(to func(string) string) Rejection {
	r.ReasonType = Reason(to(string(r.ReasonType)))
	for _, text := range []*string{&r.Task, &r.Agent, &r.Summary, &r.Detail, &r.BlockingFactor, &r.Suggested, &r.OriginalScope} {
		*text = to(*text)
	}
	r.Attempted = mapped(r.Attempted, to)
	r.Evidence = mapped(r.Evidence, func(e Evidence) Evidence { return Evidence{Type: to(e.Type), Data: to(e.Data), Source: to(e.Source)} })
	r.Alternatives = mapped(r.Alternatives, func(t Task) Task {
		return Task{Title: to(t.Title), Scope: to(t.Scope), Dependencies: mapped(t.Dependencies, to), Estimate: to(t.Estimate)}
	})
	return r
}

// Headline is the reason in one line: the summary, or else what is in the way.
func (r Rejection) Headline() string {
	if line := termsafe.Line(r.Summary); line != "" {
		return line
	}
	return termsafe.Line(r.BlockingFactor)
}

// mapped is a new list; nil stays nil.
func mapped[T, U any](list []T, f func(T) U) []U {
	if list == nil {
		return nil
	}
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// blank reports whether a text shows nothing.
func blank(s string) bool { return termsafe.Line(s) == "" }
