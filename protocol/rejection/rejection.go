package rejection

import (
	"strings"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

// SchemaID identifies the format of the document. Its key schema is optional.
const SchemaID = "looprun.dev/rejection/v1"

// MaxSize is the maximum size of a document in bytes.
const MaxSize = 64 << 10

// Reason is the type of the reason; each type has its own rules.
type Reason string

// The possible reasons.
const (
	Blocker             Reason = "BLOCKER"              // something outside stops the work
	ScopeCreep          Reason = "SCOPE_CREEP"          // the task has grown beyond what was asked
	MissingDependency   Reason = "MISSING_DEPENDENCY"   // another task has to be done first
	Infeasible          Reason = "INFEASIBLE"           // the requirements contradict each other or the facts
	UnclearRequirements Reason = "UNCLEAR_REQUIREMENTS" // the task can be read in several ways
)

// Reasons returns all reasons in the order in which they are documented.
func Reasons() []Reason {
	return []Reason{Blocker, ScopeCreep, MissingDependency, Infeasible, UnclearRequirements}
}

// Evidence is an observation that supports the reason.
type Evidence struct {
	// Type is the kind of evidence; error_log, status_check and api_response prove a BLOCKER.
	Type   string `json:"type" is:"lenient"`
	Data   string `json:"data" doc:"What was observed." is:"lenient"` // without it the evidence does not count
	Source string `json:"source,omitempty" doc:"Where it was observed: a command, a file, an address." is:"null"`
}

// Task is one of the tasks proposed to replace the rejected one.
type Task struct {
	Title        string   `json:"title" doc:"The name of the task. Others depend on it by that name." is:"lenient"`
	Scope        string   `json:"scope,omitempty" doc:"What belongs to it." is:"null"`
	Dependencies []string `json:"dependencies,omitempty" doc:"The titles of the tasks that come first." is:"null"`
	Estimate     string   `json:"estimate,omitempty" doc:"How much work it is." is:"null"`
}

// Rejection is the document. The zero value breaks most rules. The tags are the form of the
// document: see [strictjson.Of].
type Rejection struct {
	Task           string     `json:"task" doc:"The task, as the command knows it." is:"null"`
	Agent          string     `json:"agent" doc:"Who rejects it." is:"null"`
	ReasonType     Reason     `json:"reason_type" doc:"The type of the reason. Each has rules of its own." is:"lenient"`
	Summary        string     `json:"reason_summary" doc:"The reason in a sentence." is:"null"`
	Detail         string     `json:"reason_detail" doc:"The reason in full. MISSING_DEPENDENCY: says “required because”. INFEASIBLE: says “conflict”. UNCLEAR_REQUIREMENTS: asks a question with “?” and says “interpreted as”." is:"null"`
	Attempted      []string   `json:"what_attempted" is:"lenient"`
	BlockingFactor string     `json:"blocking_factor" is:"lenient"`
	Evidence       []Evidence `json:"evidence,omitempty" doc:"What shows the reason. BLOCKER needs 1 piece, INFEASIBLE 2." is:"null"`
	Suggested      string     `json:"suggested_alternative" is:"lenient"`
	Alternatives   []Task     `json:"alternative_tasks,omitempty" doc:"The tasks that this one should be. SCOPE_CREEP needs 2." is:"null"`
	OriginalScope  string     `json:"task_original_scope,omitempty" doc:"SCOPE_CREEP: what the task was when it began." is:"null"`
	Growth         float64    `json:"scope_growth_factor,omitempty" is:"null"` // the factor by which the scope has grown
}

// Normalize trims the white space around every text. It drops nothing: lists keep their
// lengths, even if an entry is blank.
func (r Rejection) Normalize() Rejection { return r.texts(strings.TrimSpace) }

// texts returns the rejection with every text changed by to.
func (r Rejection) texts(to func(string) string) Rejection {
	r.ReasonType = Reason(to(string(r.ReasonType)))
	for _, text := range []*string{&r.Task, &r.Agent, &r.Summary, &r.Detail, &r.BlockingFactor, &r.Suggested, &r.OriginalScope} {
		*text = to(*text)
	}
	r.Attempted = convert.Each(r.Attempted, to)
	r.Evidence = convert.Each(r.Evidence, func(e Evidence) Evidence { return Evidence{Type: to(e.Type), Data: to(e.Data), Source: to(e.Source)} })
	r.Alternatives = convert.Each(r.Alternatives, func(t Task) Task {
		return Task{Title: to(t.Title), Scope: to(t.Scope), Dependencies: convert.Each(t.Dependencies, to), Estimate: to(t.Estimate)}
	})
	return r
}

// Headline returns the reason on one line: the summary, or else the blocking factor.
func (r Rejection) Headline() string {
	if line := termsafe.Line(r.Summary); line != "" {
		return line
	}
	return termsafe.Line(r.BlockingFactor)
}

// blank reports whether a text has nothing visible.
func blank(s string) bool { return termsafe.Line(s) == "" }
