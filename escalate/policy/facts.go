package policy

import (
	"cmp"
	"math"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
)

// Facts are the facts that conditions can mention, each under the name in its tag. Create them
// with [FactsOf] or [UnknownFacts]: the zero value claims that nothing fails. [FactList] reads
// each fact's description, and its value if it is unknown, from the tags about and unknown.
type Facts struct {
	Guard         string        `yaml:"guard" json:"guard" about:"id of the guard that asks"`
	Iteration     int           `yaml:"iteration" json:"iteration" about:"number of the last iteration"`
	MaxIterations int           `yaml:"max_iterations" json:"max_iterations" about:"the limit in force; -1: off" unknown:"-1"`
	Runtime       time.Duration `yaml:"runtime" json:"runtime_ns" about:"active time so far, to be compared with a time such as 10m"`
	Trips         int           `yaml:"trips" json:"trips" about:"trips so far, this one included"`
	Continues     int           `yaml:"continues" json:"continues" about:"answers so far that continued the run, from anyone"`
	Improved      bool          `yaml:"improved" json:"improved" about:"fewer checks fail than at the last trip, or than in the first iteration; false if unknown"`
	Failing       int           `yaml:"failing" json:"failing" about:"checks that fail; -1: not known" unknown:"-1"`
	Passing       int           `yaml:"passing" json:"passing" about:"checks that pass; -1: not known" unknown:"-1"`
	Total         int           `yaml:"total" json:"total" about:"checks in all; -1: not known" unknown:"-1"`
	Checks        []string      `yaml:"checks" json:"checks" about:"names of the checks that fail, as far as the output has them; []: none is known" unknown:""`
	ChecksTotal   int           `yaml:"checks_total" json:"checks_total" about:"checks that ran in the last iteration, as the tool states them; -1: not known" unknown:"-1"`
	ChecksMost    int           `yaml:"checks_most" json:"checks_most" about:"the most checks that ran in an iteration of this run, the precheck included; -1: not known" unknown:"-1"`
	Skipped       int           `yaml:"skipped" json:"skipped" about:"checks that were skipped in the last iteration, as the tool states them; -1: not known" unknown:"-1"`
	Changed       bool          `yaml:"protected_changed" json:"protected_changed" about:"a protected file changed although the check passed"`
	Repeats       int           `yaml:"repeats" json:"repeats" about:"how often the last signature, or the cycle, came in a row"`
	Period        int           `yaml:"period" json:"period" about:"length of the cycle that repeats, 1 for plain repetition; 0: not a loop"`
	Confirmed     string        `yaml:"confirmed" json:"confirmed" about:"the result of the repeated check before loop_detected asked: same, other, flaky (it passed and then failed), passed; \"\": it was not repeated" unknown:""`
	Label         string        `yaml:"label" json:"label" about:"label of the last signature, such as test-fail:2-auth,logout; \"\": there is none" unknown:""`
	Outcome       string        `yaml:"outcome" json:"outcome" about:"how the last iteration ended that was neither cut off nor waiting: done, not_done, error; \"\": there is none" unknown:""`
	LastExitCode  int           `yaml:"last_exit_code" json:"last_exit_code" about:"exit code of its check, or of the command without one; -1: there is none" unknown:"-1"`
	Errors        int           `yaml:"errors" json:"errors" about:"iterations in a row that ended as an error"`
	Cost          float64       `yaml:"cost" json:"cost" about:"reported cost in US dollars; -1: not known" unknown:"-1"`
	Tokens        int           `yaml:"tokens" json:"tokens" about:"reported tokens; -1: not known" unknown:"-1"`
	Task          string        `yaml:"task" json:"task" about:"the task, as the rejection or the signal names it, else what is worked on; \"\": it has no name" unknown:""`
	Agent         string        `yaml:"agent" json:"agent" about:"who rejected the task or sent the signal; \"\": not known" unknown:""`
	ReasonType    string        `yaml:"reason_type" json:"reason_type" about:"why the task was rejected, such as SCOPE_CREEP; \"\": it was not" unknown:""`
	Cause         string        `yaml:"cause" json:"cause" about:"why the command asks for clarification, such as security_concern; \"\": not known" unknown:""`
	Attempts      int           `yaml:"attempts" json:"attempts" about:"what the rejection lists as attempted, or attempts of the task that count on the ladder; -1: there is neither" unknown:"-1"`
	CI            bool          `yaml:"ci" json:"ci" about:"this is a CI job"`
	CIName        string        `yaml:"ci_name" json:"ci_name" about:"the CI system; \"\": not known" unknown:""`
	CIEvent       string        `yaml:"ci_event" json:"ci_event" about:"what started the job, in the CI system's words; \"\": not known" unknown:""`
	CIAttempt     int           `yaml:"ci_attempt" json:"ci_attempt" about:"how often the job was started, from 1; 0: not known" unknown:"0"`
	Branch        string        `yaml:"branch" json:"branch" about:"the branch that is worked on; \"\": none" unknown:""`
	BaseBranch    string        `yaml:"base_branch" json:"base_branch" about:"the branch that a pull request goes to; \"\": none" unknown:""`
	Tag           string        `yaml:"tag" json:"tag" about:"the tag that is built; \"\": none" unknown:""`
	PullRequest   int           `yaml:"pull_request" json:"pull_request" about:"number of the pull request; 0: none, or not known" unknown:"0"`
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
func FactList() []Fact { return factList() }

var factList = sync.OnceValue(func() []Fact {
	types := map[reflect.Type]string{
		reflect.TypeFor[string](): "text", reflect.TypeFor[int](): "number", reflect.TypeFor[float64](): "number",
		reflect.TypeFor[bool](): "true or false", reflect.TypeFor[time.Duration](): "time", reflect.TypeFor[[]string](): "list of texts",
	}
	var list []Fact
	for f := range reflect.TypeFor[Facts]().Fields() {
		fact := Fact{Name: f.Tag.Get("yaml"), Type: types[f.Type], Description: f.Tag.Get("about")}
		if text, may := f.Tag.Lookup("unknown"); may {
			n, _ := strconv.Atoi(text)
			switch f.Type.Kind() {
			case reflect.Int:
				fact.Unknown = n
			case reflect.Float64:
				fact.Unknown = float64(n)
			case reflect.Slice:
				fact.Unknown = []string{}
			default:
				fact.Unknown = text
			}
		}
		list = append(list, fact)
	}
	return list
})

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
