package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// How much of the past the state keeps. The journal keeps everything.
const (
	historyKept     = 50
	findingsKept    = 1000 // characters of a decision's
	errorsKept      = 5
	errorHashesKept = 64
	knownKept       = 1000
	warningsKept    = 20
)

// Outcome is how an iteration ended.
type Outcome string

// The outcomes.
const (
	OutcomeDone        Outcome = "done"
	OutcomeNotDone     Outcome = "not_done"
	OutcomeError       Outcome = "error"
	OutcomeInterrupted Outcome = "interrupted"
	// OutcomeWaiting means that a rate limit must pass first, or that a question of the
	// command waits for its answer. The iteration is no evidence of anything and runs again
	// under its own number.
	OutcomeWaiting Outcome = "waiting"
)

// State is everything known about a run: the fold of its events. It is plain data; its zero
// value is a run that has not started. Only [State.Apply] modifies it; everybody else may only
// read the fields.
type State struct {
	// The run as it was started, and the current limits.

	RunID    string    `json:"run_id"`
	Name     string    `json:"name,omitempty"`
	Command  []string  `json:"command,omitempty"`
	Check    []string  `json:"check,omitempty"`
	Promise  string    `json:"promise,omitempty"`
	Dir      string    `json:"dir,omitempty"`
	Parent   string    `json:"parent,omitempty"`
	Started  time.Time `json:"started"`
	Precheck bool      `json:"precheck,omitempty"`  // still to be run
	Loose    bool      `json:"loose,omitempty"`     // signatures are compared without numbers
	AnyValue bool      `json:"any_value,omitempty"` // values may change for ever
	Often    Often     `json:"often,omitzero"`      // how often a failure may come
	// Seq is the number of the last event, and Elapsed the active time at that event.
	Seq     int64         `json:"seq"`
	Elapsed time.Duration `json:"elapsed_ns"`
	// Initial are the limits with which the run began or was resumed; Limits are the current
	// ones.
	Initial Limits `json:"initial"`
	Limits  Limits `json:"limits"`
	Caps    Caps   `json:"caps"`

	// The iterations of the run.

	// Iterations counts the iterations that ended by themselves. Open is the number of the one
	// that was started but has not finished, and Running reports whether there is one (the
	// precheck is number 0).
	Iterations int  `json:"iterations"`
	Open       int  `json:"open,omitempty"`
	Running    bool `json:"running,omitempty"`
	// Waits counts consecutive iterations that ended as waiting, and Until is when the current
	// wait ends.
	Waits int        `json:"waits,omitempty"`
	Until *time.Time `json:"until,omitempty"`
	// Worked means that an iteration has ended without an error. Outage is when the current
	// outage began; nil if there is none.
	Worked bool       `json:"worked,omitempty"`
	Outage *time.Time `json:"outage,omitempty"`
	// SameQuestion is the question for which the last iteration ended as waiting, and
	// SameQuestions is how many iterations in a row ended that way.
	SameQuestion  signature.Hash `json:"same_question,omitempty"`
	SameQuestions int            `json:"same_questions,omitempty"`
	// CallsPerHour is how many iterations may start within an hour; zero means no limit. Calls
	// are the start times of the latest iterations, at most that many.
	CallsPerHour int `json:"calls_per_hour,omitempty"`
	// Repository is the repository that Dir is a work tree of, if looprun made the tree.
	Repository string      `json:"repository,omitempty"`
	Calls      []time.Time `json:"calls,omitempty"`
	// Crashes counts how often looprun, or the runner, died in iteration Open.
	Crashes int `json:"crashes,omitempty"`
	// SinceAnswer counts iterations since the start or the last continuing answer.
	SinceAnswer int `json:"since_answer,omitempty"`
	// Last is the last iteration that is evidence, including the precheck; it is used for
	// judging, asking and informing. Ran is the last one that ran, even if
	// [IterationFinished.RunsAgain]: it has the last exit code and the last output.
	Last *IterationFinished `json:"last,omitempty"`
	Ran  *IterationFinished `json:"ran,omitempty"`
	// History holds the last 50 finished iterations, oldest first.
	History []IterationFinished `json:"history,omitempty"`
	// Errors are the last 5 iterations that did not end as done, oldest first. They show the
	// next attempt what to avoid.
	Errors []IterationFinished `json:"errors,omitempty"`

	// The evidence for the guards.

	Streaks
	// Escalated is the use of when_stuck; nil while it can still be used.
	Escalated *Escalation `json:"escalated,omitempty"`
	// Confirm means that a cheap check runs once more before [LoopDetected] asks. Confirmed is
	// the result of the last such run, after iteration ConfirmedAt.
	Confirm     bool         `json:"confirm,omitempty"`
	Confirmed   Confirmation `json:"confirmed,omitempty"`
	ConfirmedAt int          `json:"confirmed_at,omitempty"`
	// Known are the skipped signatures, and SkippedBy is the guard of the last skip.
	Known     []KnownIssue `json:"known,omitempty"`
	SkippedBy GuardID      `json:"skipped_by,omitempty"`
	// ResetAt is the iteration after which a guard's counter was last reset.
	ResetAt map[GuardID]int `json:"reset_at,omitempty"`
	// Cost and Tokens are the reported totals.
	Cost   float64 `json:"cost,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
	// Repetitions counts how often an agent repeated itself within a turn, and Repeated is the
	// last repetition that is not settled; nil if there is none.
	Repetitions int           `json:"repetitions,omitempty"`
	Repeated    *TurnRepeated `json:"repeated,omitempty"`
	// Checked is the most that was checked so far, and Transcript reports whether the work's
	// output is a coding agent's. Protected are the files that must not change.
	Checked    Checked                   `json:"checked,omitzero"`
	Transcript bool                      `json:"transcript,omitempty"`
	Protected  map[string]signature.Hash `json:"protected,omitempty"`
	// Session is the coding agent's session that the next iteration continues, for at most
	// SessionTurns turns.
	Session      AgentSession `json:"session,omitzero"`
	SessionTurns int          `json:"session_turns,omitempty"`
	// Tasks are the tasks that were open when last seen and have not been seen done since.
	Tasks []string `json:"tasks,omitempty"`
	// Previous holds the last iteration's values for comparison.
	Previous *Seen `json:"previous,omitempty"`
	// Best is the iteration with the fewest failures, of those whose files are kept if there are
	// any; nil if no failures were counted.
	Best *Best `json:"best,omitempty"`
	// Baseline is what was failing at the last trip, or in the first iteration.
	Baseline *Progress `json:"baseline,omitempty"`

	// The task, its parts, and earlier attempts at it.

	// Task is the current task: the run's name until a rejection replaces it.
	Task string `json:"task,omitempty"`
	// Climbed is the task that the command last named on the ladder; if empty, attempts count
	// for the run's task.
	Climbed string `json:"climbed,omitempty"`
	// Subtask is the current part of a split task, Subtasks are the parts after it, and
	// Finished are the parts that ended. Advance reports that the end of Subtask is still to
	// be recorded. See [State.Decomposed].
	Subtask  *rejection.Task  `json:"subtask,omitempty"`
	Subtasks []rejection.Task `json:"subtasks,omitempty"`
	Finished []rejection.Task `json:"finished,omitempty"`
	Advance  bool             `json:"advance,omitempty"`
	// Passed reports that the judge found everything done; at most the record of the end is
	// missing.
	Passed bool `json:"passed,omitempty"`
	// Rungs is the escalation ladder, empty if there is none, and Ladder records the attempts
	// on it. Weigh reports that the last iteration is still to be weighed.
	Rungs  ladder.Config `json:"rungs,omitempty"`
	Ladder ladder.State  `json:"ladder,omitzero"`
	Weigh  bool          `json:"weigh,omitempty"`
	// Restarted reports that the current answer has reset the attempts.
	Restarted bool `json:"restarted,omitempty"`
	// Blockers are tasks that must be done elsewhere first.
	Blockers []string `json:"blockers,omitempty"`

	// The messages for the next iteration.

	// Words is the last text from a person or another responder, and Holds is the last
	// option's own text. Every iteration receives both until they are replaced.
	Words string `json:"words,omitempty"`
	Holds string `json:"holds,omitempty"`
	// HeldFor is the trip that the option of Holds answered, and HeldOption is its id.
	HeldFor    *Trip  `json:"held_for,omitempty"`
	HeldOption string `json:"held_option,omitempty"`
	// Guidance is for the next iteration alone. Later was given while an iteration was
	// running, and Notices are looprun's own messages to the next one; both become part of
	// Guidance when the iteration has ended.
	Guidance string   `json:"guidance,omitempty"`
	Later    string   `json:"later,omitempty"`
	Notices  []string `json:"notices,omitempty"`
	// Deferred is the message for the next iteration when a deferred task continues.
	Deferred string `json:"deferred,omitempty"`
	// Undelivered is the question of a signal whose answer the next iteration receives as
	// guidance.
	Undelivered string `json:"undelivered,omitempty"`

	// The command's messages.

	// Signals are those of the running iteration; Signal and Rejected are the signal and the
	// rejection of the last iteration that must be acted on.
	Signals   []signal.Signal     `json:"signals,omitempty"`
	Signal    *signal.Signal      `json:"signal,omitempty"`
	Declared  *signal.Signal      `json:"declared,omitempty"` // the approach that the iteration named
	Rejected  *RejectionSubmitted `json:"rejected,omitempty"`
	Decided   bool                `json:"decided,omitempty"`   // the rejection's decision is on record
	Malformed int                 `json:"malformed,omitempty"` // signals in a row
	Unread    int                 `json:"unread,omitempty"`    // signals of the running iteration
	// Objects is why the running iteration is not done, based on the command's messages that
	// could not be accepted.
	Objects string `json:"objects,omitempty"`
	// Asked are the command's own questions that are still open, in order. Answered are the
	// latest answers to any question.
	Asked    []Asked    `json:"asked,omitempty"`
	Answered []Answered `json:"answered,omitempty"`

	// The trip, its question and its answer.

	// Trip is the trip being settled, Question the question waiting for its answer, Answer the
	// answer being carried out, and Findings the findings of debug.
	Trip     *Trip     `json:"trip,omitempty"`
	Question *Question `json:"question,omitempty"`
	Answer   *Answer   `json:"answer,omitempty"`
	// LastTrip is the previous trip, or the current one, and Given its answers.
	LastTrip *Trip   `json:"last_trip,omitempty"`
	Given    []Given `json:"given,omitempty"`
	Findings string  `json:"findings,omitempty"`
	// Advised are the questions that an assistant rejected and that no person has let through
	// since. AllAdvised reports that there were more than are remembered.
	Advised    []Advised `json:"advised,omitempty"`
	AllAdvised bool      `json:"all_advised,omitempty"`
	// Trips counts trips, and Continues counts the answers that let the run continue.
	Trips     int `json:"trips,omitempty"`
	Continues int `json:"continues,omitempty"`
	// PolicyContinues and the fields below it are how much of the policy's budget its
	// continuing answers have used.
	PolicyContinues  int           `json:"policy_continues,omitempty"`
	PolicyIterations int           `json:"policy_iterations,omitempty"`
	PolicyRuntime    time.Duration `json:"policy_runtime_ns,omitempty"`
	PolicyCost       float64       `json:"policy_cost,omitempty"`
	PolicyTokens     int64         `json:"policy_tokens,omitempty"`
	// Decisions are the last 50 actions applied.
	Decisions []Decision `json:"decisions,omitempty"`

	// Other problems, and how the run ends.

	// Warnings are the distinct warnings of all iterations, at most the first 20.
	Warnings []string `json:"warnings,omitempty"`
	// Interrupt is set when looprun was told to stop.
	Interrupt *InterruptReceived `json:"interrupt,omitempty"`
	// Pause is how the run ends after this iteration, as ordered; nil if the run continues.
	Pause *Ending `json:"pause,omitempty"`
	// Ending is how the run ends; Ended reports that this is recorded.
	Ending *Ending `json:"ending,omitempty"`
	Ended  bool    `json:"ended,omitempty"`
	// Resumes counts how often the run was resumed.
	Resumes int `json:"resumes,omitempty"`
}

// Streaks are the evidence that a run repeats itself. Guards with [Spec].Streak read them.
type Streaks struct {
	// Cycles is evidence for [LoopDetected].
	Cycles signature.Cycles `json:"cycles"`
	// Core is what failed in the last CoreRun iterations in a row, ignoring values
	// (signature.Signature.Core); it too is evidence for [LoopDetected].
	Core    signature.Hash `json:"core,omitempty"`
	CoreRun int            `json:"core_run,omitempty"`
	// Failures are the failures among the last 50 iterations that count, oldest first. They
	// are evidence for [LoopDetected] if a failure is frequent but not consecutive.
	Failures []Failure `json:"failures,omitempty"`
	// ErrorRun counts consecutive errors, and ErrorHashes are their signatures.
	ErrorRun    int          `json:"error_run,omitempty"`
	ErrorHashes []KnownIssue `json:"error_hashes,omitempty"`
	// Labels are the signatures, with labels, of the last 5 iterations that count, oldest
	// first.
	Labels []KnownIssue `json:"labels,omitempty"`
	// KnownRun counts consecutive iterations with a known issue.
	KnownRun int `json:"known_run,omitempty"`
	// Idle counts consecutive iterations in which nothing changed, and Trees are the known
	// states of the work tree, latest last.
	Idle  int    `json:"idle,omitempty"`
	Trees []Tree `json:"trees,omitempty"`
	// Moving counts consecutive iterations that changed the work tree and count as progress
	// only because of that.
	Moving int `json:"moving,omitempty"`
}

// Escalation is the one time in a run that another command works in place of the run's own,
// because a guard found the run stuck.
type Escalation struct {
	// Until is the last iteration of the other command.
	Until int `json:"until"`
	// Failed is the iteration in which it was not started, or ended with an exit code that means
	// that; zero if there was none.
	Failed int `json:"failed,omitempty"`
	// Before are the streaks that the trip was about. They count again after Failed.
	Before Streaks `json:"before,omitzero"`
}

// stateFormat is the version of the JSON form of a state. It is raised when an older program
// could not read the new form or would misread it.
const stateFormat = 1

type plainState State

type stateJSON struct {
	Format int `json:"format"`
	*plainState
}

// MarshalJSON writes the state with its format version, so that a run can be resumed from it:
// a state that is read back takes the same steps. Journals stay readable for longer than
// states.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(stateJSON{stateFormat, (*plainState)(&s)})
}

// UnmarshalJSON reads the output of MarshalJSON. A different format version is an error, and
// so is an unknown key: its content would be lost.
func (s *State) UnmarshalJSON(b []byte) error {
	read := stateJSON{plainState: new(plainState)}
	strict := json.NewDecoder(bytes.NewReader(b))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&read); err != nil {
		return err
	}
	if read.Format != stateFormat {
		return fmt.Errorf("a state of format %d cannot be read, only of format %d; replay its journal instead", read.Format, stateFormat)
	}
	*s = State(*read.plainState)
	return nil
}

// Clone returns a deep copy of the state.
func (s *State) Clone() *State {
	copied := new(State)
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, copied)
	}
	if err != nil {
		panic(err) // what is in a state has been in a journal
	}
	return copied
}

// Asked is an open question of the command: it waits for its answer, or its answer waits to be
// fetched.
type Asked struct {
	Question Question `json:"question"`
	Answer   *Answer  `json:"answer,omitempty"`
	// Earlier reports that nobody was asked: the answer is that to an earlier identical
	// question.
	Earlier bool `json:"earlier,omitempty"`
}

// Answered records who answered a question, and when.
type Answered struct {
	QuestionID string    `json:"question_id"`
	Time       time.Time `json:"time"`
	Iteration  int       `json:"iteration,omitempty"` // the last one before it
	// Asked is the question if the command asked it. Masked reports that the command received
	// a different answer, because this one held a secret.
	Asked  *Question `json:"asked,omitempty"`
	Masked bool      `json:"masked,omitempty"`
	Answer
}

// Tree is an observed state of the work tree.
type Tree struct {
	Content signature.Hash `json:"content"`
	// Returns is how often the work tree came back to this state after leaving it.
	Returns int `json:"returns,omitempty"`
}

// Seen holds the values of one iteration with which the next is compared.
type Seen struct {
	Signature signature.Hash `json:"signature,omitempty"`
	Tree      signature.Hash `json:"tree,omitempty"`
}

// Decision is an answer that was carried out.
type Decision struct {
	Time      time.Time `json:"time"`
	Iteration int       `json:"iteration"` // the last one before it
	Question  string    `json:"question,omitempty"`
	// Findings are the shortened findings of a command that an answer to the question ran.
	Findings string `json:"findings,omitempty"`
	ActionApplied
}

// Ending is how a run ended.
type Ending struct {
	Status   Status  `json:"status"`
	ExitCode int     `json:"exit_code"`
	Guard    GuardID `json:"guard,omitempty"`
	// Decision is the option that ended the run, Responder who chose it, and Reason the
	// reason.
	Decision  string `json:"decision,omitempty" mask:"option"`
	Responder string `json:"responder,omitempty" mask:"own"`
	Reason    string `json:"reason,omitempty"`
	// Rule is the location of the deciding rule, as file:line, Assistant is the assistant that
	// decided, and At is when; zero if nobody decided.
	Rule      string    `json:"rule,omitempty" mask:"own"`
	Assistant Assistant `json:"assistant,omitzero"`
	At        time.Time `json:"decided_at,omitzero"`
}

// Who returns who ended the run, in the form of [Answer.Who].
func (e Ending) Who() string { return e.Assistant.who(e.Responder, e.Rule) }

// String returns the status with the guard, if there is one: tripped (loop_detected).
func (e Ending) String() string {
	if e.Guard == "" {
		return string(e.Status)
	}
	return fmt.Sprintf("%s (%s)", e.Status, e.Guard)
}

// Next is the next step of a run.
type Next string

// The steps.
const (
	NextCrashed  Next = "crashed"  // count the iteration that crashed too often
	NextPrecheck Next = "precheck" // run the check before the first iteration
	NextIterate  Next = "iterate"  // run the next iteration
	NextGoOn     Next = "go_on"    // let the running iteration go on
	NextAsked    Next = "asked"    // put a question of the command to the responders
	NextAdvance  Next = "advance"  // put the end of a sub-task on record
	NextWeigh    Next = "weigh"    // weigh the last iteration on the ladder
	NextExpert   Next = "expert"   // run the next expert
	NextWait     Next = "wait"     // wait until a rate limit is over
	NextConfirm  Next = "confirm"  // run the check once more before the trip
	NextTrip     Next = "trip"     // put the trip on record
	NextAsk      Next = "ask"      // put the question to the responders
	NextAct      Next = "act"      // carry out the answer
	NextFinish   Next = "finish"   // put the ending on record
	NextEnd      Next = "end"      // nothing is left to do
)

// Next returns the next step. Completion is checked before any guard, and no iteration starts
// before every guard has seen the last one. The trip is set with [NextTrip].
func (s *State) Next(guards []Guard) (Next, *Trip) {
	switch {
	case s.Ended:
		return NextEnd, nil
	case s.Ending != nil:
		return NextFinish, nil
	case s.Answer != nil:
		return NextAct, nil
	case s.Trip != nil:
		return NextAsk, nil
	case s.Running:
		return NextGoOn, nil
	case s.Advance:
		return NextAdvance, nil
	case s.Unanswered() != nil:
		return NextAsked, nil
	case s.Weigh:
		return NextWeigh, nil
	}
	if trip := Evaluate(guards, s); trip != nil {
		trip.Iteration = s.Iterations
		if s.confirms(trip) {
			return NextConfirm, nil
		}
		if trip.Guard == LoopDetected && s.ConfirmedAt == s.Iterations {
			trip.Confirmed = s.Confirmed
			trip.Reason += s.Confirmed.says()
		}
		if s.Escalated != nil && s.Escalated.Failed == s.Iterations {
			trip.Reason += "; the command of when_stuck " + s.Last.unstarted()
		}
		return NextTrip, trip
	}
	if _, ok := s.NextExpert(); ok {
		return NextExpert, nil
	}
	switch {
	case s.Until != nil:
		return NextWait, nil
	case s.Crashes >= crashLimit:
		return NextCrashed, nil
	case s.Precheck:
		return NextPrecheck, nil
	}
	return NextIterate, nil
}

// paced returns when the next iteration may start and true, if the hourly limit on iterations
// does not let it start now.
func (s *State) paced(now time.Time) (time.Time, bool) {
	if s.CallsPerHour == 0 || len(s.Calls) < s.CallsPerHour {
		return time.Time{}, false
	}
	from := s.Calls[len(s.Calls)-s.CallsPerHour].Add(time.Hour)
	return from, from.After(now)
}

// NextIteration is the number of the iteration to run next.
func (s *State) NextIteration() int { return s.Iterations + 1 }

// Match returns the hash with which the run compares signatures: of everything in them, or of
// everything but the counts (Loose). A [KnownIssue] holds this hash.
func (s *State) Match(sig signature.Signature) signature.Hash {
	if s.Loose {
		return sig.Loose
	}
	return sig.Hash
}

// IsKnown reports whether the signature was skipped as a known issue.
func (s *State) IsKnown(h signature.Hash) bool {
	return slices.ContainsFunc(s.Known, func(k KnownIssue) bool { return k.Hash == h })
}

// WindowIssues returns the distinct signatures that are evidence of the trip.
func (s *State) WindowIssues(t Trip) []KnownIssue {
	var from []KnownIssue
	switch {
	case t.Guard == ConsecutiveErrors:
		from = s.ErrorHashes
	case t.Period > 0:
		from = s.Labels[max(0, len(s.Labels)-t.Period):]
	case s.Last != nil && s.Last.Signature.Hash != 0:
		from = []KnownIssue{{s.Match(s.Last.Signature), s.Last.Signature.Label}}
	}
	return distinct(from)
}
