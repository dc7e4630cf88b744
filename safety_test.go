package looprun_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/guards/guardtest"
	"github.com/looprun/looprun/signature"
)

// runnerFunc is a runner made of a function.
type runnerFunc func(context.Context, looprun.Iteration) (looprun.IterationFinished, error)

func (f runnerFunc) Run(ctx context.Context, it looprun.Iteration) (looprun.IterationFinished, error) {
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

// What a policy's answers add is counted: its budget is bounded by it.
func TestWhatAPolicyAddsIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := defaults
		l.Iterations = 2
		run := start(t, l, &script{steps: []play{{outcome: looprun.OutcomeNotDone}}}, rule("continue"))
		res := run.run(t)
		if s := run.State(); res.Iterations != 50 || s.PolicyContinues != 10 || s.PolicyIterations != 48 {
			t.Errorf("after %d iterations the policy has continued %d times and added %d", res.Iterations, s.PolicyContinues, s.PolicyIterations)
		}
		run = start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeDone, took: 20 * time.Minute}}}, rule("continue"))
		if s, res := run.State(), run.run(t); res.Status != looprun.StatusDone || s.PolicyRuntime < 9*time.Minute {
			t.Errorf("got %+v, and the policy has added %s", res, s.PolicyRuntime)
		}
		run = start(t, l, &script{steps: []play{{outcome: looprun.OutcomeNotDone}}}, says("continue"))
		run.run(t)
		if s := run.State(); s.Continues != 1 || s.PolicyContinues != 0 || s.PolicyIterations != 0 {
			t.Error("a person's answer was counted as the policy's")
		}
	})
}

// A limit that is not the question's is never raised by more than what is spent
// plus what is added, never lowered, and never turned on.
func TestAnAnswerNeverMovesALimitTheWrongWay(t *testing.T) {
	for _, c := range []struct {
		name      string
		limit     int
		capped    int
		want      int
		responder looprun.Responder
	}{
		{"more than is spent and added", 10, 50, 10, says("continue")},
		{"above the cap", 10, 5, 10, says("continue")},
		{"off", looprun.Off, 50, looprun.Off, says("continue")},
		{"spent and added", 6, 50, 8, says("continue")},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := defaults
			l.Iterations = c.limit
			journal := &looprun.MemoryJournal{}
			loop := &looprun.Loop{
				Guards: guards.Default(), Journal: journal, Questions: asks{}, Responders: []looprun.Responder{c.responder},
				Runner: &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}, {outcome: looprun.OutcomeNotDone, same: 1}, {outcome: looprun.OutcomeNotDone, same: 1}, {outcome: looprun.OutcomeDone}}},
			}
			if err := loop.Start(looprun.RunStarted{Limits: l, Caps: looprun.Caps{Iterations: c.capped}}); err != nil {
				t.Fatal(err)
			}
			if res, err := loop.Run(t.Context()); err != nil || res.Status != looprun.StatusDone {
				t.Fatalf("got %+v, %v", res, err)
			}
			if got := loop.State().Limits.Iterations; got != c.want {
				t.Errorf("the limit is %d, want %d", got, c.want)
			}
		})
	}
}

// defaulted makes a question whose default is to go on.
type defaulted struct{ asks }

func (d defaulted) Question(s *looprun.State, t looprun.Trip) (looprun.Question, error) {
	q, err := d.asks.Question(s, t)
	q.Default = "continue"
	return q, err
}

// At the cap going on is not offered, also not by default, and the question
// says why.
func TestAtTheCapGoingOnIsNotOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			guard looprun.GuardID
			took  time.Duration
			flag  string
		}{{looprun.MaxIterations, 0, "--cap-iterations"}, {looprun.MaxRuntime, 4 * time.Minute, "--cap-runtime"}} {
			l := defaults
			if c.took > 0 {
				l.Iterations = looprun.Off
			}
			var asked []looprun.Question
			run := start(t, l, &script{steps: []play{{outcome: looprun.OutcomeNotDone, took: c.took}}})
			run.Questions = defaulted{}
			run.Responders = []looprun.Responder{watched(&asked, says(slices.Repeat([]string{"continue"}, 50)...))}
			res := run.run(t)
			if res.Guard != c.guard || res.Status != looprun.StatusTripped || res.Iterations > 50 || res.Runtime.Truncate(time.Second) > time.Hour {
				t.Errorf("got %+v, want %s at its cap", res, c.guard)
			}
			q := asked[len(asked)-1]
			if slices.ContainsFunc(q.Options, func(o looprun.Option) bool { return o.Action.Continues() }) || q.Default != "" {
				t.Errorf("%s: offered are %v, by default %q", c.guard, q.OptionIDs(), q.Default)
			}
			if !strings.Contains(strings.Join(q.Details, "\n"), c.flag) {
				t.Errorf("%s: it does not say why: %q", c.guard, q.Details)
			}
			if asked[0].Default != "continue" || len(asked) < 2 {
				t.Errorf("%s: before the cap the default is %q", c.guard, asked[0].Default)
			}
		}
	})
}

// An answer that would go on past max_runtime without extending it is none.
func TestContinuingPastMaxRuntimeNeedsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, took := range []time.Duration{4 * time.Minute, time.Hour} { // between iterations, in one
			run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, took: took}}}, rule("nothing"))
			run.Journal = &limitedJournal{1000}
			if res, err := run.Run(t.Context()); err != nil || res.ExitCode != 124 || run.State().Continues != 0 {
				t.Errorf("got %+v, %v after %d answers; want 124 after none", res, err, run.State().Continues)
			}
		}
	})
}

// Skipping needs something to skip, and skips all of a cycle.
func TestSkippingTakesTheWholeWindow(t *testing.T) {
	unsigned := runnerFunc(func(context.Context, looprun.Iteration) (looprun.IterationFinished, error) {
		return looprun.IterationFinished{Outcome: looprun.OutcomeError}, nil
	})
	run := start(t, defaults, unsigned, rule("skip"))
	if res := run.run(t); res.ExitCode != 112 || run.State().Continues != 0 {
		t.Errorf("nothing to skip: got %+v, want 112", res)
	}

	a, b := play{outcome: looprun.OutcomeNotDone, same: 1}, play{outcome: looprun.OutcomeNotDone, same: 2}
	run = start(t, defaults, &script{steps: []play{a, b, a, b, a, b, a, {outcome: looprun.OutcomeDone}}}, says("skip"))
	if res := run.run(t); res.Status != looprun.StatusDone || len(run.State().Known) != 2 {
		t.Errorf("a cycle: got %+v with %+v known, want both", res, run.State().Known)
	}

	e, f := play{outcome: looprun.OutcomeError, same: 1}, play{outcome: looprun.OutcomeError, same: 2}
	run = start(t, defaults, &script{steps: []play{e, f, e, f, {outcome: looprun.OutcomeDone}}}, says("skip"))
	if res := run.run(t); res.Status != looprun.StatusDone || len(run.State().Known) != 2 {
		t.Errorf("errors: got %+v with %+v known, want both", res, run.State().Known)
	}
}

// debugs is a debug command that ends so.
type debugs func(context.Context) (looprun.DebugFinished, error)

func (d debugs) Debug(ctx context.Context, _ *looprun.State, _ looprun.Option, _ looprun.Answer) (looprun.DebugFinished, error) {
	return d(ctx)
}

// A debug command that fails, or cannot be run, lets nothing go on: the
// question comes again, with what it found.
func TestDebugThatFailsAsksAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		end  looprun.DebugFinished
		err  error
		want string
	}{
		{"it fails", looprun.DebugFinished{ExitCode: 1, Findings: "the disk is full"}, nil, "the disk is full"},
		{"it cannot be run", looprun.DebugFinished{}, errors.New("no shell"), "no shell"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []looprun.Question
			run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, watched(&asked, says("debug")))
			run.Debug = debugs(func(context.Context) (looprun.DebugFinished, error) { return c.end, c.err })
			res := run.run(t)
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

func (commanded) Question(*looprun.State, looprun.Trip) (looprun.Question, error) {
	return looprun.Question{Options: []looprun.Option{{ID: "look", Action: looprun.ActionRun, Command: "git log"}}}, nil
}

// An option that runs a command decides nothing: the question comes again.
func TestAnOptionThatRunsACommandAsksAgain(t *testing.T) {
	var asked []looprun.Question
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, watched(&asked, says("look")))
	run.Questions = commanded{}
	run.Debug = debugs(func(context.Context) (looprun.DebugFinished, error) { return looprun.DebugFinished{}, nil })
	run.Journal = &limitedJournal{100}
	if res, err := run.Run(t.Context()); err != nil || res.ExitCode != 111 || run.State().Continues != 0 || len(asked) != 2 {
		t.Errorf("got %+v, %v after %d questions; want 111 after 2", res, err, len(asked))
	}
}

// An interrupt while the answer is carried out leaves the question open, as
// though it had not been answered.
func TestAnInterruptDuringDebugKeepsTheQuestion(t *testing.T) {
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, rule("debug"))
	ctx, cancel := context.WithCancelCause(t.Context())
	run.Debug = debugs(func(context.Context) (looprun.DebugFinished, error) {
		cancel(&looprun.Interrupt{Signal: "SIGTERM", Code: 143})
		return looprun.DebugFinished{}, nil
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
	late := looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
		cancel(&looprun.Interrupt{Signal: "SIGTERM", Code: 143})
		return looprun.Answer{Option: "continue", Responder: looprun.RespondedByUser, Person: true}, nil
	})
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, late)
	if res, err := run.Run(ctx); err != nil || res.ExitCode != 143 || !res.Pending || run.State().Continues != 0 {
		t.Errorf("got %+v, %v; want 143 with the question pending", res, err)
	}
}

// Ctrl-C at the question that max_runtime put in the middle of an iteration
// ends the iteration, and asks no second time.
func TestAnInterruptAtTheQuestionOfARunningIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		ctrlC := looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
			if asked++; asked > 1 {
				return looprun.Answer{}, looprun.ErrNoAnswer
			}
			return looprun.Answer{}, looprun.ErrInterrupted
		})
		run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeDone, took: time.Hour}}}, ctrlC)
		if res := run.run(t); res.ExitCode != 130 || !res.Pending || asked != 1 || res.Iterations != 0 {
			t.Errorf("got %+v after %d questions, want 130 after one, pending", res, asked)
		}
	})
}

// A run that was interrupted before it began runs nothing.
func TestNothingRunsAfterAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&looprun.Interrupt{Signal: "SIGTERM", Code: 143})
	r := &script{steps: []play{{outcome: looprun.OutcomeDone}}}
	if res, err := start(t, defaults, r).Run(ctx); err != nil || res.ExitCode != 143 || len(r.seen) != 0 {
		t.Errorf("got %+v, %v after %d iterations; want 143 after none", res, err, len(r.seen))
	}
}

// A responder that runs a command of its own ends the iteration that stands
// still: it runs again under its own number, and only the command's time counts.
func TestAVerifyEndsTheIterationThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &script{steps: []play{{outcome: looprun.OutcomeDone, took: 20 * time.Minute}, {outcome: looprun.OutcomeDone, took: time.Minute}}}
		run := start(t, defaults, r)
		run.Responders = []looprun.Responder{looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
			run.BeforeVerify()
			time.Sleep(2 * time.Minute)
			if err := run.AfterVerify(looprun.VerifyFinished{Rule: "p.yaml:3", Command: "true"}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
			return looprun.Answer{Option: "continue", Responder: looprun.RespondedByPolicy}, nil
		})}
		res := run.run(t)
		if res.Status != looprun.StatusDone || res.Iterations != 1 || res.Runtime.Round(time.Minute) != 18*time.Minute {
			t.Errorf("got %+v, want done in iteration 1 after 18 minutes", res)
		}
		if len(r.seen) != 2 || r.seen[1].Number != 1 || r.resumed != 0 {
			t.Errorf("iterations %+v ran, %d went on; want iteration 1 twice", r.seen, r.resumed)
		}
	})
}

// early is a deadline that comes before its guard trips, as when the machine
// was suspended meanwhile.
type early struct{}

func (early) ID() looprun.GuardID                { return "early" }
func (early) Check(*looprun.State) *looprun.Trip { return nil }
func (early) Remaining(s *looprun.State) (time.Duration, bool) {
	return 55*time.Second - s.Elapsed, s.Elapsed < 55*time.Second
}

func TestADeadlineThatCameTooEarlyIsNoTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &script{steps: []play{{outcome: looprun.OutcomeDone, took: 5 * time.Minute}}}
		run := start(t, defaults, r)
		run.Guards = append(run.Guards, early{})
		if res := run.run(t); res.Status != looprun.StatusDone || res.Trips != 0 || len(r.seen) != 1 {
			t.Errorf("got %+v, %d iterations ran; want done in one without a trip", res, len(r.seen))
		}
	})
}

// The time that passes between an event and the wait for the deadline counts.
func TestADeadlineIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := defaults
		l.Runtime = 8 * time.Second
		run := start(t, l, &script{steps: []play{{outcome: looprun.OutcomeDone, took: time.Hour}}})
		run.Observe = func(e looprun.Event, _ *looprun.State) {
			if _, ok := e.Data.(looprun.IterationStarted); ok {
				time.Sleep(4 * time.Second)
			}
		}
		if res := run.run(t); res.ExitCode != 124 || res.Runtime.Round(time.Second) != l.Runtime {
			t.Errorf("got %+v, want 124 after %s", res, l.Runtime)
		}
	})
}

// The elapsed time of a long iteration reaches the journal while it runs, and
// the trip in its middle says so.
func TestTheClockIsOnRecordWhileAnIterationRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeDone, took: time.Hour}}})
		run.run(t)
		before := time.Duration(0)
		during := 0
		for _, e := range run.journal.Events {
			if e.Elapsed-before > 11*time.Second {
				t.Fatalf("%s pass between two events", e.Elapsed-before)
			}
			before = e.Elapsed
			if d, ok := e.Data.(looprun.GuardTripped); ok && d.During {
				during++
			}
		}
		if during != 1 {
			t.Errorf("%d trips are in the middle of an iteration", during)
		}
	})
}

// When the journal fails in the middle of an iteration, the iteration has ended
// before the run has.
func TestAJournalThatFailsDuringAnIterationEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := false
		r := runnerFunc(func(ctx context.Context, _ looprun.Iteration) (looprun.IterationFinished, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			gone = true
			return looprun.IterationFinished{}, nil
		})
		loop := &looprun.Loop{Guards: guards.Default(), Runner: r, Journal: &brokenJournal{2}}
		if err := loop.Start(looprun.RunStarted{Limits: defaults}); err != nil {
			t.Fatal(err)
		}
		if res, err := loop.Run(t.Context()); err == nil || res.ExitCode != 125 || !gone {
			t.Errorf("got %+v, %v; the iteration has ended: %v", res, err, gone)
		}
	})
}

// A runner that cannot go on ends the run as failed, and that is on record.
func TestARunnerThatFailsEndsTheRun(t *testing.T) {
	run := start(t, defaults, runnerFunc(func(context.Context, looprun.Iteration) (looprun.IterationFinished, error) {
		return looprun.IterationFinished{Outcome: looprun.OutcomeDone}, errors.New("the output cannot be kept")
	}))
	res, err := run.Run(t.Context())
	if err == nil || res.Status != looprun.StatusFailed || res.ExitCode != 125 {
		t.Errorf("got %+v, %v; want failed with 125", res, err)
	}
	if s := run.State(); !s.Ended || s.Ending.Status != looprun.StatusFailed || s.Ending.ExitCode != 125 {
		t.Errorf("on record is %+v", s.Ending)
	}
}

// silent makes no question.
type silent struct{}

func (silent) Question(*looprun.State, looprun.Trip) (looprun.Question, error) {
	return looprun.Question{}, errors.New("the template is broken")
}

// A trip about which no question can be made ends the run; it is not skipped.
func TestATripWithoutAQuestionEndsTheRun(t *testing.T) {
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, says("continue"))
	run.Questions = silent{}
	if res, err := run.Run(t.Context()); err == nil || res.ExitCode != 125 || res.Iterations != 3 {
		t.Errorf("broken: got %+v, %v; want failed with 125 after 3", res, err)
	}
	run = start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, says("continue"))
	run.Questions = nil
	run.Journal = &limitedJournal{100}
	if res, err := run.Run(t.Context()); err != nil || res.ExitCode != 111 || res.Iterations != 3 {
		t.Errorf("none: got %+v, %v; want 111 after 3", res, err)
	}
}

// limitedJournal fails when a run does not end.
type limitedJournal struct{ left int }

func (j *limitedJournal) Append(looprun.Event) error {
	if j.left--; j.left < 0 {
		return errors.New("the run does not end")
	}
	return nil
}
func (*limitedJournal) Sync() error { return nil }

// A person who was asked and gave no answer lets nothing go on.
func TestNoAnswerIsNeverToGoOn(t *testing.T) {
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, says())
	run.Journal = &limitedJournal{100}
	res, err := run.Run(t.Context())
	if err != nil || res.ExitCode != 111 || res.Iterations != 3 {
		t.Errorf("got %+v, %v; want 111 after 3", res, err)
	}
}

// syncedJournal knows which events would survive a power loss.
type syncedJournal struct {
	looprun.MemoryJournal
	synced map[looprun.EventType]bool
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
		want   []looprun.EventType
	}{
		{"accept", []looprun.EventType{looprun.TypeQuestionAsked, looprun.TypeQuestionAnswered, looprun.TypeActionApplied, looprun.TypeRunFinished}},
		{"pause", []looprun.EventType{looprun.TypeRunPaused}},
		{"nonsense", []looprun.EventType{looprun.TypeQuestionClosed}},
	} {
		journal := &syncedJournal{synced: map[looprun.EventType]bool{}}
		run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, says(c.option))
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
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, says("continue"))
	run.Journal = &syncedJournal{synced: map[looprun.EventType]bool{}, fail: errors.New("input/output error")}
	if res, err := run.Run(t.Context()); err == nil || res.ExitCode != 125 || res.Iterations != 3 {
		t.Errorf("got %+v, %v; want failed with 125 before anybody is asked", res, err)
	}
}

// Nobody is told of an event that could not be written.
func TestAnEventIsSeenOnlyOnceItIsWritten(t *testing.T) {
	told := 0
	loop := &looprun.Loop{
		Guards: guards.Default(), Runner: &script{steps: []play{{outcome: looprun.OutcomeNotDone}}}, Journal: &brokenJournal{2},
		Observe: func(looprun.Event, *looprun.State) { told++ },
	}
	if err := loop.Start(looprun.RunStarted{Limits: defaults}); err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Run(t.Context()); err == nil || told != 2 {
		t.Errorf("told of %d events, %v; want 2 and an error", told, err)
	}
}

// An answer that is none is kept in the record, with who gave it.
func TestAnInvalidAnswerIsOnRecord(t *testing.T) {
	run := start(t, defaults, &script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}}, says(), rule("go-on"))
	run.run(t)
	var invalid []looprun.AnswerInvalid
	for _, e := range run.journal.Events {
		if d, ok := e.Data.(looprun.AnswerInvalid); ok {
			invalid = append(invalid, d)
		}
	}
	if len(invalid) != 1 || invalid[0].Responder != looprun.RespondedByPolicy || !strings.Contains(invalid[0].Reason, "go-on") {
		t.Errorf("on record are %+v, want the policy's go-on", invalid)
	}
}

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

// The delays begin anew with an answer that continues.
func TestAnAnswerStartsTheDelaysOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := defaults
		l.Iterations = 2
		run := start(t, l, &script{steps: []play{{outcome: looprun.OutcomeNotDone}, {outcome: looprun.OutcomeNotDone}, {outcome: looprun.OutcomeDone}}}, says("continue"))
		run.Backoff = looprun.Backoff{Base: time.Minute}
		if res := run.run(t); res.Status != looprun.StatusDone || res.Runtime.Round(time.Second) != time.Minute {
			t.Errorf("got %+v, want one delay of a minute", res)
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
	counting := runnerFunc(func(context.Context, looprun.Iteration) (looprun.IterationFinished, error) {
		n++
		d := looprun.IterationFinished{Outcome: looprun.OutcomeNotDone}
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
