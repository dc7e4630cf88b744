package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// A result that came over a wire makes the same events as one that did not.
func TestResultsOverAWire(t *testing.T) {
	until := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	code := 3
	results := []core.IterationResult{
		{IterationFinished: core.IterationFinished{
			Outcome: core.OutcomeDone, WorkExitCode: &code, Excerpt: "the end", Warnings: []string{"one"}, Tree: 7, Content: 8, DurationMS: 9,
		}, Printed: signature.Signature{Kind: signature.KindTestFail, Hash: 5, Failing: 1, Passed: 2, Total: 3, Checks: []string{"a"}}, Said: []core.Data{
			core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}},
			core.SignalReceived{Signal: signal.Signal{Name: signal.Progress}, Problem: "nonsense"},
			core.QuestionAsked{Question: looptest.Database()},
			core.CostReported{USD: 0.5, Tokens: 10, Via: "output"},
		}},
		{IterationFinished: core.IterationFinished{Outcome: core.OutcomeWaiting, Match: "wait", Until: &until}},
		{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone}, Said: []core.Data{
			core.RejectionSubmitted{Rejection: rejection.Rejection{Task: "x", ReasonType: rejection.Blocker}},
			core.RejectionInvalid{Issues: []rejection.Issue{{Problem: "p", Remedy: "r"}}},
		}},
	}
	for i, r := range results {
		wire, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back core.IterationResult
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
	for name, d := range map[string]core.Data{
		"an answer":                core.QuestionAnswered{QuestionID: "ask-3", Answer: looptest.Chosen("pg")},
		"the end":                  core.RunFinished{Ending: core.Ending{Status: core.StatusDone}},
		"an action":                core.ActionApplied{Action: core.ActionAccept},
		"a question without trips": core.QuestionAsked{Question: core.Question{Guard: core.MaxCost}},
		"counters":                 core.CountersReset{},
	} {
		r := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone}, Said: []core.Data{core.QuestionAsked{Question: looptest.Database()}, d}}
		wire, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(wire, new(core.IterationResult)); !errors.Is(err, core.ErrEvent) {
			t.Errorf("%s comes over the wire: %v", name, err)
		}
		var run *looptest.Run
		run = looptest.Start(t, looptest.Defaults, looptest.Reports(func(ctx context.Context, it core.Iteration) core.IterationResult {
			if err := run.Tell(ctx, d); !errors.Is(err, core.ErrEvent) {
				t.Errorf("%s is taken while the iteration runs: %v", name, err)
			}
			return r
		}))
		run.ToEnd(t)
		want := "iteration.started question.asked message.refused iteration.finished question.closed run.finished"
		if d.Type() == core.TypeQuestionAsked {
			want = strings.Replace(want, "message.refused", "signal.received", 1)
		}
		if run.Story() != want {
			t.Errorf("%s: %s, want %s", name, run.Story(), want)
		}
	}
}
