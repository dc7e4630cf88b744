package looprun_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/signature"
)

// script is a runner that plays finished iterations, the last one for ever.
type script struct {
	steps     []play
	seen      []core.Iteration
	suspended int
	resumed   int
}

type play struct {
	outcome core.Outcome
	same    int
	took    time.Duration
	fatal   int
}

func (s *script) Suspend() { s.suspended++ }
func (s *script) Resume()  { s.resumed++ }

func (s *script) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	p := s.steps[min(len(s.seen), len(s.steps)-1)]
	s.seen = append(s.seen, it)
	d := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: p.outcome, Fatal: p.fatal}}
	d.Signature = signature.Signature{Failing: -1, Passed: -1, Total: -1, Hash: signature.Hash(p.same), Label: fmt.Sprint("output:", p.same)}
	if p.same == 0 {
		d.Signature.Hash = signature.Hash(1000 + len(s.seen))
	}
	select {
	case <-ctx.Done():
	case <-time.After(p.took):
	}
	return d, nil
}

// asks makes a question with every action that a trip can have.
type asks struct{}

func (asks) Question(_ *core.State, t core.Trip) (core.Question, error) {
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

// says answers with one option after the other, then not at all.
func says(options ...string) core.Responder {
	i := 0
	return core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		if i >= len(options) {
			return core.Answer{}, core.ErrNoAnswer
		}
		i++
		return core.Answer{Option: options[i-1], Responder: core.RespondedByUser, Reason: "said so", Person: true}, nil
	})
}

type testRun struct {
	*engine.Loop
	journal core.MemoryJournal
}

func start(t *testing.T, l core.Limits, r engine.Runner, responders ...core.Responder) *testRun {
	t.Helper()
	run := &testRun{}
	run.Loop = &engine.Loop{Guards: guards.Default(), Runner: r, Journal: &run.journal, Questions: asks{}, Responders: responders}
	if err := run.Start(core.RunStarted{RunID: "test", Limits: l, Caps: core.DefaultCaps(l)}); err != nil {
		t.Fatal(err)
	}
	return run
}

func (r *testRun) run(t *testing.T) core.Result {
	t.Helper()
	res, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := encode(t, replay(t, r.journal.Events)), encode(t, r.State()); !bytes.Equal(got, want) {
		t.Fatalf("the replayed journal gives another state:\n%s\n%s", got, want)
	}
	return res
}

var defaults = core.DefaultLimits()

func TestDoneOnTheLastIterationIsDone(t *testing.T) {
	r := &script{steps: []play{{outcome: core.OutcomeNotDone}, {outcome: core.OutcomeNotDone}, {outcome: core.OutcomeDone}}}
	l := defaults
	l.Iterations = 3
	res := start(t, l, r).run(t)
	if res.Status != core.StatusDone || res.ExitCode != 0 || res.Iterations != 3 {
		t.Errorf("got %+v, want done after 3", res)
	}
}

func TestTripWithoutAnAnswerEndsWithTheGuardsCode(t *testing.T) {
	for _, c := range []struct {
		name   string
		steps  []play
		limits func(*core.Limits)
		want   int
		guard  core.GuardID
		after  int
	}{
		{"iterations", []play{{outcome: core.OutcomeNotDone}}, nil, 110, core.MaxIterations, 10},
		{"loop", []play{{outcome: core.OutcomeNotDone, same: 1}}, nil, 111, core.LoopDetected, 3},
		{"errors", []play{{outcome: core.OutcomeError}}, nil, 112, core.ConsecutiveErrors, 3},
		{"errors that repeat", []play{{outcome: core.OutcomeError, same: 1}}, nil, 112, core.ConsecutiveErrors, 3},
		{"runtime", []play{{outcome: core.OutcomeNotDone, took: 4 * time.Minute}}, nil, 124, core.MaxRuntime, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				res := start(t, defaults, &script{steps: c.steps}).run(t)
				if res.Status != core.StatusTripped || res.ExitCode != c.want || res.Guard != c.guard || res.Iterations != c.after {
					t.Errorf("got %+v, want %s with %d after %d", res, c.guard, c.want, c.after)
				}
			})
		})
	}
}

func TestContinuingExtendsFromWhatIsSpentUpToTheCap(t *testing.T) {
	r := &script{steps: []play{{outcome: core.OutcomeNotDone}}}
	l := defaults
	l.Iterations = 2
	run := start(t, l, r)
	run.Loop.Responders = []core.Responder{says(strings.Fields(strings.Repeat("continue ", 30))...)}
	res := run.run(t)
	if res.Status != core.StatusTripped || res.Iterations != 50 {
		t.Fatalf("got %+v, want a trip at the cap of 50", res)
	}
	if run.State().Continues != 10 {
		t.Errorf("%d answers continued, want 10", run.State().Continues)
	}
	if got := r.seen[2].Guidance; got != "go on" {
		t.Errorf("iteration 3 got the guidance %q", got)
	}
	if got := r.seen[3].Guidance; got != "go on" { // it holds
		t.Errorf("iteration 4 got the guidance %q", got)
	}
}

func TestInvalidAnswersAreNone(t *testing.T) {
	policy := func(option string) core.Responder {
		return core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			return core.Answer{Option: option, Responder: core.RespondedByPolicy}, nil
		})
	}
	for _, c := range []struct {
		name string
		r    core.Responder
	}{
		{"an option it does not have", policy("go-on")},
		{"nothing", policy("")},
		{"review", policy("review")},
		{"continue without room", policy("nothing")},
		{"debug without a command", policy("debug")},
		{"an error", core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			return core.Answer{Option: "continue"}, errors.New("crashed")
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := start(t, defaults, &script{steps: []play{{outcome: core.OutcomeNotDone}}}, c.r)
			if res := run.run(t); res.Status != core.StatusTripped || res.ExitCode != 110 {
				t.Errorf("got %+v, want tripped with 110", res)
			}
			if run.State().Continues != 0 {
				t.Error("it was taken for continue")
			}
		})
	}
}

func TestExclusiveQuestionsAreAPersons(t *testing.T) {
	q := core.Question{Exclusive: true, Options: []core.Option{{ID: "continue", Action: core.ActionContinue}}}
	if _, err := q.Resolve(core.Answer{Option: "continue", Responder: core.RespondedByPolicy}); err == nil {
		t.Error("a policy answered an exclusive question")
	}
	if _, err := q.Resolve(core.Answer{Option: "continue", Responder: core.RespondedByUser, Person: true}); err != nil {
		t.Errorf("a person may not answer: %v", err)
	}
}

// A guard that trips at once again after it was answered is asked about once
// more, but no rule can answer the same thing a second time: nothing runs away.
func TestARuleCannotAnswerTwiceWithinOneTrip(t *testing.T) {
	stubborn := guardFunc(func(s *core.State) *core.Trip {
		if s.Iterations < 2 {
			return nil
		}
		return &core.Trip{Guard: "stubborn", Reason: "always"}
	})
	policy := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{Option: "continue", Responder: core.RespondedByPolicy, Rule: "p.yaml:3"}, nil
	})
	run := start(t, defaults, &script{steps: []play{{outcome: core.OutcomeNotDone}}}, policy)
	run.Loop.Guards = append(run.Loop.Guards, stubborn)
	res := run.run(t)
	if res.Status != core.StatusTripped || res.Guard != "stubborn" || res.ExitCode != 115 || res.Iterations != 2 {
		t.Errorf("got %+v, want tripped by stubborn after 2 with 115", res)
	}
}

type guardFunc func(*core.State) *core.Trip

func (guardFunc) ID() core.GuardID                 { return "stubborn" }
func (g guardFunc) Check(s *core.State) *core.Trip { return g(s) }

func TestSkippedIssuesCountForNothingAndComeBackOnce(t *testing.T) {
	r := &script{steps: []play{{outcome: core.OutcomeNotDone, same: 7}}}
	var offered [][]string
	answer := says("skip", "cancel")
	watch := core.ResponderFunc(func(ctx context.Context, q core.Question, s *core.State) (core.Answer, error) {
		offered = append(offered, q.OptionIDs())
		return answer.Respond(ctx, q, s)
	})
	run := start(t, defaults, r, watch)
	res := run.run(t)
	if res.Status != core.StatusCancelled || res.Iterations != 6 || len(offered) != 2 {
		t.Fatalf("got %+v with %d questions, want cancelled after 6 with 2", res, len(offered))
	}
	if !strings.Contains(strings.Join(offered[0], " "), "skip") || strings.Contains(strings.Join(offered[1], " "), "skip") {
		t.Errorf("offered %v; skip belongs in the first question alone", offered)
	}
	if run.State().Iterations != 6 || len(run.State().Known) != 1 {
		t.Errorf("known issues: %+v", run.State().Known)
	}
}

func TestRuntimePassesInTheMiddleOfAnIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &script{steps: []play{{outcome: core.OutcomeDone, took: 20 * time.Minute}}}
		asked := 0
		slow := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			asked++
			time.Sleep(time.Hour) // a question does not use the run's time up
			return core.Answer{Option: "continue", Responder: core.RespondedByUser, Person: true}, nil
		})
		run := start(t, defaults, r, slow)
		res := run.run(t)
		if asked != 1 || r.suspended != 1 || r.resumed != 1 {
			t.Errorf("asked %d, suspended %d, resumed %d times; want 1 each", asked, r.suspended, r.resumed)
		}
		if res.Status != core.StatusDone || res.Runtime > 25*time.Minute {
			t.Errorf("got %+v, want done within the 25 minutes allowed", res)
		}
	})
}

func TestWhatMaxRuntimeEndsIsNoEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &script{steps: []play{{outcome: core.OutcomeNotDone, took: time.Hour, same: 1}}}
		run := start(t, defaults, r)
		res := run.run(t)
		s := run.State()
		if res.ExitCode != 124 || res.Iterations != 0 || s.ErrorRun != 0 || s.Cycles.Repeats() != 0 {
			t.Errorf("got %+v, error run %d, repeats %d; want 124 and no evidence", res, s.ErrorRun, s.Cycles.Repeats())
		}
		if s.Ran.Cause != core.CauseMaxRuntime {
			t.Errorf("cause %q", s.Ran.Cause)
		}
	})
}

func TestMaxRuntimePassesDuringADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := start(t, defaults, &script{steps: []play{{outcome: core.OutcomeNotDone}}})
		run.Loop.Backoff = engine.Backoff{Base: 10 * time.Minute}
		if res := run.run(t); res.ExitCode != 124 || res.Iterations != 2 {
			t.Errorf("got %+v, want 124 after 2", res)
		}
	})
}

func TestAnInterruptEndsTheRunAndIsNoAttempt(t *testing.T) {
	for _, at := range []time.Duration{5 * time.Second, 90 * time.Second} { // in an iteration, in a delay
		synctest.Test(t, func(t *testing.T) {
			run := start(t, defaults, &script{steps: []play{{outcome: core.OutcomeNotDone, took: time.Minute}}})
			run.Loop.Backoff = engine.Backoff{Base: time.Minute}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(at, func() { cancel(&engine.Interrupt{Signal: "SIGTERM", Code: 143}) })
			res, err := run.Run(ctx)
			if err != nil || res.Status != core.StatusInterrupted || res.ExitCode != 143 {
				t.Errorf("at %s: got %+v, %v; want interrupted with 143", at, res, err)
			}
			if want := int(at / time.Minute); res.Iterations != want {
				t.Errorf("at %s: %d iterations count, want %d", at, res.Iterations, want)
			}
		})
	}
}

func TestAnInterruptedPromptKeepsItsQuestion(t *testing.T) {
	ctrlC := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{}, core.ErrInterrupted
	})
	run := start(t, defaults, &script{steps: []play{{outcome: core.OutcomeNotDone}}}, ctrlC)
	res := run.run(t)
	if res.ExitCode != 130 || !res.Pending {
		t.Fatalf("got %+v, want 130 with the question pending", res)
	}
	asked := run.State().Question.ID
	again := &engine.Loop{Guards: guards.Default(), Runner: run.Loop.Runner, Questions: asks{}, Responders: []core.Responder{
		core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			if q.ID != asked {
				t.Errorf("question %s is asked, want %s", q.ID, asked)
			}
			return core.Answer{Option: "accept", Responder: core.RespondedByUser, Person: true}, nil
		}),
	}}
	if err := again.Resume(*run.State(), core.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	if res, err := again.Run(t.Context()); err != nil || res.Status != core.StatusAccepted || res.Iterations != 10 {
		t.Errorf("got %+v, %v; want accepted with 10 iterations", res, err)
	}
}

func TestADeferredQuestionPauses(t *testing.T) {
	deferred := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{}, core.ErrDeferred
	})
	run := start(t, defaults, &script{steps: []play{{outcome: core.OutcomeNotDone}}}, deferred)
	if res := run.run(t); res.Status != core.StatusPaused || res.ExitCode != 102 || !res.Pending {
		t.Errorf("got %+v, want paused with the question pending", res)
	}
}

func TestTheThirdCrashInOneIterationIsAnError(t *testing.T) {
	r := &script{steps: []play{{outcome: core.OutcomeDone}}}
	journal := &core.MemoryJournal{}
	var s core.State
	events := []core.Data{core.RunStarted{RunID: "r", Limits: defaults}, core.IterationStarted{Iteration: 1}}
	for range 2 {
		events = append(events, core.RunResumed{}, core.IterationStarted{Iteration: 1})
	}
	for _, d := range events {
		if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	loop := &engine.Loop{Guards: guards.Default(), Runner: r, Journal: journal}
	if err := loop.Resume(s, core.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	if res, err := loop.Run(t.Context()); err != nil || res.Status != core.StatusDone || res.Iterations != 2 || len(r.seen) != 1 {
		t.Errorf("got %+v, %v; want done in iteration 2", res, err)
	}
	if d := loop.State().History[0]; d.Iteration != 1 || d.Outcome != core.OutcomeError || d.Cause != core.CauseCrash {
		t.Errorf("iteration 1 ended as %+v", d)
	}
}

func TestACommandThatCannotRunEndsAtOnce(t *testing.T) {
	res := start(t, defaults, &script{steps: []play{{outcome: core.OutcomeError, fatal: 127}}}).run(t)
	if res.Status != core.StatusFailed || res.ExitCode != 127 || res.Iterations != 1 {
		t.Errorf("got %+v, want failed with 127", res)
	}
}

// brokenJournal fails from some event on, as a full disk does.
type brokenJournal struct{ left int }

func (j *brokenJournal) Append(core.Event) error {
	if j.left--; j.left < 0 {
		return errors.New("no space left on device")
	}
	return nil
}
func (j *brokenJournal) Sync() error { return nil }

func TestAJournalThatCannotBeWrittenEndsTheRun(t *testing.T) {
	for left := 1; left < 8; left++ {
		r := &script{steps: []play{{outcome: core.OutcomeNotDone}}}
		loop := &engine.Loop{Guards: guards.Default(), Runner: r, Journal: &brokenJournal{left}}
		if err := loop.Start(core.RunStarted{Limits: defaults}); err != nil {
			t.Fatal(err)
		}
		res, err := loop.Run(t.Context())
		if err == nil || res.Status != core.StatusFailed || res.ExitCode != 125 || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("after %d events: got %+v, %v; want failed with 125", left, res, err)
		}
		if len(r.seen) > left/2 {
			t.Errorf("after %d events: %d iterations ran; an event has to be written before its effect", left, len(r.seen))
		}
	}
}

func TestNothingRunsWithoutGuards(t *testing.T) {
	r := &script{steps: []play{{outcome: core.OutcomeDone}}}
	for _, c := range []struct {
		name   string
		guards []core.Guard
		limits core.Limits
	}{
		{"no guards", nil, defaults},
		{"no limits", guards.Default(), core.Limits{}},
		{"a limit forgotten", guards.Default(), core.Limits{Iterations: 3, Runtime: core.Off, Loop: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			loop := &engine.Loop{Guards: c.guards, Runner: r}
			if err := loop.Start(core.RunStarted{Limits: c.limits}); !errors.Is(err, core.ErrNoGuards) {
				t.Errorf("got %v, want ErrNoGuards", err)
			}
		})
	}
	if len(r.seen) > 0 {
		t.Error("it ran")
	}
}
