package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
)

// A debug command that fails, or cannot be run, lets nothing go on: the
// question comes again, with what it found.
func TestDebugThatFailsAsksAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		end  core.DebugFinished
		err  error
		want string
	}{
		{"it fails", core.DebugFinished{ExitCode: 1, Findings: "the disk is full"}, nil, "the disk is full"},
		{"it cannot be run", core.DebugFinished{}, errors.New("no shell"), "no shell"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []core.Question
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Watched(&asked, looptest.Says("debug")))
			run.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) { return c.end, c.err })
			res := run.ToEnd(t)
			if res.ExitCode != 111 || res.Iterations != 3 || run.State().Continues != 0 || len(asked) != 2 {
				t.Fatalf("got %+v after %d questions, want 111 after 2", res, len(asked))
			}
			if !strings.Contains(strings.Join(asked[1].Details, "\n"), c.want) {
				t.Errorf("the second question does not have the findings: %q", asked[1].Details)
			}
		})
	}
}

// commanded asks with an option that runs a command of its own.
type commanded struct{}

func (commanded) Question(*core.State, core.Trip) (core.Question, error) {
	return core.Question{Options: []core.Option{{ID: "look", Action: core.ActionRun, Command: "git log"}}}, nil
}

// An option that runs a command decides nothing: the question comes again.
func TestAnOptionThatRunsACommandAsksAgain(t *testing.T) {
	var asked []core.Question
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Watched(&asked, looptest.Says("look")))
	run.Questions = commanded{}
	run.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) { return core.DebugFinished{}, nil })
	run.Journal = &looptest.BrokenJournal{Left: 100}
	if res, err := run.Run(t.Context()); err != nil || res.ExitCode != 111 || run.State().Continues != 0 || len(asked) != 2 {
		t.Errorf("got %+v, %v after %d questions; want 111 after 2", res, err, len(asked))
	}
}

// An interrupt while the answer is carried out leaves the question open, as
// though it had not been answered.
func TestAnInterruptDuringDebugKeepsTheQuestion(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Rule("debug"))
	ctx, cancel := context.WithCancelCause(t.Context())
	run.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) {
		cancel(&engine.Interrupt{Signal: "SIGTERM", Code: 143})
		return core.DebugFinished{}, nil
	})
	res, err := run.Run(ctx)
	if err != nil || res.ExitCode != 143 || !res.Pending {
		t.Errorf("got %+v, %v; want 143 with the question pending", res, err)
	}
	if s := run.State(); s.Answer != nil || len(s.Given) != 0 || s.Continues != 0 {
		t.Errorf("answer %+v, given %+v: it counts as answered", s.Answer, s.Given)
	}
}

// What a person chose in the moment a signal came is not carried out.
func TestAnInterruptBeatsTheAnswer(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	late := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		cancel(&engine.Interrupt{Signal: "SIGTERM", Code: 143})
		return core.Answer{Option: "continue", Responder: core.RespondedByUser, Person: true}, nil
	})
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, late)
	if res, err := run.Run(ctx); err != nil || res.ExitCode != 143 || !res.Pending || run.State().Continues != 0 {
		t.Errorf("got %+v, %v; want 143 with the question pending", res, err)
	}
}

// Ctrl-C at the question that max_runtime put in the middle of an iteration
// ends the iteration, and asks no second time.
func TestAnInterruptAtTheQuestionOfARunningIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		ctrlC := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			if asked++; asked > 1 {
				return core.Answer{}, core.ErrNoAnswer
			}
			return core.Answer{}, core.ErrInterrupted
		})
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: time.Hour}}}, ctrlC)
		if res := run.ToEnd(t); res.ExitCode != 130 || !res.Pending || asked != 1 || res.Iterations != 0 {
			t.Errorf("got %+v after %d questions, want 130 after one, pending", res, asked)
		}
	})
}

// A run that was interrupted before it began runs nothing.
func TestNothingRunsAfterAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&engine.Interrupt{Signal: "SIGTERM", Code: 143})
	r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}}
	if res, err := looptest.Start(t, looptest.Defaults, r).Run(ctx); err != nil || res.ExitCode != 143 || len(r.Seen) != 0 {
		t.Errorf("got %+v, %v after %d iterations; want 143 after none", res, err, len(r.Seen))
	}
}

// A responder that runs a command of its own ends the iteration that stands
// still: it runs again under its own number, and only the command's time counts.
func TestAVerifyEndsTheIterationThatStandsStill(t *testing.T) {
	eventually.Ends(t)
	synctest.Test(t, func(t *testing.T) {
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: 20 * time.Minute}, {Outcome: core.OutcomeDone, Took: time.Minute}}}
		run := looptest.Start(t, looptest.Defaults, r)
		run.Responders = []core.Responder{core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			run.BeforeVerify()
			time.Sleep(2 * time.Minute)
			if err := run.AfterVerify(core.VerifyFinished{Rule: "p.yaml:3", Command: "true"}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
			return core.Answer{Option: "continue", Responder: core.RespondedByPolicy}, nil
		})}
		res := run.ToEnd(t)
		if res.Status != core.StatusDone || res.Iterations != 1 || res.Runtime.Round(time.Minute) != 18*time.Minute {
			t.Errorf("got %+v, want done in iteration 1 after 18 minutes", res)
		}
		if len(r.Seen) != 2 || r.Seen[1].Number != 1 || r.Resumed != 0 {
			t.Errorf("iterations %+v ran, %d went on; want iteration 1 twice", r.Seen, r.Resumed)
		}
	})
}

// early is a deadline that comes before its guard trips, as when the machine
// was suspended meanwhile.
type early struct{}

func (early) ID() core.GuardID             { return "early" }
func (early) Check(*core.State) *core.Trip { return nil }
func (early) Remaining(s *core.State) (time.Duration, bool) {
	return 55*time.Second - s.Elapsed, s.Elapsed < 55*time.Second
}

// An answer that does not say whose it is is the program's: none is nobody's.
func TestAnAnswerIsSomebodys(t *testing.T) {
	r := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{Option: "accept"}, nil
	})
	l := looptest.Defaults
	l.Iterations = 1
	run := looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, r)
	if res := run.ToEnd(t); res.Status != core.StatusAccepted || res.Responder != core.RespondedByProgram {
		t.Errorf("%+v", res)
	}
}

// The time for which a question waits is no time of the iteration that it was asked in.
func TestAWaitingQuestionIsNoTimeOfTheIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var run *looptest.Run
		run = looptest.Start(t, looptest.Defaults, looptest.Works(func(ctx context.Context, it core.Iteration) core.IterationFinished {
			began := time.Now()
			time.Sleep(4 * time.Second)
			if _, err := run.Ask(ctx, "key", looptest.Database()); err != nil {
				t.Error(err)
			}
			return core.IterationFinished{Outcome: core.OutcomeDone, DurationMS: time.Since(began).Milliseconds()}
		}), core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			time.Sleep(22 * time.Minute)
			return looptest.Chosen("pg"), nil
		}))
		run.ToEnd(t)
		if got := run.State().Last.DurationMS; got != 4000 {
			t.Errorf("the iteration took %d ms, want 4000", got)
		}
	})
}
