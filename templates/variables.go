package templates

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// VariableType is the type of a variable's value.
type VariableType string

// The types of variables.
const (
	TypeText   VariableType = "text"
	TypeNumber VariableType = "number" // a whole number
	TypeBool   VariableType = "bool"
	TypeList   VariableType = "list" // of texts
)

// Variable is a value that wording can mention as {{.Name}}.
type Variable struct {
	Name        string       `json:"name"`
	Type        VariableType `json:"type"`
	Description string       `json:"description"`
}

// variables are the values of one question. Their tag doc describes them, and of lists the
// guards whose questions have the value, if not all do.
type variables struct {
	Guard          string   `doc:"id of the guard that asks, such as max_iterations"`
	Reason         string   `doc:"the guard's own sentence about why it tripped, with the numbers"`
	Max            string   `doc:"the limit of the guard that asks: 10, 15m, $2.50; empty when it has none"`
	Count          int      `doc:"how many iterations are the evidence: errors in a row, repeats, iterations done"`
	Iteration      int      `doc:"number of the last iteration, or of the one that is running"`
	MaxIterations  string   `doc:"the iteration limit; empty when it is off"`
	Runtime        string   `doc:"active time so far, such as 4m10s"`
	MaxRuntime     string   `doc:"the runtime limit, such as 15m; empty when it is off"`
	During         bool     `doc:"true when an iteration is still running"`
	Summary        string   `doc:"what is failing, such as “2 of 5 tests failing: auth, logout”, or that it is unknown"`
	CurrentState   string   `doc:"what passes, such as “3/5 tests passing”, or that it is unknown"`
	Improved       bool     `doc:"true when fewer checks fail than at the last trip, or than in the first iteration"`
	Signature      string   `doc:"label of the last signature, such as test-fail:2-auth,logout; empty when there is none"`
	Repeats        int      `doc:"how often the failure came in the iterations that are the evidence, or the cycle in turn"`
	Window         int      `doc:"how many of the last iterations are the evidence of loop_detected; more than Repeats where others came between"`
	Period         int      `doc:"length of the cycle that repeats: 1 for the same signature, 0 when nothing repeats"`
	Confirmed      string   `doc:"the result of the repeated check before loop_detected asked: same, other, flaky, passed; empty when it was not repeated"`
	Cycle          []string `doc:"labels of the signatures in the cycle, oldest first"`
	LastError      string   `doc:"the last error on one line; empty when there was none"`
	Errors         []string `doc:"the last errors, three at most, oldest first; equal ones in a row are one"`
	LastOutput     string   `doc:"the last lines of the judge's output, three at most"`
	ExitCode       int      `doc:"the judge's last exit code; -1 when nothing has run"`
	Tripped        []string `doc:"ids of the guards that tripped as well"`
	Known          bool     `doc:"true when nothing but known issues came, so that skip is not offered"`
	Trips          int      `doc:"how often guards have tripped in this run, this time included"`
	Continues      int      `doc:"how many answers have continued this run"`
	Name           string   `doc:"the task, as --name says; empty without"`
	Command        string   `doc:"the command that is run in the loop"`
	Check          string   `doc:"the check command; empty when there is none"`
	Place          string   `doc:"where the question comes from: the task, the command, the directory"`
	Run            string   `doc:"id of the run"`
	Program        string   `doc:"the command by its name alone, such as claude"`
	Who            string   `doc:"what failed, as the beginning of a sentence: the command, or the check"`
	How            string   `doc:"how it ended, such as “was killed by SIGSEGV”; empty when nothing has run"`
	Why            string   `doc:"why it failed, where it or looprun says so in words; may be empty"`
	EndCode        int      `doc:"its exit code where that is all that is known; else 0"`
	Alike          bool     `doc:"true when the errors in a row ended in the same way"`
	Silent         bool     `doc:"true when the last iteration printed nothing"`
	Failing        int      `doc:"how many checks fail; 0 when that is not known"`
	FailingOf      string   `doc:"what fails in words, such as “2 of 5 tests fail”; empty when that is not known"`
	Trend          string   `doc:"how many failed in each iteration, such as “3 → 2 → 2”; empty for one"`
	Progressing    bool     `doc:"true when fewer checks fail than two iterations before"`
	FailingChecks  []string `doc:"failing checks, each with the line that says why, five at most"`
	Output         []string `doc:"the last lines of the output where no checks were recognised, or of the suspended iteration"`
	Quiet          string   `doc:"how long the suspended iteration had printed nothing, such as 4m; empty below a second"`
	Words          string   `doc:"the last words of the command where a check judges it; may be empty"`
	Before         []string `doc:"what was answered before in this run, newest first, three at most"`
	Passed         string   `doc:"what passes, such as “3/5 tests passing”; empty when that is not known"`
	Cost           string   `doc:"what the run has cost, such as $2.10; empty when nothing was reported"`
	Task           string   `doc:"the task that the question is about, as the command names it, else that of the run; empty when neither has a name"`
	Agent          string   `doc:"who rejects or asks, as the command names it; empty when it does not" of:"rejection blocked clarification ladder_exhausted"`
	Cause          string   `doc:"why only a person can answer, such as “a security concern”; empty when the command names no cause"`
	Asked          string   `doc:"what the command asks or says, on one line; empty when it neither asks nor is blocked" of:"blocked clarification ladder_exhausted"`
	Context        string   `doc:"what the command says around its question" of:"blocked clarification ladder_exhausted"`
	Considered     []string `doc:"the options that the command considered, each with why it is insufficient" of:"blocked clarification ladder_exhausted"`
	Attempts       []string `doc:"the attempts for this question: ATTEMPT records of the ladder, then those that the command names"`
	WouldHelp      string   `doc:"what the command says would help" of:"blocked clarification ladder_exhausted"`
	ReasonType     string   `doc:"why the task is rejected: BLOCKER, SCOPE_CREEP, MISSING_DEPENDENCY, INFEASIBLE, UNCLEAR_REQUIREMENTS; empty when it is not" of:"rejection"`
	ReasonSummary  string   `doc:"why the task is rejected, in short" of:"rejection"`
	ReasonDetail   string   `doc:"why the task is rejected, at length" of:"rejection"`
	BlockingFactor string   `doc:"the fact that stops the rejected task" of:"rejection"`
	Attempted      []string `doc:"what was attempted before the task was rejected" of:"rejection"`
	Evidence       []string `doc:"what was observed that shows the reason" of:"rejection"`
	Suggested      string   `doc:"the decision that fits the reason: defer, decompose, reformulate; empty when no task is rejected" of:"rejection"`
	SuggestedWhy   string   `doc:"why that decision fits" of:"rejection"`
	Alternative    string   `doc:"what the rejection suggests to do instead" of:"rejection"`
	Subtasks       []string `doc:"the tasks that the rejection proposes instead, each after those that it depends on" of:"rejection"`
}

// Variables returns the variables that the wording of a template can mention.
func Variables() []Variable {
	types := map[reflect.Type]VariableType{
		reflect.TypeFor[string](): TypeText, reflect.TypeFor[int](): TypeNumber,
		reflect.TypeFor[bool](): TypeBool, reflect.TypeFor[[]string](): TypeList,
	}
	var list []Variable
	for f := range reflect.TypeFor[variables]().Fields() {
		list = append(list, Variable{f.Name, types[f.Type], f.Tag.Get("doc")})
	}
	return list
}

// questionsWith returns the guards whose questions have a variable; none if all do.
func questionsWith(variable string) []string {
	f, _ := reflect.TypeFor[variables]().FieldByName(variable)
	return strings.Fields(f.Tag.Get("of"))
}

// source is the data from which the values are computed.
type source struct {
	state *core.State
	trip  core.Trip
	texts *messages
	// The command's message that the question is about; zero if there is none.
	rejection rejection.Rejection
	signal    signal.Signal

	has core.Evidence
}

func newSource(state *core.State, trip core.Trip, texts *messages) *source {
	s := &source{state: state, trip: trip, texts: texts, has: state.Evidence(trip)}
	s.tell()
	return s
}

// facts maps the names of variables to their values.
type facts map[string]any

// facts computes all variables of the question.
func (s *source) facts() facts {
	f := facts{}
	for field, value := range reflect.ValueOf(s.variables()).Fields() {
		f[field.Name] = clean(value.Interface())
	}
	return f
}

// variables computes the value of each variable, before it is made safe to show.
func (s *source) variables() variables {
	v := variables{
		Guard:          string(s.trip.Guard),
		Reason:         s.trip.Reason,
		Max:            s.max(),
		Count:          s.count(),
		Iteration:      s.iteration(),
		Runtime:        formatDuration(s.state.Elapsed),
		During:         s.trip.During,
		Summary:        s.summary(),
		CurrentState:   s.currentState(),
		Improved:       s.state.Improved(),
		Repeats:        s.repeats(),
		Window:         s.trip.Window,
		Period:         s.trip.Period,
		Confirmed:      string(s.trip.Confirmed),
		Cycle:          s.cycle(),
		Errors:         s.errors(),
		Tripped:        s.tripped(),
		Known:          s.trip.Known,
		Trips:          s.state.Trips,
		Continues:      s.state.Continues,
		Name:           s.state.Name,
		Command:        line(core.CommandLine(s.state.Command), valueLength),
		Check:          line(core.CommandLine(s.state.Check), valueLength),
		ExitCode:       -1,
		Words:          termsafe.Short(s.has.Words, shownWords),
		Place:          s.place(),
		Run:            s.state.RunID,
		Program:        s.program(),
		Who:            s.who(),
		Alike:          s.alike(),
		Trend:          s.trend(),
		Progressing:    s.progressing(),
		Before:         s.before(),
		Task:           s.task(),
		Agent:          phrase(cmp.Or(s.rejection.Agent, s.signal.Agent)),
		Cause:          s.cause(),
		Asked:          phrase(cmp.Or(strings.TrimSpace(s.signal.Question), s.signal.Text)),
		Context:        phrase(s.signal.Context),
		Considered:     s.considered(),
		Attempts:       s.attempts(),
		WouldHelp:      phrase(s.signal.WouldHelp),
		ReasonType:     phrase(string(s.rejection.ReasonType)),
		ReasonSummary:  phrase(s.rejection.Summary),
		ReasonDetail:   phrase(s.rejection.Detail),
		BlockingFactor: phrase(s.rejection.BlockingFactor),
		Attempted:      lines(s, s.rejection.Attempted, "", nil),
		Evidence:       s.evidence(),
		SuggestedWhy:   s.suggestedWhy(),
		Alternative:    phrase(s.rejection.Suggested),
		Subtasks:       s.subtasks(),
	}
	if s.state.Limits.Iterations > 0 {
		v.MaxIterations = strconv.Itoa(s.state.Limits.Iterations)
	}
	if s.state.Limits.Runtime > 0 {
		v.MaxRuntime = formatDuration(s.state.Limits.Runtime)
	}
	if last := s.state.Last; last != nil {
		v.Signature = line(last.Signature.Label, valueLength)
		v.ExitCode, v.Why = last.ExitCode, phrase(last.Detail)
		v.LastOutput = strings.Join(termsafe.LastLines(tail(last.Excerpt), shownLines, lineLength), "\n")
		v.Silent = s.has.How != core.HowNotFound && last.OutputBytes == 0 && last.Excerpt == ""
	}
	if n := len(v.Errors); n > 0 {
		v.LastError = v.Errors[n-1]
	}
	if s.has.How != core.HowNot {
		v.How = s.texts.say("how_"+string(s.has.How), facts{"Signal": core.SignalName(s.has.Code)})
	}
	if s.has.How == core.HowExited {
		v.EndCode = s.has.Code
	}
	if p := s.has.Progress; p != nil {
		v.Failing, v.FailingChecks = max(0, p.Failing), s.checks()
		v.FailingOf = s.texts.say("failing_of", facts{"Failing": p.Failing, "Total": max(0, p.Total), "Tests": p.Tests, "Tasks": p.Tasks})
	}
	if v.Failing == 0 { // failing checks tell more than the output
		v.Output = s.has.Output
	}
	if p := s.state.Last.Progress(); p != nil && p.Passed >= 0 {
		v.Passed = v.CurrentState
	}
	if quiet := time.Duration(s.has.QuietMS) * time.Millisecond; quiet >= time.Second {
		v.Quiet = formatDuration(quiet)
	}
	if s.state.Cost > 0 {
		v.Cost = fmt.Sprintf("$%.2f", s.state.Cost)
	}
	if s.trip.Guard == core.Rejection && s.state.Rejected != nil { // it decides nothing
		decision, _ := s.rejection.Suggest()
		v.Suggested = string(decision)
	}
	return v
}
