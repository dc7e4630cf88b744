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

// How much of the past the state keeps. The journal has all of it.
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
	// OutcomeWaiting: a rate limit has to pass first, or a question of the command waits
	// for its answer. The iteration is
	// evidence for nothing and runs again under its own number.
	OutcomeWaiting Outcome = "waiting"
)

// State is all that is known about a run: the fold of its events. It is data;
// its zero value is a run that has not started. Fields are for reading; only
// [State.Apply] changes them.
type State struct {
	// The run as it was started, and the limits in force.

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
	// Seq is the last event's number and Elapsed the active time up to it.
	Seq     int64         `json:"seq"`
	Elapsed time.Duration `json:"elapsed_ns"`
	// Initial are the limits the run began or was resumed with; Limits are
	// those in force.
	Initial Limits `json:"initial"`
	Limits  Limits `json:"limits"`
	Caps    Caps   `json:"caps"`

	// Its iterations.

	// Iterations counts those that ended of themselves. Open is the number of
	// the one that was started and not finished, and Running says that there
	// is one (the precheck is number 0).
	Iterations int  `json:"iterations"`
	Open       int  `json:"open,omitempty"`
	Running    bool `json:"running,omitempty"`
	// Waits counts iterations in a row that ended as waiting, and Until is the
	// moment up to which the limit is being waited out.
	Waits int        `json:"waits,omitempty"`
	Until *time.Time `json:"until,omitempty"`
	// Worked says that an iteration ended that was no error, and Outage is when the outage
	// began that goes on; nil: none does.
	Worked bool       `json:"worked,omitempty"`
	Outage *time.Time `json:"outage,omitempty"`
	// SameQuestion is the question for which the last iteration ended as waiting, and
	// SameQuestions how many iterations in a row did so for it.
	SameQuestion  signature.Hash `json:"same_question,omitempty"`
	SameQuestions int            `json:"same_questions,omitempty"`
	// CallsPerHour is how many iterations may start within an hour, and Calls is when the
	// last so many did; zero: any number.
	CallsPerHour int `json:"calls_per_hour,omitempty"`
	// Repository is the one that Dir is a work tree of, where looprun made the tree.
	Repository string      `json:"repository,omitempty"`
	Calls      []time.Time `json:"calls,omitempty"`
	// Crashes counts how often looprun, or who ran it, died in iteration Open.
	Crashes int `json:"crashes,omitempty"`
	// SinceAnswer counts iterations since the start or the last continuing answer.
	SinceAnswer int `json:"since_answer,omitempty"`
	// Last is the last iteration that is evidence, the precheck included: what is
	// judged, asked or told by looks at it. Ran is the last that ran, also one that
	// [IterationFinished.RunsAgain]: it has the last exit code and the last output.
	Last *IterationFinished `json:"last,omitempty"`
	Ran  *IterationFinished `json:"ran,omitempty"`
	// History are the last 50 finished iterations, oldest first.
	History []IterationFinished `json:"history,omitempty"`
	// Errors are the last 5 iterations that did not end as done, oldest first,
	// for telling the next attempt what to avoid.
	Errors []IterationFinished `json:"errors,omitempty"`

	// The evidence that guards judge by.

	// Cycles is the evidence of [LoopDetected].
	Cycles signature.Cycles `json:"cycles"`
	// Core is what failed in the last CoreRun iterations in a row, whatever the values
	// (signature.Signature.Core); it is evidence of [LoopDetected] too.
	Core    signature.Hash `json:"core,omitempty"`
	CoreRun int            `json:"core_run,omitempty"`
	// Failures are those of the last 50 iterations that count, oldest first; they are
	// evidence of [LoopDetected] where a failure comes often, and not in a row.
	Failures []Failure `json:"failures,omitempty"`
	// Confirm says that a cheap check runs once more before [LoopDetected] asks; Confirmed is
	// what came of it last, after iteration ConfirmedAt.
	Confirm     bool         `json:"confirm,omitempty"`
	Confirmed   Confirmation `json:"confirmed,omitempty"`
	ConfirmedAt int          `json:"confirmed_at,omitempty"`
	// ErrorRun counts errors in a row, ErrorHashes are their signatures.
	ErrorRun    int          `json:"error_run,omitempty"`
	ErrorHashes []KnownIssue `json:"error_hashes,omitempty"`
	// Labels name the signatures of the last 5 iterations that count, oldest first.
	Labels []KnownIssue `json:"labels,omitempty"`
	// Known are the signatures that were skipped; KnownRun counts iterations in
	// a row that had one of them, and SkippedBy is the guard of the last skip.
	Known     []KnownIssue `json:"known,omitempty"`
	KnownRun  int          `json:"known_run,omitempty"`
	SkippedBy GuardID      `json:"skipped_by,omitempty"`
	// ResetAt is the iteration after which a guard's counter last started over.
	ResetAt map[GuardID]int `json:"reset_at,omitempty"`
	// Cost and Tokens are what was reported.
	Cost   float64 `json:"cost,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
	// Idle counts iterations in a row in which nothing changed, and Trees are
	// the states of the work tree that were seen, the latest last.
	Idle  int    `json:"idle,omitempty"`
	Trees []Tree `json:"trees,omitempty"`
	// Repetitions counts how often an agent repeated itself within a turn, and Repeated is
	// the last time that is not settled; nil: there is none.
	Repetitions int           `json:"repetitions,omitempty"`
	Repeated    *TurnRepeated `json:"repeated,omitempty"`
	// Moving counts iterations in a row that changed the work tree and count as progress by
	// that alone.
	Moving int `json:"moving,omitempty"`
	// Checked is the most that was checked so far, and Transcript says that the work's output
	// is a coding agent's. Protected are the files that must not change.
	Checked    Checked                   `json:"checked,omitzero"`
	Transcript bool                      `json:"transcript,omitempty"`
	Protected  map[string]signature.Hash `json:"protected,omitempty"`
	// Tasks were open when last seen, and have not been seen done since.
	Tasks []string `json:"tasks,omitempty"`
	// Previous is what the last iteration left to compare with.
	Previous *Seen `json:"previous,omitempty"`
	// Best is the iteration with the fewest failures whose files are kept; nil: none is.
	Best *Best `json:"best,omitempty"`
	// Baseline is what was failing at the last trip, or in the first iteration.
	Baseline *Progress `json:"baseline,omitempty"`

	// The task, its parts, and what was tried at it.

	// Task is what is worked on: the run's name until a rejection put another
	// one in its place.
	Task string `json:"task,omitempty"`
	// Climbed is the task that the command named last on the ladder; empty: attempts count
	// for the run's task.
	Climbed string `json:"climbed,omitempty"`
	// Subtask is the part that is worked on of a task that was taken apart, Subtasks
	// are those after it, and Finished those that ended. Advance says that Subtask has
	// ended, which is still to be put on record. See [State.Decomposed].
	Subtask  *rejection.Task  `json:"subtask,omitempty"`
	Subtasks []rejection.Task `json:"subtasks,omitempty"`
	Finished []rejection.Task `json:"finished,omitempty"`
	Advance  bool             `json:"advance,omitempty"`
	// Passed says that the judge has found all of it done: no more than the record of
	// the end can be missing.
	Passed bool `json:"passed,omitempty"`
	// Rungs are the escalation ladder, empty without one, and Ladder what was
	// tried on it. Weigh says that the last iteration is still to be weighed.
	Rungs  ladder.Config `json:"rungs,omitempty"`
	Ladder ladder.State  `json:"ladder,omitzero"`
	Weigh  bool          `json:"weigh,omitempty"`
	// Restarted says that the open answer has started the attempts over.
	Restarted bool `json:"restarted,omitempty"`
	// Blockers are the tasks that have to be done elsewhere first.
	Blockers []string `json:"blockers,omitempty"`

	// What the next iteration is told.

	// Words are what a person, or who else answered, said last, and Holds what the
	// option itself said: every iteration is told both, until they are replaced.
	Words string `json:"words,omitempty"`
	Holds string `json:"holds,omitempty"`
	// Guidance is for the next iteration alone. Later was given while one was running, and
	// Notices are what looprun itself has to tell the next: they become part of it
	// when the iteration has ended.
	Guidance string   `json:"guidance,omitempty"`
	Later    string   `json:"later,omitempty"`
	Notices  []string `json:"notices,omitempty"`
	// Deferred is what the next iteration is told when a deferred task goes on.
	Deferred string `json:"deferred,omitempty"`
	// Undelivered is the question of a signal whose answer the next iteration
	// gets as its guidance.
	Undelivered string `json:"undelivered,omitempty"`

	// What the command said.

	// Signals are those of the running iteration; Signal is the one of the last
	// iteration that has to be acted on, Rejected the rejection that has.
	Signals   []signal.Signal     `json:"signals,omitempty"`
	Signal    *signal.Signal      `json:"signal,omitempty"`
	Declared  *signal.Signal      `json:"declared,omitempty"` // the approach that the iteration named
	Rejected  *RejectionSubmitted `json:"rejected,omitempty"`
	Decided   bool                `json:"decided,omitempty"`   // the rejection's decision is on record
	Malformed int                 `json:"malformed,omitempty"` // signals in a row
	Unread    int                 `json:"unread,omitempty"`    // signals of the running iteration
	// Objects is why the running iteration is not done, in the command's own words
	// that could not be taken.
	Objects string `json:"objects,omitempty"`
	// Asked are the command's own questions that are not done with, in their
	// order. Answered are the last answers of any question.
	Asked    []Asked    `json:"asked,omitempty"`
	Answered []Answered `json:"answered,omitempty"`

	// The trip and its question, and what was answered.

	// Trip is the trip being settled, Question the one that waits for its
	// answer, Answer the one being carried out, Findings what debug found.
	Trip     *Trip     `json:"trip,omitempty"`
	Question *Question `json:"question,omitempty"`
	Answer   *Answer   `json:"answer,omitempty"`
	// LastTrip is the trip before, or the same, and Given its answers.
	LastTrip *Trip   `json:"last_trip,omitempty"`
	Given    []Given `json:"given,omitempty"`
	Findings string  `json:"findings,omitempty"`
	// Advised are the questions that an assistant rejected and no person has let
	// through since. AllAdvised says that there were more than are remembered.
	Advised    []Advised `json:"advised,omitempty"`
	AllAdvised bool      `json:"all_advised,omitempty"`
	// Trips counts trips, Continues the answers that let the run go on.
	Trips     int `json:"trips,omitempty"`
	Continues int `json:"continues,omitempty"`
	// PolicyContinues and those below it are what continuing
	// policy answers have used of their budget.
	PolicyContinues  int           `json:"policy_continues,omitempty"`
	PolicyIterations int           `json:"policy_iterations,omitempty"`
	PolicyRuntime    time.Duration `json:"policy_runtime_ns,omitempty"`
	PolicyCost       float64       `json:"policy_cost,omitempty"`
	PolicyTokens     int64         `json:"policy_tokens,omitempty"`
	// Decisions are the actions applied so far, the last 50.
	Decisions []Decision `json:"decisions,omitempty"`

	// What went wrong beside it, and how it ends.

	// Warnings are those of all iterations, each once, the first 20.
	Warnings []string `json:"warnings,omitempty"`
	// Interrupt is set when looprun was told to stop.
	Interrupt *InterruptReceived `json:"interrupt,omitempty"`
	// Pause is how the run ends after this iteration, as somebody told it; nil: it goes on.
	Pause *Ending `json:"pause,omitempty"`
	// Ending is how the run ends; Ended says that this is on record.
	Ending *Ending `json:"ending,omitempty"`
	Ended  bool    `json:"ended,omitempty"`
	// Resumes counts how often the run was resumed.
	Resumes int `json:"resumes,omitempty"`
}

// stateFormat is the format in which a state is written. It goes up when an older program
// could not read the new form, or would read it wrongly.
const stateFormat = 1

type plainState State

type stateJSON struct {
	Format int `json:"format"`
	*plainState
}

// MarshalJSON writes the state with its format, so that it can be kept and gone on from:
// what is read back takes the same steps. Journals keep for longer than states do.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(stateJSON{stateFormat, (*plainState)(&s)})
}

// UnmarshalJSON reads what MarshalJSON wrote. Another format is an error, and so is a key
// that is not known: it says something that would be lost.
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

// Clone is a copy of the state that shares nothing with it.
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

// Asked is a question of the command that is not done with: it waits for its
// answer, or its answer waits to be fetched.
type Asked struct {
	Question Question `json:"question"`
	Answer   *Answer  `json:"answer,omitempty"`
	// Earlier says that nobody was asked: it is the answer to the same question before.
	Earlier bool `json:"earlier,omitempty"`
}

// Answered says who answered a question, and when.
type Answered struct {
	QuestionID string    `json:"question_id"`
	Time       time.Time `json:"time"`
	Iteration  int       `json:"iteration,omitempty"` // the last one before it
	// Asked is the question where the command asked it, and Masked says that the answer
	// was another one: a secret was in it.
	Asked  *Question `json:"asked,omitempty"`
	Masked bool      `json:"masked,omitempty"`
	Answer
}

// Tree is a state of the work tree that was seen.
type Tree struct {
	Content signature.Hash `json:"content"`
	// Returns is how often the tree came back to it after it had left it.
	Returns int `json:"returns,omitempty"`
}

// Seen is what one iteration left behind for the next to be compared with.
type Seen struct {
	Signature signature.Hash `json:"signature,omitempty"`
	Tree      signature.Hash `json:"tree,omitempty"`
}

// Decision is an answer that was carried out.
type Decision struct {
	Time      time.Time `json:"time"`
	Iteration int       `json:"iteration"` // the last one before it
	Question  string    `json:"question,omitempty"`
	// Findings are what a command found that an answer to the question ran, cut.
	Findings string `json:"findings,omitempty"`
	ActionApplied
}

// Ending is the verdict on a run.
type Ending struct {
	Status   Status  `json:"status"`
	ExitCode int     `json:"exit_code"`
	Guard    GuardID `json:"guard,omitempty"`
	// Decision is the option that ended the run, Responder who took it and
	// Reason why.
	Decision  string `json:"decision,omitempty" mask:"option"`
	Responder string `json:"responder,omitempty" mask:"own"`
	Reason    string `json:"reason,omitempty"`
	// Rule is where the deciding rule stands, as file:line, Assistant which assistant it
	// was, and At when it was decided; zero when nobody decided.
	Rule      string    `json:"rule,omitempty" mask:"own"`
	Assistant Assistant `json:"assistant,omitzero"`
	At        time.Time `json:"decided_at,omitzero"`
}

// Who is who ended the run, as [Answer.Who] says it.
func (e Ending) Who() string { return e.Assistant.who(e.Responder, e.Rule) }

// Next is the step a run has to take next.
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

// Next says what has to happen now. Completion is judged before any guard, and
// no iteration starts without every guard having seen the last one. The trip
// is set with [NextTrip].
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

// paced is the moment from which the next iteration may start, where so many started
// within an hour that it may not now.
func (s *State) paced(now time.Time) (time.Time, bool) {
	if s.CallsPerHour == 0 || len(s.Calls) < s.CallsPerHour {
		return time.Time{}, false
	}
	from := s.Calls[len(s.Calls)-s.CallsPerHour].Add(time.Hour)
	return from, from.After(now)
}

// NextIteration is the number of the iteration to run next.
func (s *State) NextIteration() int { return s.Iterations + 1 }

// Match is the hash by which the run compares signatures: of all that they say, or
// of all but the counts (Loose). It is what a [KnownIssue] has.
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

// WindowIssues are the distinct signatures that are the evidence of the trip.
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
	var out []KnownIssue
	for _, k := range from {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}
