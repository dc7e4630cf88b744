package policy

import (
	"cmp"
	"math"
	"time"

	"github.com/looprun/looprun/core"
)

// Facts are the facts that conditions can mention, each under the name in its tag. Create them
// with [FactsOf] or [UnknownFacts]: the zero value claims that nothing fails. [FactList]
// describes each fact and its unknown value.
type Facts struct {
	Guard         string        `yaml:"guard" json:"guard"`
	Iteration     int           `yaml:"iteration" json:"iteration"`
	MaxIterations int           `yaml:"max_iterations" json:"max_iterations"`
	Runtime       time.Duration `yaml:"runtime" json:"runtime_ns"`
	Trips         int           `yaml:"trips" json:"trips"`
	Continues     int           `yaml:"continues" json:"continues"`
	Improved      bool          `yaml:"improved" json:"improved"`
	Failing       int           `yaml:"failing" json:"failing"`
	Passing       int           `yaml:"passing" json:"passing"`
	Total         int           `yaml:"total" json:"total"`
	Checks        []string      `yaml:"checks" json:"checks"`
	ChecksTotal   int           `yaml:"checks_total" json:"checks_total"`
	ChecksMost    int           `yaml:"checks_most" json:"checks_most"`
	Skipped       int           `yaml:"skipped" json:"skipped"`
	Changed       bool          `yaml:"protected_changed" json:"protected_changed"`
	Repeats       int           `yaml:"repeats" json:"repeats"`
	Period        int           `yaml:"period" json:"period"`
	Confirmed     string        `yaml:"confirmed" json:"confirmed"`
	Label         string        `yaml:"label" json:"label"`
	Outcome       string        `yaml:"outcome" json:"outcome"`
	LastExitCode  int           `yaml:"last_exit_code" json:"last_exit_code"`
	Errors        int           `yaml:"errors" json:"errors"`
	Cost          float64       `yaml:"cost" json:"cost"`
	Tokens        int           `yaml:"tokens" json:"tokens"`
	Task          string        `yaml:"task" json:"task"`
	Agent         string        `yaml:"agent" json:"agent"`
	ReasonType    string        `yaml:"reason_type" json:"reason_type"`
	Cause         string        `yaml:"cause" json:"cause"`
	Attempts      int           `yaml:"attempts" json:"attempts"`
	CI            bool          `yaml:"ci" json:"ci"`
	CIName        string        `yaml:"ci_name" json:"ci_name"`
	CIEvent       string        `yaml:"ci_event" json:"ci_event"`
	CIAttempt     int           `yaml:"ci_attempt" json:"ci_attempt"`
	Branch        string        `yaml:"branch" json:"branch"`
	BaseBranch    string        `yaml:"base_branch" json:"base_branch"`
	Tag           string        `yaml:"tag" json:"tag"`
	PullRequest   int           `yaml:"pull_request" json:"pull_request"`
}

// Fact describes one fact.
type Fact struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // text, number, true or false, time, list of texts
	Description string `json:"description"`
	// Unknown is the value if the fact is unknown: -1, 0, "" or an empty list. A comparison
	// with the fact is then undecided, unless it names this value: no for a rule that
	// continues or accepts, yes for one that forbids. Nil means that the fact is always known.
	Unknown any `json:"unknown,omitempty"`
}

// FactList returns the description of all facts, in the order in which they are documented.
func FactList() []Fact {
	return []Fact{
		{"guard", "text", "id of the guard that asks", nil},
		{"iteration", "number", "number of the last iteration", nil},
		{"max_iterations", "number", "the limit in force; -1: off", -1},
		{"runtime", "time", `active time so far, to be compared with a time such as 10m`, nil},
		{"trips", "number", "trips so far, this one included", nil},
		{"continues", "number", "answers so far that let the run go on, from anyone", nil},
		{"improved", "true or false", "fewer checks fail than at the last trip, or than in the first iteration; false if unknown", nil},
		{"failing", "number", "checks that fail; -1: not known", -1},
		{"passing", "number", "checks that pass; -1: not known", -1},
		{"total", "number", "checks in all; -1: not known", -1},
		{"checks", "list of texts", "names of the checks that fail, as far as the output has them; []: none is known", []string{}},
		{"checks_total", "number", "checks that ran in the last iteration, as the tool states them; -1: not known", -1},
		{"checks_most", "number", "the most checks that ran in an iteration of this run, the precheck included; -1: not known", -1},
		{"skipped", "number", "checks that were skipped in the last iteration, as the tool states them; -1: not known", -1},
		{"protected_changed", "true or false", "a protected file changed although the check passed", nil},
		{"repeats", "number", "how often the last signature, or the cycle, came in a row", nil},
		{"period", "number", "length of the cycle that repeats, 1 for plain repetition; 0: not a loop", nil},
		{"confirmed", "text", `the result of the repeated check before loop_detected asked: same, other, flaky (it passed and then failed), passed; "": it was not repeated`, ""},
		{"label", "text", `label of the last signature, such as test-fail:2-auth,logout; "": there is none`, ""},
		{"outcome", "text", `how the last iteration ended that was neither cut off nor waiting: done, not_done, error; "": there is none`, ""},
		{"last_exit_code", "number", "exit code of its check, or of the command without one; -1: there is none", -1},
		{"errors", "number", "iterations in a row that ended as an error", nil},
		{"cost", "number", "reported cost in US dollars; -1: not known", float64(-1)},
		{"tokens", "number", "reported tokens; -1: not known", -1},
		{"task", "text", `the task, as the rejection or the signal names it, else what is worked on; "": it has no name`, ""},
		{"agent", "text", `who rejected the task or sent the signal; "": not known`, ""},
		{"reason_type", "text", `why the task was rejected, such as SCOPE_CREEP; "": it was not`, ""},
		{"cause", "text", `why the command asks for clarification, such as security_concern; "": not known`, ""},
		{"attempts", "number", "what the rejection lists as attempted, or attempts of the task that count on the ladder; -1: there is neither", -1},
		{"ci", "true or false", "this is a CI job", nil},
		{"ci_name", "text", `the CI system; "": not known`, ""},
		{"ci_event", "text", `what started the job, in the CI system's words; "": not known`, ""},
		{"ci_attempt", "number", "how often the job was started, from 1; 0: not known", 0},
		{"branch", "text", `the branch that is worked on; "": none`, ""},
		{"base_branch", "text", `the branch that a pull request goes to; "": none`, ""},
		{"tag", "text", `the tag that is built; "": none`, ""},
		{"pull_request", "number", "number of the pull request; 0: none, or not known", 0},
	}
}

// UnknownFacts returns the facts of a run of which only the guard is known.
func UnknownFacts(guard core.GuardID) Facts {
	return Facts{
		Guard: string(guard), MaxIterations: -1,
		Failing: -1, Passing: -1, Total: -1, ChecksTotal: -1, ChecksMost: -1, Skipped: -1, LastExitCode: -1, Cost: -1, Tokens: -1, Attempts: -1,
	}
}

// FactsOf returns the facts for the guard's question. It does not change the state.
func FactsOf(guard core.GuardID, s *core.State, ci core.CI) Facts {
	f := UnknownFacts(guard)
	f.Iteration, f.Runtime = s.Iterations, s.Elapsed
	if s.Limits.Iterations > 0 {
		f.MaxIterations = s.Limits.Iterations
	}
	f.Trips, f.Continues = s.Trips, s.Continues
	f.Improved, f.Errors = s.Improved(), s.ErrorRun
	f.Repeats = s.Cycles.Repeats()
	t := s.Trip
	if t == nil && s.LastTrip != nil && s.LastTrip.Guard == guard {
		t = s.LastTrip // the question was settled: it is looked at afterwards
	}
	if t != nil {
		f.Iteration = t.Iteration
		f.Period, f.Confirmed = t.Period, string(t.Confirmed)
		if t.Repeats > 0 {
			f.Repeats = t.Repeats
		}
	}
	if s.Last != nil {
		f.Label, f.Outcome, f.LastExitCode = s.Last.Signature.Label, string(s.Last.Outcome), s.Last.ExitCode
	}
	// A cost that was never reported is unknown: nobody claims that it was zero.
	if s.Cost > 0 {
		f.Cost = s.Cost
	}
	if s.Tokens > 0 {
		f.Tokens = int(min(s.Tokens, math.MaxInt))
	}
	if p := s.Last.Progress(); p != nil {
		f.Failing, f.Passing, f.Total, f.Checks = p.Failing, p.Passed, p.Total, p.Checks
	}
	if s.Last != nil {
		f.Changed = len(s.Last.Changed) > 0
		if t := s.Last.Tally; t != nil {
			f.ChecksTotal, f.Skipped = t.Ran, t.Skipped
		}
	}
	if s.Checked.Known {
		f.ChecksMost = s.Checked.Ran
	}
	f.Task = s.LadderTask()
	if len(s.Rungs) > 0 {
		f.Attempts = s.Ladder.Task(f.Task).Total
	}
	switch {
	case guard == core.Rejection && s.Rejected != nil:
		r := s.Rejected.Rejection
		f.Task, f.Agent, f.ReasonType, f.Attempts = cmp.Or(r.Task, f.Task), r.Agent, string(r.ReasonType), len(r.Attempted)
	case (guard == core.Blocked || guard == core.Clarification) && s.Signal != nil:
		f.Task, f.Agent, f.Cause = cmp.Or(s.Signal.Task, f.Task), s.Signal.Agent, s.Signal.Cause
	}
	f.CI, f.CIName, f.CIEvent, f.CIAttempt = ci.In, ci.Name, ci.Event, ci.Attempt
	f.Branch, f.BaseBranch, f.Tag, f.PullRequest = ci.Branch, ci.BaseBranch, ci.Tag, ci.PullRequest
	return f
}
