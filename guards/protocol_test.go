package guards_test

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/guards/guardtest"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

func says(data ...core.Data) guardtest.Step {
	return guardtest.Step{Outcome: core.OutcomeNotDone, Said: data}
}

func TestCost(t *testing.T) {
	limits := off
	limits.Cost = 2
	cost := says(core.CostReported{USD: 1})
	guardtest.Check(t, guards.Cost{}, guardtest.Story{
		Limits: limits, Off: off, Extend: core.Extend{CostPercent: 50},
		Steps: []guardtest.Step{cost, cost, says(core.SignalReceived{Signal: signal.Signal{Name: signal.Cost, USD: 0.01}})},
	})
}

func TestTokens(t *testing.T) {
	limits := off
	limits.Tokens = 100
	tokens := says(core.CostReported{Tokens: 50})
	guardtest.Check(t, guards.Tokens{}, guardtest.Story{
		Limits: limits, Off: off, Extend: core.Extend{TokensPercent: 10},
		Steps: []guardtest.Step{tokens, tokens, says(core.CostReported{Tokens: 1})},
	})
}

// files are iterations with that signature that leave that tree behind.
func files(pairs ...[2]int) []guardtest.Step {
	var steps []guardtest.Step
	for _, p := range pairs {
		steps = append(steps, guardtest.Step{Outcome: core.OutcomeNotDone, Same: p[0], Tree: p[1]})
	}
	return steps
}

func TestProgress(t *testing.T) {
	limits := off
	limits.IdleIterations = 2
	for name, steps := range map[string][]guardtest.Step{
		"nothing at all changes":           files([2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}),
		"after a change of files":          files([2]int{1, 1}, [2]int{1, 1}, [2]int{1, 2}, [2]int{1, 2}, [2]int{1, 2}),
		"after a change of output":         files([2]int{1, 1}, [2]int{1, 1}, [2]int{2, 1}, [2]int{2, 1}, [2]int{2, 1}),
		"what is not known breaks nothing": files([2]int{1, 1}, [2]int{1, 1}, [2]int{1, 0}, [2]int{0, 1}, [2]int{1, 1}, [2]int{1, 1}),
	} {
		t.Run(name, func(t *testing.T) {
			guardtest.Check(t, guards.Progress{}, guardtest.Story{Limits: limits, Off: off, Steps: steps})
		})
	}
}

// What is not known is no standing still.
func TestUnknownFilesAreNoStandstill(t *testing.T) {
	limits := off
	limits.IdleIterations = 2
	s := guardtest.Start(t, limits)
	for range 20 {
		guardtest.Finish(t, s, guardtest.Step{Outcome: core.OutcomeNotDone, Same: 1})
		if trip := (guards.Progress{}).Check(s); trip != nil {
			t.Fatalf("%+v", trip)
		}
	}
}

// Where every other iteration has no output, or no files, that are known, nobody
// knows that nothing changed.
func TestWhatIsNotKnownIsNoStandstill(t *testing.T) {
	limits := off
	limits.IdleIterations = 1
	for name, pairs := range map[string][2][2]int{"output": {{1, 1}, {0, 1}}, "files": {{1, 1}, {1, 0}}} {
		s := guardtest.Start(t, limits)
		for i := range 10 {
			guardtest.Finish(t, s, files(pairs[i%2])[0])
			if trip := (guards.Progress{}).Check(s); trip != nil {
				t.Fatalf("%s: after %d iterations %+v", name, i+1, trip)
			}
		}
	}
}

// An answer starts the count of returns over: it takes as many again.
func TestAnAnswerStartsTheReturnsOver(t *testing.T) {
	limits := off
	limits.WorkspaceCycles = 2
	s := guardtest.Start(t, limits)
	trips := 0
	for i := range 9 {
		guardtest.Finish(t, s, files([2]int{i + 1, i%2 + 1})[0])
		trip := guards.Workspace{}.Check(s)
		if trip == nil {
			continue
		}
		trips++
		for _, d := range []core.Data{
			core.GuardTripped{Trip: *trip},
			core.QuestionAsked{Question: core.Question{ID: "q"}},
			core.QuestionAnswered{QuestionID: "q", Answer: core.Answer{Option: "continue"}},
			core.ActionApplied{Action: core.ActionContinue, Guard: trip.Guard, Limits: s.Limits, Resets: []core.GuardID{trip.Guard}},
		} {
			if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		if s.Iterations != 5 && s.Iterations != 9 {
			t.Errorf("it trips after %d iterations, want 5 and 9", s.Iterations)
		}
	}
	if trips != 2 {
		t.Errorf("%d trips, want 2", trips)
	}
}

func TestWorkspace(t *testing.T) {
	limits := off
	limits.WorkspaceCycles = 2
	for name, steps := range map[string][]guardtest.Step{
		"to and fro":    files([2]int{1, 1}, [2]int{2, 2}, [2]int{3, 1}, [2]int{4, 2}, [2]int{5, 1}),
		"with detours":  files([2]int{1, 1}, [2]int{2, 2}, [2]int{3, 3}, [2]int{4, 1}, [2]int{5, 4}, [2]int{6, 1}),
		"unknown among": files([2]int{1, 1}, [2]int{2, 2}, [2]int{3, 0}, [2]int{4, 1}, [2]int{5, 1}, [2]int{6, 3}, [2]int{7, 1}),
	} {
		t.Run(name, func(t *testing.T) {
			guardtest.Check(t, guards.Workspace{}, guardtest.Story{Limits: limits, Off: off, Steps: steps})
		})
	}
	s := guardtest.Start(t, limits)
	for i := range 20 { // a state that is not left is no state to come back to
		guardtest.Finish(t, s, guardtest.Step{Outcome: core.OutcomeNotDone, Same: i + 1, Tree: 1})
	}
	if trip := (guards.Workspace{}).Check(s); trip != nil {
		t.Errorf("%+v", trip)
	}
}

func TestRejection(t *testing.T) {
	guardtest.Check(t, guards.Rejection{}, guardtest.Story{
		Limits: off, Always: true,
		Steps: []guardtest.Step{says(), says(core.RejectionSubmitted{
			RejectionID: "rejection-1", Rejection: rejection.Rejection{ReasonType: rejection.Blocker, Summary: "the server is down"},
		})},
	})
	// An invalid one stops nothing.
	s := guardtest.Start(t, off)
	guardtest.Finish(t, s, says(core.RejectionInvalid{RejectionID: "rejection-1", Issues: []rejection.Issue{{Problem: "no effort", Remedy: "try"}}}))
	if trip := (guards.Rejection{}).Check(s); trip != nil || s.Guidance == "" {
		t.Errorf("%+v, guidance %q", trip, s.Guidance)
	}
}

func TestSignals(t *testing.T) {
	send := func(n signal.Name) core.Data {
		return core.SignalReceived{Signal: signal.Signal{Name: n, Question: "what now?", Text: "help"}}
	}
	for _, c := range []struct {
		name  string
		guard core.Guard
		said  []core.Data
	}{
		{"blocked", guards.Blocked{}, []core.Data{send(signal.Blocked)}},
		{"blocked beats clarify", guards.Blocked{}, []core.Data{send(signal.Clarify), send(signal.Progress), send(signal.Blocked)}},
		{"clarify", guards.Clarification{}, []core.Data{send(signal.Clarify)}},
		{"clarify beats the rest", guards.Clarification{}, []core.Data{send(signal.Expert), send(signal.Clarify), send(signal.Attempt)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			guardtest.Check(t, c.guard, guardtest.Story{Limits: off, Always: true, Steps: []guardtest.Step{says(send(signal.Progress)), says(c.said...)}})
			s := guardtest.Start(t, off)
			guardtest.Finish(t, s, says(c.said...))
			if trip := c.guard.Check(s); trip.Mandatory != (c.guard.ID() == core.Clarification) || !strings.HasSuffix(trip.Reason, ": what now?") {
				t.Errorf("%+v", trip)
			}
			for _, other := range []core.Guard{guards.Blocked{}, guards.Clarification{}} {
				if trip := other.Check(s); trip != nil && other.ID() != c.guard.ID() {
					t.Errorf("%s trips too", other.ID())
				}
			}
		})
	}
}

// attempts are iterations that fail in distinct ways.
func attempts(n int) []guardtest.Step {
	var steps []guardtest.Step
	for i := range n {
		steps = append(steps, guardtest.Step{Outcome: core.OutcomeNotDone, Same: i + 1, Tree: i + 1})
	}
	return steps
}

func TestLadder(t *testing.T) {
	rungs := ladder.Config{{Rung: ladder.SelfSolve}, {Rung: ladder.Human}}
	again := append(attempts(5), attempts(5)...)
	for name, steps := range map[string][]guardtest.Step{
		"six attempts":                    attempts(6),
		"the same approach is no attempt": append(again, guardtest.Step{Outcome: core.OutcomeNotDone, Same: 6, Tree: 6}),
		"a clarification":                 {says(core.SignalReceived{Signal: signal.Signal{Name: signal.Clarify, Cause: "security_concern"}})},
	} {
		t.Run(name, func(t *testing.T) {
			guardtest.Check(t, guards.Ladder{}, guardtest.Story{Limits: off, Always: true, Ladder: rungs, Steps: steps})
		})
	}
	s := guardtest.Start(t, off)
	for _, step := range attempts(20) {
		guardtest.Finish(t, s, step)
	}
	if trip := (guards.Ladder{}).Check(s); trip != nil {
		t.Errorf("without a ladder: %+v", trip)
	}
}
