// Package guardtest checks that a guard keeps the rules that the loop relies on. Give it a
// story that makes the guard trip, and it checks the rest: that the guard trips there and not
// earlier, can be turned off, modifies nothing, remembers nothing outside the state, and lets
// the run continue once the question was answered.
package guardtest

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/signature"
)

// Story is a run that makes a guard trip.
type Story struct {
	Limits core.Limits // with which it trips
	Off    core.Limits // with which it never does
	// Steps are the finished iterations; the guard trips after the last.
	Steps []Step
	// Extend is the extension in the answer, for guards that are limits.
	Extend core.Extend
	// Ladder are the rungs of the run.
	Ladder ladder.Config
	// Always is for guards that no limit turns off; Off is then not tested.
	Always bool
}

// Step is one finished iteration.
type Step struct {
	Outcome core.Outcome
	Same    int           // iterations with the same number have the same signature; 0: none
	Core    int           // iterations with the same number have the same core; 0: none
	Failing int           // so many checks fail; 0: not known
	Passing bool          // it exits with 0 all the same
	Took    time.Duration // active time
	Tree    int           // iterations with the same number left the same files; 0: not known
	Said    []core.Data
	// Weakened describes what the pass checked less than before.
	Weakened string
}

// Times repeats a step.
func Times(n int, s Step) []Step {
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = s
	}
	return steps
}

// Check checks the guard against the story.
func Check(t *testing.T, g core.Guard, story Story) {
	t.Helper()
	if g.ID() == "" {
		t.Fatal("the guard has no ID")
	}
	if trip := g.Check(&core.State{}); trip != nil {
		t.Errorf("%s trips on a run that has not started: %+v", g.ID(), trip)
	}
	s := start(t, story.Limits, story.Ladder)
	for i, step := range story.Steps {
		if trip := look(t, g, s); trip != nil {
			t.Fatalf("%s trips after %d of %d iterations: %+v", g.ID(), i, len(story.Steps), trip)
		}
		Finish(t, s, step)
	}
	trip := look(t, g, s)
	if trip == nil {
		t.Fatalf("%s does not trip after %d iterations", g.ID(), len(story.Steps))
	}
	if trip.Guard != g.ID() || trip.Reason == "" {
		t.Errorf("the trip does not say who tripped and why: %+v", trip)
	}
	answered(t, g, s, *trip, story.Extend)

	if story.Always {
		return
	}
	off := start(t, story.Off, story.Ladder)
	for _, step := range append(story.Steps, story.Steps...) {
		Finish(t, off, step)
		if trip := g.Check(off); trip != nil {
			t.Fatalf("%s is off and trips: %+v", g.ID(), trip)
		}
	}
}

// look asks the guard twice, and once more with the state as after a restart. The results must
// be equal and the state unchanged.
func look(t *testing.T, g core.Guard, s *core.State) *core.Trip {
	t.Helper()
	before := encode(t, s)
	first, second := g.Check(s), g.Check(s)
	if after := encode(t, s); after != before {
		t.Fatalf("%s changed the state:\nbefore %s\nafter  %s", g.ID(), before, after)
	}
	var restored core.State
	if err := json.Unmarshal([]byte(before), &restored); err != nil {
		t.Fatal(err)
	}
	third := g.Check(&restored)
	if !reflect.DeepEqual(first, second) || !reflect.DeepEqual(first, third) {
		t.Fatalf("%s does not say the same thing each time: %+v, %+v, after a restart %+v", g.ID(), first, second, third)
	}
	return first
}

// answered lets the run continue and expects the guard to agree.
func answered(t *testing.T, g core.Guard, s *core.State, trip core.Trip, e core.Extend) {
	t.Helper()
	trip.Iteration = s.Iterations
	apply(t, s, core.GuardTripped{Trip: trip})
	o := core.Option{ID: "continue", Label: "Continue", Action: core.ActionContinue, Extend: e}
	apply(t, s, core.QuestionAsked{Question: core.Question{ID: "q", Guard: trip.Guard, Options: []core.Option{o}}})
	a := core.Answer{Option: o.ID, Responder: core.RespondedByUser, Person: true, Guidance: "go on"}
	apply(t, s, core.QuestionAnswered{QuestionID: "q", Answer: a})
	effect, err := s.Effect(o, a)
	if err != nil {
		t.Fatalf("%s cannot be answered with continue: %v", g.ID(), err)
	}
	apply(t, s, effect)
	if again := g.Check(s); again != nil {
		t.Errorf("%s trips again at once after it was answered: %+v", g.ID(), again)
	}
}

// Start returns the state of a run that has started with these limits and no caps.
func Start(t *testing.T, l core.Limits) *core.State {
	t.Helper()
	return start(t, l, nil)
}

func start(t *testing.T, l core.Limits, rungs ladder.Config) *core.State {
	t.Helper()
	s := new(core.State)
	apply(t, s, core.RunStarted{RunID: "guardtest", Command: []string{"work"}, Limits: l, Ladder: rungs})
	return s
}

// Finish runs the next iteration as described by step.
func Finish(t *testing.T, s *core.State, step Step) {
	t.Helper()
	n := s.NextIteration()
	apply(t, s, core.IterationStarted{Iteration: n})
	d := core.IterationFinished{Iteration: n, Outcome: step.Outcome, ExitCode: 1, DurationMS: step.Took.Milliseconds()}
	d.Signature = signature.Signature{Failing: -1, Passed: -1, Total: -1}
	if step.Same != 0 {
		d.Signature.Hash = signature.Hash(step.Same)
		d.Signature.Label = "output:" + d.Signature.Hash.String()
	}
	if step.Failing != 0 {
		d.Signature.Failing = step.Failing
	}
	d.Weakened = step.Weakened
	if step.Passing {
		d.ExitCode = 0
	}
	d.Signature.Core = signature.Hash(step.Core)
	for _, said := range step.Said {
		if r, ok := said.(core.TurnRepeated); ok { // of the iteration that runs
			r.Iteration = s.Open
			said = r
		}
		apply(t, s, said)
	}
	d.Tree, d.Content = signature.Hash(step.Tree), signature.Hash(step.Tree)
	applyAt(t, s, d, s.Elapsed+step.Took)
	if next, _ := s.Next(nil); next == core.NextWeigh {
		apply(t, s, s.Weighed())
	}
}

func apply(t *testing.T, s *core.State, d core.Data) {
	t.Helper()
	applyAt(t, s, d, s.Elapsed)
}

func applyAt(t *testing.T, s *core.State, d core.Data, elapsed time.Duration) {
	t.Helper()
	if err := s.Apply(core.Event{Seq: s.Seq + 1, Elapsed: elapsed, Data: d}); err != nil {
		t.Fatal(err)
	}
}

func encode(t *testing.T, s *core.State) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
