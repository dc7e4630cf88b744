package core_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/guards/guardtest"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/signature"
)

// A journal in which something happens that cannot happen is refused, and the
// state stays as it was.
func TestEventsThatCannotHappenAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []core.Data
		then   core.Data
		seq    int64 // from what is next
	}{
		{name: "nothing", events: []core.Data{looptest.Begun}},
		{name: "an event that is missing", events: []core.Data{looptest.Begun}, then: core.RunAlive{}, seq: 1},
		{name: "an event twice", events: []core.Data{looptest.Begun}, then: core.RunAlive{}, seq: -1},
		{name: "an event before the start", then: core.RunAlive{}},
		{name: "a second start", events: []core.Data{looptest.Begun}, then: looptest.Begun},
		{name: "anything after the end", events: []core.Data{looptest.Begun, looptest.Finished(core.StatusTripped)}, then: looptest.First},
		{name: "time after the end", events: []core.Data{looptest.Begun, looptest.Finished(core.StatusTripped)}, then: core.RunAlive{}},
		{name: "an answer after the end", events: []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question, looptest.Finished(core.StatusCancelled)}, then: looptest.Answered},
		{name: "an iteration in an iteration", events: []core.Data{looptest.Begun, looptest.First}, then: looptest.First},
		{name: "an iteration with another number", events: []core.Data{looptest.Begun}, then: core.IterationStarted{Iteration: 2}},
		{name: "a precheck that is over", events: []core.Data{looptest.Begun}, then: core.IterationStarted{}},
		{name: "an iteration while a guard has tripped", events: []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped}, then: core.IterationStarted{Iteration: 2}},
		{name: "an iteration after the last", events: []core.Data{looptest.Begun, looptest.First, core.IterationFinished{Iteration: 1, Outcome: core.OutcomeDone}}, then: core.IterationStarted{Iteration: 2}},
		{name: "the end of an iteration that a crash cut off", events: []core.Data{looptest.Begun, looptest.First, core.RunResumed{}}, then: looptest.Ended1},
		{name: "the end of another iteration", events: []core.Data{looptest.Begun, looptest.First}, then: core.IterationFinished{Iteration: 2}},
		{name: "a trip while one is settled", events: []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped}, then: looptest.Tripped},
		{name: "a question without a trip", events: []core.Data{looptest.Begun}, then: looptest.Question},
		{name: "a question while one waits", events: []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question}, then: looptest.Question},
		{name: "an answer to another question", events: []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question}, then: core.QuestionAnswered{QuestionID: "p"}},
		{name: "an answer to none", events: []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped}, then: looptest.Answered},
		{name: "a second answer", events: []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question, looptest.Answered}, then: looptest.Answered},
		{name: "the close of no question", events: []core.Data{looptest.Begun}, then: core.QuestionClosed{}},
		{name: "an action without an answer", events: []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question}, then: looptest.Applied},
		{name: "an action without a trip", events: []core.Data{looptest.Begun}, then: core.ActionApplied{Action: core.ActionPause, Pending: true}},
		{name: "findings without an answer", events: []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question}, then: core.DebugFinished{Action: core.ActionDebug}},
		{name: "an end while an iteration runs", events: []core.Data{looptest.Begun, looptest.First}, then: looptest.Finished(core.StatusDone)},
		{name: "a pause while an iteration runs", events: []core.Data{looptest.Begun, looptest.First}, then: core.RunPaused{}},
		{name: "going on with what is done", events: []core.Data{looptest.Begun, looptest.Finished(core.StatusDone)}, then: core.RunResumed{}},
		{name: "going on with what was accepted", events: []core.Data{looptest.Begun, looptest.Finished(core.StatusAccepted)}, then: core.RunResumed{}},
		{name: "going on with what was cancelled", events: []core.Data{looptest.Begun, looptest.Finished(core.StatusCancelled)}, then: core.RunResumed{}},
		{name: "going on with what was rejected", events: []core.Data{looptest.Begun, looptest.Finished(core.StatusRejected)}, then: core.RunResumed{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := looptest.Folded(t, c.events...)
			before := looptest.Encode(t, s)
			if err := s.Apply(core.Event{Seq: s.Seq + 1 + c.seq, Data: c.then}); !errors.Is(err, core.ErrEvent) {
				t.Errorf("got %v, want ErrEvent", err)
			}
			if !bytes.Equal(before, looptest.Encode(t, s)) {
				t.Error("the refused event changed the state")
			}
		})
	}
}

func TestTimeNeverRunsBackwards(t *testing.T) {
	s := looptest.Folded(t, looptest.Begun)
	for _, elapsed := range []time.Duration{time.Minute, time.Second} {
		if err := s.Apply(core.Event{Seq: s.Seq + 1, Elapsed: elapsed, Data: core.RunAlive{}}); err != nil {
			t.Fatal(err)
		}
	}
	if s.Elapsed != time.Minute {
		t.Errorf("%s have elapsed, want 1m", s.Elapsed)
	}
}

// rich is a run in which everything has happened that a restart must keep: a
// skipped issue, errors, guidance, budgets used, and a question that waits.
func rich(t *testing.T) *core.State {
	t.Helper()
	at := func(n, same int, o core.Outcome) []core.Data {
		d := core.IterationFinished{Iteration: n, Outcome: o}
		d.Signature.Hash, d.Signature.Label, d.Signature.Failing = signature.Hash(same), fmt.Sprint("output:", same), 2
		return []core.Data{core.IterationStarted{Iteration: n}, d}
	}
	more := looptest.Defaults
	more.Iterations, more.Runtime = 15, time.Hour
	skip := core.ActionApplied{
		Action: core.ActionSkip, Option: "skip", Guard: core.LoopDetected, Limits: more, Responder: core.RespondedByPolicy,
		Resets: []core.GuardID{core.LoopDetected}, Known: []core.KnownIssue{{Hash: 1, Label: "output:1"}}, Guidance: "not so",
	}
	debug := looptest.Answered
	debug.Option = "debug"
	s := looptest.Folded(t, slices.Concat(
		[]core.Data{looptest.Begun}, at(1, 1, core.OutcomeNotDone),
		[]core.Data{looptest.Tripped, looptest.Question, looptest.Answered, skip},
		at(2, 2, core.OutcomeError), at(3, 2, core.OutcomeError), at(4, 1, core.OutcomeNotDone),
		[]core.Data{looptest.Tripped, looptest.Question, looptest.Answered, core.ActionApplied{Action: core.ActionContinue, Guard: core.MaxIterations, Limits: more, Guidance: "go on", Resets: []core.GuardID{core.MaxIterations}}},
		[]core.Data{looptest.Tripped, looptest.Question, debug, core.DebugFinished{Action: core.ActionDebug, ExitCode: 1, Findings: "nothing"}, looptest.Question},
	)...)
	if s.ErrorRun != 2 || s.KnownRun != 1 || s.Cycles.Repeats() != 2 || s.Guidance == "" || s.PolicyContinues != 1 || len(s.Given) == 0 || s.Findings == "" || s.Baseline == nil {
		t.Fatalf("the run has too little to keep: %s", looptest.Encode(t, s))
	}
	return s
}

// A restart forgets nothing and resets nothing but how the run had ended.
func TestAResumeChangesNothingElse(t *testing.T) {
	fields := func(s *core.State) map[string]json.RawMessage {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(looptest.Encode(t, s), &m); err != nil {
			t.Fatal(err)
		}
		for _, own := range []string{"seq", "resumes", "ending", "ended", "interrupt"} {
			delete(m, own)
		}
		return m
	}
	s := rich(t)
	before := fields(s)
	for _, d := range []core.Data{core.InterruptReceived{Signal: "SIGINT", Code: 130}, looptest.Finished(core.StatusInterrupted), core.RunResumed{}} {
		if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	after := fields(s)
	if len(before) != len(after) {
		t.Errorf("%d fields before and %d after", len(before), len(after))
	}
	for name, v := range before {
		if !bytes.Equal(v, after[name]) {
			t.Errorf("%s was %s and is %s", name, v, after[name])
		}
	}
	if s.Ended || s.Ending != nil || s.Interrupt != nil {
		t.Errorf("it has not gone on: %+v", s.Ending)
	}
}

func TestAResumeTakesNewLimits(t *testing.T) {
	limits, caps := looptest.Defaults, core.Caps{Iterations: 30, Runtime: time.Hour}
	limits.Iterations = 20
	s := looptest.Folded(t, looptest.Begun, looptest.Finished(core.StatusTripped), core.RunResumed{Limits: &limits, Caps: &caps})
	if s.Limits != limits || s.Initial != limits || s.Caps != caps {
		t.Errorf("limits %+v, at first %+v, caps %+v", s.Limits, s.Initial, s.Caps)
	}
}

// What looprun ended is not evidence, whatever the outcome says.
func TestWhatLooprunCutOffCountsForNothing(t *testing.T) {
	for _, c := range []struct {
		outcome core.Outcome
		cause   core.Cause
	}{
		{core.OutcomeInterrupted, core.CauseExited},
		{core.OutcomeError, core.CauseInterrupt},
		{core.OutcomeError, core.CauseMaxRuntime},
	} {
		d := core.IterationFinished{Iteration: 1, Outcome: c.outcome, Cause: c.cause}
		d.Signature.Hash = 1
		s := looptest.Folded(t, looptest.Begun, looptest.First, d)
		if s.Iterations != 0 || s.ErrorRun != 0 || s.Cycles.Repeats() != 0 || len(s.History) != 0 || s.NextIteration() != 1 {
			t.Errorf("%s by %q counts: %s", c.outcome, c.cause, looptest.Encode(t, s))
		}
	}
}

// A signal that came while the work was ending wins over what the work says.
func TestAnInterruptBeatsTheOutcome(t *testing.T) {
	s := looptest.Folded(t, looptest.Begun, looptest.First, core.InterruptReceived{Signal: "SIGTERM", Code: 143}, core.IterationFinished{Iteration: 1, Outcome: core.OutcomeDone})
	if s.Ending == nil || s.Ending.Status != core.StatusInterrupted || s.Ending.ExitCode != 143 {
		t.Errorf("ends as %+v, want interrupted with 143", s.Ending)
	}
}

// A person who ended the run while an iteration ran is obeyed, also if looprun was killed after
// that iteration passed and before it recorded the end.
func TestADecidedEndOutlivesAKill(t *testing.T) {
	for action, want := range map[core.Action]core.Status{core.ActionAccept: core.StatusAccepted, core.ActionCancel: core.StatusCancelled} {
		s := looptest.Folded(
			t, looptest.Begun, looptest.First,
			core.GuardTripped{Trip: core.Trip{Guard: core.MaxRuntime, Iteration: 1, During: true}},
			core.QuestionAsked{Question: core.Question{ID: "q"}},
			core.QuestionAnswered{QuestionID: "q", Answer: core.Answer{Option: "o", Responder: core.RespondedByUser}},
			core.ActionApplied{Option: "o", Action: action, Guard: core.MaxRuntime, Responder: core.RespondedByUser, Limits: looptest.Defaults},
			core.IterationFinished{Iteration: 1, Outcome: core.OutcomeDone},
			core.RunResumed{},
		)
		if s.Ending == nil || s.Ending.Status != want {
			t.Errorf("%s: ends as %+v, want %s", action, s.Ending, want)
		}
	}
}

// What looprun ends is never done, also when the work says so in its last moment.
func TestWhatLooprunEndedIsNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := []looptest.Play{{Outcome: core.OutcomeDone, Took: time.Hour}}
		if res := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: slow}).ToEnd(t); res.Status != core.StatusTripped || res.ExitCode != 124 {
			t.Errorf("max_runtime: got %+v, want tripped with 124", res)
		}
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: slow})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(&engine.Interrupt{Signal: "SIGHUP", Code: 129}) })
		if res, err := run.Run(ctx); err != nil || res.Status != core.StatusInterrupted || res.ExitCode != 129 {
			t.Errorf("a signal: got %+v, %v; want interrupted with 129", res, err)
		}
	})
}

// The precheck counts for no guard: neither its signature nor its error.
func TestThePrecheckIsNoEvidence(t *testing.T) {
	for _, c := range []struct {
		outcome core.Outcome
		guard   core.GuardID
	}{{core.OutcomeNotDone, core.LoopDetected}, {core.OutcomeError, core.ConsecutiveErrors}} {
		r := &looptest.Script{Steps: []looptest.Play{{Outcome: c.outcome, Same: 1}}}
		loop := &engine.Loop{Guards: guards.Default(), Runner: r}
		if err := loop.Start(core.RunStarted{Limits: looptest.Defaults, Precheck: true}); err != nil {
			t.Fatal(err)
		}
		res, err := loop.Run(t.Context())
		if err != nil || res.Guard != c.guard || res.Iterations != 3 || len(r.Seen) != 4 {
			t.Errorf("got %+v, %v; want %s after the precheck and 3 iterations", res, err, c.guard)
		}
		if !r.Seen[0].First || !r.Seen[1].First || r.Seen[2].First {
			t.Error("the first try is the precheck and iteration 1, and none after")
		}
	}
}

// An iteration whose signature is not known is neither progress nor the same.
func TestAnUnknownSignatureNeitherBreaksNorExtendsAStreak(t *testing.T) {
	s := guardtest.Start(t, core.Limits{Iterations: core.Off, Runtime: core.Off, Loop: 3, Errors: core.Off})
	for i, same := range []int{1, 0, 1, 0, 1} {
		if trip := (guards.Loop{}).Check(s); trip != nil {
			t.Fatalf("trips after %d iterations", i)
		}
		guardtest.Finish(t, s, guardtest.Step{Outcome: core.OutcomeNotDone, Same: same})
	}
	if (guards.Loop{}).Check(s) == nil {
		t.Error("the same failure three times is no loop when its neighbours are not known")
	}
}

// Something new between two skipped issues starts their count over.
func TestOnlyNothingButSkippedIssuesComesBack(t *testing.T) {
	seven, eight := looptest.Play{Outcome: core.OutcomeNotDone, Same: 7}, looptest.Play{Outcome: core.OutcomeNotDone, Same: 8}
	r := &looptest.Script{Steps: []looptest.Play{seven, seven, seven, seven, seven, eight, seven, {Outcome: core.OutcomeDone}}}
	run := looptest.Start(t, looptest.Defaults, r, looptest.Says("skip"))
	if res := run.ToEnd(t); res.Status != core.StatusDone || res.Trips != 1 {
		t.Errorf("got %+v, want done after one question", res)
	}
}

// An answer about a skipped issue that came back starts its count over: the run
// goes on for as long again.
func TestAnAnswerStartsTheCountOfSkippedIssuesOver(t *testing.T) {
	for _, c := range []struct {
		name string
		play looptest.Play
	}{
		{"loop_detected", looptest.Play{Outcome: core.OutcomeNotDone, Same: 7}},
		{"consecutive_errors", looptest.Play{Outcome: core.OutcomeError, Same: 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := looptest.Defaults
			l.Iterations = 50
			if c.name == "consecutive_errors" {
				l.Loop = core.Off
			}
			var asked []core.Question
			run := looptest.Start(t, l, &looptest.Script{Steps: []looptest.Play{c.play}}, looptest.Watched(&asked, looptest.Says("skip", "continue", "cancel")))
			res := run.ToEnd(t)
			if res.Status != core.StatusCancelled || res.Iterations != 9 || string(res.Guard) != c.name {
				t.Errorf("got %+v, want questions by %s after 3, 6 and 9 iterations", res, c.name)
			}
			for i, q := range asked {
				if slices.Contains(q.OptionIDs(), "skip") != (i == 0) {
					t.Errorf("question %d offers %v", i+1, q.OptionIDs())
				}
			}
		})
	}
}

// An answer resets the counters of the guards it named and no others.
func TestAnAnswerResetsOnlyItsOwn(t *testing.T) {
	s := rich(t)
	repeats, errs := s.Cycles.Repeats(), s.ErrorRun
	for _, c := range []struct {
		guard         core.GuardID
		repeats, errs int
	}{
		{core.MaxIterations, repeats, errs},
		{core.MaxRuntime, repeats, errs},
		{core.ConsecutiveErrors, repeats, 0},
		{core.LoopDetected, 0, 0},
	} {
		a := looptest.Applied
		a.Guard, a.Resets = c.guard, []core.GuardID{c.guard}
		for _, d := range []core.Data{looptest.Answered, a, core.GuardTripped{Trip: core.Trip{Guard: c.guard, Iteration: 4}}, looptest.Question} {
			if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		if s.Cycles.Repeats() != c.repeats || s.ErrorRun != c.errs {
			t.Errorf("after an answer about %s: %d repeats and %d errors, want %d and %d", c.guard, s.Cycles.Repeats(), s.ErrorRun, c.repeats, c.errs)
		}
	}
}

// All guards that the question named start over, not only the one that asked.
func TestAnAnswerIsForAllGuardsItNamed(t *testing.T) {
	run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeError, Same: 1}}}, looptest.Says("continue"))
	if res := run.ToEnd(t); res.Iterations != 6 || res.Trips != 2 {
		t.Errorf("got %+v, want the second trip after 6 iterations", res)
	}
}
