package looprun_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/signature"
)

// A question that still stands is asked again on resume; one that a new limit
// has settled is withdrawn, and the run goes on.
func TestResumeAsksAgainUnlessTheLimitWasRaised(t *testing.T) {
	more := defaults
	more.Iterations = 12
	for _, c := range []struct {
		name   string
		event  looprun.RunResumed
		asked  int
		status looprun.Status
		after  int
	}{
		{"as it was", looprun.RunResumed{}, 1, looprun.StatusTripped, 10},
		{"a higher limit", looprun.RunResumed{Limits: &more, Caps: &looprun.Caps{}}, 0, looprun.StatusDone, 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone}}}, looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
				return looprun.Answer{}, looprun.ErrDeferred
			}))
			run.run(t)
			var asked []looprun.Question
			again := &looprun.Loop{
				Guards: guards.Default(), Questions: asks{}, Responders: []looprun.Responder{watched(&asked, says())},
				Runner: &script{steps: []play{{outcome: looprun.OutcomeDone}}},
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
		s := folded(t, begun)
		s.Elapsed = 14 * time.Minute
		loop := &looprun.Loop{Guards: guards.Default(), Runner: &script{steps: []play{{outcome: looprun.OutcomeDone, took: 5 * time.Minute}}}}
		if err := loop.Resume(*s, looprun.RunResumed{}); err != nil {
			t.Fatal(err)
		}
		if res, err := loop.Run(t.Context()); err != nil || res.ExitCode != 124 || res.Runtime.Round(time.Minute) != 15*time.Minute {
			t.Errorf("got %+v, %v; want 124 after 15 minutes in all", res, err)
		}
	})
}

// Crashes in different iterations do not add up.
func TestCrashesCountForTheirOwnIteration(t *testing.T) {
	s := folded(t, begun, first, looprun.RunResumed{}, first, looprun.RunResumed{}, first, ended1,
		looprun.IterationStarted{Iteration: 2})
	r := &script{steps: []play{{outcome: looprun.OutcomeDone}}}
	loop := &looprun.Loop{Guards: guards.Default(), Runner: r}
	if err := loop.Resume(*s, looprun.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	if res, err := loop.Run(t.Context()); err != nil || res.Status != looprun.StatusDone || res.Iterations != 2 || len(r.seen) != 1 {
		t.Errorf("got %+v, %v; want done in iteration 2", res, err)
	}
}

// A delay ends when max_runtime passes in it, and no iteration begins after.
func TestADelayEndsWithMaxRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, base := range []time.Duration{15 * time.Minute, 15*time.Minute + 5*time.Second, time.Hour} {
			r := &script{steps: []play{{outcome: looprun.OutcomeNotDone}}}
			run := start(t, defaults, r)
			run.Backoff = looprun.Backoff{Base: base}
			if res := run.run(t); res.ExitCode != 124 || len(r.seen) != 1 || res.Runtime.Round(time.Second) != 15*time.Minute {
				t.Errorf("a delay of %s: got %+v after %d iterations, want 124 after one and 15 minutes", base, res, len(r.seen))
			}
		}
	})
}

func TestAnInterruptInADelayBeginsNoIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &script{steps: []play{{outcome: looprun.OutcomeNotDone}}}
		run := start(t, defaults, r)
		run.Backoff = looprun.Backoff{Base: 5 * time.Minute}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(&looprun.Interrupt{Signal: "SIGTERM", Code: 143}) })
		res, err := run.Run(ctx)
		if err != nil || res.ExitCode != 143 || len(r.seen) != 1 || res.Runtime.Round(time.Second) != time.Minute {
			t.Errorf("got %+v, %v after %d iterations; want 143 after one and a minute", res, err, len(r.seen))
		}
	})
}

// The delays begin anew with an answer that continues: behind it, too, one passes. They
// are a minute, two, and a minute again, each a quarter longer or shorter; the third in
// a row would be four.
func TestAnAnswerStartsTheDelaysOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := defaults
		l.Iterations = 3
		failed := play{outcome: looprun.OutcomeNotDone}
		run := start(t, l, &script{steps: []play{failed, failed, failed, {outcome: looprun.OutcomeDone}}}, says("continue"))
		run.Backoff = looprun.Backoff{Base: time.Minute, Exponential: true}
		if res := run.run(t); res.Status != looprun.StatusDone || res.Runtime < 3*time.Minute || res.Runtime > 5*time.Minute+time.Second {
			t.Errorf("got %+v, want 3 to 5 minutes", res)
		}
	})
}

// An event that is refused is not in the journal either.
func TestARunThatIsDoneIsNotTouched(t *testing.T) {
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeDone}}})
	run.run(t)
	r, journal := &script{steps: []play{{outcome: looprun.OutcomeDone}}}, &looprun.MemoryJournal{}
	again := &looprun.Loop{Guards: guards.Default(), Runner: r, Journal: journal}
	if err := again.Resume(*run.State(), looprun.RunResumed{}); !errors.Is(err, looprun.ErrEvent) {
		t.Errorf("got %v, want ErrEvent", err)
	}
	if len(journal.Events) != 0 || len(r.seen) != 0 {
		t.Errorf("%d events were written and %d iterations ran", len(journal.Events), len(r.seen))
	}
}

// The same rule may give its answer again when the guard trips anew.
func TestARuleMayAnswerTheNextTrip(t *testing.T) {
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, rule("continue"))
	if res := run.run(t); res.ExitCode != 110 && res.Iterations < 9 {
		t.Errorf("got %+v after %d answers", res, run.State().Continues)
	}
	if n := run.State().Continues; n < 3 {
		t.Errorf("it continued %d times", n)
	}
}

// Every limit has to be stated or be off, and a threshold of 1 is none.
func TestEveryLimitIsNeeded(t *testing.T) {
	for name, change := range map[string]func(*looprun.Limits, int){
		"iterations": func(l *looprun.Limits, n int) { l.Iterations = n },
		"runtime":    func(l *looprun.Limits, n int) { l.Runtime = time.Duration(n) },
		"loop":       func(l *looprun.Limits, n int) { l.Loop = n },
		"errors":     func(l *looprun.Limits, n int) { l.Errors = n },
	} {
		l := defaults
		if change(&l, 0); !errors.Is(l.Validate(), looprun.ErrNoGuards) {
			t.Errorf("%s 0: %v, want ErrNoGuards", name, l.Validate())
		}
		if change(&l, -2); l.Validate() == nil {
			t.Errorf("%s -2 is taken", name)
		}
		if change(&l, looprun.Off); l.Validate() != nil {
			t.Errorf("%s off: %v", name, l.Validate())
		}
	}
	l := defaults
	if l.Loop = 1; l.Validate() == nil {
		t.Error("a loop threshold of 1 is taken")
	}
}

// Skipped issues that come back are asked about by the guard that was told to
// skip them, at its own limit, and by no other.
func TestSkippedIssuesComeBackToTheGuardThatSkippedThem(t *testing.T) {
	wrong := func(same int) play { return play{outcome: looprun.OutcomeError, same: same} }
	for _, c := range []struct {
		name         string
		steps        []play
		loop, errors int
		guard        looprun.GuardID
		after        int
	}{
		{"errors", []play{wrong(1), wrong(2), wrong(3), wrong(4), wrong(1), wrong(2), wrong(3), wrong(4)}, 3, 4, looprun.ConsecutiveErrors, 8},
		{"a loop", []play{{outcome: looprun.OutcomeNotDone, same: 7}}, 3, 2, looprun.LoopDetected, 6},
	} {
		l := defaults
		l.Loop, l.Errors = c.loop, c.errors
		if res := start(t, l, &script{steps: c.steps}, says("skip")).run(t); res.Guard != c.guard || res.Iterations != c.after || res.Trips != 2 {
			t.Errorf("%s: got %+v, want the second trip by %s after %d", c.name, res, c.guard, c.after)
		}
	}
}

// With loose matching two failures that differ in numbers only are the same.
func TestLooseMatchingComparesWithoutNumbers(t *testing.T) {
	n := 0
	counting := runnerFunc(func(context.Context, looprun.Iteration) (looprun.IterationResult, error) {
		n++
		d := looprun.IterationResult{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeNotDone}}
		d.Signature.Hash, d.Signature.Loose = signature.Hash(n), 9
		return d, nil
	})
	for loose, want := range map[bool]looprun.GuardID{true: looprun.LoopDetected, false: looprun.MaxIterations} {
		loop := &looprun.Loop{Guards: guards.Default(), Runner: counting}
		if err := loop.Start(looprun.RunStarted{Limits: defaults, Loose: loose}); err != nil {
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
	asked := looprun.Question{ID: "q", Options: []looprun.Option{{ID: "cancel", Action: looprun.ActionCancel}, {ID: "accept", Action: looprun.ActionAccept}, {ID: "pause", Action: looprun.ActionPause}}}
	trip := looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.MaxIterations, Iteration: 1, Reason: "enough"}}
	decided := func(id string, action looprun.Action) []looprun.Data {
		return []looprun.Data{
			looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeNotDone},
			trip,
			looprun.QuestionAsked{Question: asked},
			looprun.QuestionAnswered{QuestionID: "q", Answer: looprun.Answer{Option: id, Person: true}},
			looprun.ActionApplied{Option: id, Action: action, Guard: looprun.MaxIterations, Limits: defaults},
		}
	}
	for _, c := range []struct {
		name string
		data []looprun.Data
		want looprun.Status // empty: it goes on
	}{
		{"done", []looprun.Data{looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeDone}}, looprun.StatusDone},
		{"done, and its record failed", []looprun.Data{
			looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeDone},
			looprun.RunFinished{Ending: looprun.Ending{Status: looprun.StatusFailed, ExitCode: 125}},
		}, looprun.StatusDone},
		{"cancelled", decided("cancel", looprun.ActionCancel), looprun.StatusCancelled},
		{"accepted", decided("accept", looprun.ActionAccept), looprun.StatusAccepted},
		{"paused", decided("pause", looprun.ActionPause), ""},
		{"interrupted", []looprun.Data{looprun.InterruptReceived{Signal: "SIGINT", Code: 130}, looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeInterrupted}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := new(looprun.State)
			for _, d := range append([]looprun.Data{looprun.RunStarted{RunID: "test", Limits: defaults}, looprun.IterationStarted{Iteration: 1}}, append(c.data, looprun.RunResumed{})...) {
				if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: d}); err != nil {
					t.Fatal(err)
				}
			}
			next, _ := s.Next(nil)
			if c.want == "" && (s.Ending != nil || next == looprun.NextFinish) || c.want != "" && (next != looprun.NextFinish || s.Ending.Status != c.want) {
				t.Errorf("next is %s with %+v", next, s.Ending)
			}
		})
	}
}

// What is said to a run while an iteration runs reaches the next one that runs, once:
// behind an iteration that ended of itself, or the same again.
func TestGuidanceWhileAnIterationRunsReachesTheNext(t *testing.T) {
	during := looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.MaxRuntime, Iteration: 1, During: true}}
	told := applied
	told.Guard, told.Guidance = looprun.MaxRuntime, "use the fake clock"
	said := []looprun.Data{begun, first, during, question, answered, told}
	crash := []looprun.Data{looprun.RunResumed{}}
	dies := slices.Concat(crash, []looprun.Data{first}, crash, []looprun.Data{first}, crash)
	lost := looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeError, Cause: looprun.CauseCrash}
	for _, c := range []struct {
		name string
		then []looprun.Data
		used looprun.IterationFinished // ends the iteration that had it
	}{
		{"the iteration ends", []looprun.Data{ended1}, looprun.IterationFinished{Iteration: 2, Outcome: looprun.OutcomeNotDone}},
		{"it is cut off", []looprun.Data{looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeError, Cause: looprun.CauseMaxRuntime}}, ended1},
		{"it waits", []looprun.Data{looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeWaiting}}, ended1},
		{"looprun dies", crash, ended1},
		{"looprun fails", []looprun.Data{finished(looprun.StatusFailed), looprun.RunResumed{}}, ended1},
		{"looprun dies three times", append(dies, first, lost), looprun.IterationFinished{Iteration: 2, Outcome: looprun.OutcomeNotDone}},
	} {
		events := slices.Concat(said, c.then)
		if s := folded(t, events...); s.Guidance != told.Guidance {
			t.Errorf("%s: the next iteration is told %q", c.name, s.Guidance)
		}
		events = append(events, looprun.IterationStarted{Iteration: c.used.Iteration}, c.used)
		if s := folded(t, events...); s.Guidance != "" {
			t.Errorf("%s: the one after it is told %q again", c.name, s.Guidance)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := &script{steps: []play{{outcome: looprun.OutcomeNotDone, took: 16 * time.Minute}, {outcome: looprun.OutcomeNotDone}, {outcome: looprun.OutcomeDone}}}
		start(t, defaults, r, says("continue")).run(t)
		for i, want := range []string{"", "go on", "go on"} {
			if r.seen[i].Guidance != want {
				t.Errorf("iteration %d was told %q, want %q", i+1, r.seen[i].Guidance, want)
			}
		}
	})
}

// A question about an iteration that looprun died in for the third time is asked, or
// its answer carried out, before that counts.
func TestTheThirdCrashAtAQuestion(t *testing.T) {
	trip := looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.MaxRuntime, Iteration: 1, During: true}}
	q := looprun.QuestionAsked{}
	q.Question, _ = asks{}.Question(nil, trip.Trip)
	q.ID = "q"
	died := []looprun.Data{begun, first, looprun.RunResumed{}, first, looprun.RunResumed{}, first, trip, q}
	answer := func(option string) looprun.QuestionAnswered {
		return looprun.QuestionAnswered{QuestionID: "q", Answer: looprun.Answer{Option: option, Responder: looprun.RespondedByUser, Person: true}}
	}
	stop := looprun.ActionApplied{Option: "cancel", Action: looprun.ActionCancel, Guard: looprun.MaxRuntime, Limits: defaults}
	more := defaults
	more.Runtime = time.Hour
	for _, c := range []struct {
		name  string
		then  []looprun.Data
		event looprun.RunResumed
		want  looprun.Status
		ran   int // iterations that were run, behind the one that counts as an error
	}{
		{"it is asked", nil, looprun.RunResumed{}, looprun.StatusDone, 1},
		{"the limit was raised", nil, looprun.RunResumed{Limits: &more}, looprun.StatusDone, 1},
		{"it was answered", []looprun.Data{answer("continue")}, looprun.RunResumed{}, looprun.StatusDone, 1},
		{"it was answered to end", []looprun.Data{answer("cancel")}, looprun.RunResumed{}, looprun.StatusCancelled, 0},
		{"it was to end", []looprun.Data{answer("cancel"), stop}, looprun.RunResumed{}, looprun.StatusCancelled, 0},
	} {
		s := folded(t, slices.Concat(died, c.then)...)
		s.Elapsed = 16 * time.Minute
		r := &script{steps: []play{{outcome: looprun.OutcomeDone}}}
		again := &looprun.Loop{Guards: guards.Default(), Questions: asks{}, Runner: r, Responders: []looprun.Responder{says("continue")}}
		if err := again.Resume(*s, c.event); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if res, err := again.Run(t.Context()); err != nil || res.Status != c.want || len(r.seen) != c.ran || c.ran == 1 && r.seen[0].Number != 2 {
			t.Errorf("%s: %+v, %v after %d iterations", c.name, res.Ending, err, len(r.seen))
		}
	}
}

// An answer that was recorded while the run rested is carried out, or its question is
// asked again where it cannot be: it is never dropped, and no dead end.
func TestAnAnswerThatWasRecordedAtRest(t *testing.T) {
	defers := looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
		return looprun.Answer{}, looprun.ErrDeferred
	})
	more := defaults
	more.Iterations = 12
	for _, c := range []struct {
		option string
		event  looprun.RunResumed
		asked  int
		want   looprun.Status
		after  int
	}{
		{"cancel", looprun.RunResumed{}, 0, looprun.StatusCancelled, 10},
		{"cancel", looprun.RunResumed{Limits: &more}, 0, looprun.StatusCancelled, 10},
		{"accept", looprun.RunResumed{Limits: &more}, 0, looprun.StatusAccepted, 10},
		{"continue", looprun.RunResumed{}, 0, looprun.StatusDone, 11},
		{"continue", looprun.RunResumed{Limits: &more}, 0, looprun.StatusDone, 11},
		{"continue", looprun.RunResumed{Caps: &looprun.Caps{Iterations: 10}}, 1, looprun.StatusPaused, 10},
		{"debug", looprun.RunResumed{}, 1, looprun.StatusPaused, 10},
		{"debug", looprun.RunResumed{Limits: &more}, 1, looprun.StatusPaused, 10},
	} {
		run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone}}}, defers)
		run.run(t)
		s := *run.State()
		if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: looprun.QuestionAnswered{QuestionID: s.Question.ID, Answer: looprun.Answer{Option: c.option, Responder: looprun.RespondedByUser, Person: true}}}); err != nil {
			t.Fatal(err)
		}
		var asked []looprun.Question
		resume := func(s looprun.State, d looprun.RunResumed, ends looprun.Outcome) (looprun.Result, *looprun.State) {
			again := &looprun.Loop{Guards: guards.Default(), Questions: asks{}, Runner: &script{steps: []play{{outcome: ends}}}, Responders: []looprun.Responder{watched(&asked, defers)}}
			if err := again.Resume(s, d); err != nil {
				t.Fatal(err)
			}
			res, err := again.Run(t.Context())
			if err != nil {
				t.Errorf("%s: %v", c.option, err)
			}
			return res, again.State()
		}
		res, st := resume(s, c.event, looprun.OutcomeDone)
		if res.Status != c.want || res.Iterations != c.after || len(asked) != c.asked {
			t.Errorf("%s: got %+v after %d questions", c.option, res, len(asked))
		}
		if c.asked == 0 {
			continue
		}
		if _, ok := asked[0].Option(c.option); ok && c.option == "continue" {
			t.Errorf("%s: it is offered again", c.option)
		}
		if err := st.Apply(looprun.Event{Seq: st.Seq + 1, Data: looprun.QuestionAnswered{QuestionID: asked[0].ID, Answer: looprun.Answer{Option: "cancel", Responder: looprun.RespondedByUser, Person: true}}}); err != nil {
			t.Errorf("%s: %v", c.option, err)
		} else if res, _ := resume(*st, looprun.RunResumed{}, looprun.OutcomeDone); res.Status != looprun.StatusCancelled {
			t.Errorf("%s, then cancel: got %+v", c.option, res)
		}
	}
}
