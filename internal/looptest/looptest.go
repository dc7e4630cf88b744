// Package looptest provides helpers for the tests of core, engine and the root package:
// runners that play iterations, responders, and events.
package looptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// Leaked occurs in every text of every event.
const Leaked = "hunter2 said the command"

// EveryEvent returns an event of each type, with the secret in every text that comes from
// outside.
func EveryEvent() []core.Data {
	option := core.Option{ID: "continue", Label: Leaked, Description: Leaked, Guidance: Leaked, Command: Leaked}
	question := core.Question{ID: "q-1", Guard: core.MaxCost, Text: Leaked, Header: Leaked, Details: []string{Leaked}, Options: []core.Option{option}}
	text := Leaked
	answer := core.Answer{Option: "continue", Text: &text, Responder: "user", Reason: Leaked, Guidance: Leaked, Rule: "policy.yaml:3"}
	rejected := rejection.Rejection{Task: Leaked, Summary: Leaked, Detail: Leaked, Attempted: []string{Leaked}}
	return []core.Data{
		core.RunStarted{RunID: "r", Name: Leaked, Command: []string{Leaked}, Check: []string{Leaked}, Promise: Leaked, Config: json.RawMessage(`"` + Leaked + `"`)},
		core.IterationStarted{Iteration: 1},
		core.IterationFinished{
			Iteration: 1, Outcome: core.OutcomeError, ExitCode: 9, DurationMS: 1500, Excerpt: Leaked, Detail: Leaked, Match: Leaked, Cause: core.CauseIdleTimeout,
			Signature: signature.Signature{Hash: 0xabc, Label: Leaked, Kind: signature.KindTestFail, Facts: []string{Leaked}, Errors: []string{Leaked}, Checks: []string{Leaked}, Failing: 2, Passed: 3, Total: 5},
		},
		core.CheckRerun{Confirmed: core.ConfirmedSame, IterationFinished: core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone, Excerpt: Leaked}},
		core.IterationWithdrawn{Iteration: 1, Reason: Leaked},
		core.GuardTripped{Trip: core.Trip{Guard: core.MaxCost, Iteration: 1, Reason: Leaked, Also: []core.GuardID{core.MaxTokens}}},
		core.QuestionAsked{Question: question},
		core.QuestionAnswered{QuestionID: "q-1", Answer: answer},
		core.QuestionClosed{QuestionID: "q-1", Reason: Leaked, Unanswered: true},
		core.AnswerInvalid{QuestionID: "q-1", Responder: "user", Reason: Leaked},
		core.AdviceGiven{QuestionID: "q-1", Responder: "assistant", Advice: core.Advice{Text: Leaked, Reason: Leaked}},
		core.MessageRefused{Reason: Leaked},
		core.ActionApplied{Option: "continue", Action: core.ActionContinue, Guard: core.MaxCost, Responder: "user", Reason: Leaked, Label: Leaked, Guidance: Leaked, Task: Leaked, Blocker: Leaked},
		core.DebugFinished{Action: core.ActionDebug, ExitCode: 3, Findings: Leaked},
		core.VerifyFinished{Rule: "policy.yaml:3", Command: Leaked, ExitCode: 1, DurationMS: 20},
		core.InterruptReceived{Signal: "SIGTERM", Code: 143},
		core.OrderReceived{Order: core.OrderSay, Words: Leaked, Responder: "user"},
		core.RunAlive{},
		core.RunPaused{Reason: Leaked},
		core.RunResumed{Config: json.RawMessage(`"` + Leaked + `"`)},
		core.RunFinished{Ending: core.Ending{Status: core.StatusTripped, ExitCode: 113, Guard: core.MaxCost, Reason: Leaked}},
		core.RunSuperseded{By: Leaked},
		core.QuestionDelivered{QuestionID: "q-1", To: "file"},
		core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: Leaked, Question: Leaked}},
		core.RejectionSubmitted{RejectionID: "x", Rejection: rejected},
		core.RejectionInvalid{RejectionID: "x", Rejection: rejected, Issues: []rejection.Issue{{Problem: Leaked, Remedy: Leaked}}},
		core.RejectionDecided{RejectionID: "x", Responder: "user", Reason: Leaked, Rationale: Leaked, Created: []string{Leaked}},
		core.CountersReset{Task: Leaked},
		core.AttemptRecorded{Iteration: 1},
		core.ExpertFinished{Task: Leaked, Expert: Leaked, Guidance: Leaked, Why: Leaked, ExitCode: 4},
		core.CostReported{USD: 1.25, Tokens: 7},
		core.WaitStarted{Match: Leaked, Until: time.Unix(0, 0)},
		core.WaitFinished{},
	}
}

// Works is a runner whose work is a function.
type Works func(ctx context.Context, it core.Iteration) core.IterationFinished

func (w Works) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	return core.IterationResult{IterationFinished: w(ctx, it)}, nil
}

// Reports is a runner whose work also sends messages.
type Reports func(ctx context.Context, it core.Iteration) core.IterationResult

func (w Reports) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	return w(ctx, it), nil
}

// Once returns a runner whose first iteration calls first and ends the run as done.
func Once(first func(ctx context.Context)) Works {
	return func(ctx context.Context, it core.Iteration) core.IterationFinished {
		if it.Number == 1 {
			first(ctx)
			return core.IterationFinished{Outcome: core.OutcomeNotDone}
		}
		return core.IterationFinished{Outcome: core.OutcomeDone}
	}
}

// Database returns a question of the command.
func Database() core.Question {
	return core.Question{
		Kind: core.KindSelect, Header: "Database", Text: "Which one?", AskID: "db",
		Options: []core.Option{{ID: "pg", Label: "Postgres"}, {ID: "my", Label: "MySQL"}},
	}
}

// Chosen returns a person's answer.
func Chosen(option string) core.Answer {
	return core.Answer{Option: option, Responder: core.RespondedByUser, Person: true, Reason: "because"}
}

// Story returns the types of the run's events, except those that every run has.
func (r *Run) Story() string {
	var words []string
	for _, e := range r.Kept.Events {
		switch d := e.Data; d.Type() {
		case core.TypeRunStarted, core.TypeRunAlive:
		default:
			words = append(words, string(d.Type()))
		}
	}
	return strings.Join(words, " ")
}

// Script is a runner that plays finished iterations, repeating the last one forever.
type Script struct {
	Steps     []Play
	Seen      []core.Iteration
	Suspended int
	Resumed   int
}

// Play is an iteration: how it ends, with which signature (0: a unique one), after how long.
type Play struct {
	Outcome core.Outcome
	Same    int
	Took    time.Duration
	Fatal   int
}

func (s *Script) Suspend() { s.Suspended++ }

func (s *Script) Resume() { s.Resumed++ }

func (s *Script) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	p := s.Steps[min(len(s.Seen), len(s.Steps)-1)]
	s.Seen = append(s.Seen, it)
	d := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: p.Outcome, Fatal: p.Fatal}}
	d.Signature = signature.Signature{Failing: -1, Passed: -1, Total: -1, Hash: signature.Hash(p.Same), Label: fmt.Sprint("output:", p.Same)}
	if p.Same == 0 {
		d.Signature.Hash = signature.Hash(1000 + len(s.Seen))
	}
	select {
	case <-ctx.Done():
	case <-time.After(p.Took):
	}
	return d, nil
}

// Asks builds a question with every action that a trip can have.
type Asks struct{}

func (Asks) Question(_ *core.State, t core.Trip) (core.Question, error) {
	more := core.Extend{Iterations: 5, Runtime: 10 * time.Minute}
	return core.Question{Header: string(t.Guard), Options: []core.Option{
		{ID: "continue", Action: core.ActionContinue, Extend: more, Guidance: "go on"},
		{ID: "nothing", Action: core.ActionContinue},
		{ID: "skip", Action: core.ActionSkip, Extend: more},
		{ID: "debug", Action: core.ActionDebug, Extend: more},
		{ID: "review", Action: core.ActionReview},
		{ID: "accept", Action: core.ActionAccept},
		{ID: "pause", Action: core.ActionPause},
		{ID: "cancel", Action: core.ActionCancel},
	}}, nil
}

// Says returns a responder that answers with one option after another, then not at all.
func Says(options ...string) core.Responder {
	i := 0
	return core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		if i >= len(options) {
			return core.Answer{}, core.ErrNoAnswer
		}
		i++
		return core.Answer{Option: options[i-1], Responder: core.RespondedByUser, Reason: "said so", Person: true}, nil
	})
}

// Run is a loop that stores its events.
type Run struct {
	*engine.Loop
	Kept core.MemoryJournal
}

// Start starts a run that asks a question with every action about every trip.
func Start(t *testing.T, l core.Limits, r engine.Runner, responders ...core.Responder) *Run {
	t.Helper()
	run := &Run{}
	run.Loop = &engine.Loop{Guards: guards.Default(), Runner: r, Journal: &run.Kept, Questions: Asks{}, Responders: responders}
	if err := run.Start(core.RunStarted{RunID: "test", Limits: l, Caps: core.DefaultCaps(l)}); err != nil {
		t.Fatal(err)
	}
	return run
}

// ToEnd runs the loop until it ends, and checks that its journal gives the same state.
func (r *Run) ToEnd(t *testing.T) core.Result {
	t.Helper()
	res, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Encode(t, Replay(t, r.Kept.Events)), Encode(t, r.State()); !bytes.Equal(got, want) {
		t.Fatalf("the replayed journal gives another state:\n%s\n%s", got, want)
	}
	return res
}

// Defaults are the limits of most tests.
var Defaults = core.DefaultLimits()

// BrokenJournal fails from some event on, as a full disk does. It also ends a run that would
// otherwise not end.
type BrokenJournal struct{ Left int }

func (j *BrokenJournal) Append(core.Event) error {
	if j.Left--; j.Left < 0 {
		return errors.New("no space left on device")
	}
	return nil
}

func (j *BrokenJournal) Sync() error { return nil }

// RunnerFunc is a function used as a runner.
type RunnerFunc func(context.Context, core.Iteration) (core.IterationResult, error)

func (f RunnerFunc) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	return f(ctx, it)
}

// Rule returns a responder that answers like a policy's rule, with the same option every time.
func Rule(option string) core.Responder {
	return core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{Option: option, Responder: core.RespondedByPolicy, Rule: "p.yaml:3"}, nil
	})
}

// Watched returns a responder that records the questions put to r.
func Watched(to *[]core.Question, r core.Responder) core.Responder {
	return core.ResponderFunc(func(ctx context.Context, q core.Question, s *core.State) (core.Answer, error) {
		*to = append(*to, q)
		return r.Respond(ctx, q, s)
	})
}

// Folded returns the state after these events.
func Folded(t *testing.T, events ...core.Data) *core.State {
	t.Helper()
	s := &core.State{}
	for _, d := range events {
		if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Events of a run that trips in its first iteration and continues.
var (
	Begun    = core.RunStarted{RunID: "r", Limits: Defaults}
	First    = core.IterationStarted{Iteration: 1}
	Ended1   = core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone}
	Tripped  = core.GuardTripped{Trip: core.Trip{Guard: core.LoopDetected, Iteration: 1}}
	Question = core.QuestionAsked{Question: core.Question{ID: "q"}}
	Answered = core.QuestionAnswered{QuestionID: "q", Answer: core.Answer{Option: "continue", Responder: core.RespondedByPolicy}}
	Applied  = core.ActionApplied{Action: core.ActionContinue, Option: "continue", Guard: core.LoopDetected, Limits: Defaults}
)

// Finished returns the end of a run.
func Finished(s core.Status) core.RunFinished {
	return core.RunFinished{Ending: core.Ending{Status: s}}
}

// Debugs is a function used as a debug command.
type Debugs func(context.Context) (core.DebugFinished, error)

func (d Debugs) Debug(ctx context.Context, _ *core.State, _ core.Option, _ core.Answer) (core.DebugFinished, error) {
	return d(ctx)
}

// Replay returns the state that results from writing the events and reading them back.
func Replay(t *testing.T, journal []core.Event) *core.State {
	t.Helper()
	var s core.State
	for _, e := range journal {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back core.Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if err := s.Apply(back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	}
	return &s
}

// Encode returns the encoded state.
func Encode(t *testing.T, s *core.State) []byte {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Decisions builds the question about a rejection, and any other with an option to continue.
type Decisions struct{}

func (Decisions) Question(*core.State, core.Trip) (core.Question, error) {
	return core.Question{Options: []core.Option{
		{ID: "override", Action: core.ActionContinue},
		{ID: "accept", Action: core.ActionReject},
		{ID: "defer", Action: core.ActionPause},
		{ID: "decompose", Action: core.ActionDecompose},
		{ID: "reformulate", Action: core.ActionReformulate},
		{ID: "cancel", Action: core.ActionCancel},
	}}, nil
}

// Said returns a runner that runs n iterations, each failing in its own way and sending data.
func Said(n int, data ...core.Data) Reports {
	return func(_ context.Context, it core.Iteration) core.IterationResult {
		if it.Number > n {
			return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}}
		}
		return core.IterationResult{Said: data, IterationFinished: core.IterationFinished{
			Outcome:   core.OutcomeNotDone,
			Signature: signature.Signature{Hash: signature.Hash(it.Number), Label: fmt.Sprint("output:", it.Number), Failing: -1, Passed: -1, Total: -1},
		}}
	}
}
