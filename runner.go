package looprun

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/signature"
)

// Iteration is what a [Runner] is told about the iteration it is to run.
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
	// TurnLoop is how often a coding agent may do the same within one turn; 0 or less:
	// as often as it likes.
	TurnLoop int
	// Judging says that it is the check that runs.
	Judging bool
}

// Runner runs one iteration: the work, and the check that judges it.
//
// Run returns when everything it started is gone. When the context ends it ends
// the iteration at once, with the cause it finds in [context.Cause]. An error
// means that looprun cannot go on; a command that fails is no error but an
// [IterationFinished] that says so.
type Runner interface {
	Run(context.Context, Iteration) (IterationResult, error)
}

// IterationResult is what a [Runner] hands over: how the iteration ended, and beside it
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
	// Err is why the judge, or else the work, failed, where it is a [Func]; nil: nobody
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

// Suspender is a [Runner] that can stand still in the middle of an iteration,
// while a question is asked.
type Suspender interface {
	Suspend()
	Resume()
}

// Witness is a [Runner] that knows the end of what the running iteration has printed,
// and how long ago that was.
type Witness interface {
	Printed() (end string, quiet time.Duration)
}

// Holder is a [Runner] whose time limits can stand still, and whose output can be
// held back, while the command waits for the answer to a question of its own.
type Holder interface {
	Hold()
	Release()
}

// Observer is told of every event once it is in the journal, with the state
// after it. It must not keep the state, nor change it.
type Observer func(Event, *State)

// environLimit is how much of a text goes into an environment variable, in bytes.
const environLimit = 16 << 10

func environText(text string) string {
	return cutText(strings.ReplaceAll(text, "\x00", ""), environLimit)
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

// cutText is text of at most n bytes, cut between two characters.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Guardian reports whether this process was started to guard a command, has
// guarded it then, and returns the code to exit with. A program whose steps are
// commands ([Argv], [Shell]) calls it before anything else:
//
//	if code, ok := looprun.Guardian(); ok {
//		os.Exit(code)
//	}
//
// From then on the loop starts the program a second time, between itself and the
// command, and nothing that an iteration starts outlives it, not even when the
// program is killed. Without the call process groups are used, and a process that
// leaves its group survives. A guardian without a command waits for the next one,
// and ends with the program. Only Linux has guardians; elsewhere it returns false.
// A program whose steps are functions has no use for it.
func Guardian() (code int, ok bool) {
	if !proc.IsGuardian() {
		return 0, false
	}
	return proc.GuardianMain(), true
}
