package report

import (
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// SchemaID identifies the JSON form of a [Report].
const SchemaID = "looprun.dev/report/v1"

// Limits of a report. Anything beyond them is counted, not listed.
const (
	// MaxIterations is how many iterations, the latest, are kept in detail.
	MaxIterations = 1000
	// MaxTrips is how many trips and questions, the latest, are kept.
	MaxTrips = 200
	// MaxMoments is how many other events, the latest, are kept.
	MaxMoments = 200
	// MaxSignatures is how many signatures have a letter of their own.
	MaxSignatures = 500
)

// Report is a run in the form that its reports show. Its texts are clean: valid UTF-8 without
// control characters and of bounded length. The doc tags are the descriptions in its JSON
// Schema.
type Report struct {
	Schema  string      `json:"schema" doc:"The form of this document, looprun.dev/report/v1."`
	RunID   string      `json:"run_id" doc:"The id of the run."`
	Name    string      `json:"name,omitempty" doc:"The task, where it was named."`
	Parent  string      `json:"parent,omitempty" doc:"The run that this one was started in."`
	Version string      `json:"version,omitempty" doc:"The looprun that started the run."`
	Command []string    `json:"command" doc:"What runs in the loop."`
	Check   []string    `json:"check,omitempty" doc:"What judges it, where it is not the command itself."`
	Promise string      `json:"promise,omitempty" doc:"The text that the command prints when it is done."`
	Started time.Time   `json:"started" doc:"When the run started."`
	Updated time.Time   `json:"updated" doc:"The time of the last event."`
	Status  core.Status `json:"status" doc:"The status of the run, or how it ended."`
	// ExitCode is the exit code of the run's status; the journal does not record exit codes
	// that options remap.
	ExitCode   int            `json:"exit_code" doc:"The exit code of the status, before exit_codes and --passthrough. 0 while the run has not ended."`
	Guard      core.GuardID   `json:"guard,omitempty" doc:"The guard that stopped the run."`
	Decision   string         `json:"decision,omitempty" doc:"The option that ended the run."`
	Responder  string         `json:"responder,omitempty" doc:"Who decided so."`
	Assistant  core.Assistant `json:"assistant,omitzero" doc:"Which assistant it was."`
	Reason     string         `json:"reason,omitempty" doc:"Why."`
	Pending    bool           `json:"pending,omitempty" doc:"A question waits for an answer."`
	Task       string         `json:"task,omitempty" doc:"What was worked on last, where it is not the name."`
	Subtasks   *core.Subtasks `json:"subtasks,omitempty" doc:"How far a task is that was taken apart, by the titles of its parts."`
	Blockers   []string       `json:"blockers,omitempty" doc:"Tasks that had to be done elsewhere first: the run was deferred for them."`
	Warnings   []string       `json:"warnings,omitempty" doc:"What to know beside the verdict."`
	Iterations int            `json:"iterations" doc:"Iterations that ended of themselves. The precheck is none."`
	Runtime    float64        `json:"runtime_seconds" doc:"Active time, in seconds: questions and pauses do not count."`
	Limits     core.Limits    `json:"limits" doc:"When the guards trip, as it was at the end."`
	Progress   string         `json:"progress" doc:"How far the work is, in words."`

	Signatures []Signature       `json:"signatures" doc:"The signatures of the run, at most 500, in the order in which they first came."`
	Earlier    *Earlier          `json:"earlier,omitempty" doc:"What is known of iterations before those in history."`
	History    []Iteration       `json:"history" doc:"The last iterations, at most 1000, oldest first."`
	TripCount  int               `json:"trip_count" doc:"How often a guard tripped."`
	Trips      []Trip            `json:"trips" doc:"The last trips and questions, at most 200, oldest first."`
	Known      []core.KnownIssue `json:"known_issues" doc:"Signatures that were skipped."`
	Moments    []Moment          `json:"moments" doc:"What else happened, at most the last 200, oldest first: pauses, interrupts and the like."`
	TornBytes  int64             `json:"torn_bytes,omitempty" doc:"Bytes at the end of the journal that are not a whole record."`

	dir    string        // where the run is
	state  *core.State   // at the last event
	waited time.Duration // for limits and answers
}

// Signature is one signature of a run, with its letter.
type Signature struct {
	Letter string         `json:"letter" doc:"A, B, C and so on, by first appearance; ✓ where the check passed."`
	Says   string         `json:"says,omitempty" doc:"What its last iteration came to, in words."`
	Hash   signature.Hash `json:"hash" doc:"The hash by which iterations are compared, as 16 hex digits."`
	Kind   string         `json:"kind" doc:"What kind of failure it is."`
	Label  string         `json:"label" doc:"What it is, in short."`
	Count  int            `json:"count" doc:"How many iterations have it; those that count for no guard are left out."`
	First  int            `json:"first" doc:"The first of them."`
	Last   int            `json:"last" doc:"The last of them."`
}

// Iteration is one iteration that ended.
type Iteration struct {
	Iteration int          `json:"iteration" doc:"Its number, from 1. The precheck is 0."`
	Outcome   core.Outcome `json:"outcome" doc:"How it ended."`
	// Counted is false for an iteration that was cut off and for the precheck: no guard counts
	// them.
	Counted      bool                `json:"counted" doc:"It counts for the guards. A precheck, and an iteration that was cut off and runs again under its number, do not."`
	ExitCode     int                 `json:"exit_code" doc:"The judge's exit code; 128 and the number for a signal."`
	WorkExitCode *int                `json:"work_exit_code,omitempty" doc:"The command's own, where a check judged."`
	Cause        core.Cause          `json:"cause,omitempty" doc:"Why it ended, when not by itself."`
	Why          string              `json:"why,omitempty" doc:"The cause in words."`
	Started      time.Time           `json:"started" doc:"When it started."`
	DurationMS   int64               `json:"duration_ms" doc:"How long it took, in milliseconds."`
	CostUSD      float64             `json:"cost_usd,omitempty" doc:"What it reported that it cost, in US dollars."`
	Letter       string              `json:"letter,omitempty" doc:"The letter of its signature; none where nothing can be said."`
	Hash         signature.Hash      `json:"hash,omitempty" doc:"The strict hash of its signature, as 16 hex digits."`
	Label        string              `json:"label,omitempty" doc:"Its signature, in short."`
	Says         string              `json:"says,omitempty" doc:"What it came to, in words."`
	Failures     []core.FailingCheck `json:"failures,omitempty" doc:"What failed, and why, at most 50."`
	Failing      int                 `json:"failing" doc:"Failing checks; -1 is unknown."`
	Passed       int                 `json:"passed" doc:"Passed checks; -1 is unknown."`
	Total        int                 `json:"total" doc:"All checks; -1 is unknown."`
	Checks       []string            `json:"checks,omitempty" doc:"Names of failing checks, at most 50."`
	Errors       []string            `json:"errors,omitempty" doc:"Up to three error lines."`
	Excerpt      string              `json:"excerpt,omitempty" doc:"The end of the judge's output."`
	OutputBytes  int64               `json:"output_bytes,omitempty" doc:"How much it printed."`
	OutputFile   string              `json:"output_file,omitempty" doc:"What it printed, as a file in the run's directory; none where it printed nothing, or where the iteration ran again."`
	Promised     bool                `json:"promised,omitempty" doc:"It made the promise."`
	Checkpoint   string              `json:"checkpoint,omitempty" doc:"The commit that holds the files as they were after it."`

	suite string // that its checks are of; empty: of none, or of several
}

// Earlier summarizes the iterations that are not listed.
type Earlier struct {
	Iterations int   `json:"iterations" doc:"How many there are."`
	Errors     int   `json:"errors" doc:"How many of them ended as errors."`
	DurationMS int64 `json:"duration_ms" doc:"How long they took together, in milliseconds."`
	Trips      int   `json:"trips" doc:"Trips and questions that are not listed."`
	Moments    int   `json:"moments" doc:"Other events that are not listed."`
}

// Trip is a guard trip, with what was asked and decided; or, without a guard, a question of
// the command.
type Trip struct {
	Time       time.Time      `json:"time" doc:"When it was."`
	Iteration  int            `json:"iteration" doc:"The iteration after which, or in which, it was."`
	During     bool           `json:"during,omitempty" doc:"The iteration was still running."`
	Guard      core.GuardID   `json:"guard,omitempty" doc:"The guard; none when the command asked."`
	Also       []core.GuardID `json:"also,omitempty" doc:"Guards that tripped with it."`
	Reason     string         `json:"reason,omitempty" doc:"Why the guard tripped."`
	Window     int            `json:"window,omitempty" doc:"How many of the last iterations are the evidence."`
	Period     int            `json:"period,omitempty" doc:"The length of the cycle that repeats."`
	Repeats    int            `json:"repeats,omitempty" doc:"How often it was seen."`
	Header     string         `json:"header,omitempty" doc:"The heading of the question."`
	QuestionID string         `json:"question_id,omitempty" doc:"The id of the question."`
	Question   string         `json:"question,omitempty" doc:"What was asked."`
	Evidence   []string       `json:"evidence,omitempty" doc:"What the question rests on: what fails and why, and the last words of the work."`
	Options    []Option       `json:"options,omitempty" doc:"What could be answered."`
	Refused    []Refused      `json:"refused,omitempty" doc:"Answers, or responders, that could not be used, at most 20."`
	Answers    []Answer       `json:"answers,omitempty" doc:"The answers that were taken, at most 20; the last one decided."`
	Commands   []Command      `json:"commands,omitempty" doc:"Commands that were run for the answer, at most 20."`
	Effect     *Effect        `json:"effect,omitempty" doc:"What the answer did."`
	Closed     string         `json:"closed,omitempty" doc:"Why the question was withdrawn, or why nobody answered."`
}

// Option is one of the answers that a question allows.
type Option struct {
	ID    string `json:"id" doc:"What an answer names."`
	Label string `json:"label" doc:"What a person chooses."`
}

// Refused is an answer that was rejected.
type Refused struct {
	Responder string `json:"responder,omitempty" doc:"Who gave it."`
	Reason    string `json:"reason" doc:"What was wrong with it."`
}

// Answer records who decided what, and why.
type Answer struct {
	Option    string         `json:"option" doc:"The option, or the text of the answer."`
	Label     string         `json:"label,omitempty" doc:"The option as a person reads it."`
	Words     string         `json:"words,omitempty" doc:"What the next iterations are told with it."`
	Responder string         `json:"responder" doc:"Who answered."`
	Assistant core.Assistant `json:"assistant,omitzero" doc:"Which assistant it was."`
	Reason    string         `json:"reason,omitempty" doc:"Why."`
	Rule      string         `json:"rule,omitempty" doc:"The policy rule that decided, as file and line."`
	Person    bool           `json:"person,omitempty" doc:"A person gave it."`
	Via       string         `json:"via,omitempty" doc:"web: on the page of looprun serve; ntfy, matrix, telegram: on a phone; smtp: by e-mail."`
}

// Command is a command that was run for an answer.
type Command struct {
	Kind     string `json:"kind" doc:"verify, debug or run."`
	Command  string `json:"command,omitempty" doc:"The command, or the rule that named it."`
	ExitCode int    `json:"exit_code" doc:"Its exit code."`
	TimedOut bool   `json:"timed_out,omitempty" doc:"It took too long."`
	Findings string `json:"findings,omitempty" doc:"What it found."`
}

// Effect is what an answer did.
type Effect struct {
	Action   core.Action       `json:"action" doc:"What looprun did."`
	Limits   core.Limits       `json:"limits" doc:"The limits from then on."`
	Resets   []core.GuardID    `json:"resets,omitempty" doc:"Guards whose counters started over."`
	Known    []core.KnownIssue `json:"known,omitempty" doc:"Signatures that count as known issues from then on."`
	Guidance string            `json:"guidance,omitempty" doc:"What the next iteration was told."`
}

// Moment is an event that is neither an iteration nor part of a trip.
type Moment struct {
	Time      time.Time      `json:"time" doc:"When it was."`
	Iteration int            `json:"iteration" doc:"The last iteration that had ended."`
	Type      core.EventType `json:"type" doc:"What it was, as in the journal."`
	Text      string         `json:"text,omitempty" doc:"More about it."`
}
