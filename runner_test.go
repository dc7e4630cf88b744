package looprun_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// A result that came over a wire makes the same events as one that did not.
func TestResultsOverAWire(t *testing.T) {
	until := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	code := 3
	results := []looprun.IterationResult{
		{IterationFinished: looprun.IterationFinished{
			Outcome: looprun.OutcomeDone, WorkExitCode: &code, Excerpt: "the end", Warnings: []string{"one"}, Tree: 7, Content: 8, DurationMS: 9,
		}, Printed: signature.Signature{Kind: signature.KindTestFail, Hash: 5, Failing: 1, Passed: 2, Total: 3, Checks: []string{"a"}}, Said: []looprun.Data{
			looprun.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}},
			looprun.SignalReceived{Signal: signal.Signal{Name: signal.Progress}, Problem: "nonsense"},
			looprun.QuestionAsked{Question: database()},
			looprun.CostReported{USD: 0.5, Tokens: 10, Via: "output"},
		}},
		{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeWaiting, Match: "wait", Until: &until}},
		{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeNotDone}, Said: []looprun.Data{
			looprun.RejectionSubmitted{Rejection: rejection.Rejection{Task: "x", ReasonType: rejection.Blocker}},
			looprun.RejectionInvalid{Issues: []rejection.Issue{{Problem: "p", Remedy: "r"}}},
		}},
	}
	for i, r := range results {
		wire, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back looprun.IterationResult
		if err := json.Unmarshal(wire, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r, back) {
			t.Errorf("%d: over the wire, %s,\n%+v is\n%+v", i, wire, r, back)
		}
	}
}

// What a command cannot say decides nothing, whoever hands it over.
func TestNobodySaysWhatOnlyTheLoopDecides(t *testing.T) {
	for name, d := range map[string]looprun.Data{
		"an answer":                looprun.QuestionAnswered{QuestionID: "ask-3", Answer: chosen("pg")},
		"the end":                  looprun.RunFinished{Ending: looprun.Ending{Status: looprun.StatusDone}},
		"an action":                looprun.ActionApplied{Action: looprun.ActionAccept},
		"a question without trips": looprun.QuestionAsked{Question: looprun.Question{Guard: looprun.MaxCost}},
		"counters":                 looprun.CountersReset{},
	} {
		r := looprun.IterationResult{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeNotDone}, Said: []looprun.Data{looprun.QuestionAsked{Question: database()}, d}}
		wire, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(wire, new(looprun.IterationResult)); !errors.Is(err, looprun.ErrEvent) {
			t.Errorf("%s comes over the wire: %v", name, err)
		}
		var run *testRun
		run = start(t, defaults, reports(func(ctx context.Context, it looprun.Iteration) looprun.IterationResult {
			if err := run.Tell(ctx, d); !errors.Is(err, looprun.ErrEvent) {
				t.Errorf("%s is taken while the iteration runs: %v", name, err)
			}
			return r
		}))
		run.run(t)
		want := "iteration.started question.asked message.refused iteration.finished question.closed run.finished"
		if d.Type() == looprun.TypeQuestionAsked {
			want = strings.Replace(want, "message.refused", "signal.received", 1)
		}
		if run.story() != want {
			t.Errorf("%s: %s, want %s", name, run.story(), want)
		}
	}
}
