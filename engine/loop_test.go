package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
)

func TestDoneOnTheLastIterationIsDone(t *testing.T) {
	r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}, {Outcome: core.OutcomeNotDone}, {Outcome: core.OutcomeDone}}}
	l := looptest.Defaults
	l.Iterations = 3
	res := looptest.Start(t, l, r).ToEnd(t)
	if res.Status != core.StatusDone || res.ExitCode != 0 || res.Iterations != 3 {
		t.Errorf("got %+v, want done after 3", res)
	}
}

func TestTripWithoutAnAnswerEndsWithTheGuardsCode(t *testing.T) {
	for _, c := range []struct {
		name   string
		steps  []looptest.Play
		limits func(*core.Limits)
		want   int
		guard  core.GuardID
		after  int
	}{
		{"iterations", []looptest.Play{{Outcome: core.OutcomeNotDone}}, nil, 110, core.MaxIterations, 10},
		{"loop", []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}, nil, 111, core.LoopDetected, 3},
		{"errors", []looptest.Play{{Outcome: core.OutcomeError}}, nil, 112, core.ConsecutiveErrors, 3},
		{"errors that repeat", []looptest.Play{{Outcome: core.OutcomeError, Same: 1}}, nil, 112, core.ConsecutiveErrors, 3},
		{"runtime", []looptest.Play{{Outcome: core.OutcomeNotDone, Took: 4 * time.Minute}}, nil, 124, core.MaxRuntime, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				res := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: c.steps}).ToEnd(t)
				if res.Status != core.StatusTripped || res.ExitCode != c.want || res.Guard != c.guard || res.Iterations != c.after {
					t.Errorf("got %+v, want %s with %d after %d", res, c.guard, c.want, c.after)
				}
			})
		})
	}
}

func TestContinuingExtendsFromWhatIsSpentUpToTheCap(t *testing.T) {
	r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}
	l := looptest.Defaults
	l.Iterations = 2
	run := looptest.Start(t, l, r)
	run.Loop.Responders = []core.Responder{looptest.Says(strings.Fields(strings.Repeat("continue ", 30))...)}
	res := run.ToEnd(t)
	if res.Status != core.StatusTripped || res.Iterations != 50 {
		t.Fatalf("got %+v, want a trip at the cap of 50", res)
	}
	if run.State().Continues != 10 {
		t.Errorf("%d answers continued, want 10", run.State().Continues)
	}
	if got := r.Seen[2].Guidance; got != "go on" {
		t.Errorf("iteration 3 got the guidance %q", got)
	}
	if got := r.Seen[3].Guidance; got != "go on" { // it holds
		t.Errorf("iteration 4 got the guidance %q", got)
	}
}

func TestInvalidAnswersAreNone(t *testing.T) {
	eventually.Ends(t)
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
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, c.r)
			if res := run.ToEnd(t); res.Status != core.StatusTripped || res.ExitCode != 110 {
				t.Errorf("got %+v, want tripped with 110", res)
			}
			if run.State().Continues != 0 {
				t.Error("it was taken for continue")
			}
			for _, e := range run.Kept.Events {
				if d, ok := e.Data.(core.AnswerInvalid); ok && d.Responder == core.RespondedByProgram {
					t.Errorf("%+v: the program gave no answer", d)
				}
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
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, policy)
	run.Loop.Guards = append(run.Loop.Guards, stubborn)
	res := run.ToEnd(t)
	if res.Status != core.StatusTripped || res.Guard != "stubborn" || res.ExitCode != 115 || res.Iterations != 2 {
		t.Errorf("got %+v, want tripped by stubborn after 2 with 115", res)
	}
}

type guardFunc func(*core.State) *core.Trip

func (guardFunc) ID() core.GuardID                 { return "stubborn" }
func (g guardFunc) Check(s *core.State) *core.Trip { return g(s) }

func TestSkippedIssuesCountForNothingAndComeBackOnce(t *testing.T) {
	r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 7}}}
	var offered [][]string
	answer := looptest.Says("skip", "cancel")
	watch := core.ResponderFunc(func(ctx context.Context, q core.Question, s *core.State) (core.Answer, error) {
		offered = append(offered, q.OptionIDs())
		return answer.Respond(ctx, q, s)
	})
	run := looptest.Start(t, looptest.Defaults, r, watch)
	res := run.ToEnd(t)
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
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: 20 * time.Minute}}}
		asked := 0
		slow := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			asked++
			time.Sleep(time.Hour) // a question does not use the run's time up
			return core.Answer{Option: "continue", Responder: core.RespondedByUser, Person: true}, nil
		})
		run := looptest.Start(t, looptest.Defaults, r, slow)
		res := run.ToEnd(t)
		if asked != 1 || r.Suspended != 1 || r.Resumed != 1 {
			t.Errorf("asked %d, suspended %d, resumed %d times; want 1 each", asked, r.Suspended, r.Resumed)
		}
		if res.Status != core.StatusDone || res.Runtime > 25*time.Minute {
			t.Errorf("got %+v, want done within the 25 minutes allowed", res)
		}
	})
}

func TestWhatMaxRuntimeEndsIsNoEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Took: time.Hour, Same: 1}}}
		run := looptest.Start(t, looptest.Defaults, r)
		res := run.ToEnd(t)
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
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}})
		run.Loop.Backoff = engine.Backoff{Base: 10 * time.Minute}
		if res := run.ToEnd(t); res.ExitCode != 124 || res.Iterations != 2 {
			t.Errorf("got %+v, want 124 after 2", res)
		}
	})
}

func TestAnInterruptEndsTheRunAndIsNoAttempt(t *testing.T) {
	for _, at := range []time.Duration{5 * time.Second, 90 * time.Second} { // in an iteration, in a delay
		synctest.Test(t, func(t *testing.T) {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Took: time.Minute}}})
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
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, ctrlC)
	res := run.ToEnd(t)
	if res.ExitCode != 130 || !res.Pending {
		t.Fatalf("got %+v, want 130 with the question pending", res)
	}
	asked := run.State().Question.ID
	again := &engine.Loop{Guards: guards.Default(), Runner: run.Loop.Runner, Questions: looptest.Asks{}, Responders: []core.Responder{
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
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, deferred)
	if res := run.ToEnd(t); res.Status != core.StatusPaused || res.ExitCode != 102 || !res.Pending {
		t.Errorf("got %+v, want paused with the question pending", res)
	}
}

func TestTheThirdCrashInOneIterationIsAnError(t *testing.T) {
	r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}}
	journal := &core.MemoryJournal{}
	var s core.State
	events := []core.Data{core.RunStarted{RunID: "r", Limits: looptest.Defaults}, core.IterationStarted{Iteration: 1}}
	for range 2 {
		events = append(events, core.RunResumed{}, core.IterationStarted{Iteration: 1})
	}
	for _, d := range events {
		if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	var asked []core.GuardID
	loop := &engine.Loop{Guards: guards.Default(), Runner: r, Journal: journal, Questions: looptest.Asks{}, Responders: []core.Responder{
		core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			asked = append(asked, q.Guard)
			return core.Answer{Option: "continue"}, nil
		}),
	}}
	if err := loop.Resume(s, core.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	if res, err := loop.Run(t.Context()); err != nil || res.Status != core.StatusDone || res.Iterations != 2 || len(r.Seen) != 1 {
		t.Errorf("got %+v, %v; want done in iteration 2", res, err)
	}
	if !slices.Equal(asked, []core.GuardID{core.ConsecutiveErrors}) {
		t.Errorf("it asked about %v", asked)
	}
	if d := loop.State().History[0]; d.Iteration != 1 || d.Outcome != core.OutcomeError || d.Cause != core.CauseCrash {
		t.Errorf("iteration 1 ended as %+v", d)
	}
}

func TestACommandThatCannotRunEndsAtOnce(t *testing.T) {
	res := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeError, Fatal: 127}}}).ToEnd(t)
	if res.Status != core.StatusFailed || res.ExitCode != 127 || res.Iterations != 1 {
		t.Errorf("got %+v, want failed with 127", res)
	}
}

func TestAJournalThatCannotBeWrittenEndsTheRun(t *testing.T) {
	for left := 1; left < 8; left++ {
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}
		loop := &engine.Loop{Guards: guards.Default(), Runner: r, Journal: &looptest.BrokenJournal{Left: left}}
		if err := loop.Start(core.RunStarted{Limits: looptest.Defaults}); err != nil {
			t.Fatal(err)
		}
		res, err := loop.Run(t.Context())
		if err == nil || res.Status != core.StatusFailed || res.ExitCode != 125 || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("after %d events: got %+v, %v; want failed with 125", left, res, err)
		}
		if len(r.Seen) > left/2 {
			t.Errorf("after %d events: %d iterations ran; an event has to be written before its effect", left, len(r.Seen))
		}
	}
}

func TestNothingRunsWithoutGuards(t *testing.T) {
	r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}}
	for _, c := range []struct {
		name   string
		guards []core.Guard
		limits core.Limits
	}{
		{"no guards", nil, looptest.Defaults},
		{"no limits", guards.Default(), core.Limits{}},
		{"a limit forgotten", guards.Default(), core.Limits{Iterations: 3, Runtime: core.Off, Loop: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			loop := &engine.Loop{Guards: c.guards, Runner: r}
			if err := loop.Start(core.RunStarted{Limits: c.limits}); !errors.Is(err, core.ErrNoGuards) {
				t.Errorf("got %v, want ErrNoGuards", err)
			}
			if _, err := loop.Run(t.Context()); err == nil {
				t.Error("it runs")
			}
		})
	}
	if len(r.Seen) > 0 {
		t.Error("it ran")
	}
}

// A run of one iteration at a time pauses before the next one, and not before its question is
// asked.
func TestOneIterationAtATimeAsks(t *testing.T) {
	l := looptest.Defaults
	l.Iterations = 1
	run := looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, looptest.Says("accept"))
	run.Once = true
	if res := run.ToEnd(t); res.Status != core.StatusAccepted {
		t.Errorf("it was to be asked: %+v", res)
	}
	run = looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}})
	run.Once = true
	if res := run.ToEnd(t); res.Status != core.StatusPaused || res.Iterations != 1 {
		t.Errorf("it was to pause: %+v", res)
	}
}

// A context that ends when the run's end is on record is no error of the run.
func TestAContextThatEndsTooLate(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run.Observe = func(e core.Event, _ *core.State) {
		if e.Data.Type() == core.TypeRunFinished {
			cancel()
		}
	}
	if res, err := run.Run(ctx); err != nil || res.Status != core.StatusDone || res.Cause != nil || ctx.Err() == nil {
		t.Errorf("%+v, %v", res, err)
	}
}

// Whatever a run was about to record when the disk was full, it has failed: it is never done,
// and it does not go on.
func TestAJournalThatFailsAtAnyEvent(t *testing.T) {
	limits := looptest.Defaults
	limits.Iterations = 4
	for left := 1; ; left++ {
		var res core.Result
		var err error
		failed, after := false, 0
		synctest.Test(t, func(t *testing.T) {
			loop := &engine.Loop{Guards: guards.Default(), Questions: looptest.Asks{}, Backoff: engine.Backoff{Base: 10 * time.Second}}
			journal := &looptest.BrokenJournal{Left: left}
			loop.Journal = journal
			next, waited := "debug", false
			loop.Responders = []core.Responder{core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
				if journal.Left < 0 {
					after++
				}
				option := "pg"
				if q.Guard != "" {
					option, next = next, "continue"
				}
				return core.Answer{Option: option, Responder: core.RespondedByUser, Reason: "said so", Person: true}, nil
			})}
			loop.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) {
				if journal.Left < 0 {
					after++
				}
				return core.DebugFinished{Action: core.ActionDebug}, nil
			})
			loop.Runner = looptest.RunnerFunc(func(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
				if journal.Left < 0 {
					after++
				}
				end := core.IterationFinished{Outcome: core.OutcomeNotDone}
				switch it.Number {
				case 1:
					_, _ = loop.Ask(ctx, "key", looptest.Database())
				case 2:
					if waited {
						break
					}
					waited = true
					until := time.Now().Add(time.Minute)
					end = core.IterationFinished{Outcome: core.OutcomeWaiting, Match: "usage limit reached", Until: &until}
				case 3:
					_ = loop.Tell(ctx, core.CostReported{USD: 1})
				case 5:
					end.Outcome = core.OutcomeDone
				}
				return core.IterationResult{IterationFinished: end}, nil
			})
			if err = loop.Start(core.RunStarted{RunID: "test", Limits: limits, Caps: core.DefaultCaps(limits)}); err == nil {
				res, err = loop.Run(t.Context())
			}
			failed = journal.Left < 0
		})
		if !failed {
			if err != nil || res.Status != core.StatusDone || left < 20 {
				t.Errorf("with %d events: %+v, %v", left, res, err)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), "no space left") || res.Status != core.StatusFailed || after > 0 {
			t.Errorf("after %d events: %+v, %v, and it went on %d times", left, res, err, after)
		}
	}
}
