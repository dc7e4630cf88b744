package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

const secret = "hunter2-hunter2"

// No text of any event that is recorded has the secret, in journal and state,
// and who gave the event keeps it as it was.
func TestSecretsAreMaskedInEveryEvent(t *testing.T) {
	text := "a " + secret + " b"
	options := []core.Option{{ID: "pg", Label: text}, {ID: "my", Label: "MySQL"}}
	before := []core.Data{
		core.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: text, Attempts: []string{text}}},
		core.RejectionInvalid{Rejection: rejection.Rejection{Summary: text, ReasonType: rejection.Reason(text)}, Issues: []rejection.Issue{{Problem: text}}},
		core.QuestionAsked{Question: core.Question{Text: text, Options: options}},
		core.CostReported{USD: 1},
		core.SignalReceived{Signal: signal.Signal{Name: signal.Name(text)}, Problem: "there is no such signal"},
	}
	r := looptest.Reports(func(_ context.Context, it core.Iteration) core.IterationResult {
		d := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone, Excerpt: text}, Said: before}
		d.Signature = signature.Signature{Hash: 1, Label: text, Checks: []string{text}, Errors: []string{text}}
		return d
	})
	run := &looptest.Run{}
	answer := looptest.Chosen("pg")
	answer.Reason, answer.Text = text, nil
	run.Loop = &engine.Loop{
		Guards: looptest.Start(t, looptest.Defaults, r).Guards, Runner: r, Journal: &run.Kept, Questions: looptest.Asks{},
		Mask: func(s string) string { return strings.ReplaceAll(s, secret, "***") },
		Responders: []core.Responder{core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			a := answer
			if q.From == "" {
				a.Option = "accept"
			}
			return a, nil
		})},
	}
	if err := run.Start(core.RunStarted{
		RunID: "test", Name: text, Command: []string{"curl", text}, Limits: looptest.Defaults,
		Config: json.RawMessage(`{"command":["curl","` + text + `"]}`),
	}); err != nil {
		t.Fatal(err)
	}
	if res := run.ToEnd(t); res.Status != core.StatusAccepted {
		t.Fatalf("got %+v", res)
	}
	journal, err := json.Marshal(run.Kept.Events)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(journal), secret) || strings.Contains(string(looptest.Encode(t, run.State())), secret) {
		t.Errorf("the secret is on record:\n%s", journal)
	}
	if n := strings.Count(string(journal), "***"); n < 12 {
		t.Errorf("%d texts are masked", n)
	}
	if !strings.Contains(options[0].Label, secret) || !reflect.DeepEqual(before[1].(core.RejectionInvalid).Rejection.Summary, text) {
		t.Error("the caller's own data was changed")
	}
}

// A mask that takes all it can get changes no step of a run: the same events, guards,
// options, actions, limits and exit code as without one.
func TestAMaskSteersNothing(t *testing.T) {
	outcomes := []core.Outcome{core.OutcomeNotDone, core.OutcomeNotDone, core.OutcomeNotDone, core.OutcomeError, core.OutcomeError, core.OutcomeDone}
	options := []string{"continue", "continue", "skip", "debug", "pause", "accept", "cancel", "review", ""}
	responders := []string{core.RespondedByPolicy, core.RespondedByAssistant, core.RespondedByUser}
	clarify := signal.Signal{Name: signal.Clarify, Cause: signal.SecurityConcern, Question: "may I?", Via: signal.ViaText}
	course := func(seed uint64, mask func(string) string) []string {
		r := rand.New(rand.NewPCG(seed, 5))
		runner := looptest.Reports(func(_ context.Context, it core.Iteration) core.IterationResult {
			d := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: outcomes[r.IntN(len(outcomes)-r.IntN(2))]}}
			d.Signature = signature.Signature{Failing: -1, Passed: -1, Total: -1, Hash: signature.Hash(1 + r.IntN(3)), Label: "label"}
			switch r.IntN(12) {
			case 0:
				d.Said = append(d.Said, core.SignalReceived{Signal: clarify})
			case 1:
				d.Said = append(d.Said, core.QuestionAsked{Question: core.Question{Text: "which?", Kind: core.KindConfirm, AskID: "a", To: "assistant_with_escalation", Returned: true}})
			case 2:
				d.Said = append(d.Said, core.SignalReceived{Signal: signal.Signal{Name: signal.Expert}})
			case 3:
				d.Said = append(d.Said, core.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.MissingDependency, Suggested: "the other"}})
			}
			return d
		})
		run := &looptest.Run{}
		answers := core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			o := options[r.IntN(len(options))]
			if q.Kind == core.KindConfirm {
				o = core.Yes
			}
			if o == "" {
				return core.Answer{}, core.ErrNoAnswer
			}
			by := responders[r.IntN(len(responders))]
			return core.Answer{Option: o, Responder: by, Rule: "policy.yaml:" + o, Person: by == core.RespondedByUser, Guidance: "so", Mandatory: r.IntN(2) == 0}, nil
		})
		l := core.Limits{Iterations: 2 + r.IntN(8), Runtime: time.Hour, Loop: 2 + r.IntN(3), Errors: 1 + r.IntN(3)}
		run.Loop = &engine.Loop{
			Guards: guards.Default(), Runner: runner, Journal: &run.Kept, Questions: looptest.Asks{}, Responders: []core.Responder{answers}, Mask: mask,
			Debug: looptest.Debugs(func(context.Context) (core.DebugFinished, error) {
				return core.DebugFinished{Findings: "found"}, nil
			}), Experts: experts(func(ladder.Expert) (core.ExpertFinished, error) { return core.ExpertFinished{ExitCode: 1}, nil }),
		}
		rungs := ladder.Config{{Rung: ladder.SelfSolve, Attempts: 2}, {Rung: ladder.Experts, Experts: []ladder.Expert{{Name: "one", Command: "true"}, {Name: "two", Command: "true"}}}, {Rung: ladder.Human}}
		if err := run.Start(core.RunStarted{RunID: "test", Parent: "above", Name: "task", Limits: l, Caps: core.DefaultCaps(l), Ladder: rungs}); err != nil {
			t.Fatal(err)
		}
		res := run.ToEnd(t)
		out := []string{fmt.Sprint(res.Status, res.ExitCode, res.Guard, res.Decision, res.Iterations, res.Trips, run.State().Limits, run.State().PolicyContinues)}
		for _, e := range run.Kept.Events {
			what := ""
			switch d := e.Data.(type) {
			case core.RunStarted:
				what = fmt.Sprint(d.RunID, d.Parent)
			case core.GuardTripped:
				what = fmt.Sprint(d.Guard, d.Also)
			case core.QuestionAsked:
				what = fmt.Sprint(d.ID, d.Guard, d.OptionIDs(), d.From, d.To, d.Mandatory, d.Given)
			case core.QuestionAnswered:
				what = fmt.Sprint(d.QuestionID, d.Option, d.Responder, d.Rule)
			case core.ActionApplied:
				what = fmt.Sprint(d.Action, d.Option, d.Guard, d.Limits, d.Resets)
			case core.IterationFinished:
				what = fmt.Sprint(d.Outcome, d.Cause, d.Signature.Hash)
			case core.RejectionSubmitted:
				what = string(d.Rejection.ReasonType)
			case core.AttemptRecorded:
				what = fmt.Sprint(d.Counted, d.Attempt.Number, d.Attempt.Type, d.Attempt.Key)
			case core.ExpertFinished:
				what = d.Expert
			}
			out = append(out, fmt.Sprint(e.Data.Type(), " ", what))
		}
		return out
	}
	kinds := map[core.EventType]bool{}
	for seed := range uint64(max(10, rounds.Of(100))) {
		plain := course(seed, nil)
		hidden := course(seed, func(text string) string { return strings.Repeat("*", min(3, len(text))) })
		for i := range max(len(plain), len(hidden)) {
			if i >= len(plain) || i >= len(hidden) || plain[i] != hidden[i] {
				t.Fatalf("seed %d, event %d:\nwithout a mask %q\nwith one       %q", seed, i, plain[min(i, len(plain)-1):], hidden[min(i, len(hidden)-1):])
			}
			kind, _, _ := strings.Cut(plain[i], " ")
			kinds[core.EventType(kind)] = true
		}
	}
	for _, want := range []core.EventType{core.TypeActionApplied, core.TypeExpertFinished, core.TypeAttemptRecorded, core.TypeRejectionDecided, core.TypeSignalReceived, core.TypeQuestionClosed} {
		if !kinds[want] {
			t.Errorf("no run had a %s", want)
		}
	}
}

// What interrupted the run is said as it was.
func TestAMaskLeavesTheNameOfAnInterrupt(t *testing.T) {
	d := core.InterruptReceived{Signal: "SIGTERM", Code: 143}
	mask := func(string) string { return "***" }
	if e, err := core.Record(looptest.Folded(t, looptest.Begun), &core.MemoryJournal{}, mask, 0, d); err != nil || e.Data != core.Data(d) {
		t.Errorf("got %+v, %v; want %+v", e.Data, err, d)
	}
}

// A field that is looprun's own in one event is so in all, and a type of words is
// either looprun's own or known not to be: nothing is left to chance when one is added.
func TestWhatIsMaskedIsTheSameEverywhere(t *testing.T) {
	tags, types := map[string]map[string][]string{}, map[string]bool{}
	seen := map[reflect.Type]bool{}
	var walk func(t reflect.Type)
	walk = func(rt reflect.Type) {
		switch rt.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(rt.Elem())
		case reflect.String:
			if rt.PkgPath() != "" {
				types[rt.String()] = true
			}
		case reflect.Struct:
			if seen[rt] {
				return
			}
			seen[rt] = true
			for f := range rt.Fields() {
				if f.Type.Kind() == reflect.String && f.Type.PkgPath() == "" && f.IsExported() {
					if tags[f.Name] == nil {
						tags[f.Name] = map[string][]string{}
					}
					tag := f.Tag.Get("mask")
					tags[f.Name][tag] = append(tags[f.Name][tag], rt.String()+"."+f.Name)
				}
				walk(f.Type)
			}
		}
	}
	for _, d := range looptest.EveryEvent() {
		walk(reflect.TypeOf(d))
	}
	outside := []string{ // words of other people under the same name
		"signal.Signal.Expert", "signal.Considered.Option", "rejection.Issue.Rule", "core.RunStarted.Name", "core.RunStarted.Command", "core.VerifyFinished.Command",
		"core.Evidence.Command",
	}
	for name, by := range tags {
		for _, open := range by[""] {
			if len(by) > 1 && !slices.Contains(outside, open) {
				t.Errorf("%s is masked, and %s elsewhere is not: %v", open, name, by)
			}
		}
	}
	want := []string{
		"core.Action", "core.Cause", "core.Confirmation", "core.GuardID", "core.How", "core.Kind", "core.Order", "core.Outcome", "core.Status", "core.Weakening",
		"ladder.AttemptType", "ladder.RungName", "rejection.Decision", "rejection.Reason", "signal.Name",
	}
	if got := slices.Sorted(maps.Keys(types)); !slices.Equal(got, want) {
		t.Errorf("words of the types %q are in events, want %q: decide in mask.go whether a new one is looprun's own", got, want)
	}
}

// What a pattern leaves of a shell line is not run.
func TestAMaskedCommandIsWithheld(t *testing.T) {
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "***") }
	s := looptest.Folded(t, looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped)
	q := core.Question{ID: "q", Default: secret, Options: []core.Option{
		{ID: secret, Action: core.ActionRun, Command: "curl " + secret},
		{ID: "b", Action: core.ActionRun, Command: "curl"},
	}}
	if _, err := core.Record(s, &core.MemoryJournal{}, mask, 0, core.QuestionAsked{Question: q}); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", s.Question.Options[0].Command).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 126 || strings.Contains(string(out), secret) {
		t.Errorf("%q: %v, %s", s.Question.Options[0].Command, err, out)
	}
	if s.Question.Options[1].Command != "curl" {
		t.Errorf("the other option runs %q", s.Question.Options[1].Command)
	}
	if _, ok := s.Question.Option(s.Question.Default); !ok || s.Question.Default != secret {
		t.Errorf("the default %q is not an option of %v", s.Question.Default, s.Question.OptionIDs())
	}
}

// Two options of the command's question that read the same when they are masked
// cannot be told apart: the question is not taken, and the iteration is not done.
func TestAQuestionWhoseOptionsAreMaskedAlikeIsNotTaken(t *testing.T) {
	ask := core.Question{Text: "which?", Kind: core.KindSelect, Returned: true, Options: []core.Option{{ID: secret + "1"}, {ID: secret + "2"}}}
	r := looptest.Reports(func(context.Context, core.Iteration) core.IterationResult {
		return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}, Said: []core.Data{core.QuestionAsked{Question: ask}}}
	})
	run := looptest.Start(t, core.Limits{Iterations: 1, Runtime: core.Off, Loop: core.Off, Errors: core.Off}, r)
	run.Mask = func(s string) string {
		if strings.Contains(s, secret) {
			return "***"
		}
		return s
	}
	if res := run.ToEnd(t); res.Status != core.StatusTripped {
		t.Errorf("got %+v, want a run that is not done", res)
	}
	if q := run.State().Pending(); len(q) != 0 {
		t.Errorf("pending: %+v", q)
	}
}

func TestADocumentKeepsItsKeysAndNumbers(t *testing.T) {
	mask := func(text string) string { return strings.NewReplacer("secret", "***", "400", "***").Replace(text) }
	for in, want := range map[string]string{
		`{"secret":["a secret",{"b":"secret"}],"n":1e400}`: `{"n":1e400,"secret":["a ***",{"b":"***"}]}`,
		`"secret"`:           `"***"`,
		`"\u0073ecret"`:      `"***"`,
		`{ "secret" : 400 }`: `{ "secret" : 400 }`,
		`{"secret":"secret"`: `{"secret":"secret"`,
		`null`:               `null`,
		``:                   ``,
	} {
		got, _ := core.Masked(core.RunStarted{Config: json.RawMessage(in)}, mask).(core.RunStarted)
		if string(got.Config) != want {
			t.Errorf("%s: got %s, want %s", in, got.Config, want)
		}
	}
}
