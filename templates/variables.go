package templates

import (
	"github.com/looprun/looprun"
)

// VariableType is the kind of value a variable has.
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

// variable is a Variable with the way to its value.
type variable struct {
	Variable
	value func(*source) any
}

// source is what the values are taken from.
type source struct {
	state *looprun.State
	trip  looprun.Trip
	texts *messages
}

// questionVariables are all that a template can mention.
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
		Variable{"Summary", TypeText, "what is failing, such as “2 of 5 failing: auth, logout”, or that it is unknown"},
		(*source).summary,
	},
	{
		Variable{"CurrentState", TypeText, "what passes, such as “3/5 passing”, or that it is unknown"},
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
		Variable{"Repeats", TypeNumber, "how often the signature came in a row, or the cycle in turn"},
		(*source).repeats,
	},
	{
		Variable{"Period", TypeNumber, "length of the cycle that repeats: 1 for the same signature, 0 when nothing repeats"},
		func(s *source) any { return s.trip.Period },
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
		Variable{"Continues", TypeNumber, "how often an answer has let this run go on"},
		func(s *source) any { return s.state.Continues },
	},
	{
		Variable{"Name", TypeText, "the task, as --name says; empty without"},
		func(s *source) any { return s.state.Name },
	},
	{
		Variable{"Command", TypeText, "the command that is run in the loop"},
		func(s *source) any { return formatCommand(s.state.Command) },
	},
	{
		Variable{"Check", TypeText, "the check command; empty when there is none"},
		func(s *source) any { return formatCommand(s.state.Check) },
	},
}

// Variables lists what the wording of a template can mention.
func Variables() []Variable {
	list := make([]Variable, len(questionVariables))
	for i, v := range questionVariables {
		list[i] = v.Variable
	}
	return list
}

// facts are the values of variables, by name.
type facts map[string]any

// facts computes all variables of the question.
func (s *source) facts() facts {
	f := make(facts, len(questionVariables))
	for _, v := range questionVariables {
		f[v.Name] = clean(v.value(s))
	}
	return f
}
