package guards_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/guards/guardtest"
)

// off are limits of which only the one under test is set.
var off = core.Limits{Iterations: core.Off, Runtime: core.Off, Loop: core.Off, Errors: core.Off}

func same(n ...int) []guardtest.Step {
	steps := make([]guardtest.Step, len(n))
	for i, v := range n {
		steps[i] = guardtest.Step{Outcome: core.OutcomeNotDone, Same: v}
	}
	return steps
}

func TestIterations(t *testing.T) {
	limits := off
	limits.Iterations = 4
	guardtest.Check(t, guards.Iterations{}, guardtest.Story{
		Limits: limits, Off: off, Extend: core.Extend{Iterations: 5},
		Steps: guardtest.Times(4, guardtest.Step{Outcome: core.OutcomeNotDone}),
	})
}

func TestRuntime(t *testing.T) {
	limits := off
	limits.Runtime = time.Minute
	guardtest.Check(t, guards.Runtime{}, guardtest.Story{
		Limits: limits, Off: off, Extend: core.Extend{Runtime: time.Minute},
		Steps: guardtest.Times(3, guardtest.Step{Outcome: core.OutcomeNotDone, Took: 20 * time.Second}),
	})
}

func TestWeakened(t *testing.T) {
	limits := off
	limits.Weakened = core.WeakenedOff
	guardtest.Check(t, guards.Weakened{}, guardtest.Story{
		Limits: off, Always: true,
		Steps: append(guardtest.Times(2, guardtest.Step{Outcome: core.OutcomeNotDone}), guardtest.Step{Outcome: core.OutcomeDone, Weakened: "Passes, with 2 tests where 7 ran"}),
	})
	s := guardtest.Start(t, limits)
	guardtest.Finish(t, s, guardtest.Step{Outcome: core.OutcomeDone, Weakened: "Passes, with 2 tests where 7 ran"})
	if trip := (guards.Weakened{}).Check(s); trip != nil || s.Ending == nil || s.Ending.Status != core.StatusDone {
		t.Errorf("it is off: %+v, %+v", trip, s.Ending)
	}
}

func TestRuntimeRemaining(t *testing.T) {
	limits := off
	s := guardtest.Start(t, limits)
	if _, ok := (guards.Runtime{}).Remaining(s); ok {
		t.Error("a limit that is off has a deadline")
	}
	limits.Runtime = time.Minute
	s = guardtest.Start(t, limits)
	guardtest.Finish(t, s, guardtest.Step{Outcome: core.OutcomeNotDone, Took: 50 * time.Second})
	if left, ok := (guards.Runtime{}).Remaining(s); !ok || left != 10*time.Second {
		t.Errorf("Remaining = %s, %v; want 10s", left, ok)
	}
}

func TestLoop(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []guardtest.Step
	}{
		{"three in a row", same(1, 2, 2, 2)},
		{"a cycle of two", same(1, 2, 1, 2, 1, 2)},
		{"a cycle of three", same(1, 2, 3, 1, 2, 3, 1, 2, 3)},
		{"a cycle of four", same(1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4)},
		{"a cycle of five", same(1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5)},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := off
			limits.Loop = 3
			guardtest.Check(t, guards.Loop{}, guardtest.Story{Limits: limits, Off: off, Steps: c.steps})
		})
	}
}

func values(cores ...int) []guardtest.Step {
	steps := make([]guardtest.Step, len(cores))
	for i, c := range cores {
		steps[i] = guardtest.Step{Outcome: core.OutcomeNotDone, Same: i + 1, Core: c}
	}
	return steps
}

func TestOnlyValuesChange(t *testing.T) {
	limits := off
	limits.Loop = 3
	steps := values(7, 8, 8, 8, 8, 8, 8)
	guardtest.Check(t, guards.Loop{}, guardtest.Story{Limits: limits, Off: off, Steps: steps})
	s := guardtest.Start(t, limits)
	for _, step := range steps {
		guardtest.Finish(t, s, step)
	}
	want := core.Trip{Guard: core.LoopDetected, Window: 6, Reason: "the same checks fail for the 6th time, only values change (--loop-values off lets them)"}
	if trip := (guards.Loop{}).Check(s); trip == nil || !reflect.DeepEqual(*trip, want) {
		t.Errorf("%+v, want %+v", trip, want)
	}
	if s.AnyValue = true; (guards.Loop{}).Check(s) != nil {
		t.Error("trips where any value will do")
	}
}

func TestOnlyValuesChangeIsNone(t *testing.T) {
	for name, steps := range map[string][]guardtest.Step{
		"five times":           values(8, 8, 8, 8, 8),
		"no check is named":    values(0, 0, 0, 0, 0, 0, 0, 0),
		"other checks between": values(8, 8, 8, 9, 8, 8, 8, 9, 8, 8, 8),
	} {
		limits := off
		limits.Loop = 3
		s := guardtest.Start(t, limits)
		for i, step := range steps {
			guardtest.Finish(t, s, step)
			if trip := (guards.Loop{}).Check(s); trip != nil {
				t.Fatalf("%s: trips after %d iterations: %+v", name, i+1, trip)
			}
		}
	}
}

func TestOften(t *testing.T) {
	limits := off
	limits.Loop = 3
	steps := same(1, 1, 2, 1, 3, 1, 4, 1, 5, 1)
	guardtest.Check(t, guards.Loop{}, guardtest.Story{Limits: limits, Off: off, Steps: steps})
	s := guardtest.Start(t, limits)
	for _, step := range steps {
		guardtest.Finish(t, s, step)
	}
	want := core.Trip{Guard: core.LoopDetected, Period: 1, Repeats: 6, Window: 10, Reason: "the same failure came in 6 of the last 10 iterations"}
	if trip := (guards.Loop{}).Check(s); trip == nil || !reflect.DeepEqual(*trip, want) {
		t.Errorf("%+v, want %+v", trip, want)
	}
}

func TestOftenIsNone(t *testing.T) {
	failing := func(counts ...int) []guardtest.Step { // the same failure every second time
		steps := make([]guardtest.Step, len(counts))
		for i, n := range counts {
			steps[i] = guardtest.Step{Outcome: core.OutcomeNotDone, Same: 1, Failing: n}
			if n != 3 {
				steps[i].Same = 10 + i
			}
		}
		return steps
	}
	limits := off
	limits.Loop = 3
	for _, c := range []struct {
		name  string
		loop  int
		often core.Often
		steps []guardtest.Step
	}{
		{"five times", 3, core.Often{}, same(1, 1, 2, 1, 3, 1, 4, 1, 5, 6)},
		{"six times of more than ten", 3, core.Often{}, same(1, 2, 3, 1, 4, 1, 5, 6, 1, 7, 1, 8, 9, 1)},
		{"off", 3, core.Often{Times: core.Off}, same(1, 1, 2, 1, 3, 1, 4, 1, 5, 1, 6, 1, 7, 1)},
		{"more is allowed", 3, core.Often{Times: 8, Of: 10}, same(1, 1, 2, 1, 3, 1, 4, 1, 5, 1)},
		{"the threshold is higher", 5, core.Often{}, same(1, 1, 2, 1, 3, 1, 4, 1, 5, 1)},
		{"no threshold", core.Off, core.Often{}, same(1, 1, 2, 1, 3, 1, 4, 1, 5, 1)},
		{"fewer fail", 3, core.Often{}, failing(3, 3, 4, 3, 4, 3, 2, 3, 2, 3)},
		{"nothing fails", 3, core.Often{}, passing(same(1, 1, 2, 1, 3, 1, 4, 1, 5, 1))},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits.Loop = c.loop
			s := guardtest.Start(t, limits)
			s.Often = c.often
			for i, step := range c.steps {
				guardtest.Finish(t, s, step)
				if trip := (guards.Loop{}).Check(s); trip != nil {
					t.Fatalf("trips after %d iterations: %+v", i+1, trip)
				}
			}
		})
	}
}

func passing(steps []guardtest.Step) []guardtest.Step {
	for i := range steps {
		steps[i].Passing = true
	}
	return steps
}

// The sentence is about the iterations that count.
func TestASkippedIssueAmongThemIsMentioned(t *testing.T) {
	limits := off
	limits.Loop, limits.Errors = 3, 3
	for _, c := range []struct {
		name    string
		steps   []int // 1 is skipped
		outcome core.Outcome
		guard   core.Guard
		want    string
	}{
		{"before them", []int{1, 2, 2, 2}, core.OutcomeNotDone, guards.Loop{}, "the last 3 iterations failed in the same way"},
		{"between them", []int{2, 1, 2, 2}, core.OutcomeNotDone, guards.Loop{}, "the last 3 iterations without a skipped issue failed in the same way"},
		{"in a cycle", []int{2, 3, 1, 2, 3, 2, 3}, core.OutcomeNotDone, guards.Loop{}, "the last 6 iterations without a skipped issue repeated a cycle of 2 failures 3 times"},
		{"errors", []int{2, 3, 4}, core.OutcomeError, guards.Errors{}, "the last 3 iterations ended as errors"},
		{"between errors", []int{2, 3, 1, 4}, core.OutcomeError, guards.Errors{}, "the last 3 iterations without a skipped issue ended as errors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := guardtest.Start(t, limits)
			guardtest.Finish(t, s, guardtest.Step{Outcome: core.OutcomeNotDone, Same: 1})
			s.Known = []core.KnownIssue{{Hash: s.Last.Signature.Hash}}
			for _, same := range c.steps {
				guardtest.Finish(t, s, guardtest.Step{Outcome: c.outcome, Same: same})
			}
			if trip := c.guard.Check(s); trip == nil || trip.Reason != c.want {
				t.Errorf("%+v, want %q", trip, c.want)
			}
		})
	}
}

// A crash trips at once, but not one that was skipped, whatever came before it.
func TestASkippedCrash(t *testing.T) {
	limits := off
	limits.Errors = 3
	for _, skipped := range []bool{false, true} {
		s := guardtest.Start(t, limits)
		guardtest.Finish(t, s, guardtest.Step{Outcome: core.OutcomeNotDone, Same: 1})
		if skipped {
			s.Known = []core.KnownIssue{{Hash: s.Last.Signature.Hash}}
		}
		for _, same := range []int{2, 1} {
			guardtest.Finish(t, s, guardtest.Step{Outcome: core.OutcomeError, Same: same})
		}
		s.Last.Cause = core.CauseCrash
		if trip := (guards.Errors{}).Check(s); (trip == nil) != skipped {
			t.Errorf("skipped %t: %+v", skipped, trip)
		}
	}
}

func TestLoopIsNone(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []guardtest.Step
	}{
		{"a, b, a, a", same(1, 2, 1, 1)},
		{"nothing known", same(0, 0, 0, 0)},
		{"a cycle of six", same(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6)},
		{"progress", same(3, 3, 2, 2, 1, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := off
			limits.Loop = 3
			s := guardtest.Start(t, limits)
			for i, step := range c.steps {
				guardtest.Finish(t, s, step)
				if trip := (guards.Loop{}).Check(s); trip != nil {
					t.Fatalf("trips after %d iterations: %+v", i+1, trip)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	limits := off
	limits.Errors = 3
	failed := guardtest.Step{Outcome: core.OutcomeError}
	story := guardtest.Story{Limits: limits, Off: off, Steps: slices.Concat(
		guardtest.Times(2, failed),
		guardtest.Times(1, guardtest.Step{Outcome: core.OutcomeNotDone}),
		guardtest.Times(3, failed))}
	guardtest.Check(t, guards.Errors{}, story)
}

func TestErrorsAskFirstWhenTheWholeWindowIsErrors(t *testing.T) {
	failed := guardtest.Step{Outcome: core.OutcomeError, Same: 7}
	mixed := guardtest.Step{Outcome: core.OutcomeNotDone, Same: 7}
	for _, c := range []struct {
		name   string
		errors int
		steps  []guardtest.Step
		want   core.GuardID
		also   []core.GuardID
	}{
		{"all errors", 3, guardtest.Times(3, failed), core.ConsecutiveErrors, []core.GuardID{core.LoopDetected}},
		{"one is none", 2, []guardtest.Step{mixed, failed, failed}, core.LoopDetected, []core.GuardID{core.ConsecutiveErrors}},
		{"no errors", 3, guardtest.Times(3, mixed), core.LoopDetected, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := off
			limits.Loop, limits.Errors = 3, c.errors
			s := guardtest.Start(t, limits)
			for _, step := range c.steps {
				guardtest.Finish(t, s, step)
			}
			trip := core.Evaluate(guards.Default(), s)
			if trip == nil || trip.Guard != c.want || !slices.Equal(trip.Also, c.also) {
				t.Errorf("Evaluate = %+v, want %s and also %v", trip, c.want, c.also)
			}
		})
	}
}

// Every guard sees every iteration: one that trips first hides no other.
func TestAllThatTripAreNamed(t *testing.T) {
	s := guardtest.Start(t, core.Limits{Iterations: 3, Runtime: time.Second, Loop: 3, Errors: 3})
	for _, step := range guardtest.Times(3, guardtest.Step{Outcome: core.OutcomeError, Same: 1, Took: time.Second}) {
		guardtest.Finish(t, s, step)
	}
	trip := core.Evaluate(guards.Default(), s)
	want := []core.GuardID{core.MaxRuntime, core.ConsecutiveErrors, core.LoopDetected}
	if trip == nil || trip.Guard != core.MaxIterations || !slices.Equal(trip.Also, want) {
		t.Errorf("Evaluate = %+v, want max_iterations and also %v", trip, want)
	}
}

// What the trip says of a repetition that is longer than the threshold, as after
// a run was resumed with a lower one.
func TestALongRepetitionIsSaidWhole(t *testing.T) {
	limits := off
	limits.Loop = 3
	s := guardtest.Start(t, limits)
	for _, step := range same(1, 2, 2, 2, 2, 2) {
		guardtest.Finish(t, s, step)
	}
	if trip := (guards.Loop{}).Check(s); trip == nil || trip.Repeats != 5 || trip.Window != 5 || trip.Reason != "the last 5 iterations failed in the same way" {
		t.Errorf("%+v", trip)
	}
	s = guardtest.Start(t, limits)
	for _, step := range same(1, 2, 1, 2, 1, 2) {
		guardtest.Finish(t, s, step)
	}
	if trip := (guards.Loop{}).Check(s); trip == nil || trip.Repeats != 3 || trip.Window != 6 || trip.Reason != "the last 6 iterations repeated a cycle of 2 failures 3 times" {
		t.Errorf("%+v", trip)
	}
}

// A guard that was turned off on resume does not come back to what was skipped
// under it.
func TestSkippedIssuesOfAGuardThatIsOff(t *testing.T) {
	for _, c := range []struct {
		guard   core.Guard
		outcome core.Outcome
	}{{guards.Loop{}, core.OutcomeNotDone}, {guards.Errors{}, core.OutcomeError}} {
		limits := off
		limits.Loop, limits.Errors = 2, 2
		s := guardtest.Start(t, limits)
		step := guardtest.Step{Outcome: c.outcome, Same: 1}
		apply := func(d core.Data) {
			if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		guardtest.Finish(t, s, step)
		guardtest.Finish(t, s, step)
		apply(core.GuardTripped{Trip: *c.guard.Check(s)})
		apply(core.QuestionAsked{Question: core.Question{ID: "q"}})
		apply(core.QuestionAnswered{QuestionID: "q", Answer: core.Answer{Option: "skip"}})
		apply(core.ActionApplied{
			Action: core.ActionSkip, Guard: c.guard.ID(), Limits: limits,
			Resets: []core.GuardID{c.guard.ID()}, Known: s.WindowIssues(*s.Trip),
		})
		guardtest.Finish(t, s, step)
		guardtest.Finish(t, s, step)
		if c.guard.Check(s) == nil {
			t.Errorf("%s does not come back", c.guard.ID())
		}
		apply(core.RunPaused{})
		apply(core.RunResumed{Limits: &off})
		if trip := c.guard.Check(s); trip != nil {
			t.Errorf("%s is off and trips: %+v", c.guard.ID(), trip)
		}
	}
}

// The first repetition is told to the next turn; the second is one too many, also where the
// turn had ended by itself. What has not ended yet is no second one.
func TestTurn(t *testing.T) {
	repeated := core.TurnRepeated{Calls: []string{"Bash ls"}, Times: 8}
	again := guardtest.Step{Outcome: core.OutcomeNotDone, Said: []core.Data{repeated, repeated}}
	limits := off
	limits.TurnLoop = 8
	steps := []guardtest.Step{{Outcome: core.OutcomeNotDone}, again, {Outcome: core.OutcomeNotDone}, again}
	guardtest.Check(t, guards.Turn{}, guardtest.Story{Limits: limits, Off: off, Steps: steps})
	s := guardtest.Start(t, limits)
	guardtest.Finish(t, s, again)
	if want := "Your last turn repeated itself: it made the same call 8 times in a row, with the same result: Bash ls."; !strings.HasPrefix(s.Told(), want) {
		t.Errorf("the next turn is told %q", s.Told())
	}
	guardtest.Finish(t, s, again)
	want := core.Trip{Guard: core.TurnLoop, Iteration: 2, Repeats: 8, Reason: "it made the same call 8 times in a row, with the same result: Bash ls"}
	if trip := (guards.Turn{}).Check(s); trip == nil || !reflect.DeepEqual(*trip, want) {
		t.Errorf("%+v, want %+v", trip, want)
	}
}
