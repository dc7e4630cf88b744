package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

func TestADeadlineThatCameTooEarlyIsNoTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: 5 * time.Minute}}}
		run := looptest.Start(t, looptest.Defaults, r)
		run.Guards = append(run.Guards, early{})
		if res := run.ToEnd(t); res.Status != core.StatusDone || res.Trips != 0 || len(r.Seen) != 1 {
			t.Errorf("got %+v, %d iterations ran; want done in one without a trip", res, len(r.Seen))
		}
	})
}

// The time that passes between an event and the wait for the deadline counts.
func TestADeadlineIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := looptest.Defaults
		l.Runtime = 8 * time.Second
		run := looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: time.Hour}}})
		run.Observe = func(e core.Event, _ *core.State) {
			if _, ok := e.Data.(core.IterationStarted); ok {
				time.Sleep(4 * time.Second)
			}
		}
		if res := run.ToEnd(t); res.ExitCode != 124 || res.Runtime.Round(time.Second) != l.Runtime {
			t.Errorf("got %+v, want 124 after %s", res, l.Runtime)
		}
	})
}

// The elapsed time of a long iteration reaches the journal while it runs, and
// the trip in its middle says so.
func TestTheClockIsOnRecordWhileAnIterationRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: time.Hour}}})
		run.ToEnd(t)
		before := time.Duration(0)
		during := 0
		for _, e := range run.Kept.Events {
			if e.Elapsed-before > 11*time.Second {
				t.Fatalf("%s pass between two events", e.Elapsed-before)
			}
			before = e.Elapsed
			if d, ok := e.Data.(core.GuardTripped); ok && d.During {
				during++
			}
		}
		if during != 1 || run.Elapsed() < before {
			t.Errorf("%d trips are in the middle of an iteration, and %s have passed", during, run.Elapsed())
		}
	})
}

// When the journal fails in the middle of an iteration, the iteration has ended
// before the run has.
func TestAJournalThatFailsDuringAnIterationEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := false
		r := looptest.RunnerFunc(func(ctx context.Context, _ core.Iteration) (core.IterationResult, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			gone = true
			return core.IterationResult{}, nil
		})
		loop := &engine.Loop{Guards: guards.Default(), Runner: r, Journal: &looptest.BrokenJournal{Left: 2}}
		if err := loop.Start(core.RunStarted{Limits: looptest.Defaults}); err != nil {
			t.Fatal(err)
		}
		if res, err := loop.Run(t.Context()); err == nil || res.ExitCode != 125 || !gone {
			t.Errorf("got %+v, %v; the iteration has ended: %v", res, err, gone)
		}
	})
}

// A runner that cannot go on ends the run as failed, and that is on record.
func TestARunnerThatFailsEndsTheRun(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, looptest.RunnerFunc(func(context.Context, core.Iteration) (core.IterationResult, error) {
		return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}}, errors.New("the output cannot be kept")
	}))
	res, err := run.Run(t.Context())
	if err == nil || res.Status != core.StatusFailed || res.ExitCode != 125 {
		t.Errorf("got %+v, %v; want failed with 125", res, err)
	}
	if s := run.State(); !s.Ended || s.Ending.Status != core.StatusFailed || s.Ending.ExitCode != 125 {
		t.Errorf("on record is %+v", s.Ending)
	}
}

// So does one that fails as it is interrupted, or while somebody is asked whether it may go on.
func TestARunnerThatFailsAtItsEndEndsTheRun(t *testing.T) {
	for name, at := range map[string]time.Duration{"interrupted": time.Minute, "while somebody is asked": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), at)
			defer cancel()
			run := looptest.Start(t, looptest.Defaults, looptest.RunnerFunc(func(context.Context, core.Iteration) (core.IterationResult, error) {
				time.Sleep(20 * time.Minute) // and it cannot be suspended
				return core.IterationResult{}, errors.New("the output cannot be kept")
			}), core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
				time.Sleep(10 * time.Minute)
				return looptest.Chosen("cancel"), nil
			}))
			if res, err := run.Run(ctx); err == nil || res.Status != core.StatusFailed || res.ExitCode != 125 {
				t.Errorf("%s: got %+v, %v; want failed with 125", name, res, err)
			}
		})
	}
}

// The runner is told who interrupts: whoever ended the context, or a person at a question.
func TestARunnerIsToldWhoInterrupts(t *testing.T) {
	for _, code := range []int{143, 130} {
		var run *looptest.Run
		var told error
		ctx, cancel := context.WithCancelCause(t.Context())
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
			if code == 143 {
				cancel(&engine.Interrupt{Signal: "SIGTERM", Code: code})
			} else {
				_, _ = run.Ask(ctx, "key", looptest.Database())
			}
			<-ctx.Done()
			told = context.Cause(ctx)
		}), core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			return core.Answer{}, core.ErrInterrupted
		}))
		res, err := run.Run(ctx)
		if i, ok := errors.AsType[*engine.Interrupt](told); err != nil || res.ExitCode != code || !ok || i.Code != code {
			t.Errorf("%d: %+v, %v; it was told %v", code, res, err, told)
		}
		cancel(nil)
	}
}

// A start that is not followed by a run, or that fails, leaves no clock behind.
func TestAStartThatIsNotRunLeavesNothing(t *testing.T) {
	eventually.Ends(t)
	synctest.Test(t, func(t *testing.T) { // it fails, or hangs, when a goroutine is left
		l := &engine.Loop{Guards: guards.Default(), Runner: &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}}}
		for i, limits := range []core.Limits{{}, looptest.Defaults, looptest.Defaults} { // the third is of a run that has begun
			if err := l.Start(core.RunStarted{Limits: limits}); (err == nil) != (i == 1) {
				t.Errorf("%+v: %v", limits, err)
			}
		}
		if res, err := l.Run(t.Context()); err == nil {
			t.Errorf("it ran: %+v", res)
		}
	})
}

// silent makes no question.
type silent struct{}

func (silent) Question(*core.State, core.Trip) (core.Question, error) {
	return core.Question{}, errors.New("the template is broken")
}

// A trip about which no question can be made ends the run; it is not skipped.
func TestATripWithoutAQuestionEndsTheRun(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Says("continue"))
	run.Questions = silent{}
	if res, err := run.Run(t.Context()); err == nil || res.ExitCode != 125 || res.Iterations != 3 {
		t.Errorf("broken: got %+v, %v; want failed with 125 after 3", res, err)
	}
	run = looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Says("continue"))
	run.Questions = nil
	run.Journal = &looptest.BrokenJournal{Left: 100}
	if res, err := run.Run(t.Context()); err != nil || res.ExitCode != 111 || res.Iterations != 3 {
		t.Errorf("none: got %+v, %v; want 111 after 3", res, err)
	}
}

// A person who was asked and gave no answer lets nothing go on.
func TestNoAnswerIsNeverToGoOn(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Says())
	run.Journal = &looptest.BrokenJournal{Left: 100}
	res, err := run.Run(t.Context())
	if err != nil || res.ExitCode != 111 || res.Iterations != 3 {
		t.Errorf("got %+v, %v; want 111 after 3", res, err)
	}
}

// syncedJournal knows which events would survive a power loss.
type syncedJournal struct {
	core.MemoryJournal
	synced map[core.EventType]bool
	fail   error
}

func (j *syncedJournal) Sync() error {
	j.synced[j.Events[len(j.Events)-1].Data.Type()] = true
	return j.fail
}

// Questions, answers, what they do and how the run ends survive a power loss
// before anything follows from them.
func TestDecisionsAreSynced(t *testing.T) {
	for _, c := range []struct {
		option string
		want   []core.EventType
	}{
		{"accept", []core.EventType{core.TypeQuestionAsked, core.TypeQuestionAnswered, core.TypeActionApplied, core.TypeRunFinished}},
		{"pause", []core.EventType{core.TypeRunPaused}},
		{"nonsense", []core.EventType{core.TypeQuestionClosed}},
	} {
		journal := &syncedJournal{synced: map[core.EventType]bool{}}
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Says(c.option))
		run.Journal = journal
		if _, err := run.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, typ := range c.want {
			if !journal.synced[typ] {
				t.Errorf("%s: %s was not synced", c.option, typ)
			}
		}
	}
}

func TestAJournalThatCannotBeSyncedEndsTheRun(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Says("continue"))
	run.Journal = &syncedJournal{synced: map[core.EventType]bool{}, fail: errors.New("input/output error")}
	if res, err := run.Run(t.Context()); err == nil || res.ExitCode != 125 || res.Iterations != 3 {
		t.Errorf("got %+v, %v; want failed with 125 before anybody is asked", res, err)
	}
}

// Nobody is told of an event that could not be written.
func TestAnEventIsSeenOnlyOnceItIsWritten(t *testing.T) {
	told := 0
	loop := &engine.Loop{
		Guards: guards.Default(), Runner: &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, Journal: &looptest.BrokenJournal{Left: 2},
		Observe: func(core.Event, *core.State) { told++ },
	}
	if err := loop.Start(core.RunStarted{Limits: looptest.Defaults}); err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Run(t.Context()); err == nil || told != 2 {
		t.Errorf("told of %d events, %v; want 2 and an error", told, err)
	}
}

// An answer that is none is kept in the record, with who gave it.
func TestAnInvalidAnswerIsOnRecord(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Says(), looptest.Rule("go-on"))
	run.ToEnd(t)
	var invalid []core.AnswerInvalid
	for _, e := range run.Kept.Events {
		if d, ok := e.Data.(core.AnswerInvalid); ok {
			invalid = append(invalid, d)
		}
	}
	if len(invalid) != 1 || invalid[0].Responder != core.RespondedByPolicy || !strings.Contains(invalid[0].Reason, "go-on") {
		t.Errorf("on record are %+v, want the policy's go-on", invalid)
	}
}

// A later iteration is supervised as the first is: what the command asks in it is heard at
// once.
func TestALaterIterationIsSupervised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var run *looptest.Run
		var heard time.Duration
		r := looptest.RunnerFunc(func(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
			if it.Number == 1 {
				time.Sleep(4 * time.Millisecond)
				return core.IterationResult{IterationFinished: core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone, ExitCode: 1}}, nil
			}
			asked, err := run.Ask(ctx, "key", looptest.Database())
			if err != nil || asked.Answer == nil {
				t.Errorf("got %+v, %v", asked, err)
			}
			heard = time.Since(began)
			return core.IterationResult{IterationFinished: core.IterationFinished{Iteration: it.Number, Outcome: core.OutcomeDone}}, nil
		})
		run = looptest.Start(t, looptest.Defaults, r, core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			return looptest.Chosen("my"), nil
		}))
		if res := run.ToEnd(t); res.Status != core.StatusDone || heard != 4*time.Millisecond {
			t.Errorf("got %+v, heard after %s, want 4ms", res, heard)
		}
	})
}

// A deadline that is near is not late.
func TestANearDeadlineIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := looptest.Defaults
		l.Runtime = time.Millisecond
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: time.Hour}}}
		if res := looptest.Start(t, l, r).ToEnd(t); res.ExitCode != 124 || res.Runtime >= 5*time.Millisecond {
			t.Errorf("got %+v, want 124 before 5ms", res)
		}
	})
}

func TestTheHeaderOfAnEventIsJSON(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 30, 0, 123456789, time.FixedZone("", 5400))
	for _, e := range []core.Event{
		{Seq: 1, Time: at, Elapsed: 1500 * time.Millisecond, Data: core.RunAlive{}},
		{Seq: 1 << 60, Time: at.UTC().Truncate(time.Second), Data: core.IterationStarted{Iteration: 7}},
	} {
		b, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(struct {
			Seq       int64          `json:"seq"`
			Time      time.Time      `json:"time"`
			Type      core.EventType `json:"type"`
			ElapsedMS int64          `json:"elapsed_ms"`
		}{e.Seq, e.Time, e.Data.Type(), e.Elapsed.Milliseconds()})
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(b) || !bytes.HasPrefix(b, want[:len(want)-1]) {
			t.Errorf("got %s, want it to begin with %s", b, want)
		}
	}
	if _, err := (core.Event{Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), Data: core.RunAlive{}}).MarshalJSON(); err == nil {
		t.Error("a year of five digits is taken")
	}
}

// A runner that panics, at once or later, leaves nothing
// behind that goes on with the run: who recovers can resume it.
func TestARunnerThatPanics(t *testing.T) {
	for _, took := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) { // it fails when a goroutine is left
			run := looptest.Start(t, looptest.Defaults, looptest.RunnerFunc(func(context.Context, core.Iteration) (core.IterationResult, error) {
				time.Sleep(took)
				panic("the runner is broken")
			}))
			func() {
				defer func() {
					if p, ok := recover().(*engine.Panic); !ok || p.Value != "the runner is broken" {
						t.Errorf("after %s: recovered %v", took, p)
					}
				}()
				_, _ = run.Run(t.Context())
			}()
			events := len(run.Kept.Events)
			time.Sleep(time.Hour)
			if len(run.Kept.Events) != events || run.State().Ended {
				t.Errorf("after %s: %d events, and later %d", took, events, len(run.Kept.Events))
			}
			run.Runner = &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}}
			if err := run.Resume(*run.State(), core.RunResumed{}); err != nil {
				t.Fatal(err)
			}
			if res := run.ToEnd(t); res.Status != core.StatusDone {
				t.Errorf("after %s: resumed, it ended as %+v", took, res)
			}
		})
	}
}

// In a loop whose iterations are all short, everybody who speaks to it is heard while one
// runs.
func TestShortIterationsAreHeard(t *testing.T) {
	for _, c := range []struct {
		name  string
		speak func(*looptest.Run) error
		ok    func(error) bool
	}{
		{"tell", func(run *looptest.Run) error {
			return run.Tell(context.Background(), core.CostReported{USD: 1})
		}, func(err error) bool { return err == nil }},
		{"ask", func(run *looptest.Run) error {
			_, err := run.Ask(context.Background(), "key", looptest.Database())
			return err
		}, func(err error) bool { return err == nil }},
		{"answer", func(run *looptest.Run) error {
			return run.Answer(context.Background(), "loop_detected-9", looptest.Chosen("accept"))
		}, func(err error) bool {
			return err != nil && err.Error() == `no question "loop_detected-9" waits for an answer`
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard, iteration := false, 0
				r := looptest.RunnerFunc(func(_ context.Context, it core.Iteration) (core.IterationResult, error) {
					time.Sleep(time.Millisecond)
					synctest.Wait() // who speaks has spoken, who was heard knows
					if heard && iteration == 0 {
						iteration = it.Number
					}
					if it.Number == 5 {
						return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}}, nil
					}
					return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone}}, nil
				})
				run := looptest.Start(t, looptest.Defaults, r, core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
					return looptest.Chosen("my"), nil
				}))
				told := make(chan error, 1)
				go func() {
					told <- c.speak(run)
					heard = true
				}()
				if res := run.ToEnd(t); res.Status != core.StatusDone || iteration != 1 {
					t.Errorf("it was heard in iteration %d, want 1: %+v", iteration, res)
				}
				if err := <-told; !c.ok(err) {
					t.Errorf("it was told %v", err)
				}
			})
		})
	}
}
