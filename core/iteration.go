package core

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/signature"
)

// Iteration is the input of an engine.Runner for the iteration that it is to run.
type Iteration struct {
	// Number counts from 1; 0 is the precheck, which runs the check alone.
	Number int
	// Limit is the number of iterations allowed so far, or [Off].
	Limit int
	// First reports whether this is the first iteration since the run was started or resumed:
	// a command that cannot be started is then not retried.
	First bool
	// Guidance is the last answer's guidance for this iteration.
	Guidance string
	// Last is what ran last, even if that was the precheck or the iteration that runs again; nil
	// if nothing has run.
	Last *IterationFinished
	// Answers are the command's questions whose answers wait to be fetched.
	Answers []Asked
	// Task is the current task: the run's name, until a rejection replaces it with another
	// task or with a part of it. Subtasks is the progress through a split task; nil if the
	// task was not split.
	Task     string
	Subtasks *Subtasks
	// Tasks are the open tasks of the list that the check judges, as last seen.
	Tasks []string
	// TurnLoop is how often a coding agent may repeat itself within one turn; 0 or less means
	// no limit.
	TurnLoop int
	// Session is the id of the coding agent's session that this iteration continues; empty
	// means that it begins a new one.
	Session string
	// Escalated means that the command of when_stuck works in place of the run's own.
	Escalated bool
	// MayTrip means that this iteration may trip a guard that has the check run once more.
	MayTrip bool
	// Judging reports whether the check is running.
	Judging bool
}

// environLimit is the maximum length of a text in an environment variable, in bytes.
const environLimit = 16 << 10

func environText(text string) string {
	return termsafe.CutBytes(strings.ReplaceAll(text, "\x00", ""), environLimit)
}

// Environ returns the environment variables that describe the iteration to the command that
// runs in it.
func (it Iteration) Environ() []string {
	limit := offWord
	if it.Limit > 0 {
		limit = strconv.Itoa(it.Limit)
	}
	env := []string{
		"LOOPRUN=1",
		"LOOPRUN_ITERATION=" + strconv.Itoa(it.Number),
		"LOOPRUN_ITERATION_LIMIT=" + limit,
		"LOOPRUN_GUIDANCE=" + environText(it.Guidance),
		"LOOPRUN_TASK=" + environText(it.Task),
		"LOOPRUN_SUBTASK=" + it.Subtasks.place(),
	}
	if it.Last == nil {
		return append(env, "LOOPRUN_LAST_EXIT_CODE=", "LOOPRUN_LAST_SIGNATURE=")
	}
	return append(env,
		"LOOPRUN_LAST_EXIT_CODE="+strconv.Itoa(it.Last.ExitCode),
		"LOOPRUN_LAST_SIGNATURE="+it.Last.Signature.Label)
}

// IterationResult is the result of an engine.Runner: how the iteration ended, and data that is
// recorded separately or not at all. Its JSON form is the fields of iteration.finished plus
// said and printed, for a runner on another machine.
type IterationResult struct {
	IterationFinished
	// Said holds the messages in the command's output, in order. They are recorded before the
	// end of the iteration.
	Said []Data
	// Printed is the signature of the output of a judge that passed. It is used when something
	// else decides that the work is not done, and to find output that contradicts the exit
	// code.
	Printed signature.Signature
	// Err is why the judge, or else the work, failed, if it is an engine.Func; nil if unknown.
	// It is not sent over the wire.
	Err error
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (r IterationResult) MarshalJSON() ([]byte, error) {
	list := convert.Each(r.Said, func(d Data) said { return said{d} })
	return json.Marshal(iterationWire{IterationFinished: r.IterationFinished, Printed: r.Printed, Said: list})
}

// UnmarshalJSON reads the result of a remote runner. A message that no command can send is an
// error.
func (r *IterationResult) UnmarshalJSON(b []byte) error {
	var wire iterationWire
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	*r = IterationResult{IterationFinished: wire.IterationFinished, Printed: wire.Printed}
	for _, d := range wire.Said {
		if !sayable(d.Data) {
			return fmt.Errorf("%w: a command cannot say %s", ErrEvent, d.Type())
		}
		r.Said = append(r.Said, d.Data)
	}
	return nil
}

type iterationWire struct {
	IterationFinished
	Said    []said              `json:"said,omitempty"`
	Printed signature.Signature `json:"printed,omitzero"`
}

// sayable reports whether the command can send that message: none of its messages decides
// anything by itself.
func sayable(d Data) bool {
	switch d := d.(type) {
	case SignalReceived, RejectionSubmitted, RejectionInvalid, CostReported, TurnRepeated:
		return true
	case QuestionAsked: // it gets its name from the loop
		return d.Guard == ""
	case AdviceGiven: // in a run inside this one
		return d.Question != nil && d.Question.From == FromCommand
	}
	return false
}

// Masked returns the result in a form that may leave the machine on which the iteration ran.
func (r IterationResult) Masked(mask func(string) string) IterationResult {
	r.IterationFinished, _ = Masked(r.IterationFinished, mask).(IterationFinished)
	printed, _ := Masked(IterationFinished{Signature: r.Printed}, mask).(IterationFinished)
	r.Printed = printed.Signature
	r.Said = convert.Each(r.Said, func(d Data) Data { return Masked(d, mask) })
	return r
}

// Witness is an engine.Runner that can report the end of the running iteration's output and
// how long ago it was printed.
type Witness interface {
	Printed() (end string, quiet time.Duration)
}
