package engine_test

import (
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
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/ladder"
)

// What a policy or an assistant lets run beside the iterations ends with the
// run's time; a person sees how long it takes.
func TestADebugCommandHasTheRunsTime(t *testing.T) {
	for _, c := range []struct {
		name    string
		runtime time.Duration
		play    looptest.Play
		answers func() core.Responder
		want    time.Duration // 0: no end
	}{
		{"between iterations", 15 * time.Minute, looptest.Play{Same: 1, Took: time.Minute}, func() core.Responder { return looptest.Rule("debug") }, 12 * time.Minute},
		{"a person", 15 * time.Minute, looptest.Play{Same: 1, Took: time.Minute}, func() core.Responder { return looptest.Says("debug") }, 0},
		{"max_runtime is off", core.Off, looptest.Play{Same: 1, Took: time.Minute}, func() core.Responder { return looptest.Rule("debug") }, 0},
		{"about max_runtime itself", 15 * time.Minute, looptest.Play{Took: time.Hour}, func() core.Responder { return looptest.Rule("debug") }, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := looptest.Defaults
				l.Runtime = c.runtime
				c.play.Outcome = core.OutcomeNotDone
				run := looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{c.play}}, c.answers())
				ran := 0
				run.Debug = looptest.Debugs(func(ctx context.Context) (core.DebugFinished, error) {
					ran++
					at, ok := ctx.Deadline()
					if left := time.Until(at).Round(time.Second); ok != (c.want > 0) || ok && left != c.want {
						t.Errorf("it has %s, %v; want %s", left, ok, c.want)
					}
					return core.DebugFinished{ExitCode: 1}, nil
				})
				if res := run.ToEnd(t); ran != 1 || res.Status != core.StatusTripped {
					t.Errorf("got %+v after %d debug commands", res, ran)
				}
			})
		})
	}
}

// dueAt is a guard with a deadline of its own.
type dueAt time.Duration

func (dueAt) ID() core.GuardID { return "early" }

func (e dueAt) Check(s *core.State) *core.Trip {
	if s.Elapsed < time.Duration(e) {
		return nil
	}
	return &core.Trip{Guard: "early", Reason: "it is late"}
}

func (e dueAt) Remaining(s *core.State) (time.Duration, bool) {
	return time.Duration(e) - s.Elapsed, true
}

// Of two deadlines the first one counts, in whichever order they are.
func TestTheFirstDeadlineCounts(t *testing.T) {
	for _, list := range [][]core.Guard{
		{dueAt(5 * time.Minute), guards.Runtime{}},
		{guards.Runtime{}, dueAt(5 * time.Minute)},
		{dueAt(time.Hour), guards.Runtime{}},
		{guards.Runtime{}, dueAt(time.Hour)},
	} {
		synctest.Test(t, func(t *testing.T) {
			run := &looptest.Run{}
			run.Loop = &engine.Loop{Guards: list, Journal: &run.Kept, Runner: &looptest.Script{Steps: []looptest.Play{
				{Outcome: core.OutcomeNotDone, Took: time.Minute}, {Outcome: core.OutcomeNotDone, Took: 3 * time.Hour},
			}}}
			if err := run.Start(core.RunStarted{RunID: "test", Limits: core.Limits{Iterations: core.Off, Runtime: looptest.Defaults.Runtime, Loop: core.Off, Errors: core.Off}}); err != nil {
				t.Fatal(err)
			}
			want, guard := 5*time.Minute, core.GuardID("early")
			if list[0] == dueAt(time.Hour) || list[1] == dueAt(time.Hour) {
				want, guard = 15*time.Minute, core.MaxRuntime
			}
			if res := run.ToEnd(t); res.Guard != guard || res.Runtime.Round(time.Second) != want {
				t.Errorf("got %+v, want %s after %s", res, guard, want)
			}
		})
	}
}

// A verify command needs the files that the suspended iteration has open: that
// one is over before it begins, and runs again under its own number.
func TestAVerifyCommandEndsTheSuspendedIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var run *looptest.Run
		begun, over := 0, 0
		runner := looptest.Works(func(ctx context.Context, it core.Iteration) core.IterationFinished {
			if begun++; begun > 1 {
				return core.IterationFinished{Outcome: core.OutcomeDone}
			}
			select {
			case <-ctx.Done():
			case <-time.After(24 * time.Hour):
				t.Error("it was not told to end")
			}
			time.Sleep(time.Second) // it takes its time
			over++
			return core.IterationFinished{Outcome: core.OutcomeNotDone}
		})
		run = looptest.Start(t, looptest.Defaults, runner, core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			run.BeforeVerify()
			if over != 1 {
				t.Error("the iteration is not over")
			}
			time.Sleep(time.Minute)
			if err := run.AfterVerify(core.VerifyFinished{Rule: "p.yaml:3", Command: "make smoke"}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour) // costs no time
			return looptest.Chosen("continue"), nil
		}))
		res := run.ToEnd(t)
		if res.Status != core.StatusDone || res.Iterations != 1 || begun != 2 {
			t.Errorf("got %+v, begun %d times", res, begun)
		}
		if d := res.Runtime.Round(time.Second); d < 16*time.Minute || d > 16*time.Minute+2*time.Second {
			t.Errorf("it took %s, want 15m and the minute of the command", d)
		}
	})
}

// One that is over when the command begins has ended as it did.
func TestAVerifyAfterTheEndOfTheIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := 0
		var run *looptest.Run
		run = looptest.Start(t, looptest.Defaults, looptest.Works(func(context.Context, core.Iteration) core.IterationFinished {
			begun++
			time.Sleep(looptest.Defaults.Runtime + time.Minute) // it cannot be suspended
			return core.IterationFinished{Outcome: core.OutcomeDone}
		}), core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			time.Sleep(time.Hour)
			run.BeforeVerify()
			if err := run.AfterVerify(core.VerifyFinished{Rule: "p.yaml:3", Command: "make smoke"}); err != nil {
				t.Error(err)
			}
			return looptest.Chosen("continue"), nil
		}))
		if res := run.ToEnd(t); res.Status != core.StatusDone || begun != 1 {
			t.Errorf("got %+v, begun %d times", res, begun)
		}
	})
}

// A verify command whose end cannot be recorded ends the run, and its responder is told.
func TestAVerifyThatCannotBeRecorded(t *testing.T) {
	var told error
	var run *looptest.Run
	run = looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		run.BeforeVerify() // no iteration stands still
		run.Journal = &looptest.BrokenJournal{}
		told = run.AfterVerify(core.VerifyFinished{Rule: "p.yaml:3", Command: "make smoke"})
		run.Journal = &run.Kept // there is room again
		return looptest.Chosen("cancel"), nil
	}))
	if res, err := run.Run(t.Context()); told == nil || err == nil || res.Status != core.StatusFailed {
		t.Errorf("%+v, %v; the responder was told %v", res, err, told)
	}
}

// experts runs experts by a function.
type experts func(context.Context) (core.ExpertFinished, error)

func (f experts) Expert(ctx context.Context, _ *core.State, _ ladder.Expert) (core.ExpertFinished, error) {
	return f(ctx)
}

// An interrupt before an expert lets none begin, and one during it leaves it to the resumed
// run.
func TestAnInterruptKeepsTheExpert(t *testing.T) {
	for _, before := range []bool{true, false} {
		run := &looptest.Run{}
		ctx, interrupt := context.WithCancel(t.Context())
		asked := 0
		run.Loop = &engine.Loop{
			Guards: guards.Default(), Journal: &run.Kept, Questions: looptest.Asks{}, Runner: looptest.Said(20),
			Experts: experts(func(context.Context) (core.ExpertFinished, error) {
				asked++
				interrupt()
				return core.ExpertFinished{Guidance: "so"}, nil
			}),
			Observe: func(e core.Event, _ *core.State) {
				if before && e.Data.Type() == core.TypeAttemptRecorded {
					interrupt()
				}
			},
		}
		err := run.Start(core.RunStarted{RunID: "test", Name: "climb", Limits: looptest.Defaults, Ladder: ladder.Config{
			{Rung: ladder.SelfSolve, Attempts: 1}, {Rung: ladder.Experts, Attempts: 1, Experts: []ladder.Expert{{Name: "one"}}}, {Rung: ladder.Human},
		}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := run.Run(ctx)
		if err != nil || res.Status != core.StatusInterrupted || strings.Contains(run.Story(), string(core.TypeExpertFinished)) || (asked == 0) != before {
			t.Errorf("before: %t: %+v, %v, %d asked: %s", before, res, err, asked, run.Story())
		}
		if _, next := run.State().NextExpert(); !next {
			t.Errorf("before: %t: the expert is not next", before)
		}
	}
}

// shells is a question that opens a shell for a person.
type shells struct{ looptest.Asks }

func (a shells) Question(s *core.State, trip core.Trip) (core.Question, error) {
	q, err := a.Asks.Question(s, trip)
	for i := range q.Options {
		q.Options[i].Shell = q.Options[i].Action == core.ActionDebug
	}
	return q, err
}

// The time of a person in a shell is none of the run's.
func TestAShellTakesNoTime(t *testing.T) {
	for _, questions := range []core.Questions{shells{}, looptest.Asks{}} {
		synctest.Test(t, func(t *testing.T) {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Says("debug", "cancel"))
			run.Questions = questions
			run.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) {
				time.Sleep(10 * time.Minute)
				return core.DebugFinished{}, nil
			})
			if res := run.ToEnd(t); res.Status != core.StatusCancelled || (res.Runtime < time.Minute) != (questions == shells{}) {
				t.Errorf("%+v", res)
			}
		})
	}
}

// Advice is recorded once, however often it is given, and without secrets for whoever answers.
func TestAdviceIsGivenOnce(t *testing.T) {
	var seen []core.Question
	advises := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{}, fmt.Errorf("the token is %s: %w", hidden, core.ErrDeferred)
	})
	advise := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{}, secretive{}
	})
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, advise, advise, looptest.Watched(&seen, advises))
	run.Mask = func(s string) string { return strings.ReplaceAll(s, hidden, "***") }
	run.ToEnd(t)
	if len(seen) != 1 || seen[0].Advice == nil || strings.Contains(seen[0].Advice.Text, hidden) || strings.Count(run.Story(), "advice.given") != 2 {
		t.Errorf("%+v: %s", seen, run.Story())
	}
}

// secretive advises with a secret.
type secretive struct{ advising }

func (secretive) Advice() core.Advice { return core.Advice{Text: "do not tell " + hidden} }

// An expert that cannot be run gives no guidance, and the run goes on.
func TestAnExpertThatCannotBeRun(t *testing.T) {
	for want, run := range map[string]experts{
		"nothing runs experts here": nil,
		"no such program": func(context.Context) (core.ExpertFinished, error) {
			return core.ExpertFinished{}, errors.New("no such program")
		},
	} {
		r := startExpert(t, looptest.Said(20), nil)
		if r.Experts = nil; run != nil {
			r.Experts = run
		}
		r.ToEnd(t)
		said := 0
		for _, e := range r.Kept.Events {
			if d, ok := e.Data.(core.ExpertFinished); ok && d.ExitCode != 0 && strings.Contains(d.Why, want) {
				said++
			}
		}
		if said != 1 {
			t.Errorf("%s: %s", want, r.Story())
		}
	}
}

// Why a question is deferred is told to whoever answers it later.
func TestTheReasonOfADeferralIsKept(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{{fmt.Errorf("not at night: %w", core.ErrDeferred), "not at night"}, {core.ErrDeferred, ""}} {
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}},
			core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) { return core.Answer{}, c.err }))
		res := run.ToEnd(t)
		said := ""
		if a := run.State().Question.Advice; a != nil {
			said = a.Text
		}
		if res.Status != core.StatusPaused || said != c.want {
			t.Errorf("%v: %s, %q", c.err, res.Status, said)
		}
	}
}
