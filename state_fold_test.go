package looprun_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// The answers of a trip count as given until another guard trips, another
// iteration has ended, or the clock trips in the middle of one.
func TestWhatWasGivenIsForgottenWithTheTrip(t *testing.T) {
	trip := func(g looprun.GuardID, iteration int, during bool) looprun.GuardTripped {
		return looprun.GuardTripped{Trip: looprun.Trip{Guard: g, Iteration: iteration, During: during}}
	}
	before := []looprun.Data{begun, first, ended1, trip(looprun.LoopDetected, 1, false), question, answered, applied}
	next := []looprun.Data{looprun.IterationStarted{Iteration: 2}, looprun.IterationFinished{Iteration: 2, Outcome: looprun.OutcomeNotDone}}
	for _, c := range []struct {
		name string
		then []looprun.Data
		want int
	}{
		{"the same trip", []looprun.Data{trip(looprun.LoopDetected, 1, false)}, 1},
		{"another guard", []looprun.Data{trip(looprun.MaxIterations, 1, false)}, 0},
		{"another iteration", append(slices.Clone(next), trip(looprun.LoopDetected, 2, false)), 0},
		{"in the middle", []looprun.Data{trip(looprun.LoopDetected, 1, true)}, 0},
	} {
		if s := folded(t, append(slices.Clone(before), c.then...)...); len(s.Given) != c.want {
			t.Errorf("%s: given are %v, want %d", c.name, s.Given, c.want)
		}
	}
}

// What was said in an iteration that runs again counts for nothing: it is said
// again.
func TestWhatWasSaidInAnIterationThatRunsAgain(t *testing.T) {
	blocked := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}
	unread := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Blocked}, Problem: "two words"}
	for name, end := range map[string]looprun.Data{
		"crashed":     looprun.RunResumed{},
		"cut off":     looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeError, Cause: looprun.CauseMaxRuntime},
		"interrupted": looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeError, Cause: looprun.CauseInterrupt},
		"waiting":     looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeWaiting},
	} {
		s := folded(t, begun, first, blocked, unread, end, first, ended1)
		if s.Signal != nil || s.Unread != 0 || s.Objects != "" || len(s.Signals) != 0 || s.Iterations != 1 {
			t.Errorf("%s: %+v is acted on, %d unread, %q, %d signals", name, s.Signal, s.Unread, s.Objects, len(s.Signals))
		}
	}
}

// How an iteration ends the run: also the precheck, and one that only waits.
func TestHowAnIterationEndsTheRun(t *testing.T) {
	interrupt := looprun.InterruptReceived{Signal: "SIGTERM", Code: 143}
	prechecked := begun
	prechecked.Precheck = true
	zero := looprun.IterationStarted{}
	for _, c := range []struct {
		name   string
		events []looprun.Data
		want   looprun.Status // empty: it goes on
		code   int
	}{
		{"a precheck that passes", []looprun.Data{prechecked, zero, looprun.IterationFinished{Outcome: looprun.OutcomeDone}}, looprun.StatusDone, 0},
		{"a precheck that fails", []looprun.Data{prechecked, zero, looprun.IterationFinished{Outcome: looprun.OutcomeNotDone}}, "", 0},
		{"a precheck that cannot run", []looprun.Data{prechecked, zero, looprun.IterationFinished{Outcome: looprun.OutcomeError, Fatal: 127}}, looprun.StatusFailed, 127},
		{"an interrupt in the precheck", []looprun.Data{prechecked, zero, interrupt, looprun.IterationFinished{Outcome: looprun.OutcomeDone}}, looprun.StatusInterrupted, 143},
		{"waiting", []looprun.Data{begun, first, looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeWaiting}}, "", 0},
		{"an interrupt while it waits", []looprun.Data{begun, first, interrupt, looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeWaiting}}, looprun.StatusInterrupted, 143},
		{"a command that was interrupted", []looprun.Data{begun, first, looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeInterrupted}}, looprun.StatusInterrupted, 130},
		{"a stop code", []looprun.Data{begun, first, looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeNotDone, Fatal: 125}}, looprun.StatusFailed, 125},
	} {
		s := folded(t, c.events...)
		switch {
		case c.want == "" && s.Ending != nil, c.want != "" && (s.Ending == nil || s.Ending.Status != c.want || s.Ending.ExitCode != c.code):
			t.Errorf("%s: it ends as %+v, want %q with %d", c.name, s.Ending, c.want, c.code)
		}
	}
}

// Waits in a row are counted, and end with any other iteration.
func TestWaitsAreCountedInARow(t *testing.T) {
	waited := looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeWaiting}
	if s := folded(t, begun, first, waited, first, waited); s.Waits != 2 {
		t.Errorf("%d waits, want 2", s.Waits)
	}
	if s := folded(t, begun, first, waited, first, ended1); s.Waits != 0 {
		t.Errorf("%d waits after an iteration that did not, want 0", s.Waits)
	}
}

// Every answer that is to start the attempts over does so, not only the first.
func TestEachAnswerStartsTheAttemptsOver(t *testing.T) {
	blocked := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}
	over := looprun.CountersReset{Task: "task"}
	events := []looprun.Data{begun}
	for n := 1; n <= 2; n++ {
		told := applied
		told.Guard = looprun.Blocked
		events = append(events, looprun.IterationStarted{Iteration: n}, blocked,
			looprun.IterationFinished{Iteration: n, Outcome: looprun.OutcomeNotDone},
			looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.Blocked, Iteration: n}}, question, answered, over, told)
	}
	if s := folded(t, events...); s.Ladder.Task("task").Clarifications != 2 {
		t.Errorf("%d fresh starts, want 2", s.Ladder.Task("task").Clarifications)
	}
}

// Improvement is told from the last answer on.
func TestTheBaselineMovesWithTheAnswers(t *testing.T) {
	failing := func(iteration, n int) looprun.IterationFinished {
		return looprun.IterationFinished{Iteration: iteration, Outcome: looprun.OutcomeNotDone, Signature: signature.Signature{Hash: 1, Failing: n, Passed: 1, Total: n + 1}}
	}
	second := looprun.IterationStarted{Iteration: 2}
	s := folded(t, begun, first, failing(1, 5), tripped, question, answered, applied, second, failing(2, 5))
	if s.Baseline == nil || s.Baseline.Failing != 5 || s.Improved() {
		t.Errorf("5 fail as at the last answer: baseline %+v, improved %v", s.Baseline, s.Improved())
	}
	trip2 := tripped
	trip2.Trip.Iteration = 2
	s = folded(t, begun, first, failing(1, 5), second, failing(2, 3), trip2, question, answered, applied, looprun.IterationStarted{Iteration: 3}, failing(3, 3))
	if s.Improved() || s.Baseline.Failing != 3 {
		t.Errorf("3 fail as at the last answer: baseline %+v, improved %v", s.Baseline, s.Improved())
	}
}

// The delivery of one answer is not that of another.
func TestDeliveriesAreApart(t *testing.T) {
	blocked := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}
	told := applied
	told.Guard, told.Guidance = looprun.Blocked, "ask there"
	toYes := looprun.QuestionAnswered{QuestionID: "a", Answer: looprun.Answer{Option: looprun.Yes, Responder: looprun.RespondedByUser}}
	events := []looprun.Data{
		begun, first, blocked, commandAsks("a"), ended1, toYes,
		looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.Blocked, Iteration: 1}},
		question, answered, told,
		looprun.QuestionDelivered{QuestionID: "a"},
	}
	s := folded(t, events...)
	if s.Undelivered != "q" || len(s.Asked) != 0 {
		t.Errorf("after the delivery of a: %q is undelivered, %d asked", s.Undelivered, len(s.Asked))
	}
	told.Guidance = ""
	events[len(events)-2] = told
	if s := folded(t, events...); s.Undelivered != "" {
		t.Errorf("an answer without words: %q is undelivered", s.Undelivered)
	}
}

// What the assistant advises is shown once, with the question it is about; what
// the command is told reaches the next iteration.
func TestAdviceGoesToItsQuestion(t *testing.T) {
	advice := func(id string) looprun.Data {
		return looprun.AdviceGiven{QuestionID: id, Advice: looprun.Advice{Text: "do not"}}
	}
	events := []looprun.Data{begun, first, commandAsks("a"), ended1, tripped, question}
	details := func(s *looprun.State) (trip, command string) {
		return strings.Join(s.Question.Details, "|"), strings.Join(s.Asked[0].Question.Details, "|")
	}
	for _, c := range []struct {
		name                string
		then                []looprun.Data
		trip, command, told string
	}{
		{"to the trip", []looprun.Data{advice("q"), advice("q")}, "do not", "", ""},
		{"to the command", []looprun.Data{advice("a"), advice("a")}, "", "do not", ""},
		{"to another", []looprun.Data{advice("p")}, "", "", ""},
		{"no advice", []looprun.Data{looprun.AnswerInvalid{QuestionID: "q", Reason: "nonsense"}}, "", "", ""},
		{"told", []looprun.Data{looprun.MessageRefused{Reason: "not taken"}}, "", "", "not taken"},
	} {
		s := folded(t, append(slices.Clone(events), c.then...)...)
		if trip, command := details(s); trip != c.trip || command != c.command || strings.Join(s.Notices, "|") != c.told {
			t.Errorf("%s: the trip's question says %q, the command's %q, the next iteration is told %q", c.name, trip, command, s.Notices)
		}
	}
	s := folded(t, begun, advice("q")) // to a question that is gone
	if s.Question != nil {
		t.Errorf("%+v", s.Question)
	}
}

// What an iteration warns of stays with the run: also when it was cut off, when a
// later one passes, and when the run is resumed. The same is said once.
func TestWarningsStayWithTheRun(t *testing.T) {
	warning := func(n int, cause looprun.Cause, texts ...string) looprun.IterationFinished {
		return looprun.IterationFinished{Iteration: n, Outcome: looprun.OutcomeError, Cause: cause, Warnings: texts}
	}
	s := folded(
		t, begun, first, warning(1, looprun.CauseMaxRuntime, "one"), first, warning(1, "", "one", "two"),
		looprun.RunPaused{Reason: "enough"}, looprun.RunResumed{},
		looprun.IterationStarted{Iteration: 2}, looprun.IterationFinished{Iteration: 2, Outcome: looprun.OutcomeDone},
	)
	if got := s.Result().Warnings; !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the result warns of %q", got)
	}
	many := []looprun.Data{begun}
	for n := 1; n <= 30; n++ {
		many = append(many, looprun.IterationStarted{Iteration: n}, warning(n, "", strconv.Itoa(n)))
	}
	if got := folded(t, many...).Result().Warnings; len(got) != 20 || got[0] != "1" {
		t.Errorf("of many it keeps %q", got)
	}
}

// What an iteration printed that was cut off, or has to wait, stops where it did: that
// fewer failures are in it is no progress, and nobody is told that there are fewer.
func TestAnIterationThatRunsAgainIsNoEvidence(t *testing.T) {
	failing := func(n int) signature.Signature {
		return signature.Signature{Kind: signature.KindTestFail, Label: fmt.Sprint("test-fail:", n), Hash: signature.Hash(n), Failing: n, Passed: 1, Total: n + 1}
	}
	counts := looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeNotDone, Signature: failing(5)}
	second := looprun.IterationStarted{Iteration: 2}
	during := looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.MaxRuntime, Iteration: 2, During: true}}
	for name, end := range map[string]looprun.IterationFinished{
		"cut off":                 {Outcome: looprun.OutcomeError, Cause: looprun.CauseMaxRuntime},
		"interrupted by looprun":  {Outcome: looprun.OutcomeError, Cause: looprun.CauseInterrupt},
		"interrupted by a person": {Outcome: looprun.OutcomeInterrupted},
		"waiting":                 {Outcome: looprun.OutcomeWaiting},
	} {
		end.Iteration, end.Signature = 2, failing(1)
		before := folded(t, begun, first, counts)
		s := folded(t, begun, first, counts, second, end)
		if s.Improved() || s.Summary() != before.Summary() || s.CurrentState() != before.CurrentState() || s.Result().Signature != before.Result().Signature {
			t.Errorf("%s: improved %v, %s, %s, %s", name, s.Improved(), s.Summary(), s.CurrentState(), s.Result().Signature)
		}
		if issues := s.WindowIssues(looprun.Trip{Guard: looprun.MaxIterations}); !slices.Equal(issues, before.WindowIssues(looprun.Trip{Guard: looprun.MaxIterations})) {
			t.Errorf("%s: %v would be skipped", name, issues)
		}
		if s.Last.Iteration != 1 || s.Ran.Iteration != 2 {
			t.Errorf("%s: iteration %d is evidence, %d ran last", name, s.Last.Iteration, s.Ran.Iteration)
		}
		if s := folded(t, begun, first, counts, second, end, finished(looprun.StatusInterrupted), looprun.RunResumed{}, second, during, question, answered, applied); s.Baseline.Failing != 5 {
			t.Errorf("%s: the baseline is %d failing, of the iteration that does not count", name, s.Baseline.Failing)
		}
	}
}

// A precheck that was cut off, or has to wait, is still to be run: what it would say
// is not known, and the command may not have to run at all.
func TestAPrecheckThatRunsAgain(t *testing.T) {
	prechecked, zero := begun, looprun.IterationStarted{}
	prechecked.Precheck = true
	during := looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.MaxRuntime, During: true}}
	for _, c := range []struct {
		name string
		then []looprun.Data
		want looprun.Next
	}{
		{"interrupted", []looprun.Data{looprun.InterruptReceived{Code: 130}, looprun.IterationFinished{Outcome: looprun.OutcomeInterrupted, Cause: looprun.CauseInterrupt}, finished(looprun.StatusInterrupted), looprun.RunResumed{}}, looprun.NextPrecheck},
		{"cut off", []looprun.Data{during, looprun.QuestionClosed{Unanswered: true}, looprun.IterationFinished{Outcome: looprun.OutcomeError, Cause: looprun.CauseMaxRuntime}, finished(looprun.StatusTripped), looprun.RunResumed{}}, looprun.NextPrecheck},
		{"crashed", []looprun.Data{looprun.RunResumed{}}, looprun.NextPrecheck},
		{"waiting", []looprun.Data{looprun.IterationFinished{Outcome: looprun.OutcomeWaiting, Until: &time.Time{}}}, looprun.NextWait},
		{"waited", []looprun.Data{looprun.IterationFinished{Outcome: looprun.OutcomeWaiting, Until: &time.Time{}}, looprun.WaitFinished{}}, looprun.NextPrecheck},
		{"failed", []looprun.Data{looprun.IterationFinished{Outcome: looprun.OutcomeNotDone}}, looprun.NextIterate},
	} {
		s := folded(t, append([]looprun.Data{prechecked, zero}, c.then...)...)
		if next, _ := s.Next(guards.Default()); next != c.want {
			t.Errorf("%s: next is %s, want %s", c.name, next, c.want)
		}
	}
	s := folded(t, prechecked, zero, looprun.IterationFinished{Outcome: looprun.OutcomeWaiting, Until: &time.Time{}})
	s.Elapsed = time.Hour
	if next, _ := s.Next(guards.Default()); next != looprun.NextTrip {
		t.Errorf("it waits past max_runtime: next is %s", next)
	}
}

// An answer that is taken back may have been forgotten as given, since its limit was
// raised.
func TestAnInterruptTakesTheAnswerBack(t *testing.T) {
	more := defaults
	more.Runtime *= 2
	trip := looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.MaxRuntime, Iteration: 1}}
	for _, resumed := range []looprun.RunResumed{{}, {Limits: &more}} {
		s := folded(t, begun, first, ended1, trip, question, looprun.RunPaused{}, answered, resumed, looprun.InterruptReceived{Code: 130})
		if s.Answer != nil || len(s.Given) != 0 || s.Question == nil {
			t.Errorf("answer %+v, given %v, question %+v", s.Answer, s.Given, s.Question)
		}
	}
}

// An iteration of which nothing is known adds to no row of skipped issues, and breaks
// none.
func TestAnUnknownIterationBreaksNoRow(t *testing.T) {
	known := applied
	known.Action, known.Known = looprun.ActionSkip, []looprun.KnownIssue{{Hash: 7, Label: "x"}}
	events := []looprun.Data{begun, first, ended1, tripped, question, answered, known}
	for i, h := range []signature.Hash{7, 0, 7, 0, 7} {
		end := looprun.IterationFinished{Iteration: i + 2, Outcome: looprun.OutcomeNotDone, Signature: signature.Signature{Hash: h}}
		events = append(events, looprun.IterationStarted{Iteration: i + 2}, end)
	}
	if s := folded(t, events...); s.KnownRun != 3 {
		t.Errorf("%d in a row, want 3", s.KnownRun)
	}
}
