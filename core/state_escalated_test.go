package core_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/looptest"
)

// escalates answers every question like when_stuck does, with the option.
func escalates(by, option string, n int) core.Responder {
	return core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{Option: option, Responder: by, Escalate: n}, nil
	})
}

// escalated returns which iterations another command worked in.
func escalated(s *looptest.Script) (numbers []int) {
	for _, it := range s.Seen {
		if it.Escalated {
			numbers = append(numbers, it.Number)
		}
	}
	return numbers
}

// Another command works once in a run, after a trip between two iterations, and only for
// when_stuck.
func TestAnotherCommandWorksOnce(t *testing.T) {
	same := []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}
	slow := []looptest.Play{{Outcome: core.OutcomeNotDone, Took: time.Hour}}
	for _, c := range []struct {
		name       string
		by, option string
		plays      []looptest.Play
		want       []int
		guard      core.GuardID
	}{
		{"once", core.RespondedByWhenStuck, "nothing", same, []int{4, 5}, core.LoopDetected},
		{"a program", core.RespondedByProgram, "nothing", same, nil, core.LoopDetected},
		{"skip", core.RespondedByWhenStuck, "skip", same, nil, core.LoopDetected},
		{"during an iteration", core.RespondedByWhenStuck, "continue", slow, nil, core.MaxRuntime},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				work := &looptest.Script{Steps: c.plays}
				run := looptest.Start(t, looptest.Defaults, work, escalates(c.by, c.option, 2))
				res := run.ToEnd(t)
				if got := escalated(work); !slices.Equal(got, c.want) || res.Guard != c.guard || (run.State().Escalated != nil) != (c.want != nil) {
					t.Errorf("escalated in %v, and the run ended by %s; want %v and %s", got, res.Guard, c.want, c.guard)
				}
			})
		})
	}
}

// It begins with no streak, of whatever kind.
func TestAnotherCommandBeginsEveryStreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := looptest.Defaults
		l.Loop, l.Errors = 2, 3
		run := looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeError, Same: 1}}}, escalates(core.RespondedByWhenStuck, "nothing", 3))
		if res := run.ToEnd(t); res.Iterations != 4 {
			t.Errorf("the run ended after iteration %d by %s", res.Iterations, res.Guard)
		}
	})
}

// An iteration of the other command that cannot be started gives the guards back what they had
// seen, whichever of its iterations it is, so that the trip is asked.
func TestAnotherCommandThatCannotBeStarted(t *testing.T) {
	for failing, c := range map[int]struct {
		cause core.Cause
		says  string
	}{
		4: {core.CauseStartFailed, "; the command of when_stuck could not be started"},
		5: {core.CauseExited, "; the command of when_stuck ended with exit code 127"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var seen []int
			work := looptest.Works(func(_ context.Context, it core.Iteration) core.IterationFinished {
				d := core.IterationFinished{Outcome: core.OutcomeNotDone, ExitCode: 1, Signature: core.CauseSignature(core.CauseUnfinished)}
				if it.Number == failing {
					d.Outcome, d.Cause, d.ExitCode, d.Signature = core.OutcomeError, c.cause, core.ExitNotFound, core.CauseSignature(core.CauseStartFailed)
				}
				if it.Escalated {
					seen = append(seen, it.Number)
				}
				return d
			})
			run := looptest.Start(t, looptest.Defaults, work, escalates(core.RespondedByWhenStuck, "nothing", 3))
			res := run.ToEnd(t)
			s := run.State()
			if res.Iterations != failing || res.Guard != core.LoopDetected || len(seen) != failing-3 || !strings.HasSuffix(s.LastTrip.Reason, c.says) {
				t.Fatalf("with iteration %d, the run ended after %d by %s (%s), escalated in %v", failing, res.Iterations, res.Guard, s.LastTrip.Reason, seen)
			}
			if issues := s.WindowIssues(*s.LastTrip); len(issues) != 1 || issues[0].Hash != core.CauseSignature(core.CauseUnfinished).Hash {
				t.Errorf("the trip is about %v", issues)
			}
		})
	}
}

// After that the run's own command works again.
func TestAnotherCommandThatCannotBeStartedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []int
		work := looptest.Works(func(_ context.Context, it core.Iteration) core.IterationFinished {
			d := core.IterationFinished{Outcome: core.OutcomeNotDone, ExitCode: 1, Signature: core.CauseSignature(core.CauseUnfinished)}
			if it.Escalated {
				seen = append(seen, it.Number)
				d.ExitCode = core.ExitNotFound
			}
			return d
		})
		run := looptest.Start(t, looptest.Defaults, work, escalates(core.RespondedByWhenStuck, "nothing", 3), looptest.Says("nothing"))
		if res := run.ToEnd(t); res.Iterations != 7 || !slices.Equal(seen, []int{4}) {
			t.Errorf("the run ended after iteration %d, escalated in %v", res.Iterations, seen)
		}
	})
}

// While looprun dies in an iteration of the other command, it is run again by it.
func TestAnotherCommandGoesOnAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}
		run := looptest.Start(t, looptest.Defaults, work, escalates(core.RespondedByWhenStuck, "nothing", 2))
		run.ToEnd(t)
		at := slices.IndexFunc(run.Kept.Events, func(e core.Event) bool {
			d, ok := e.Data.(core.IterationStarted)
			return ok && d.Iteration == 5
		})
		s := looptest.Replay(t, run.Kept.Events[:at+1])
		d := core.Driver{State: s, Record: func(d core.Data) error { return s.Apply(core.Event{Seq: s.Seq + 1, Data: d}) }}
		if err := d.Record(core.RunResumed{}); err != nil {
			t.Fatal(err)
		}
		it, err := d.Begin(s.NextIteration(), true)
		if err != nil || it.Number != 5 || !it.Escalated || it.First {
			t.Errorf("got %+v (%v)", it, err)
		}
	})
}
