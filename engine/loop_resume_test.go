package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/signature"
)

// A question that still stands is asked again on resume; one that a new limit
// has settled is withdrawn, and the run goes on.
func TestResumeAsksAgainUnlessTheLimitWasRaised(t *testing.T) {
	more := looptest.Defaults
	more.Iterations = 12
	for _, c := range []struct {
		name   string
		event  core.RunResumed
		asked  int
		status core.Status
		after  int
	}{
		{"as it was", core.RunResumed{}, 1, core.StatusTripped, 10},
		{"a higher limit", core.RunResumed{Limits: &more, Caps: &core.Caps{}}, 0, core.StatusDone, 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
				return core.Answer{}, core.ErrDeferred
			}))
			run.ToEnd(t)
			var asked []core.Question
			again := &engine.Loop{
				Guards: guards.Default(), Questions: looptest.Asks{}, Responders: []core.Responder{looptest.Watched(&asked, looptest.Says())},
				Runner: &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}},
			}
			if err := again.Resume(*run.State(), c.event); err != nil {
				t.Fatal(err)
			}
			res, err := again.Run(t.Context())
			if err != nil || res.Status != c.status || res.Iterations != c.after || len(asked) != c.asked {
				t.Errorf("got %+v, %v after %d questions; want %s after %d", res, err, len(asked), c.status, c.asked)
			}
		})
	}
}

// The time that had elapsed before a restart counts.
func TestResumeKeepsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := looptest.Folded(t, looptest.Begun)
		s.Elapsed = 14 * time.Minute
		loop := &engine.Loop{Guards: guards.Default(), Runner: &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: 5 * time.Minute}}}}
		if err := loop.Resume(*s, core.RunResumed{}); err != nil {
			t.Fatal(err)
		}
		if res, err := loop.Run(t.Context()); err != nil || res.ExitCode != 124 || res.Runtime.Round(time.Minute) != 15*time.Minute {
			t.Errorf("got %+v, %v; want 124 after 15 minutes in all", res, err)
		}
	})
}

// Crashes in different iterations do not add up.
func TestCrashesCountForTheirOwnIteration(t *testing.T) {
	s := looptest.Folded(t, looptest.Begun, looptest.First, core.RunResumed{}, looptest.First, core.RunResumed{}, looptest.First, looptest.Ended1,
		core.IterationStarted{Iteration: 2})
	r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}}
	loop := &engine.Loop{Guards: guards.Default(), Runner: r}
	if err := loop.Resume(*s, core.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	if res, err := loop.Run(t.Context()); err != nil || res.Status != core.StatusDone || res.Iterations != 2 || len(r.Seen) != 1 {
		t.Errorf("got %+v, %v; want done in iteration 2", res, err)
	}
}

// A delay ends when max_runtime passes in it, and no iteration begins after.
func TestADelayEndsWithMaxRuntime(t *testing.T) {
	eventually.Ends(t)
	synctest.Test(t, func(t *testing.T) {
		for _, base := range []time.Duration{15 * time.Minute, 15*time.Minute + 5*time.Second, time.Hour} {
			r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}
			run := looptest.Start(t, looptest.Defaults, r)
			run.Backoff = engine.Backoff{Base: base}
			if res := run.ToEnd(t); res.ExitCode != 124 || len(r.Seen) != 1 || res.Runtime.Round(time.Second) != 15*time.Minute {
				t.Errorf("a delay of %s: got %+v after %d iterations, want 124 after one and 15 minutes", base, res, len(r.Seen))
			}
		}
	})
}

func TestAnInterruptInADelayBeginsNoIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}
		run := looptest.Start(t, looptest.Defaults, r)
		run.Backoff = engine.Backoff{Base: 5 * time.Minute}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(&engine.Interrupt{Signal: "SIGTERM", Code: 143}) })
		res, err := run.Run(ctx)
		if err != nil || res.ExitCode != 143 || len(r.Seen) != 1 || res.Runtime.Round(time.Second) != time.Minute {
			t.Errorf("got %+v, %v after %d iterations; want 143 after one and a minute", res, err, len(r.Seen))
		}
	})
}

// A pause that is ordered in a delay does not wait for its end.
func TestAPauseEndsTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}})
		run.Backoff = engine.Backoff{Base: 10 * time.Minute}
		time.AfterFunc(time.Minute, func() {
			if err := run.Order(t.Context(), core.OrderReceived{Order: core.OrderPause}); err != nil {
				t.Error(err)
			}
		})
		if res := run.ToEnd(t); res.Status != core.StatusPaused || res.Iterations != 1 || res.Runtime.Round(time.Second) != time.Minute {
			t.Errorf("%+v", res)
		}
	})
}

// The delays begin anew with an answer that continues: behind it, too, one passes. They
// are a minute, two, and a minute again, each a quarter longer or shorter; the third in
// a row would be four.
func TestAnAnswerStartsTheDelaysOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := looptest.Defaults
		l.Iterations = 3
		failed := looptest.Play{Outcome: core.OutcomeNotDone}
		run := looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{failed, failed, failed, {Outcome: core.OutcomeDone}}}, looptest.Says("continue"))
		run.Backoff = engine.Backoff{Base: time.Minute, Exponential: true}
		if res := run.ToEnd(t); res.Status != core.StatusDone || res.Runtime < 3*time.Minute || res.Runtime > 5*time.Minute+time.Second {
			t.Errorf("got %+v, want 3 to 5 minutes", res)
		}
	})
}

// An event that is refused is not in the journal either.
func TestARunThatIsDoneIsNotTouched(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}})
	run.ToEnd(t)
	r, journal := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}}, &core.MemoryJournal{}
	again := &engine.Loop{Guards: guards.Default(), Runner: r, Journal: journal}
	if err := again.Resume(*run.State(), core.RunResumed{}); !errors.Is(err, core.ErrEvent) {
		t.Errorf("got %v, want ErrEvent", err)
	}
	if len(journal.Events) != 0 || len(r.Seen) != 0 {
		t.Errorf("%d events were written and %d iterations ran", len(journal.Events), len(r.Seen))
	}
}

// The same rule may give its answer again when the guard trips anew.
func TestARuleMayAnswerTheNextTrip(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Rule("continue"))
	if res := run.ToEnd(t); res.ExitCode != 110 && res.Iterations < 9 {
		t.Errorf("got %+v after %d answers", res, run.State().Continues)
	}
	if n := run.State().Continues; n < 3 {
		t.Errorf("it continued %d times", n)
	}
}

// Every limit has to be stated or be off, and a threshold of 1 is none.
func TestEveryLimitIsNeeded(t *testing.T) {
	for name, change := range map[string]func(*core.Limits, int){
		"iterations": func(l *core.Limits, n int) { l.Iterations = n },
		"runtime":    func(l *core.Limits, n int) { l.Runtime = time.Duration(n) },
		"loop":       func(l *core.Limits, n int) { l.Loop = n },
		"errors":     func(l *core.Limits, n int) { l.Errors = n },
	} {
		l := looptest.Defaults
		if change(&l, 0); !errors.Is(l.Validate(), core.ErrNoGuards) {
			t.Errorf("%s 0: %v, want ErrNoGuards", name, l.Validate())
		}
		if change(&l, -2); l.Validate() == nil {
			t.Errorf("%s -2 is taken", name)
		}
		if change(&l, core.Off); l.Validate() != nil {
			t.Errorf("%s off: %v", name, l.Validate())
		}
	}
	l := looptest.Defaults
	if l.Loop = 1; l.Validate() == nil {
		t.Error("a loop threshold of 1 is taken")
	}
}

// Skipped issues that come back are asked about by the guard that was told to
// skip them, at its own limit, and by no other.
func TestSkippedIssuesComeBackToTheGuardThatSkippedThem(t *testing.T) {
	wrong := func(same int) looptest.Play { return looptest.Play{Outcome: core.OutcomeError, Same: same} }
	for _, c := range []struct {
		name         string
		steps        []looptest.Play
		loop, errors int
		guard        core.GuardID
		after        int
	}{
		{"errors", []looptest.Play{wrong(1), wrong(2), wrong(3), wrong(4), wrong(1), wrong(2), wrong(3), wrong(4)}, 3, 4, core.ConsecutiveErrors, 8},
		{"a loop", []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 7}}, 3, 2, core.LoopDetected, 6},
	} {
		l := looptest.Defaults
		l.Loop, l.Errors = c.loop, c.errors
		if res := looptest.Start(t, l, &looptest.Script{Steps: c.steps}, looptest.Says("skip")).ToEnd(t); res.Guard != c.guard || res.Iterations != c.after || res.Trips != 2 {
			t.Errorf("%s: got %+v, want the second trip by %s after %d", c.name, res, c.guard, c.after)
		}
	}
}

// With loose matching two failures that differ in numbers only are the same.
func TestLooseMatchingComparesWithoutNumbers(t *testing.T) {
	n := 0
	counting := looptest.RunnerFunc(func(context.Context, core.Iteration) (core.IterationResult, error) {
		n++
		d := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone}}
		d.Signature.Hash, d.Signature.Loose = signature.Hash(n), 9
		return d, nil
	})
	for loose, want := range map[bool]core.GuardID{true: core.LoopDetected, false: core.MaxIterations} {
		loop := &engine.Loop{Guards: guards.Default(), Runner: counting}
		if err := loop.Start(core.RunStarted{Limits: looptest.Defaults, Loose: loose}); err != nil {
			t.Fatal(err)
		}
		if res, err := loop.Run(t.Context()); err != nil || res.Guard != want {
			t.Errorf("loose %v: got %+v, %v; want %s", loose, res, err, want)
		}
	}
}

// What was decided before a crash stands: a run that is done does no more work,
// one that was cancelled or accepted does not go on.
func TestAnEndingBeforeACrashStands(t *testing.T) {
	asked := core.Question{ID: "q", Options: []core.Option{{ID: "cancel", Action: core.ActionCancel}, {ID: "accept", Action: core.ActionAccept}, {ID: "pause", Action: core.ActionPause}}}
	trip := core.GuardTripped{Trip: core.Trip{Guard: core.MaxIterations, Iteration: 1, Reason: "enough"}}
	decided := func(id string, action core.Action) []core.Data {
		return []core.Data{
			core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone},
			trip,
			core.QuestionAsked{Question: asked},
			core.QuestionAnswered{QuestionID: "q", Answer: core.Answer{Option: id, Person: true}},
			core.ActionApplied{Option: id, Action: action, Guard: core.MaxIterations, Limits: looptest.Defaults},
		}
	}
	for _, c := range []struct {
		name string
		data []core.Data
		want core.Status // empty: it goes on
	}{
		{"done", []core.Data{core.IterationFinished{Iteration: 1, Outcome: core.OutcomeDone}}, core.StatusDone},
		{"done, and its record failed", []core.Data{
			core.IterationFinished{Iteration: 1, Outcome: core.OutcomeDone},
			core.RunFinished{Ending: core.Ending{Status: core.StatusFailed, ExitCode: 125}},
		}, core.StatusDone},
		{"cancelled", decided("cancel", core.ActionCancel), core.StatusCancelled},
		{"accepted", decided("accept", core.ActionAccept), core.StatusAccepted},
		{"paused", decided("pause", core.ActionPause), ""},
		{"interrupted", []core.Data{core.InterruptReceived{Signal: "SIGINT", Code: 130}, core.IterationFinished{Iteration: 1, Outcome: core.OutcomeInterrupted}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := new(core.State)
			for _, d := range append([]core.Data{core.RunStarted{RunID: "test", Limits: looptest.Defaults}, core.IterationStarted{Iteration: 1}}, append(c.data, core.RunResumed{})...) {
				if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
					t.Fatal(err)
				}
			}
			next, _ := s.Next(nil)
			if c.want == "" && (s.Ending != nil || next == core.NextFinish) || c.want != "" && (next != core.NextFinish || s.Ending.Status != c.want) {
				t.Errorf("next is %s with %+v", next, s.Ending)
			}
		})
	}
}

// What is said to a run while an iteration runs reaches the next one that runs, once:
// behind an iteration that ended of itself, or the same again.
func TestGuidanceWhileAnIterationRunsReachesTheNext(t *testing.T) {
	during := core.GuardTripped{Trip: core.Trip{Guard: core.MaxRuntime, Iteration: 1, During: true}}
	told := looptest.Applied
	told.Guard, told.Guidance = core.MaxRuntime, "use the fake clock"
	said := []core.Data{looptest.Begun, looptest.First, during, looptest.Question, looptest.Answered, told}
	crash := []core.Data{core.RunResumed{}}
	dies := slices.Concat(crash, []core.Data{looptest.First}, crash, []core.Data{looptest.First}, crash)
	lost := core.IterationFinished{Iteration: 1, Outcome: core.OutcomeError, Cause: core.CauseCrash}
	for _, c := range []struct {
		name string
		then []core.Data
		used core.IterationFinished // ends the iteration that had it
	}{
		{"the iteration ends", []core.Data{looptest.Ended1}, core.IterationFinished{Iteration: 2, Outcome: core.OutcomeNotDone}},
		{"it is cut off", []core.Data{core.IterationFinished{Iteration: 1, Outcome: core.OutcomeError, Cause: core.CauseMaxRuntime}}, looptest.Ended1},
		{"it waits", []core.Data{core.IterationFinished{Iteration: 1, Outcome: core.OutcomeWaiting}}, looptest.Ended1},
		{"looprun dies", crash, looptest.Ended1},
		{"looprun fails", []core.Data{looptest.Finished(core.StatusFailed), core.RunResumed{}}, looptest.Ended1},
		{"looprun dies three times", append(dies, looptest.First, lost), core.IterationFinished{Iteration: 2, Outcome: core.OutcomeNotDone}},
	} {
		events := slices.Concat(said, c.then)
		if s := looptest.Folded(t, events...); s.Guidance != told.Guidance {
			t.Errorf("%s: the next iteration is told %q", c.name, s.Guidance)
		}
		events = append(events, core.IterationStarted{Iteration: c.used.Iteration}, c.used)
		if s := looptest.Folded(t, events...); s.Guidance != "" {
			t.Errorf("%s: the one after it is told %q again", c.name, s.Guidance)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Took: 16 * time.Minute}, {Outcome: core.OutcomeNotDone}, {Outcome: core.OutcomeDone}}}
		looptest.Start(t, looptest.Defaults, r, looptest.Says("continue")).ToEnd(t)
		for i, want := range []string{"", "go on", "go on"} {
			if r.Seen[i].Guidance != want {
				t.Errorf("iteration %d was told %q, want %q", i+1, r.Seen[i].Guidance, want)
			}
		}
	})
}

// A question about an iteration that looprun died in for the third time is asked, or
// its answer carried out, before that counts.
func TestTheThirdCrashAtAQuestion(t *testing.T) {
	trip := core.GuardTripped{Trip: core.Trip{Guard: core.MaxRuntime, Iteration: 1, During: true}}
	q := core.QuestionAsked{}
	q.Question, _ = looptest.Asks{}.Question(nil, trip.Trip)
	q.ID = "q"
	died := []core.Data{looptest.Begun, looptest.First, core.RunResumed{}, looptest.First, core.RunResumed{}, looptest.First, trip, q}
	answer := func(option string) core.QuestionAnswered {
		return core.QuestionAnswered{QuestionID: "q", Answer: core.Answer{Option: option, Responder: core.RespondedByUser, Person: true}}
	}
	stop := core.ActionApplied{Option: "cancel", Action: core.ActionCancel, Guard: core.MaxRuntime, Limits: looptest.Defaults}
	more := looptest.Defaults
	more.Runtime = time.Hour
	for _, c := range []struct {
		name  string
		then  []core.Data
		event core.RunResumed
		want  core.Status
		ran   int // iterations that were run, behind the one that counts as an error
	}{
		{"it is asked", nil, core.RunResumed{}, core.StatusDone, 1},
		{"the limit was raised", nil, core.RunResumed{Limits: &more}, core.StatusDone, 1},
		{"it was answered", []core.Data{answer("continue")}, core.RunResumed{}, core.StatusDone, 1},
		{"it was answered to end", []core.Data{answer("cancel")}, core.RunResumed{}, core.StatusCancelled, 0},
		{"it was to end", []core.Data{answer("cancel"), stop}, core.RunResumed{}, core.StatusCancelled, 0},
	} {
		s := looptest.Folded(t, slices.Concat(died, c.then)...)
		s.Elapsed = 16 * time.Minute
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}}
		again := &engine.Loop{Guards: guards.Default(), Questions: looptest.Asks{}, Runner: r, Responders: []core.Responder{looptest.Says("continue", "continue")}}
		if err := again.Resume(*s, c.event); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if res, err := again.Run(t.Context()); err != nil || res.Status != c.want || len(r.Seen) != c.ran || c.ran == 1 && r.Seen[0].Number != 2 {
			t.Errorf("%s: %+v, %v after %d iterations", c.name, res.Ending, err, len(r.Seen))
		}
	}
}

// An answer that was recorded while the run rested is carried out, or its question is
// asked again where it cannot be: it is never dropped, and no dead end.
func TestAnAnswerThatWasRecordedAtRest(t *testing.T) {
	defers := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{}, core.ErrDeferred
	})
	more := looptest.Defaults
	more.Iterations = 12
	for _, c := range []struct {
		option string
		event  core.RunResumed
		asked  int
		want   core.Status
		after  int
	}{
		{"cancel", core.RunResumed{}, 0, core.StatusCancelled, 10},
		{"cancel", core.RunResumed{Limits: &more}, 0, core.StatusCancelled, 10},
		{"accept", core.RunResumed{Limits: &more}, 0, core.StatusAccepted, 10},
		{"continue", core.RunResumed{}, 0, core.StatusDone, 11},
		{"continue", core.RunResumed{Limits: &more}, 0, core.StatusDone, 11},
		{"continue", core.RunResumed{Caps: &core.Caps{Iterations: 10}}, 1, core.StatusPaused, 10},
		{"debug", core.RunResumed{}, 1, core.StatusPaused, 10},
		{"debug", core.RunResumed{Limits: &more}, 1, core.StatusPaused, 10},
	} {
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}}, defers)
		run.ToEnd(t)
		s := *run.State()
		if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: core.QuestionAnswered{QuestionID: s.Question.ID, Answer: core.Answer{Option: c.option, Responder: core.RespondedByUser, Person: true}}}); err != nil {
			t.Fatal(err)
		}
		var asked []core.Question
		resume := func(s core.State, d core.RunResumed, ends core.Outcome) (core.Result, *core.State) {
			again := &engine.Loop{Guards: guards.Default(), Questions: looptest.Asks{}, Runner: &looptest.Script{Steps: []looptest.Play{{Outcome: ends}}}, Responders: []core.Responder{looptest.Watched(&asked, defers)}}
			if err := again.Resume(s, d); err != nil {
				t.Fatal(err)
			}
			res, err := again.Run(t.Context())
			if err != nil {
				t.Errorf("%s: %v", c.option, err)
			}
			return res, again.State()
		}
		res, st := resume(s, c.event, core.OutcomeDone)
		if res.Status != c.want || res.Iterations != c.after || len(asked) != c.asked {
			t.Errorf("%s: got %+v after %d questions", c.option, res, len(asked))
		}
		if c.asked == 0 {
			continue
		}
		if _, ok := asked[0].Option(c.option); ok && c.option == "continue" {
			t.Errorf("%s: it is offered again", c.option)
		}
		if err := st.Apply(core.Event{Seq: st.Seq + 1, Data: core.QuestionAnswered{QuestionID: asked[0].ID, Answer: core.Answer{Option: "cancel", Responder: core.RespondedByUser, Person: true}}}); err != nil {
			t.Errorf("%s: %v", c.option, err)
		} else if res, _ := resume(*st, core.RunResumed{}, core.OutcomeDone); res.Status != core.StatusCancelled {
			t.Errorf("%s, then cancel: got %+v", c.option, res)
		}
	}
}
