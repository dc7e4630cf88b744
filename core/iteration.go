package core

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/signature"
)

// Iteration is what an engine.Runner is told about the iteration it is to run.
type Iteration struct {
	// Number counts from 1; 0 is the precheck, which runs the check alone.
	Number int
	// Limit is the number of iterations allowed so far, or [Off].
	Limit int
	// First says that it is the first one since the run started or was resumed:
	// a command that cannot be started is then not tried again.
	First bool
	// Guidance is what the last answer gives this iteration to go by.
	Guidance string
	// Last is the one that ran last, also where it runs again; nil in the first.
	Last *IterationFinished
	// Answers are those of the command's questions that wait to be fetched.
	Answers []Asked
	// Task is what is worked on: the run's name, until a rejection put another task
	// or a part of it in its place. Subtasks is how far a task is that was taken
	// apart; nil: none was.
	Task     string
	Subtasks *Subtasks
	// Tasks are the open tasks of the list that the check judges, as last seen.
	Tasks []string
	// TurnLoop is how often a coding agent may do the same within one turn; 0 or less:
	// as often as it likes.
	TurnLoop int
	// MayTrip says that a guard may trip by it which has the check run once more.
	MayTrip bool
	// Judging says that it is the check that runs.
	Judging bool
}

// environLimit is how much of a text goes into an environment variable, in bytes.
const environLimit = 16 << 10

func environText(text string) string {
	return termsafe.CutBytes(strings.ReplaceAll(text, "\x00", ""), environLimit)
}

// Environ are the variables that tell a command about the iteration it runs in.
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

// IterationResult is what an engine.Runner hands over: how the iteration ended, and beside it
// what has a record of its own or none. In JSON it is the fields of iteration.finished
// with said and printed, for a runner on another machine.
type IterationResult struct {
	IterationFinished
	// Said is what the command said with its output, in its order: it is on record
	// before the end of the iteration.
	Said []Data
	// Printed is the signature of what the judge printed though it passed: for when
	// something else says that it is not done, and for what contradicts the exit code.
	Printed signature.Signature
	// Err is why the judge, or else the work, failed, where it is an engine.Func; nil: nobody
	// said. It goes over no wire.
	Err error
}

// MarshalJSON writes what UnmarshalJSON reads.
func (r IterationResult) MarshalJSON() ([]byte, error) {
	wire := iterationWire{IterationFinished: r.IterationFinished, Printed: r.Printed}
	for _, d := range r.Said {
		wire.Said = append(wire.Said, said{d})
	}
	return json.Marshal(wire)
}

// UnmarshalJSON reads the result of a runner elsewhere. What no command can say is an
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

// sayable reports whether the command can say that: nothing that it says decides
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

// Masked is the result as it may leave the machine that the iteration ran on.
func (r IterationResult) Masked(mask func(string) string) IterationResult {
	r.IterationFinished, _ = Masked(r.IterationFinished, mask).(IterationFinished)
	printed, _ := Masked(IterationFinished{Signature: r.Printed}, mask).(IterationFinished)
	r.Printed = printed.Signature
	said := make([]Data, len(r.Said))
	for i, d := range r.Said {
		said[i] = Masked(d, mask)
	}
	r.Said = said
	return r
}

// Witness is an engine.Runner that knows the end of what the running iteration has printed,
// and how long ago that was.
type Witness interface {
	Printed() (end string, quiet time.Duration)
}
