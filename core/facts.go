package core

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Facts are what is known about a run at a question: policies mention them in conditions, under
// the name in the tag yaml, and templates in wording, as {{.MaxIterations}}. Create them with
// [FactsOf] or [UnknownFacts]: the zero value claims that nothing fails. [FactList] reads each
// fact's description and its value if it is unknown from the other tags.
type Facts struct {
	Guard            string        `yaml:"guard" json:"guard" about:"id of the guard that asks, such as max_iterations"`
	Iteration        int           `yaml:"iteration" json:"iteration" about:"number of the last iteration, or of the one that is running"`
	MaxIterations    int           `yaml:"max_iterations" json:"max_iterations" about:"the iteration limit in force" unknown:"-1"`
	Runtime          time.Duration `yaml:"runtime" json:"runtime_ns" about:"active time so far, such as 10m"`
	Trips            int           `yaml:"trips" json:"trips" about:"trips so far, this one included"`
	Continues        int           `yaml:"continues" json:"continues" about:"answers so far that continued the run, from anyone"`
	Improved         bool          `yaml:"improved" json:"improved" about:"fewer checks fail than at the last trip, or than in the first iteration; false if not known"`
	Failing          int           `yaml:"failing" json:"failing" about:"checks that fail" unknown:"-1"`
	Passing          int           `yaml:"passing" json:"passing" about:"checks that pass" unknown:"-1"`
	Total            int           `yaml:"total" json:"total" about:"checks in all" unknown:"-1"`
	FailingChecks    []string      `yaml:"failing_checks" json:"failing_checks" about:"names of the checks that fail, as far as the output has them" unknown:""`
	ChecksTotal      int           `yaml:"checks_total" json:"checks_total" about:"checks that ran in the last iteration, as the tool states them" unknown:"-1"`
	ChecksMost       int           `yaml:"checks_most" json:"checks_most" about:"the most checks that ran in an iteration of this run, the precheck included" unknown:"-1"`
	Skipped          int           `yaml:"skipped" json:"skipped" about:"checks that were skipped in the last iteration, as the tool states them" unknown:"-1"`
	ProtectedChanged bool          `yaml:"protected_changed" json:"protected_changed" about:"a protected file changed although the check passed"`
	ChangedFiles     int           `yaml:"changed_files" json:"changed_files" about:"files that differ in git from the last commit before the run, new ones included" unknown:"-1"`
	Repeats          int           `yaml:"repeats" json:"repeats" about:"how often the failure came in the iterations that are the evidence, or the cycle in turn"`
	Period           int           `yaml:"period" json:"period" about:"length of the cycle that repeats: 1 for the same signature, 0 when nothing repeats"`
	Confirmed        string        `yaml:"confirmed" json:"confirmed" about:"the result of the repeated check before loop_detected asked: same, other, flaky (it passed and then failed), passed" unknown:""`
	Signature        string        `yaml:"signature" json:"signature" about:"label of the last signature, such as test-fail:2-auth,logout" unknown:""`
	Outcome          string        `yaml:"outcome" json:"outcome" about:"how the last iteration ended that was neither cut off nor waiting: done, not_done, error" unknown:""`
	LastExitCode     int           `yaml:"last_exit_code" json:"last_exit_code" about:"exit code of its check, or of the command without one" unknown:"-1"`
	Errors           int           `yaml:"errors" json:"errors" about:"iterations in a row that ended as an error"`
	Cost             float64       `yaml:"cost" json:"cost" about:"reported cost in US dollars" unknown:"-1"`
	Tokens           int           `yaml:"tokens" json:"tokens" about:"reported tokens" unknown:"-1"`
	Task             string        `yaml:"task" json:"task" about:"the task, as the rejection or the signal names it, else what is worked on" unknown:""`
	Sender           string        `yaml:"sender" json:"sender" about:"who rejects or asks, as the command names it" unknown:""`
	ReasonType       string        `yaml:"reason_type" json:"reason_type" about:"why the task is rejected: BLOCKER, SCOPE_CREEP, MISSING_DEPENDENCY, INFEASIBLE, UNCLEAR_REQUIREMENTS" unknown:""`
	Cause            string        `yaml:"cause" json:"cause" about:"id of the cause why only a person can answer, such as security_concern" unknown:""`
	Attempts         int           `yaml:"attempts" json:"attempts" about:"what the rejection lists as attempted, or attempts of the task that count on the ladder" unknown:"-1"`
	CI               bool          `yaml:"ci" json:"ci" about:"this is a CI job"`
	CIName           string        `yaml:"ci_name" json:"ci_name" about:"the CI system: github, gitlab, buildkite, azure" unknown:""`
	CIEvent          string        `yaml:"ci_event" json:"ci_event" about:"what started the job, in the CI system's words" unknown:""`
	CIAttempt        int           `yaml:"ci_attempt" json:"ci_attempt" about:"how often the job was started, from 1" unknown:"0"`
	Branch           string        `yaml:"branch" json:"branch" about:"the branch that is worked on" unknown:""`
	BaseBranch       string        `yaml:"base_branch" json:"base_branch" about:"the branch that a pull request goes to" unknown:""`
	Tag              string        `yaml:"tag" json:"tag" about:"the tag that is built" unknown:""`
	PullRequest      int           `yaml:"pull_request" json:"pull_request" about:"number of the pull request" unknown:"0"`
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

// About returns the description, with the value of a fact that is unknown.
func (f Fact) About() string {
	if f.Unknown == nil {
		return f.Description
	}
	return f.Description + "; " + cmp.Or(fmt.Sprint(f.Unknown), "empty") + ": none, or not known"
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
func UnknownFacts(guard GuardID) Facts {
	f := Facts{Guard: string(guard)}
	for i, fact := range FactList() {
		if _, list := fact.Unknown.([]string); fact.Unknown != nil && !list {
			reflect.ValueOf(&f).Elem().Field(i).Set(reflect.ValueOf(fact.Unknown))
		}
	}
	return f
}

// FactsOf returns the facts for the guard's question. It does not change the state.
func FactsOf(guard GuardID, s *State, ci CI) Facts {
	f := UnknownFacts(guard)
	f.Iteration, f.Runtime = s.Iterations, s.Elapsed
	if s.Running {
		f.Iteration = s.Open
	}
	if s.Limits.Iterations > 0 {
		f.MaxIterations = s.Limits.Iterations
	}
	f.Trips, f.Continues = s.Trips, s.Continues
	f.Improved, f.Errors = s.Improved(), s.ErrorRun
	f.Repeats = s.Cycles.Repeats()
	t := s.Trip
	if t == nil && s.LastTrip != nil && s.LastTrip.Guard == guard {
		t, f.Iteration = s.LastTrip, 0 // the question was settled: it is looked at afterwards
	}
	if t != nil {
		f.Iteration = max(t.Iteration, f.Iteration)
		f.Period, f.Confirmed = t.Period, string(t.Confirmed)
		f.Repeats = cmp.Or(t.Repeats, f.Repeats)
		if t.Period == 0 && guard == LoopDetected { // the same checks failed that often, with other values
			f.Repeats = t.Window
		}
	}
	if s.Last != nil {
		f.Signature, f.Outcome, f.LastExitCode = s.Last.Signature.Label, string(s.Last.Outcome), s.Last.ExitCode
	}
	// A cost that was never reported is unknown: nobody claims that it was zero.
	if s.Cost > 0 {
		f.Cost = s.Cost
	}
	if s.Tokens > 0 {
		f.Tokens = int(min(s.Tokens, math.MaxInt))
	}
	if p := s.Last.Progress(); p != nil {
		f.Failing, f.Passing, f.Total, f.FailingChecks = p.Failing, p.Passed, p.Total, p.Checks
	}
	if s.Last != nil {
		f.ProtectedChanged = len(s.Last.Changed) > 0
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
	case guard == Rejection && s.Rejected != nil:
		r := s.Rejected.Rejection
		f.Task, f.Sender, f.ReasonType, f.Attempts = cmp.Or(r.Task, f.Task), r.Agent, string(r.ReasonType), len(r.Attempted)
	case guard != Rejection && slices.Contains(ProtocolIDs(), guard) && s.Signal != nil:
		f.Task, f.Sender, f.Cause = cmp.Or(s.Signal.Task, f.Task), s.Signal.Agent, s.Signal.Cause
	}
	f.CI, f.CIName, f.CIEvent, f.CIAttempt = ci.In, ci.Name, ci.Event, ci.Attempt
	f.Branch, f.BaseBranch, f.Tag, f.PullRequest = ci.Branch, ci.BaseBranch, ci.Tag, ci.PullRequest
	if ci.ChangedFiles != nil {
		f.ChangedFiles = *ci.ChangedFiles
	}
	return f
}

// Value returns the value of the fact with this name, and nil if there is none.
func (f Facts) Value(name string) any {
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == name {
			return v.Field(i).Interface()
		}
	}
	return nil
}

// Unknown reports whether the fact is unknown. An empty list of failing checks counts as known
// only if none fails.
func (f Facts) Unknown(fact Fact) bool {
	if _, list := fact.Unknown.([]string); list {
		return len(f.FailingChecks) == 0 && f.Failing != 0
	}
	return fact.Unknown != nil && f.Value(fact.Name) == fact.Unknown
}
