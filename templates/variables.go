package templates

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
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

	// unsure means that -1 stands for a number that is not known.
	unsure bool
}

// variables are the values of one question that are no facts: what is said about the run, and
// what the command said. Their tag doc describes them, and of lists the guards whose questions
// have the value, if not all do.
type variables struct {
	Reason         string   `doc:"the guard's own sentence about why it tripped, with the numbers"`
	Max            string   `doc:"the limit of the guard that asks: 10, 15m, $2.50; empty when it has none"`
	Count          int      `doc:"how many iterations are the evidence: errors in a row, repeats, iterations done"`
	MaxRuntime     string   `doc:"the runtime limit, such as 15m; empty when it is off"`
	During         bool     `doc:"true when an iteration is still running"`
	Summary        string   `doc:"what is failing, such as “2 of 5 tests failing: auth, logout”, or that it is unknown"`
	Window         int      `doc:"how many of the last iterations are the evidence of loop_detected; more than Repeats where others came between"`
	LastError      string   `doc:"the last error on one line; empty when there was none"`
	LastErrors     []string `doc:"the last errors, three at most, oldest first; equal ones in a row are one"`
	Cycle          []string `doc:"labels of the signatures in the cycle, oldest first"`
	Tripped        []string `doc:"ids of the guards that tripped as well"`
	Known          bool     `doc:"true when nothing but known issues came, so that skip is not offered"`
	Place          string   `doc:"where the question comes from: the task, the command, the directory"`
	Dir            string   `doc:"the directory that the command runs in"`
	Run            string   `doc:"id of the run"`
	Program        string   `doc:"the command by its name alone, such as claude"`
	Who            string   `doc:"what failed, as the beginning of a sentence: the command, or the check"`
	How            string   `doc:"how it ended, such as “was killed by SIGSEGV”; empty when nothing has run"`
	Why            string   `doc:"why it failed, where it or looprun says so in words; may be empty"`
	EndCode        int      `doc:"its exit code where that is all that is known; else 0"`
	Alike          bool     `doc:"true when the errors in a row ended in the same way"`
	Silent         bool     `doc:"true when the last iteration printed nothing"`
	FailingOf      string   `doc:"what fails in words, such as “2 of 5 tests fail”; empty when that is not known"`
	Trend          string   `doc:"how many failed in each iteration, such as “3 → 2 → 2”; empty for one"`
	Progressing    bool     `doc:"true when fewer checks fail than two iterations before"`
	Output         []string `doc:"the last lines of the output where no checks were recognised, or of the suspended iteration"`
	Quiet          string   `doc:"how long the suspended iteration had printed nothing, such as 4m; empty below a second"`
	Words          string   `doc:"the last words of the command where a check judges it; may be empty"`
	Before         []string `doc:"what was answered before in this run, newest first, three at most"`
	Passed         string   `doc:"what passes, such as “3/5 tests passing”; empty when that is not known"`
	CauseInWords   string   `doc:"why only a person can answer, such as “a security concern”; empty when the command names no cause"`
	Asked          string   `doc:"what the command asks or says, on one line; empty when it neither asks nor is blocked" of:"blocked clarification ladder_exhausted"`
	Context        string   `doc:"what the command says around its question" of:"blocked clarification ladder_exhausted"`
	Considered     []string `doc:"the options that the command considered, each with why it is insufficient" of:"blocked clarification ladder_exhausted"`
	AttemptsMade   []string `doc:"the attempts for this question: ATTEMPT records of the ladder, then those that the command names"`
	WouldHelp      string   `doc:"what the command says would help" of:"blocked clarification ladder_exhausted"`
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

// Variables returns the variables that the wording of a template can mention: the facts of
// policies by the same names, and the wording's own.
func Variables() []Variable { return slices.Clone(allVariables()) }

var allVariables = sync.OnceValue(func() []Variable {
	types := map[reflect.Type]VariableType{
		reflect.TypeFor[string](): TypeText, reflect.TypeFor[int](): TypeNumber,
		reflect.TypeFor[bool](): TypeBool, reflect.TypeFor[[]string](): TypeList,
		reflect.TypeFor[time.Duration](): TypeText, reflect.TypeFor[float64](): TypeText,
	}
	var list []Variable
	fields := reflect.TypeFor[core.Facts]()
	for i, fact := range core.FactList() {
		f := fields.Field(i)
		v := Variable{Name: f.Name, Type: types[f.Type], Description: fact.About()}
		v.unsure = fact.Unknown == -1
		if fact.Unknown != nil && v.Type == TypeText {
			v.Description = fact.Description + "; empty: none, or not known"
		}
		list = append(list, v)
	}
	for f := range reflect.TypeFor[variables]().Fields() {
		list = append(list, Variable{Name: f.Name, Type: types[f.Type], Description: f.Tag.Get("doc")})
	}
	return list
})

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

	has   core.Evidence
	known core.Facts
}

func newSource(state *core.State, trip core.Trip, ci core.CI, texts *messages) *source {
	at := *state
	at.Trip = &trip
	s := &source{state: state, trip: trip, texts: texts, has: state.Evidence(trip), known: core.FactsOf(trip.Guard, &at, ci)}
	s.tell()
	return s
}

// facts maps the names of variables to their values.
type facts map[string]any

// facts computes all variables of the question: times and money as they are written, and empty
// where they are not known.
func (s *source) facts() facts {
	f := facts{}
	for field, value := range reflect.ValueOf(s.known).Fields() {
		switch v := value.Interface().(type) {
		case time.Duration:
			f[field.Name] = formatDuration(v)
		case float64:
			f[field.Name] = ""
			if v >= 0 {
				f[field.Name] = fmt.Sprintf("$%.2f", v)
			}
		case string:
			f[field.Name] = phrase(v)
		default:
			f[field.Name] = clean(v)
		}
	}
	for field, value := range reflect.ValueOf(s.variables()).Fields() {
		f[field.Name] = clean(value.Interface())
	}
	return f
}

// variables computes the value of each variable, before it is made safe to show.
func (s *source) variables() variables {
	v := variables{
		Reason:         s.trip.Reason,
		Max:            s.max(),
		Count:          s.count(),
		During:         s.trip.During,
		Summary:        s.summary(),
		Window:         s.trip.Window,
		LastErrors:     s.errors(),
		Cycle:          s.cycle(),
		Tripped:        convert.Strings(s.trip.Also),
		Known:          s.trip.Known,
		Words:          termsafe.Short(s.has.Words, shownWords),
		Place:          s.place(),
		Dir:            s.has.Dir,
		Run:            s.state.RunID,
		Program:        s.program(),
		Who:            s.who(),
		Alike:          s.alike(),
		Trend:          s.trend(),
		Progressing:    s.progressing(),
		Before:         s.before(),
		CauseInWords:   s.cause(),
		Asked:          phrase(cmp.Or(strings.TrimSpace(s.signal.Question), s.signal.Text)),
		Context:        phrase(s.signal.Context),
		Considered:     s.considered(),
		AttemptsMade:   s.attempts(),
		WouldHelp:      phrase(s.signal.WouldHelp),
		ReasonSummary:  phrase(s.rejection.Summary),
		ReasonDetail:   phrase(s.rejection.Detail),
		BlockingFactor: phrase(s.rejection.BlockingFactor),
		Attempted:      lines(s, s.rejection.Attempted, "", nil),
		Evidence:       s.evidence(),
		SuggestedWhy:   s.suggestedWhy(),
		Alternative:    phrase(s.rejection.Suggested),
		Subtasks:       s.subtasks(),
	}
	if s.state.Limits.Runtime > 0 {
		v.MaxRuntime = formatDuration(s.state.Limits.Runtime)
	}
	if last := s.state.Last; last != nil {
		v.Why = phrase(last.Detail)
		v.Silent = s.has.How != core.HowNotFound && last.OutputBytes == 0 && last.Excerpt == ""
	}
	if n := len(v.LastErrors); n > 0 {
		v.LastError = v.LastErrors[n-1]
	}
	if s.has.How != core.HowNot {
		v.How = s.texts.say("how_"+string(s.has.How), facts{"Signal": core.SignalName(s.has.Code)})
	}
	if s.has.How == core.HowExited {
		v.EndCode = s.has.Code
	}
	if p := s.has.Progress; p != nil {
		v.FailingOf = s.texts.say("failing_of", facts{"Failing": p.Failing, "Total": max(0, p.Total), "Tests": p.Tests, "Tasks": p.Tasks})
	}
	if s.failing() == 0 { // failing checks tell more than the output
		v.Output = s.has.Output
	}
	if p := s.state.Last.Progress(); p != nil && p.Passed >= 0 {
		v.Passed = s.passing(p)
	}
	if quiet := time.Duration(s.has.QuietMS) * time.Millisecond; quiet >= time.Second {
		v.Quiet = formatDuration(quiet)
	}
	if s.trip.Guard == core.Rejection && s.state.Rejected != nil { // it decides nothing
		decision, _ := s.rejection.Suggest()
		v.Suggested = string(decision)
	}
	return v
}
