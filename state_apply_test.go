package looprun_test

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

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/guards/guardtest"
	"github.com/looprun/looprun/signature"
)

// runnerFunc is a runner made of a function.
type runnerFunc func(context.Context, looprun.Iteration) (looprun.IterationResult, error)

func (f runnerFunc) Run(ctx context.Context, it looprun.Iteration) (looprun.IterationResult, error) {
	return f(ctx, it)
}

// rule answers as a policy's rule does, with the same option every time.
func rule(option string) looprun.Responder {
	return looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
		return looprun.Answer{Option: option, Responder: looprun.RespondedByPolicy, Rule: "p.yaml:3"}, nil
	})
}

// watched keeps the questions that are put to a responder.
func watched(to *[]looprun.Question, r looprun.Responder) looprun.Responder {
	return looprun.ResponderFunc(func(ctx context.Context, q looprun.Question, s *looprun.State) (looprun.Answer, error) {
		*to = append(*to, q)
		return r.Respond(ctx, q, s)
	})
}

// folded is the state after these events.
func folded(t *testing.T, events ...looprun.Data) *looprun.State {
	t.Helper()
	s := &looprun.State{}
	for _, d := range events {
		if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

var (
	begun    = looprun.RunStarted{RunID: "r", Limits: defaults}
	first    = looprun.IterationStarted{Iteration: 1}
	ended1   = looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeNotDone}
	tripped  = looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.LoopDetected, Iteration: 1}}
	question = looprun.QuestionAsked{Question: looprun.Question{ID: "q"}}
	answered = looprun.QuestionAnswered{QuestionID: "q", Answer: looprun.Answer{Option: "continue", Responder: looprun.RespondedByPolicy}}
	applied  = looprun.ActionApplied{Action: looprun.ActionContinue, Option: "continue", Guard: looprun.LoopDetected, Limits: defaults}
)

func finished(s looprun.Status) looprun.RunFinished {
	return looprun.RunFinished{Ending: looprun.Ending{Status: s}}
}

// A journal in which something happens that cannot happen is refused, and the
// state stays as it was.
func TestEventsThatCannotHappenAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []looprun.Data
		then   looprun.Data
		seq    int64 // from what is next
	}{
		{name: "nothing", events: []looprun.Data{begun}},
		{name: "an event that is missing", events: []looprun.Data{begun}, then: looprun.RunAlive{}, seq: 1},
		{name: "an event twice", events: []looprun.Data{begun}, then: looprun.RunAlive{}, seq: -1},
		{name: "an event before the start", then: looprun.RunAlive{}},
		{name: "a second start", events: []looprun.Data{begun}, then: begun},
		{name: "anything after the end", events: []looprun.Data{begun, finished(looprun.StatusTripped)}, then: first},
		{name: "time after the end", events: []looprun.Data{begun, finished(looprun.StatusTripped)}, then: looprun.RunAlive{}},
		{name: "an answer after the end", events: []looprun.Data{begun, first, ended1, tripped, question, finished(looprun.StatusCancelled)}, then: answered},
		{name: "an iteration in an iteration", events: []looprun.Data{begun, first}, then: first},
		{name: "an iteration with another number", events: []looprun.Data{begun}, then: looprun.IterationStarted{Iteration: 2}},
		{name: "a precheck that is over", events: []looprun.Data{begun}, then: looprun.IterationStarted{}},
		{name: "an iteration while a guard has tripped", events: []looprun.Data{begun, first, ended1, tripped}, then: looprun.IterationStarted{Iteration: 2}},
		{name: "an iteration after the last", events: []looprun.Data{begun, first, looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeDone}}, then: looprun.IterationStarted{Iteration: 2}},
		{name: "the end of an iteration that a crash cut off", events: []looprun.Data{begun, first, looprun.RunResumed{}}, then: ended1},
		{name: "the end of another iteration", events: []looprun.Data{begun, first}, then: looprun.IterationFinished{Iteration: 2}},
		{name: "a trip while one is settled", events: []looprun.Data{begun, first, ended1, tripped}, then: tripped},
		{name: "a question without a trip", events: []looprun.Data{begun}, then: question},
		{name: "a question while one waits", events: []looprun.Data{begun, first, ended1, tripped, question}, then: question},
		{name: "an answer to another question", events: []looprun.Data{begun, first, ended1, tripped, question}, then: looprun.QuestionAnswered{QuestionID: "p"}},
		{name: "an answer to none", events: []looprun.Data{begun, first, ended1, tripped}, then: answered},
		{name: "a second answer", events: []looprun.Data{begun, first, ended1, tripped, question, answered}, then: answered},
		{name: "the close of no question", events: []looprun.Data{begun}, then: looprun.QuestionClosed{}},
		{name: "an action without an answer", events: []looprun.Data{begun, first, ended1, tripped, question}, then: applied},
		{name: "an action without a trip", events: []looprun.Data{begun}, then: looprun.ActionApplied{Action: looprun.ActionPause, Pending: true}},
		{name: "findings without an answer", events: []looprun.Data{begun, first, ended1, tripped, question}, then: looprun.DebugFinished{Action: looprun.ActionDebug}},
		{name: "an end while an iteration runs", events: []looprun.Data{begun, first}, then: finished(looprun.StatusDone)},
		{name: "a pause while an iteration runs", events: []looprun.Data{begun, first}, then: looprun.RunPaused{}},
		{name: "going on with what is done", events: []looprun.Data{begun, finished(looprun.StatusDone)}, then: looprun.RunResumed{}},
		{name: "going on with what was accepted", events: []looprun.Data{begun, finished(looprun.StatusAccepted)}, then: looprun.RunResumed{}},
		{name: "going on with what was cancelled", events: []looprun.Data{begun, finished(looprun.StatusCancelled)}, then: looprun.RunResumed{}},
		{name: "going on with what was rejected", events: []looprun.Data{begun, finished(looprun.StatusRejected)}, then: looprun.RunResumed{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := folded(t, c.events...)
			before := encode(t, s)
			if err := s.Apply(looprun.Event{Seq: s.Seq + 1 + c.seq, Data: c.then}); !errors.Is(err, looprun.ErrEvent) {
				t.Errorf("got %v, want ErrEvent", err)
			}
			if !bytes.Equal(before, encode(t, s)) {
				t.Error("the refused event changed the state")
			}
		})
	}
}

func TestTimeNeverRunsBackwards(t *testing.T) {
	s := folded(t, begun)
	for _, elapsed := range []time.Duration{time.Minute, time.Second} {
		if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Elapsed: elapsed, Data: looprun.RunAlive{}}); err != nil {
			t.Fatal(err)
		}
	}
	if s.Elapsed != time.Minute {
		t.Errorf("%s have elapsed, want 1m", s.Elapsed)
	}
}

// rich is a run in which everything has happened that a restart must keep: a
// skipped issue, errors, guidance, budgets used, and a question that waits.
func rich(t *testing.T) *looprun.State {
	t.Helper()
	at := func(n, same int, o looprun.Outcome) []looprun.Data {
		d := looprun.IterationFinished{Iteration: n, Outcome: o}
		d.Signature.Hash, d.Signature.Label, d.Signature.Failing = signature.Hash(same), fmt.Sprint("output:", same), 2
		return []looprun.Data{looprun.IterationStarted{Iteration: n}, d}
	}
	more := defaults
	more.Iterations, more.Runtime = 15, time.Hour
	skip := looprun.ActionApplied{
		Action: looprun.ActionSkip, Option: "skip", Guard: looprun.LoopDetected, Limits: more, Responder: looprun.RespondedByPolicy,
		Resets: []looprun.GuardID{looprun.LoopDetected}, Known: []looprun.KnownIssue{{Hash: 1, Label: "output:1"}}, Guidance: "not so",
	}
	debug := answered
	debug.Option = "debug"
	s := folded(t, slices.Concat(
		[]looprun.Data{begun}, at(1, 1, looprun.OutcomeNotDone),
		[]looprun.Data{tripped, question, answered, skip},
		at(2, 2, looprun.OutcomeError), at(3, 2, looprun.OutcomeError), at(4, 1, looprun.OutcomeNotDone),
		[]looprun.Data{tripped, question, answered, looprun.ActionApplied{Action: looprun.ActionContinue, Guard: looprun.MaxIterations, Limits: more, Guidance: "go on", Resets: []looprun.GuardID{looprun.MaxIterations}}},
		[]looprun.Data{tripped, question, debug, looprun.DebugFinished{Action: looprun.ActionDebug, ExitCode: 1, Findings: "nothing"}, question},
	)...)
	if s.ErrorRun != 2 || s.KnownRun != 1 || s.Cycles.Repeats() != 2 || s.Guidance == "" || s.PolicyContinues != 1 || len(s.Given) == 0 || s.Findings == "" || s.Baseline == nil {
		t.Fatalf("the run has too little to keep: %s", encode(t, s))
	}
	return s
}

// A restart forgets nothing and resets nothing but how the run had ended.
func TestAResumeChangesNothingElse(t *testing.T) {
	fields := func(s *looprun.State) map[string]json.RawMessage {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(encode(t, s), &m); err != nil {
			t.Fatal(err)
		}
		for _, own := range []string{"seq", "resumes", "ending", "ended", "interrupt"} {
			delete(m, own)
		}
		return m
	}
	s := rich(t)
	before := fields(s)
	for _, d := range []looprun.Data{looprun.InterruptReceived{Signal: "SIGINT", Code: 130}, finished(looprun.StatusInterrupted), looprun.RunResumed{}} {
		if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: d}); err != nil {
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
	limits, caps := defaults, looprun.Caps{Iterations: 30, Runtime: time.Hour}
	limits.Iterations = 20
	s := folded(t, begun, finished(looprun.StatusTripped), looprun.RunResumed{Limits: &limits, Caps: &caps})
	if s.Limits != limits || s.Initial != limits || s.Caps != caps {
		t.Errorf("limits %+v, at first %+v, caps %+v", s.Limits, s.Initial, s.Caps)
	}
}

// What looprun ended is not evidence, whatever the outcome says.
func TestWhatLooprunCutOffCountsForNothing(t *testing.T) {
	for _, c := range []struct {
		outcome looprun.Outcome
		cause   looprun.Cause
	}{
		{looprun.OutcomeInterrupted, looprun.CauseExited},
		{looprun.OutcomeError, looprun.CauseInterrupt},
		{looprun.OutcomeError, looprun.CauseMaxRuntime},
	} {
		d := looprun.IterationFinished{Iteration: 1, Outcome: c.outcome, Cause: c.cause}
		d.Signature.Hash = 1
		s := folded(t, begun, first, d)
		if s.Iterations != 0 || s.ErrorRun != 0 || s.Cycles.Repeats() != 0 || len(s.History) != 0 || s.NextIteration() != 1 {
			t.Errorf("%s by %q counts: %s", c.outcome, c.cause, encode(t, s))
		}
	}
}

// A signal that came while the work was ending wins over what the work says.
func TestAnInterruptBeatsTheOutcome(t *testing.T) {
	s := folded(t, begun, first, looprun.InterruptReceived{Signal: "SIGTERM", Code: 143}, looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeDone})
	if s.Ending == nil || s.Ending.Status != looprun.StatusInterrupted || s.Ending.ExitCode != 143 {
		t.Errorf("ends as %+v, want interrupted with 143", s.Ending)
	}
}

// What looprun ends is never done, also when the work says so in its last moment.
func TestWhatLooprunEndedIsNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := []play{{outcome: looprun.OutcomeDone, took: time.Hour}}
		if res := start(t, defaults, &script{steps: slow}).run(t); res.Status != looprun.StatusTripped || res.ExitCode != 124 {
			t.Errorf("max_runtime: got %+v, want tripped with 124", res)
		}
		run := start(t, defaults, &script{steps: slow})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(&looprun.Interrupt{Signal: "SIGHUP", Code: 129}) })
		if res, err := run.Run(ctx); err != nil || res.Status != looprun.StatusInterrupted || res.ExitCode != 129 {
			t.Errorf("a signal: got %+v, %v; want interrupted with 129", res, err)
		}
	})
}

// The precheck counts for no guard: neither its signature nor its error.
func TestThePrecheckIsNoEvidence(t *testing.T) {
	for _, c := range []struct {
		outcome looprun.Outcome
		guard   looprun.GuardID
	}{{looprun.OutcomeNotDone, looprun.LoopDetected}, {looprun.OutcomeError, looprun.ConsecutiveErrors}} {
		r := &script{steps: []play{{outcome: c.outcome, same: 1}}}
		loop := &looprun.Loop{Guards: guards.Default(), Runner: r}
		if err := loop.Start(looprun.RunStarted{Limits: defaults, Precheck: true}); err != nil {
			t.Fatal(err)
		}
		res, err := loop.Run(t.Context())
		if err != nil || res.Guard != c.guard || res.Iterations != 3 || len(r.seen) != 4 {
			t.Errorf("got %+v, %v; want %s after the precheck and 3 iterations", res, err, c.guard)
		}
		if !r.seen[0].First || !r.seen[1].First || r.seen[2].First {
			t.Error("the first try is the precheck and iteration 1, and none after")
		}
	}
}

// An iteration whose signature is not known is neither progress nor the same.
func TestAnUnknownSignatureNeitherBreaksNorExtendsAStreak(t *testing.T) {
	s := guardtest.Start(t, looprun.Limits{Iterations: looprun.Off, Runtime: looprun.Off, Loop: 3, Errors: looprun.Off})
	for i, same := range []int{1, 0, 1, 0, 1} {
		if trip := (guards.Loop{}).Check(s); trip != nil {
			t.Fatalf("trips after %d iterations", i)
		}
		guardtest.Finish(t, s, guardtest.Step{Outcome: looprun.OutcomeNotDone, Same: same})
	}
	if (guards.Loop{}).Check(s) == nil {
		t.Error("the same failure three times is no loop when its neighbours are not known")
	}
}

// Something new between two skipped issues starts their count over.
func TestOnlyNothingButSkippedIssuesComesBack(t *testing.T) {
	seven, eight := play{outcome: looprun.OutcomeNotDone, same: 7}, play{outcome: looprun.OutcomeNotDone, same: 8}
	r := &script{steps: []play{seven, seven, seven, seven, seven, eight, seven, {outcome: looprun.OutcomeDone}}}
	run := start(t, defaults, r, says("skip"))
	if res := run.run(t); res.Status != looprun.StatusDone || res.Trips != 1 {
		t.Errorf("got %+v, want done after one question", res)
	}
}

// An answer about a skipped issue that came back starts its count over: the run
// goes on for as long again.
func TestAnAnswerStartsTheCountOfSkippedIssuesOver(t *testing.T) {
	for _, c := range []struct {
		name string
		play play
	}{
		{"loop_detected", play{outcome: looprun.OutcomeNotDone, same: 7}},
		{"consecutive_errors", play{outcome: looprun.OutcomeError, same: 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := defaults
			l.Iterations = 50
			if c.name == "consecutive_errors" {
				l.Loop = looprun.Off
			}
			var asked []looprun.Question
			run := start(t, l, &script{steps: []play{c.play}}, watched(&asked, says("skip", "continue", "cancel")))
			res := run.run(t)
			if res.Status != looprun.StatusCancelled || res.Iterations != 9 || string(res.Guard) != c.name {
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
		guard         looprun.GuardID
		repeats, errs int
	}{
		{looprun.MaxIterations, repeats, errs},
		{looprun.MaxRuntime, repeats, errs},
		{looprun.ConsecutiveErrors, repeats, 0},
		{looprun.LoopDetected, 0, 0},
	} {
		a := applied
		a.Guard, a.Resets = c.guard, []looprun.GuardID{c.guard}
		for _, d := range []looprun.Data{answered, a, looprun.GuardTripped{Trip: looprun.Trip{Guard: c.guard, Iteration: 4}}, question} {
			if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: d}); err != nil {
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
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeError, same: 1}}}, says("continue"))
	if res := run.run(t); res.Iterations != 6 || res.Trips != 2 {
		t.Errorf("got %+v, want the second trip after 6 iterations", res)
	}
}
