package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// EventType names what happened, as written in the journal.
type EventType string

// The event types.
const (
	TypeRunStarted         EventType = "run.started"
	TypeIterationStarted   EventType = "iteration.started"
	TypeIterationFinished  EventType = "iteration.finished"
	TypeIterationWithdrawn EventType = "iteration.withdrawn"
	TypeGuardTripped       EventType = "guard.tripped"
	TypeQuestionAsked      EventType = "question.asked"
	TypeQuestionAnswered   EventType = "question.answered"
	TypeQuestionClosed     EventType = "question.closed"
	TypeAnswerInvalid      EventType = "answer.invalid"
	TypeAdviceGiven        EventType = "advice.given"
	TypeActionApplied      EventType = "action.applied"
	TypeDebugFinished      EventType = "debug.finished"
	TypeVerifyFinished     EventType = "verify.finished"
	TypeInterruptReceived  EventType = "interrupt.received"
	TypeOrderReceived      EventType = "order.received"
	TypeRunAlive           EventType = "run.alive"
	TypeRunPaused          EventType = "run.paused"
	TypeRunResumed         EventType = "run.resumed"
	TypeRunFinished        EventType = "run.finished"
	TypeRunSuperseded      EventType = "run.superseded"
)

// The types of events that come from the command or follow from its messages.
const (
	TypeQuestionDelivered  EventType = "question.delivered"
	TypeSignalReceived     EventType = "signal.received"
	TypeMessageRefused     EventType = "message.refused"
	TypeRejectionSubmitted EventType = "rejection.submitted"
	TypeRejectionInvalid   EventType = "rejection.invalid"
	TypeRejectionDecided   EventType = "rejection.decided"
	TypeCountersReset      EventType = "counters.reset"
	TypeAttemptRecorded    EventType = "attempt.recorded"
	TypeExpertFinished     EventType = "expert.finished"
	TypeCostReported       EventType = "cost.reported"
	TypeWaitStarted        EventType = "wait.started"
	TypeWaitFinished       EventType = "wait.finished"
	TypeSubtaskFinished    EventType = "subtask.finished"
	TypeTurnRepeated       EventType = "turn.repeated"
	TypeCheckRerun         EventType = "check.rerun"
)

// Event is one thing that happened to a run. In JSON it is one flat object:
// seq, time, type, elapsed_ms and the fields of its data.
type Event struct {
	Seq  int64     // from 1, without gaps
	Time time.Time // wall clock, for people; nothing is computed from it
	// Elapsed is the run's active time so far, in whole milliseconds.
	Elapsed time.Duration
	Data    Data
}

// Data is the payload of an event of one type.
type Data interface{ Type() EventType }

// Format is the version of the journal's format. It is always written as this program's own
// version; reading any other fails with [ErrUnknownFormat].
type Format int

const journalFormat = "1"

// MarshalJSON writes this program's format version.
func (Format) MarshalJSON() ([]byte, error) { return []byte(journalFormat), nil }

// UnmarshalJSON returns an error for any other format version.
func (*Format) UnmarshalJSON(b []byte) error {
	if string(b) != journalFormat {
		return fmt.Errorf("%w: format %s of the journal; this looprun reads format %s", ErrUnknownFormat, termsafe.Line(string(b)), journalFormat)
	}
	return nil
}

// RunStarted is the first event of every run.
type RunStarted struct {
	Format  Format   `json:"format"`
	RunID   string   `json:"run_id" mask:"own"`
	Name    string   `json:"name,omitempty"`
	Command []string `json:"command"`
	Check   []string `json:"check,omitempty"`
	Promise string   `json:"promise,omitempty"`
	Dir     string   `json:"dir,omitempty"`
	// Ladder holds the rungs of the escalation ladder; empty means no ladder.
	Ladder ladder.Config `json:"ladder,omitempty"`
	Parent string        `json:"parent,omitempty" mask:"own"`
	Limits Limits        `json:"limits"`
	Caps   Caps          `json:"caps"`
	// Precheck reports whether the check runs once before the first iteration.
	Precheck bool `json:"precheck,omitempty"`
	// Loose treats signatures that differ only in numbers as equal.
	Loose bool `json:"loose,omitempty"`
	// AnyValue means that the same failing checks with different values are not a loop.
	AnyValue bool `json:"any_value,omitempty"`
	// Confirm means that a cheap check runs once more before [LoopDetected] asks.
	Confirm bool `json:"confirm,omitempty"`
	// Often is how often the same failure may occur, consecutively or not.
	Often Often `json:"often,omitzero"`
	// CallsPerHour is how many iterations may start within an hour; zero means no limit.
	CallsPerHour int `json:"calls_per_hour,omitempty"`
	// SessionTurns is for how many turns a coding agent continues its own session; zero means
	// that each turn begins a new one.
	SessionTurns int `json:"session_turns,omitempty"`
	// Repository is the git repository of the work tree Dir, if looprun made that tree; empty
	// if Dir is the user's own.
	Repository string `json:"repository,omitempty"`
	// Checkpoint is the commit that holds the files as they were when the run started; empty
	// if there is none.
	Checkpoint string `json:"checkpoint,omitempty" mask:"own"`
	// Protected maps the files that must not change to their hashes; nil if there are none.
	Protected map[string]signature.Hash `json:"protected,omitempty"`
	// Tree is the fingerprint of the work tree when the run began; zero means that it is not
	// known.
	Tree signature.Hash `json:"tree,omitempty"`
	// Tasks are the open tasks of the list that the check judges.
	Tasks   []string `json:"tasks,omitempty"`
	Version string   `json:"version,omitempty" mask:"own"`
	// Config is the caller's whole configuration, kept so that a resumed run does not depend
	// on files that have changed since. The core does not read it.
	Config json.RawMessage `json:"config,omitempty"`
}

// IterationStarted is written before the work starts. Iteration 0 is the precheck.
type IterationStarted struct {
	Iteration int `json:"iteration"`
	// Holds replaces the text of an option that is in effect (see [ActionApplied]), where that
	// text has changed, such as the errors that it lists; empty if it has not.
	Holds string `json:"holds,omitempty"`
}

// Cause is why an iteration ended when its command did not simply exit.
type Cause string

// The causes.
const (
	CauseExited           Cause = ""
	CauseIterationTimeout Cause = "iteration_timeout"
	CauseIdleTimeout      Cause = "idle_timeout"
	CauseMaxRuntime       Cause = "max_runtime"
	CauseTurnLoop         Cause = "turn_loop" // an agent repeated itself in its turn
	CauseInterrupt        Cause = "interrupt"
	CauseStartFailed      Cause = "start_failed"
	CauseLost             Cause = "lost"  // nobody has seen how the command ended
	CauseCrash            Cause = "crash" // looprun, or who ran it, died in it three times
	// CauseUnfinished is used only for signatures: the command passed but reported itself that
	// something is still open.
	CauseUnfinished Cause = "unfinished"
)

// IterationFinished records how an iteration ended. Iteration 0 is the precheck.
type IterationFinished struct {
	Iteration int     `json:"iteration"`
	Outcome   Outcome `json:"outcome"`
	// ExitCode is the exit code of the judge, which is the check if there is one; 128+n for a
	// signal.
	ExitCode int `json:"exit_code"`
	// WorkExitCode is the work's exit code if there is a check too.
	WorkExitCode *int  `json:"work_exit_code,omitempty"`
	Cause        Cause `json:"cause,omitempty"`
	// WorkCause is the time limit or the repetition that ended the work, if a check or a
	// promise then judged its result.
	WorkCause  Cause  `json:"work_cause,omitempty"`
	Detail     string `json:"why,omitempty"` // the cause in words
	DurationMS int64  `json:"duration_ms"`
	// Signature is zero if the output supports no conclusion; a zero signature is no evidence.
	Signature signature.Signature `json:"signature"`
	// OpenTasks says that the failing checks are the open tasks of a list.
	OpenTasks bool `json:"open_tasks,omitempty"`
	// Reasons are why the checks of the signature fail, as far as the judge's output says so.
	Reasons []FailingCheck `json:"reasons,omitempty"`
	// Excerpt is the end of the judge's output, without control characters. Words is the end
	// of the work's output if a check judges it.
	Excerpt     string `json:"excerpt,omitempty"`
	Words       string `json:"words,omitempty"`
	OutputBytes int64  `json:"output_bytes,omitempty"`
	// Check is the check if it can be run once more. Nil means that it cannot, or that this
	// was not examined.
	Check *CheckRun `json:"check,omitempty"`
	// Tally is how many checks ran, according to the judge's output; nil if it does not state
	// that.
	Tally *signature.Tally `json:"tally,omitempty"`
	// Tasks describes how the list of open tasks changed; nil if it did not, or there is none.
	Tasks *TaskChanges `json:"tasks,omitempty"`
	// Transcript reports whether the work's output is a coding agent's transcript.
	Transcript bool `json:"transcript,omitempty"`
	// Session is the id of the coding agent's session, if the run keeps it.
	Session string `json:"session,omitempty"`
	// Worded means that the evidence consists only of what the agent said: its tools printed
	// nothing, and no check judges.
	Worded bool `json:"worded,omitempty"`
	// Changed lists the protected files that have changed, if the judge passed.
	Changed []string `json:"changed,omitempty"`
	// Diff shows the changes to those files as far as possible.
	Diff string `json:"diff,omitempty"`
	// Weakened is why the pass does not count as done until somebody confirms it: there are
	// fewer checks, or a protected file changed. If empty, the pass counts.
	Weakened string `json:"weakened,omitempty"`
	// Promised reports whether the promise was made.
	Promised bool `json:"promised,omitempty"`
	// Tree is the fingerprint of the work tree after the iteration, and Content that of its
	// files alone, regardless of commits; zero if unknown.
	Tree    signature.Hash `json:"tree,omitempty"`
	Content signature.Hash `json:"content,omitempty"`
	// Git means that Tree comes from git. Otherwise every file counts, whoever wrote it.
	Git bool `json:"git,omitempty"`
	// Checkpoint is the commit that holds the files as they were after the iteration; empty if
	// there is none.
	Checkpoint string `json:"checkpoint,omitempty" mask:"own"`
	// Match is the line that reports a rate limit, and Until the time that it names.
	Match string     `json:"match,omitempty"`
	Until *time.Time `json:"until,omitempty"`
	// Outage is the agent's own error if the service that it needs was unavailable, and empty
	// otherwise. [Driver] decides whether to wait for the outage to end or to count it as an
	// error.
	Outage string `json:"outage,omitempty"`
	// Warnings are sentences about the iteration that a person should read; they do not change
	// its outcome.
	Warnings []string `json:"warnings,omitempty"`
	// Fatal is the exit code that ends the run at once as failed.
	Fatal int `json:"fatal,omitempty"`
}

// RunsAgain reports whether the iteration was cut short: it was interrupted, cut off by
// max_runtime, or has to wait for a rate limit. It runs again under its own number, and is no
// evidence of anything, because its output is incomplete.
func (d *IterationFinished) RunsAgain() bool {
	return d.Outcome == OutcomeInterrupted || d.Outcome == OutcomeWaiting || d.Cause == CauseMaxRuntime || d.Cause == CauseInterrupt
}

// IterationWithdrawn records that the runner of the iteration was lost. The iteration counts
// as not begun and runs again; the loss counts as a crash.
type IterationWithdrawn struct {
	Iteration int    `json:"iteration"`
	Reason    string `json:"reason"`
	// HandedBack means that its runner never began it, or stopped it in order: that is no crash.
	HandedBack bool `json:"handed_back,omitempty"`
}

// GuardTripped records that a guard stopped the run.
type GuardTripped struct{ Trip }

// QuestionAsked holds the question as it is put to the responders.
type QuestionAsked struct{ Question }

// QuestionAnswered holds the accepted answer.
type QuestionAnswered struct {
	QuestionID string `json:"question_id" mask:"own"`
	Answer
	// Masked reports whether the command received a different answer, because this one held a
	// secret.
	Masked bool `json:"masked,omitempty"`
}

// QuestionClosed records that a question was withdrawn without an answer.
type QuestionClosed struct {
	QuestionID string `json:"question_id,omitempty" mask:"own"`
	Reason     string `json:"reason"`
	// Unanswered ends the run with the guard's exit code. If it is false, the question no
	// longer applies, for instance because a limit was raised.
	Unanswered bool `json:"unanswered,omitempty"`
}

// AnswerInvalid records an answer, or a responder, that could not be used. If the answer is
// recorded and not yet carried out, it is taken back and the question is made again.
type AnswerInvalid struct {
	QuestionID string `json:"question_id,omitempty" mask:"own"`
	Responder  string `json:"responder,omitempty" mask:"own"`
	Reason     string `json:"reason"`
}

// AdviceGiven records an assistant's advice against a question. The advice is shown with the
// question, and from then on only a person can let the question through.
type AdviceGiven struct {
	QuestionID string `json:"question_id,omitempty" mask:"own"`
	// Question is the question of a nested run that is not asked here; otherwise nil.
	Question  *Question `json:"question,omitempty"`
	Responder string    `json:"responder,omitempty" mask:"own"`
	Advice
}

// KnownIssue is a skipped signature.
type KnownIssue struct {
	Hash  signature.Hash `json:"hash" doc:"Its hash, as 16 hex digits."`
	Label string         `json:"label" doc:"What it is, in short."`
}

// ActionApplied changes the state as the answer requires. It holds the effect, not the rule:
// replaying it needs no template.
type ActionApplied struct {
	Option    string  `json:"option" mask:"option"`
	Label     string  `json:"label,omitempty"`
	Action    Action  `json:"action"`
	Guard     GuardID `json:"guard"`
	Responder string  `json:"responder" mask:"own"`
	Reason    string  `json:"reason,omitempty"`
	Rule      string  `json:"rule,omitempty" mask:"own"`
	// Assistant identifies the assistant that decided.
	Assistant Assistant `json:"assistant,omitzero"`
	// Escalate is for how many iterations another command works from now on.
	Escalate int `json:"escalate,omitempty"`
	// Limits are the limits that apply from now on.
	Limits Limits `json:"limits"`
	// Resets lists the guards whose counters are reset.
	Resets   []GuardID    `json:"resets,omitempty"`
	Known    []KnownIssue `json:"known,omitempty"`
	Guidance string       `json:"guidance,omitempty"`
	// Words is the text of the person or program that answered, and Holds is the option's own
	// text. Each is part of the guidance and stays in effect until another answer replaces it.
	// Unsaid ends the earlier words.
	Words  string `json:"words,omitempty"`
	Holds  string `json:"holds,omitempty"`
	Unsaid bool   `json:"unsaid,omitempty"`
	// OwnWords makes the words the only guidance, so that nothing else stays in effect.
	OwnWords bool `json:"own_words,omitempty"`
	// Task is the task to work on from now on; empty if it does not change. Subtask is the
	// current part of a task that was split, and Subtasks are all parts after it.
	Task     string           `json:"task,omitempty"`
	Subtask  *rejection.Task  `json:"subtask,omitempty"`
	Subtasks []rejection.Task `json:"subtasks,omitempty"`
	// Blocker is a task that must be done elsewhere first.
	Blocker string `json:"blocker,omitempty"`
	// Pending reports whether the run pauses with its question still open.
	Pending bool `json:"pending,omitempty"`
	// Restore is the iteration whose files replace those of the last one, and Checkpoint the
	// commit that holds them; zero if none are restored.
	Restore    int    `json:"restore,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty" mask:"own"`
}

// Who returns who made the decision, in the form of [Answer.Who].
func (d ActionApplied) Who() string { return d.Assistant.who(d.Responder, d.Rule) }

// DebugFinished records the end of a debug command or of an option's own command.
type DebugFinished struct {
	Action   Action `json:"action"` // debug or run
	ExitCode int    `json:"exit_code"`
	Findings string `json:"findings,omitempty"`
	// CostUSD and Tokens are what it used.
	CostUSD float64 `json:"cost_usd,omitempty"`
	Tokens  int64   `json:"tokens,omitempty"`
}

// VerifyFinished records the end of a policy rule's verify command.
type VerifyFinished struct {
	Rule       string `json:"rule" mask:"own"`
	Command    string `json:"command"`
	ExitCode   int    `json:"exit_code"`
	TimedOut   bool   `json:"timed_out,omitempty"`
	DurationMS int64  `json:"duration_ms"`
}

// InterruptReceived records that looprun was told to stop.
type InterruptReceived struct {
	Signal string `json:"signal,omitempty" mask:"own"`
	// Reason is the cause of the context, if no signal was received.
	Reason string `json:"reason,omitempty"`
	Code   int    `json:"code"` // exit code: 130, 143, 129, 131
}

// Order is an instruction from outside to an active run.
type Order string

// The orders.
const (
	OrderSay   Order = "say"   // the next iteration gets the words
	OrderPause Order = "pause" // the run pauses after this iteration
	OrderStop  Order = "stop"  // the run is cancelled now, as it is interrupted by Ctrl-C
)

// OrderReceived records an order from outside the run. It resets no counter.
type OrderReceived struct {
	Order Order  `json:"order"`
	Words string `json:"words,omitempty"` // of OrderSay
	// Responder is who gave the order, user or program. Via is where: [ViaWeb], [ViaMCP], or
	// empty for the command line.
	Responder string `json:"responder" mask:"own"`
	Via       string `json:"via,omitempty" mask:"own"`
}

// Who returns who gave the order, and where.
func (d OrderReceived) Who() string { return d.Responder + places[d.Via] }

// RunAlive carries nothing but the elapsed time of its event.
type RunAlive struct{}

// RunPaused ends the process but not the run.
type RunPaused struct {
	Reason string `json:"reason"`
	// Pending reports whether a question waits for an answer.
	Pending bool `json:"pending,omitempty"`
}

// RunResumed starts the run again after a pause, an interrupt, a trip or a crash.
type RunResumed struct {
	Version string `json:"version,omitempty" mask:"own"`
	// Limits and Caps are set if new ones were given.
	Limits *Limits `json:"limits,omitempty"`
	Caps   *Caps   `json:"caps,omitempty"`
	// Config is set if anything in it changed.
	Config json.RawMessage `json:"config,omitempty"`
	// Dir is set if the commands run in a different directory from now on.
	Dir string `json:"dir,omitempty"`
	// Protected are the protected files as they are now. They take effect if a person had
	// paused the run.
	Protected map[string]signature.Hash `json:"protected,omitempty"`
	// Tree is the fingerprint of the work tree when the run was resumed, if an agent's session
	// depends on it.
	Tree signature.Hash `json:"tree,omitempty"`
	// Reopen reopens a run that was cancelled, accepted or superseded.
	Reopen bool `json:"reopen,omitempty"`
}

// RunFinished is the last event, unless the run is resumed.
type RunFinished struct{ Ending }

// RunSuperseded closes a run at rest whose question nobody has answered, because the agent's
// session continues with another prompt. If it is reopened, the run asks again.
type RunSuperseded struct {
	By string `json:"by"` // the name of the prompt's run: the beginning of the prompt, if known
}

// Reason says why the run was closed.
func (d RunSuperseded) Reason() string { return "its session continued with “" + d.By + "”" }

// Type implements [Data].
func (RunStarted) Type() EventType         { return TypeRunStarted }
func (IterationStarted) Type() EventType   { return TypeIterationStarted }
func (IterationFinished) Type() EventType  { return TypeIterationFinished }
func (IterationWithdrawn) Type() EventType { return TypeIterationWithdrawn }
func (GuardTripped) Type() EventType       { return TypeGuardTripped }
func (QuestionAsked) Type() EventType      { return TypeQuestionAsked }
func (QuestionAnswered) Type() EventType   { return TypeQuestionAnswered }
func (QuestionClosed) Type() EventType     { return TypeQuestionClosed }
func (AnswerInvalid) Type() EventType      { return TypeAnswerInvalid }
func (AdviceGiven) Type() EventType        { return TypeAdviceGiven }
func (ActionApplied) Type() EventType      { return TypeActionApplied }
func (DebugFinished) Type() EventType      { return TypeDebugFinished }
func (VerifyFinished) Type() EventType     { return TypeVerifyFinished }
func (InterruptReceived) Type() EventType  { return TypeInterruptReceived }
func (OrderReceived) Type() EventType      { return TypeOrderReceived }
func (RunAlive) Type() EventType           { return TypeRunAlive }
func (RunPaused) Type() EventType          { return TypeRunPaused }
func (RunResumed) Type() EventType         { return TypeRunResumed }
func (RunFinished) Type() EventType        { return TypeRunFinished }
func (RunSuperseded) Type() EventType      { return TypeRunSuperseded }

// QuestionDelivered records that the answer has reached the asker.
type QuestionDelivered struct {
	QuestionID string `json:"question_id" mask:"own"`
	// To is how it was delivered: socket, file, or guidance.
	To string `json:"to" mask:"own"`
	// Earlier reports whether the answer went to a later asker of the same question.
	Earlier bool `json:"earlier,omitempty"`
}

// SignalReceived is a signal from the command. If Problem is set, the signal is malformed and
// the next iteration is told so.
type SignalReceived struct {
	signal.Signal
	Problem string `json:"problem,omitempty"`
}

// MessageRefused records a refused message from the command. The next iteration is given the
// Reason.
type MessageRefused struct {
	Reason string `json:"reason"`
}

// RejectionSubmitted is a valid rejection of the task. It becomes a question when the
// iteration has ended.
type RejectionSubmitted struct {
	RejectionID string              `json:"rejection_id" mask:"own"`
	Rejection   rejection.Rejection `json:"rejection"`
	Via         string              `json:"via,omitempty" mask:"own"` // socket or text
}

// RejectionInvalid is a rejection that breaks the rules, with the rules it breaks.
type RejectionInvalid struct {
	RejectionID string              `json:"rejection_id" mask:"own"`
	Rejection   rejection.Rejection `json:"rejection"`
	Issues      []rejection.Issue   `json:"issues"`
	Via         string              `json:"via,omitempty" mask:"own"`
}

// RejectionDecided records the decision about a rejection. It is written with the answer,
// before the answer is carried out.
type RejectionDecided struct {
	RejectionID string             `json:"rejection_id" mask:"own"`
	Decision    rejection.Decision `json:"decision"`
	Responder   string             `json:"responder" mask:"own"`
	Assistant   Assistant          `json:"assistant,omitzero"`
	Reason      string             `json:"reason,omitempty"`
	Rationale   string             `json:"rationale,omitempty"`
	// Created lists the tasks that the decision created: the sub-tasks, the feasible task, or
	// the blocker's task.
	Created []string `json:"created,omitempty"`
}

// Who returns who made the decision, in the form of [Answer.Who].
func (d RejectionDecided) Who() string { return d.Assistant.who(d.Responder, "") }

// CountersReset records that an answer reset the task's attempts.
type CountersReset struct {
	Task string `json:"task"`
}

// AttemptRecorded weighs a failed iteration on the ladder. If Counted is true, it is a
// distinct approach; otherwise it repeats an approach or is an improvement, and is not counted
// as an attempt.
type AttemptRecorded struct {
	Iteration int            `json:"iteration"`
	Counted   bool           `json:"counted"`
	Improved  bool           `json:"improved,omitempty"`
	Attempt   ladder.Attempt `json:"attempt,omitzero"`
}

// ExpertFinished records the end of an expert's command. With exit code 0 its output becomes
// guidance, which the next iteration puts to the test, unless the expert reported that it does
// not know.
type ExpertFinished struct {
	Task     string `json:"task"`
	Expert   string `json:"expert" mask:"own"`
	ExitCode int    `json:"exit_code"`
	Guidance string `json:"guidance,omitempty"`
	// Unsuccessful reports that the expert itself admitted not to know, whatever its exit
	// code.
	Unsuccessful bool `json:"unsuccessful,omitempty"`
	// Why is what kept the expert from running, or its own explanation when it was
	// unsuccessful.
	Why string `json:"why,omitempty"`
}

// Helped reports whether the expert's output is used as guidance.
func (d ExpertFinished) Helped() bool { return d.ExitCode == 0 && !d.Unsuccessful }

// CostReported adds to the run's cost.
type CostReported struct {
	USD    float64 `json:"usd,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
	Via    string  `json:"via,omitempty" mask:"own"` // socket, text or output
}

// WaitStarted records that the run waits for a rate limit.
type WaitStarted struct {
	Match string    `json:"match"` // the line that says so
	Until time.Time `json:"until"`
}

// WaitFinished records the end of the wait.
type WaitFinished struct {
	// Early reports whether somebody ended the wait ahead of time.
	Early bool `json:"early,omitempty"`
}

// SubtaskFinished ends a part of a split task and begins the next.
type SubtaskFinished struct {
	Iteration int    `json:"iteration"` // the one that ended it
	Title     string `json:"title"`
	Number    int    `json:"number"`         // from 1
	Of        int    `json:"of"`             // how many parts there are
	Next      string `json:"next,omitempty"` // empty: it was the last
}

// Type implements [Data].
func (QuestionDelivered) Type() EventType  { return TypeQuestionDelivered }
func (SignalReceived) Type() EventType     { return TypeSignalReceived }
func (MessageRefused) Type() EventType     { return TypeMessageRefused }
func (RejectionSubmitted) Type() EventType { return TypeRejectionSubmitted }
func (RejectionInvalid) Type() EventType   { return TypeRejectionInvalid }
func (RejectionDecided) Type() EventType   { return TypeRejectionDecided }
func (CountersReset) Type() EventType      { return TypeCountersReset }
func (AttemptRecorded) Type() EventType    { return TypeAttemptRecorded }
func (ExpertFinished) Type() EventType     { return TypeExpertFinished }
func (CostReported) Type() EventType       { return TypeCostReported }
func (WaitStarted) Type() EventType        { return TypeWaitStarted }
func (WaitFinished) Type() EventType       { return TypeWaitFinished }
func (SubtaskFinished) Type() EventType    { return TypeSubtaskFinished }

// TurnRepeated records that a coding agent repeated itself within one turn, according to its
// transcript. The first time in a run, the turn is ended and the next iteration is told; from
// the second time on, the guard [TurnLoop] trips.
type TurnRepeated struct {
	Iteration int `json:"iteration"`
	// Calls are the tool calls of one round of the repetition, each with the same result every
	// time. If there are none, Text is the repeated message.
	Calls []string `json:"calls,omitempty"`
	Text  string   `json:"text,omitempty"`
	// Error is the error with which all the calls of one tool failed, although their arguments
	// differ. Calls holds the last of these calls.
	Error string `json:"error,omitempty"`
	Times int    `json:"times"`
}

// Type implements [Data].
func (TurnRepeated) Type() EventType { return TypeTurnRepeated }

// String describes the repetition in one line.
func (r TurnRepeated) String() string {
	if r.Error != "" {
		return fmt.Sprintf("%d calls in a row failed with the same error: %s (the last was %s)", r.Times, termsafe.Line(r.Error), termsafe.Line(strings.Join(r.Calls, ", ")))
	}
	switch len(r.Calls) {
	case 0:
		return fmt.Sprintf("it repeated the same text %d times in a row: %s", r.Times, termsafe.Line(r.Text))
	case 1:
		return fmt.Sprintf("it made the same call %d times in a row, with the same result: %s", r.Times, termsafe.Line(r.Calls[0]))
	}
	return fmt.Sprintf("it made the same %d calls %d times in turn, with the same results: %s", len(r.Calls), r.Times, termsafe.Line(strings.Join(r.Calls, ", then ")))
}

// said is an event's data as an element of a list: a flat object with its type.
type said struct{ Data }

func (d said) MarshalJSON() ([]byte, error) {
	return flat(fmt.Appendf(nil, `{"type":%q`, d.Type()), d.Data)
}

func (d *said) UnmarshalJSON(b []byte) (err error) {
	var h struct{ Type EventType }
	if err := json.Unmarshal(b, &h); err != nil {
		return err
	}
	d.Data, err = decode(h.Type, b)
	return err
}

// decode reads the data of an event of type t.
func decode(t EventType, b []byte) (Data, error) {
	of, ok := decoders()[t]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownEvent, t)
	}
	data := reflect.New(of)
	if err := json.Unmarshal(b, data.Interface()); err != nil {
		return nil, fmt.Errorf("event %q: %w", t, err)
	}
	return data.Elem().Interface().(Data), nil
}

// flat appends the fields of the data to the object begun in head.
func flat(head []byte, d Data) ([]byte, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(body, []byte("{}")) {
		return append(head, '}'), nil
	}
	return append(append(head, ','), body[1:]...), nil
}

// decoders returns the Go type of each type of event. It is made on first use, since a program
// starts faster without it.
var decoders = sync.OnceValue(func() map[EventType]reflect.Type {
	types := map[EventType]reflect.Type{}
	for _, d := range []Data{
		RunStarted{},
		IterationStarted{},
		IterationFinished{},
		IterationWithdrawn{},
		GuardTripped{},
		QuestionAsked{},
		QuestionAnswered{},
		QuestionClosed{},
		AnswerInvalid{},
		AdviceGiven{},
		ActionApplied{},
		DebugFinished{},
		VerifyFinished{},
		InterruptReceived{},
		OrderReceived{},
		RunAlive{},
		RunPaused{},
		RunResumed{},
		RunFinished{},
		RunSuperseded{},
		QuestionDelivered{},
		SignalReceived{},
		MessageRefused{},
		RejectionSubmitted{},
		RejectionInvalid{},
		RejectionDecided{},
		CountersReset{},
		AttemptRecorded{},
		ExpertFinished{},
		CostReported{},
		WaitStarted{},
		WaitFinished{},
		SubtaskFinished{},
		TurnRepeated{},
		CheckRerun{},
	} {
		types[d.Type()] = reflect.TypeOf(d)
	}
	return types
})

// EventTypes returns all event types, sorted.
func EventTypes() []EventType { return slices.Sorted(maps.Keys(decoders())) }

type eventHeader struct {
	Seq       int64     `json:"seq"`
	Time      time.Time `json:"time"`
	Type      EventType `json:"type"`
	ElapsedMS int64     `json:"elapsed_ms"`
}

// MarshalJSON writes the event as one flat object.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Data == nil {
		return nil, fmt.Errorf("%w: no data", ErrUnknownEvent)
	}
	head, err := json.Marshal(eventHeader{e.Seq, e.Time, e.Data.Type(), e.Elapsed.Milliseconds()})
	if err != nil {
		return nil, err
	}
	return flat(head[:len(head)-1], e.Data)
}

// UnmarshalJSON reads the output of MarshalJSON. An unknown type gives [ErrUnknownEvent].
func (e *Event) UnmarshalJSON(b []byte) error {
	var h eventHeader
	if err := json.Unmarshal(b, &h); err != nil {
		return err
	}
	data, err := decode(h.Type, b)
	if err != nil {
		return err
	}
	*e = Event{Seq: h.Seq, Time: h.Time, Elapsed: time.Duration(h.ElapsedMS) * time.Millisecond, Data: data}
	return nil
}
