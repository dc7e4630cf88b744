package looprun_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

const secret = "hunter2-hunter2"

// No text of any event that is recorded has the secret, in journal and state,
// and who gave the event keeps it as it was.
func TestSecretsAreMaskedInEveryEvent(t *testing.T) {
	text := "a " + secret + " b"
	options := []looprun.Option{{ID: "pg", Label: text}, {ID: "my", Label: "MySQL"}}
	before := []looprun.Data{
		looprun.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: text, Attempts: []string{text}}},
		looprun.RejectionInvalid{Rejection: rejection.Rejection{Summary: text}, Issues: []rejection.Issue{{Problem: text}}},
		looprun.QuestionAsked{Question: looprun.Question{Text: text, Options: options}},
		looprun.CostReported{USD: 1},
	}
	r := works(func(_ context.Context, it looprun.Iteration) looprun.IterationFinished {
		d := looprun.IterationFinished{Outcome: looprun.OutcomeNotDone, Excerpt: text, Before: before}
		d.Signature = signature.Signature{Hash: 1, Label: text, Checks: []string{text}, Errors: []string{text}}
		return d
	})
	run := &testRun{}
	answer := chosen("pg")
	answer.Reason, answer.Text = text, nil
	run.Loop = &looprun.Loop{
		Guards: start(t, defaults, r).Guards, Runner: r, Journal: &run.journal, Questions: asks{},
		Mask: func(s string) string { return strings.ReplaceAll(s, secret, "***") },
		Responders: []looprun.Responder{looprun.ResponderFunc(func(_ context.Context, q looprun.Question, _ *looprun.State) (looprun.Answer, error) {
			a := answer
			if q.From == "" {
				a.Option = "accept"
			}
			return a, nil
		})},
	}
	if err := run.Start(looprun.RunStarted{
		RunID: "test", Name: text, Command: []string{"curl", text}, Limits: defaults,
		Config: json.RawMessage(`{"command":["curl","` + text + `"]}`),
	}); err != nil {
		t.Fatal(err)
	}
	if res := run.run(t); res.Status != looprun.StatusAccepted {
		t.Fatalf("got %+v", res)
	}
	journal, err := json.Marshal(run.journal.Events)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(journal), secret) || strings.Contains(string(encode(t, run.State())), secret) {
		t.Errorf("the secret is on record:\n%s", journal)
	}
	if n := strings.Count(string(journal), "***"); n < 12 {
		t.Errorf("%d texts are masked", n)
	}
	if !strings.Contains(options[0].Label, secret) || !reflect.DeepEqual(before[1].(looprun.RejectionInvalid).Rejection.Summary, text) {
		t.Error("the caller's own data was changed")
	}
}
