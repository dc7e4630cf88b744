package core_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// The answers of a trip count as given until another guard trips, another
// iteration has ended, or the clock trips in the middle of one.
func TestWhatWasGivenIsForgottenWithTheTrip(t *testing.T) {
	trip := func(g core.GuardID, iteration int, during bool) core.GuardTripped {
		return core.GuardTripped{Trip: core.Trip{Guard: g, Iteration: iteration, During: during}}
	}
	before := []core.Data{looptest.Begun, looptest.First, looptest.Ended1, trip(core.LoopDetected, 1, false), looptest.Question, looptest.Answered, looptest.Applied}
	next := []core.Data{core.IterationStarted{Iteration: 2}, core.IterationFinished{Iteration: 2, Outcome: core.OutcomeNotDone}}
	for _, c := range []struct {
		name string
		then []core.Data
		want int
	}{
		{"the same trip", []core.Data{trip(core.LoopDetected, 1, false)}, 1},
		{"another guard", []core.Data{trip(core.MaxIterations, 1, false)}, 0},
		{"another iteration", append(slices.Clone(next), trip(core.LoopDetected, 2, false)), 0},
		{"in the middle", []core.Data{trip(core.LoopDetected, 1, true)}, 0},
	} {
		if s := looptest.Folded(t, append(slices.Clone(before), c.then...)...); len(s.Given) != c.want {
			t.Errorf("%s: given are %v, want %d", c.name, s.Given, c.want)
		}
	}
}

// What was said in an iteration that runs again counts for nothing: it is said
// again.
func TestWhatWasSaidInAnIterationThatRunsAgain(t *testing.T) {
	blocked := core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}
	unread := core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked}, Problem: "two words"}
	for name, end := range map[string]core.Data{
		"crashed":     core.RunResumed{},
		"cut off":     core.IterationFinished{Iteration: 1, Outcome: core.OutcomeError, Cause: core.CauseMaxRuntime},
		"interrupted": core.IterationFinished{Iteration: 1, Outcome: core.OutcomeError, Cause: core.CauseInterrupt},
		"waiting":     core.IterationFinished{Iteration: 1, Outcome: core.OutcomeWaiting},
	} {
		s := looptest.Folded(t, looptest.Begun, looptest.First, blocked, unread, end, looptest.First, looptest.Ended1)
		if s.Signal != nil || s.Unread != 0 || s.Objects != "" || len(s.Signals) != 0 || s.Iterations != 1 {
			t.Errorf("%s: %+v is acted on, %d unread, %q, %d signals", name, s.Signal, s.Unread, s.Objects, len(s.Signals))
		}
	}
}

// How an iteration ends the run: also the precheck, and one that only waits.
func TestHowAnIterationEndsTheRun(t *testing.T) {
	interrupt := core.InterruptReceived{Signal: "SIGTERM", Code: 143}
	prechecked := looptest.Begun
	prechecked.Precheck = true
	zero := core.IterationStarted{}
	for _, c := range []struct {
		name   string
		events []core.Data
		want   core.Status // empty: it goes on
		code   int
	}{
		{"a precheck that passes", []core.Data{prechecked, zero, core.IterationFinished{Outcome: core.OutcomeDone}}, core.StatusDone, 0},
		{"a precheck that fails", []core.Data{prechecked, zero, core.IterationFinished{Outcome: core.OutcomeNotDone}}, "", 0},
		{"a precheck that cannot run", []core.Data{prechecked, zero, core.IterationFinished{Outcome: core.OutcomeError, Fatal: 127}}, core.StatusFailed, 127},
		{"an interrupt in the precheck", []core.Data{prechecked, zero, interrupt, core.IterationFinished{Outcome: core.OutcomeDone}}, core.StatusInterrupted, 143},
		{"waiting", []core.Data{looptest.Begun, looptest.First, core.IterationFinished{Iteration: 1, Outcome: core.OutcomeWaiting}}, "", 0},
		{"an interrupt while it waits", []core.Data{looptest.Begun, looptest.First, interrupt, core.IterationFinished{Iteration: 1, Outcome: core.OutcomeWaiting}}, core.StatusInterrupted, 143},
		{"a command that was interrupted", []core.Data{looptest.Begun, looptest.First, core.IterationFinished{Iteration: 1, Outcome: core.OutcomeInterrupted}}, core.StatusInterrupted, 130},
		{"a stop code", []core.Data{looptest.Begun, looptest.First, core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone, Fatal: 125}}, core.StatusFailed, 125},
	} {
		s := looptest.Folded(t, c.events...)
		switch {
		case c.want == "" && s.Ending != nil, c.want != "" && (s.Ending == nil || s.Ending.Status != c.want || s.Ending.ExitCode != c.code):
			t.Errorf("%s: it ends as %+v, want %q with %d", c.name, s.Ending, c.want, c.code)
		}
	}
}

// Waits in a row are counted, and end with any other iteration.
func TestWaitsAreCountedInARow(t *testing.T) {
	waited := core.IterationFinished{Iteration: 1, Outcome: core.OutcomeWaiting}
	if s := looptest.Folded(t, looptest.Begun, looptest.First, waited, looptest.First, waited); s.Waits != 2 {
		t.Errorf("%d waits, want 2", s.Waits)
	}
	if s := looptest.Folded(t, looptest.Begun, looptest.First, waited, looptest.First, looptest.Ended1); s.Waits != 0 {
		t.Errorf("%d waits after an iteration that did not, want 0", s.Waits)
	}
}

// Every answer that is to start the attempts over does so, not only the first.
func TestEachAnswerStartsTheAttemptsOver(t *testing.T) {
	blocked := core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}
	over := core.CountersReset{Task: "task"}
	events := []core.Data{looptest.Begun}
	for n := 1; n <= 2; n++ {
		told := looptest.Applied
		told.Guard = core.Blocked
		events = append(events, core.IterationStarted{Iteration: n}, blocked,
			core.IterationFinished{Iteration: n, Outcome: core.OutcomeNotDone},
			core.GuardTripped{Trip: core.Trip{Guard: core.Blocked, Iteration: n}}, looptest.Question, looptest.Answered, over, told)
	}
	if s := looptest.Folded(t, events...); s.Ladder.Task("task").Clarifications != 2 {
		t.Errorf("%d fresh starts, want 2", s.Ladder.Task("task").Clarifications)
	}
}

// Improvement is told from the last answer on.
func TestTheBaselineMovesWithTheAnswers(t *testing.T) {
	failing := func(iteration, n int) core.IterationFinished {
		return core.IterationFinished{Iteration: iteration, Outcome: core.OutcomeNotDone, Signature: signature.Signature{Hash: 1, Failing: n, Passed: 1, Total: n + 1}}
	}
	second := core.IterationStarted{Iteration: 2}
	s := looptest.Folded(t, looptest.Begun, looptest.First, failing(1, 5), looptest.Tripped, looptest.Question, looptest.Answered, looptest.Applied, second, failing(2, 5))
	if s.Baseline == nil || s.Baseline.Failing != 5 || s.Improved() {
		t.Errorf("5 fail as at the last answer: baseline %+v, improved %v", s.Baseline, s.Improved())
	}
	trip2 := looptest.Tripped
	trip2.Trip.Iteration = 2
	s = looptest.Folded(t, looptest.Begun, looptest.First, failing(1, 5), second, failing(2, 3), trip2, looptest.Question, looptest.Answered, looptest.Applied, core.IterationStarted{Iteration: 3}, failing(3, 3))
	if s.Improved() || s.Baseline.Failing != 3 {
		t.Errorf("3 fail as at the last answer: baseline %+v, improved %v", s.Baseline, s.Improved())
	}
}

// The delivery of one answer is not that of another.
func TestDeliveriesAreApart(t *testing.T) {
	blocked := core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}
	told := looptest.Applied
	told.Guard, told.Guidance = core.Blocked, "ask there"
	toYes := core.QuestionAnswered{QuestionID: "a", Answer: core.Answer{Option: core.Yes, Responder: core.RespondedByUser}}
	events := []core.Data{
		looptest.Begun, looptest.First, blocked, commandAsks("a"), looptest.Ended1, toYes,
		core.GuardTripped{Trip: core.Trip{Guard: core.Blocked, Iteration: 1}},
		looptest.Question, looptest.Answered, told,
		core.QuestionDelivered{QuestionID: "a"},
	}
	s := looptest.Folded(t, events...)
	if s.Undelivered != "q" || len(s.Asked) != 0 {
		t.Errorf("after the delivery of a: %q is undelivered, %d asked", s.Undelivered, len(s.Asked))
	}
	told.Guidance = ""
	events[len(events)-2] = told
	if s := looptest.Folded(t, events...); s.Undelivered != "" {
		t.Errorf("an answer without words: %q is undelivered", s.Undelivered)
	}
}

// A pause that was asked for comes once nothing is open, and an end that comes first stands.
func TestAPauseComesWhenNothingIsOpen(t *testing.T) {
	pause, stop := core.OrderReceived{Order: core.OrderPause, Responder: "user"}, core.OrderReceived{Order: core.OrderStop, Responder: "user"}
	running := []core.Data{looptest.Begun, looptest.First}
	asking := []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question}
	waits := []core.Data{looptest.Begun, looptest.First, commandAsks("a"), looptest.Ended1}
	done := core.IterationFinished{Iteration: 1, Outcome: core.OutcomeDone}
	for _, c := range []struct {
		name   string
		events []core.Data
		then   []core.Data
		want   core.Status // empty: the run goes on
	}{
		{"between two iterations", []core.Data{looptest.Begun}, []core.Data{pause}, core.StatusPaused},
		{"in an iteration", running, []core.Data{pause}, ""},
		{"after it", running, []core.Data{pause, looptest.Ended1}, core.StatusPaused},
		{"after one that is done", running, []core.Data{pause, done}, core.StatusDone},
		{"at a trip", asking, []core.Data{pause}, ""},
		{"at a trip that is answered", asking, []core.Data{pause, looptest.Answered}, ""},
		{"after the answer", asking, []core.Data{pause, looptest.Answered, looptest.Applied}, core.StatusPaused},
		{"at a question of the command", waits, []core.Data{pause}, ""},
		{"after a stop", running, []core.Data{pause, stop, looptest.Ended1}, core.StatusCancelled},
		{"a stop at a trip", asking, []core.Data{stop}, core.StatusCancelled},
		{"a stop of what is decided", running, []core.Data{done, stop}, core.StatusDone},
	} {
		s := looptest.Folded(t, append(slices.Clone(c.events), c.then...)...)
		got := core.Status("")
		if s.Ending != nil {
			got = s.Ending.Status
		}
		if got != c.want || got == core.StatusPaused && (s.Ending.Responder != "user" || s.Pause != nil) {
			t.Errorf("%s: it ends as %q (%+v), want %q", c.name, got, s.Ending, c.want)
		}
	}
	s := looptest.Folded(t, looptest.Begun, looptest.First, pause, core.RunResumed{}, looptest.First, looptest.Ended1)
	if s.Ending != nil {
		t.Errorf("who resumes a run lets it go on: %+v", s.Ending)
	}
}

// What the assistant advises is shown once, with the question it is about; what
// the command is told reaches the next iteration.
func TestAdviceGoesToItsQuestion(t *testing.T) {
	advice := func(id string) core.Data {
		return core.AdviceGiven{QuestionID: id, Advice: core.Advice{Text: "do not"}}
	}
	events := []core.Data{looptest.Begun, looptest.First, commandAsks("a"), looptest.Ended1, looptest.Tripped, looptest.Question}
	details := func(s *core.State) (trip, command string) {
		return strings.Join(s.Question.Details, "|"), strings.Join(s.Asked[0].Question.Details, "|")
	}
	for _, c := range []struct {
		name                string
		then                []core.Data
		trip, command, told string
	}{
		{"to the trip", []core.Data{advice("q"), advice("q")}, "do not", "", ""},
		{"to the command", []core.Data{advice("a"), advice("a")}, "", "do not", ""},
		{"to another", []core.Data{advice("p")}, "", "", ""},
		{"no advice", []core.Data{core.AnswerInvalid{QuestionID: "q", Reason: "nonsense"}}, "", "", ""},
		{"told", []core.Data{core.MessageRefused{Reason: "not taken"}}, "", "", "not taken"},
	} {
		s := looptest.Folded(t, append(slices.Clone(events), c.then...)...)
		if trip, command := details(s); trip != c.trip || command != c.command || strings.Join(s.Notices, "|") != c.told {
			t.Errorf("%s: the trip's question says %q, the command's %q, the next iteration is told %q", c.name, trip, command, s.Notices)
		}
	}
	s := looptest.Folded(t, looptest.Begun, advice("q")) // to a question that is gone
	if s.Question != nil {
		t.Errorf("%+v", s.Question)
	}
}

// What an iteration warns of stays with the run: also when it was cut off, when a
// later one passes, and when the run is resumed. The same is said once.
func TestWarningsStayWithTheRun(t *testing.T) {
	warning := func(n int, cause core.Cause, texts ...string) core.IterationFinished {
		return core.IterationFinished{Iteration: n, Outcome: core.OutcomeError, Cause: cause, Warnings: texts}
	}
	s := looptest.Folded(
		t, looptest.Begun, looptest.First, warning(1, core.CauseMaxRuntime, "one"), looptest.First, warning(1, "", "one", "two"),
		core.RunPaused{Reason: "enough"}, core.RunResumed{},
		core.IterationStarted{Iteration: 2}, core.IterationFinished{Iteration: 2, Outcome: core.OutcomeDone},
	)
	if got := s.Result().Warnings; !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the result warns of %q", got)
	}
	many := []core.Data{looptest.Begun}
	for n := 1; n <= 30; n++ {
		many = append(many, core.IterationStarted{Iteration: n}, warning(n, "", strconv.Itoa(n)))
	}
	if got := looptest.Folded(t, many...).Result().Warnings; len(got) != 20 || got[0] != "1" {
		t.Errorf("of many it keeps %q", got)
	}
}

// What an iteration printed that was cut off, or has to wait, stops where it did: that
// fewer failures are in it is no progress, and nobody is told that there are fewer.
func TestAnIterationThatRunsAgainIsNoEvidence(t *testing.T) {
	failing := func(n int) signature.Signature {
		return signature.Signature{Kind: signature.KindTestFail, Label: fmt.Sprint("test-fail:", n), Hash: signature.Hash(n), Failing: n, Passed: 1, Total: n + 1}
	}
	counts := core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone, Signature: failing(5)}
	second := core.IterationStarted{Iteration: 2}
	during := core.GuardTripped{Trip: core.Trip{Guard: core.MaxRuntime, Iteration: 2, During: true}}
	for name, end := range map[string]core.IterationFinished{
		"cut off":                 {Outcome: core.OutcomeError, Cause: core.CauseMaxRuntime},
		"interrupted by looprun":  {Outcome: core.OutcomeError, Cause: core.CauseInterrupt},
		"interrupted by a person": {Outcome: core.OutcomeInterrupted},
		"waiting":                 {Outcome: core.OutcomeWaiting},
	} {
		end.Iteration, end.Signature = 2, failing(1)
		before := looptest.Folded(t, looptest.Begun, looptest.First, counts)
		s := looptest.Folded(t, looptest.Begun, looptest.First, counts, second, end)
		if s.Improved() || s.Summary() != before.Summary() || s.CurrentState() != before.CurrentState() || s.Result().Signature != before.Result().Signature {
			t.Errorf("%s: improved %v, %s, %s, %s", name, s.Improved(), s.Summary(), s.CurrentState(), s.Result().Signature)
		}
		if issues := s.WindowIssues(core.Trip{Guard: core.MaxIterations}); !slices.Equal(issues, before.WindowIssues(core.Trip{Guard: core.MaxIterations})) {
			t.Errorf("%s: %v would be skipped", name, issues)
		}
		if s.Last.Iteration != 1 || s.Ran.Iteration != 2 {
			t.Errorf("%s: iteration %d is evidence, %d ran last", name, s.Last.Iteration, s.Ran.Iteration)
		}
		if s := looptest.Folded(t, looptest.Begun, looptest.First, counts, second, end, looptest.Finished(core.StatusInterrupted), core.RunResumed{}, second, during, looptest.Question, looptest.Answered, looptest.Applied); s.Baseline.Failing != 5 {
			t.Errorf("%s: the baseline is %d failing, of the iteration that does not count", name, s.Baseline.Failing)
		}
	}
}

// A precheck that was cut off, or has to wait, is still to be run: what it would say
// is not known, and the command may not have to run at all.
func TestAPrecheckThatRunsAgain(t *testing.T) {
	prechecked, zero := looptest.Begun, core.IterationStarted{}
	prechecked.Precheck = true
	during := core.GuardTripped{Trip: core.Trip{Guard: core.MaxRuntime, During: true}}
	for _, c := range []struct {
		name string
		then []core.Data
		want core.Next
	}{
		{"interrupted", []core.Data{core.InterruptReceived{Code: 130}, core.IterationFinished{Outcome: core.OutcomeInterrupted, Cause: core.CauseInterrupt}, looptest.Finished(core.StatusInterrupted), core.RunResumed{}}, core.NextPrecheck},
		{"cut off", []core.Data{during, core.QuestionClosed{Unanswered: true}, core.IterationFinished{Outcome: core.OutcomeError, Cause: core.CauseMaxRuntime}, looptest.Finished(core.StatusTripped), core.RunResumed{}}, core.NextPrecheck},
		{"crashed", []core.Data{core.RunResumed{}}, core.NextPrecheck},
		{"waiting", []core.Data{core.IterationFinished{Outcome: core.OutcomeWaiting, Until: &time.Time{}}}, core.NextWait},
		{"waited", []core.Data{core.IterationFinished{Outcome: core.OutcomeWaiting, Until: &time.Time{}}, core.WaitFinished{}}, core.NextPrecheck},
		{"failed", []core.Data{core.IterationFinished{Outcome: core.OutcomeNotDone}}, core.NextIterate},
	} {
		s := looptest.Folded(t, append([]core.Data{prechecked, zero}, c.then...)...)
		if next, _ := s.Next(guards.Default()); next != c.want {
			t.Errorf("%s: next is %s, want %s", c.name, next, c.want)
		}
	}
	s := looptest.Folded(t, prechecked, zero, core.IterationFinished{Outcome: core.OutcomeWaiting, Until: &time.Time{}})
	s.Elapsed = time.Hour
	if next, _ := s.Next(guards.Default()); next != core.NextTrip {
		t.Errorf("it waits past max_runtime: next is %s", next)
	}
}

// An answer that is taken back may have been forgotten as given, since its limit was
// raised.
func TestAnInterruptTakesTheAnswerBack(t *testing.T) {
	more := looptest.Defaults
	more.Runtime *= 2
	trip := core.GuardTripped{Trip: core.Trip{Guard: core.MaxRuntime, Iteration: 1}}
	for _, resumed := range []core.RunResumed{{}, {Limits: &more}} {
		s := looptest.Folded(t, looptest.Begun, looptest.First, looptest.Ended1, trip, looptest.Question, core.RunPaused{}, looptest.Answered, resumed, core.InterruptReceived{Code: 130})
		if s.Answer != nil || len(s.Given) != 0 || s.Question == nil {
			t.Errorf("answer %+v, given %v, question %+v", s.Answer, s.Given, s.Question)
		}
	}
}

// An iteration of which nothing is known adds to no row of skipped issues, and breaks
// none.
func TestAnUnknownIterationBreaksNoRow(t *testing.T) {
	known := looptest.Applied
	known.Action, known.Known = core.ActionSkip, []core.KnownIssue{{Hash: 7, Label: "x"}}
	events := []core.Data{looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question, looptest.Answered, known}
	for i, h := range []signature.Hash{7, 0, 7, 0, 7} {
		end := core.IterationFinished{Iteration: i + 2, Outcome: core.OutcomeNotDone, Signature: signature.Signature{Hash: h}}
		events = append(events, core.IterationStarted{Iteration: i + 2}, end)
	}
	if s := looptest.Folded(t, events...); s.KnownRun != 3 {
		t.Errorf("%d in a row, want 3", s.KnownRun)
	}
}
