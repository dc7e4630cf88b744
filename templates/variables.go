package templates

import (
	"cmp"

	"github.com/looprun/looprun/core"
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

// variable is a Variable with a function that returns its value.
type variable struct {
	Variable
	value func(*source) any
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

// questionVariables are all variables that a template can mention.
var questionVariables = []variable{
	{
		Variable{"Guard", TypeText, "id of the guard that asks, such as max_iterations"},
		func(s *source) any { return string(s.trip.Guard) },
	},
	{
		Variable{"Reason", TypeText, "the guard's own sentence about why it tripped, with the numbers"},
		func(s *source) any { return s.trip.Reason },
	},
	{
		Variable{"Max", TypeText, "the limit of the guard that asks: 10, 15m, $2.50; empty when it has none"},
		(*source).max,
	},
	{
		Variable{"Count", TypeNumber, "how many iterations are the evidence: errors in a row, repeats, iterations done"},
		(*source).count,
	},
	{
		Variable{"Iteration", TypeNumber, "number of the last iteration, or of the one that is running"},
		(*source).iteration,
	},
	{
		Variable{"MaxIterations", TypeText, "the iteration limit; empty when it is off"},
		func(s *source) any { return formatCount(s.state.Limits.Iterations) },
	},
	{
		Variable{"Runtime", TypeText, "active time so far, such as 4m10s"},
		func(s *source) any { return formatDuration(s.state.Elapsed) },
	},
	{
		Variable{"MaxRuntime", TypeText, "the runtime limit, such as 15m; empty when it is off"},
		func(s *source) any { return formatLimit(s.state.Limits.Runtime) },
	},
	{
		Variable{"During", TypeBool, "true when an iteration is still running"},
		func(s *source) any { return s.trip.During },
	},
	{
		Variable{"Summary", TypeText, "what is failing, such as “2 of 5 tests failing: auth, logout”, or that it is unknown"},
		(*source).summary,
	},
	{
		Variable{"CurrentState", TypeText, "what passes, such as “3/5 tests passing”, or that it is unknown"},
		(*source).currentState,
	},
	{
		Variable{"Improved", TypeBool, "true when fewer checks fail than at the last trip, or than in the first iteration"},
		func(s *source) any { return s.state.Improved() },
	},
	{
		Variable{"Signature", TypeText, "label of the last signature, such as test-fail:2-auth,logout; empty when there is none"},
		(*source).signature,
	},
	{
		Variable{"Repeats", TypeNumber, "how often the failure came in the iterations that are the evidence, or the cycle in turn"},
		(*source).repeats,
	},
	{
		Variable{"Window", TypeNumber, "how many of the last iterations are the evidence of loop_detected; more than Repeats where others came between"},
		func(s *source) any { return s.trip.Window },
	},
	{
		Variable{"Period", TypeNumber, "length of the cycle that repeats: 1 for the same signature, 0 when nothing repeats"},
		func(s *source) any { return s.trip.Period },
	},
	{
		Variable{"Confirmed", TypeText, "the result of the repeated check before loop_detected asked: same, other, flaky, passed; empty when it was not repeated"},
		func(s *source) any { return string(s.trip.Confirmed) },
	},
	{
		Variable{"Cycle", TypeList, "labels of the signatures in the cycle, oldest first"},
		(*source).cycle,
	},
	{
		Variable{"LastError", TypeText, "the last error on one line; empty when there was none"},
		(*source).lastError,
	},
	{
		Variable{"Errors", TypeList, "the last errors, three at most, oldest first; equal ones in a row are one"},
		func(s *source) any { return s.errors() },
	},
	{
		Variable{"LastOutput", TypeText, "the last lines of the judge's output, three at most"},
		(*source).lastOutput,
	},
	{
		Variable{"ExitCode", TypeNumber, "the judge's last exit code; -1 when nothing has run"},
		(*source).exitCode,
	},
	{
		Variable{"Tripped", TypeList, "ids of the guards that tripped as well"},
		(*source).tripped,
	},
	{
		Variable{"Known", TypeBool, "true when nothing but known issues came, so that skip is not offered"},
		func(s *source) any { return s.trip.Known },
	},
	{
		Variable{"Trips", TypeNumber, "how often guards have tripped in this run, this time included"},
		func(s *source) any { return s.state.Trips },
	},
	{
		Variable{"Continues", TypeNumber, "how many answers have continued this run"},
		func(s *source) any { return s.state.Continues },
	},
	{
		Variable{"Name", TypeText, "the task, as --name says; empty without"},
		func(s *source) any { return s.state.Name },
	},
	{
		Variable{"Command", TypeText, "the command that is run in the loop"},
		func(s *source) any { return line(core.CommandLine(s.state.Command), valueLength) },
	},
	{
		Variable{"Check", TypeText, "the check command; empty when there is none"},
		func(s *source) any { return line(core.CommandLine(s.state.Check), valueLength) },
	},
	{
		Variable{"Place", TypeText, "where the question comes from: the task, the command, the directory"},
		(*source).place,
	},
	{
		Variable{"Run", TypeText, "id of the run"},
		func(s *source) any { return s.state.RunID },
	},
	{
		Variable{"Program", TypeText, "the command by its name alone, such as claude"},
		(*source).program,
	},
	{
		Variable{"Who", TypeText, "what failed, as the beginning of a sentence: the command, or the check"},
		(*source).who,
	},
	{
		Variable{"How", TypeText, "how it ended, such as “was killed by SIGSEGV”; empty when nothing has run"},
		(*source).how,
	},
	{
		Variable{"Why", TypeText, "why it failed, where it or looprun says so in words; may be empty"},
		func(s *source) any {
			if s.state.Last == nil {
				return ""
			}
			return phrase(s.state.Last.Detail)
		},
	},
	{
		Variable{"EndCode", TypeNumber, "its exit code where that is all that is known; else 0"},
		(*source).endCode,
	},
	{
		Variable{"Alike", TypeBool, "true when the errors in a row ended in the same way"},
		(*source).alike,
	},
	{
		Variable{"Silent", TypeBool, "true when the last iteration printed nothing"},
		(*source).silent,
	},
	{
		Variable{"Failing", TypeNumber, "how many checks fail; 0 when that is not known"},
		(*source).failing,
	},
	{
		Variable{"FailingOf", TypeText, "what fails in words, such as “2 of 5 tests fail”; empty when that is not known"},
		(*source).failingOf,
	},
	{
		Variable{"Trend", TypeText, "how many failed in each iteration, such as “3 → 2 → 2”; empty for one"},
		(*source).trend,
	},
	{
		Variable{"Progressing", TypeBool, "true when fewer checks fail than two iterations before"},
		(*source).progressing,
	},
	{
		Variable{"FailingChecks", TypeList, "failing checks, each with the line that says why, five at most"},
		func(s *source) any { return s.checksOrNone() },
	},
	{
		Variable{"Output", TypeList, "the last lines of the output where no checks were recognised, or of the suspended iteration"},
		(*source).output,
	},
	{
		Variable{"Quiet", TypeText, "how long the suspended iteration had printed nothing, such as 4m; empty below a second"},
		(*source).quiet,
	},
	{
		Variable{"Words", TypeText, "the last words of the command where a check judges it; may be empty"},
		(*source).words,
	},
	{
		Variable{"Before", TypeList, "what was answered before in this run, newest first, three at most"},
		func(s *source) any { return s.before() },
	},
	{
		Variable{"Passed", TypeText, "what passes, such as “3/5 tests passing”; empty when that is not known"},
		(*source).passed,
	},
	{
		Variable{"Cost", TypeText, "what the run has cost, such as $2.10; empty when nothing was reported"},
		(*source).cost,
	},
	{
		Variable{"Task", TypeText, "the task that the question is about, as the command names it, else that of the run; empty when neither has a name"},
		(*source).task,
	},
	{
		Variable{"Agent", TypeText, "who rejects or asks, as the command names it; empty when it does not"},
		func(s *source) any { return phrase(cmp.Or(s.rejection.Agent, s.signal.Agent)) },
	},
	{
		Variable{"Cause", TypeText, "why only a person can answer, such as “a security concern”; empty when the command names no cause"},
		(*source).cause,
	},
	{
		Variable{"Asked", TypeText, "what the command asks or says, on one line; empty when it neither asks nor is blocked"},
		signalled(asked),
	},
	{
		Variable{"Context", TypeText, "what the command says around its question"},
		signalled(func(s signal.Signal) string { return s.Context }),
	},
	{
		Variable{"Considered", TypeList, "the options that the command considered, each with why it is insufficient"},
		(*source).considered,
	},
	{
		Variable{"Attempts", TypeList, "the attempts for this question: ATTEMPT records of the ladder, then those that the command names"},
		(*source).attempts,
	},
	{
		Variable{"WouldHelp", TypeText, "what the command says would help"},
		signalled(func(s signal.Signal) string { return s.WouldHelp }),
	},
	{
		Variable{"ReasonType", TypeText, "why the task is rejected: BLOCKER, SCOPE_CREEP, MISSING_DEPENDENCY, INFEASIBLE, UNCLEAR_REQUIREMENTS; empty when it is not"},
		rejected(func(r rejection.Rejection) string { return string(r.ReasonType) }),
	},
	{
		Variable{"ReasonSummary", TypeText, "why the task is rejected, in short"},
		rejected(func(r rejection.Rejection) string { return r.Summary }),
	},
	{
		Variable{"ReasonDetail", TypeText, "why the task is rejected, at length"},
		rejected(func(r rejection.Rejection) string { return r.Detail }),
	},
	{
		Variable{"BlockingFactor", TypeText, "the fact that stops the rejected task"},
		rejected(func(r rejection.Rejection) string { return r.BlockingFactor }),
	},
	{
		Variable{"Attempted", TypeList, "what was attempted before the task was rejected"},
		(*source).attempted,
	},
	{
		Variable{"Evidence", TypeList, "what was observed that shows the reason"},
		(*source).evidence,
	},
	{
		Variable{"Suggested", TypeText, "the decision that fits the reason: defer, decompose, reformulate; empty when no task is rejected"},
		(*source).suggested,
	},
	{
		Variable{"SuggestedWhy", TypeText, "why that decision fits"},
		(*source).suggestedWhy,
	},
	{
		Variable{"Alternative", TypeText, "what the rejection suggests to do instead"},
		rejected(func(r rejection.Rejection) string { return r.Suggested }),
	},
	{
		Variable{"Subtasks", TypeList, "the tasks that the rejection proposes instead, each after those that it depends on"},
		(*source).subtasks,
	},
}

// Variables returns the variables that the wording of a template can mention.
func Variables() []Variable {
	list := make([]Variable, len(questionVariables))
	for i, v := range questionVariables {
		list[i] = v.Variable
	}
	return list
}

// facts maps the names of variables to their values.
type facts map[string]any

// facts computes all variables of the question.
func (s *source) facts() facts {
	f := make(facts, len(questionVariables))
	for _, v := range questionVariables {
		f[v.Name] = clean(v.value(s))
	}
	return f
}
