package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// wholeTask is a model of a task that is taken apart: what is still to be done, the
// first of it now, made of the journal alone.
type wholeTask struct {
	check bool
	left  []string
	done  int
	list  bool // it was taken apart

	rejected *rejection.Rejection
	objected bool // in this iteration
	passed   bool // the judge found all of it done
}

func (m *wholeTask) take(d core.Data) {
	switch d := d.(type) {
	case core.RunStarted:
		m.check, m.left = len(d.Check) > 0, []string{d.Name}
	case core.IterationStarted:
		m.objected = false
	case core.SignalReceived:
		m.objected = m.objected || d.Name == signal.Blocked
	case core.RejectionSubmitted:
		m.objected, m.rejected = true, &d.Rejection
	case core.RejectionDecided:
		switch d.Decision {
		case rejection.Decompose:
			tasks, _ := m.rejected.Subtasks()
			m.list, m.left = true, slices.Concat(names(tasks), m.left[1:])
		case rejection.Reformulate:
			m.left = append([]string{m.rejected.Suggested}, m.left[1:]...)
		}
	case core.IterationFinished:
		if !d.RunsAgain() {
			m.finished(d)
		}
	}
}

func (m *wholeTask) finished(d core.IterationFinished) {
	switch {
	case m.check && d.Outcome == core.OutcomeDone:
		m.passed = true
	case m.check && d.Outcome == core.OutcomeNotDone && d.Promised && !m.objected && len(m.left) > 1,
		!m.check && d.Outcome == core.OutcomeDone:
		m.left = m.left[1:]
		m.done++
		m.passed = len(m.left) == 0
	}
}

func names(tasks []rejection.Task) []string {
	var list []string
	for _, t := range tasks {
		list = append(list, t.Title)
	}
	return list
}

// chaos runs iterations that end in any way, reject their task, and are interrupted.
type chaos struct {
	t      *testing.T
	r      *rand.Rand
	events *[]core.Event
	cancel context.CancelCauseFunc
	tasks  int
}

func (c *chaos) Run(_ context.Context, it core.Iteration) (core.IterationResult, error) {
	m := modelOf(*c.events)
	if len(m.left) == 0 || it.Task != m.left[0] {
		c.t.Fatalf("iteration %d works on %q, and what is left is %q", it.Number, it.Task, m.left)
	}
	outcomes := []core.Outcome{core.OutcomeDone, core.OutcomeDone, core.OutcomeNotDone, core.OutcomeError, core.OutcomeInterrupted}
	d := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: outcomes[c.r.IntN(len(outcomes))], Promised: c.r.IntN(2) == 0}}
	if m.check && d.Outcome == core.OutcomeDone && c.r.IntN(4) > 0 { // else few have a list for long
		d.Outcome = core.OutcomeNotDone
	}
	if d.Outcome == core.OutcomeError && c.r.IntN(2) == 0 {
		d.Cause = core.CauseMaxRuntime
	}
	d.Signature.Hash = 1
	switch c.r.IntN(10) {
	case 0, 1, 2:
		d.Said = append(d.Said, core.RejectionSubmitted{Rejection: c.rejection()})
	case 3:
		d.Said = append(d.Said, core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}})
	case 4:
		c.cancel(&engine.Interrupt{Signal: "SIGTERM", Code: 143})
	}
	return d, nil
}

// rejection takes the task apart; some tasks depend on others, in a circle at times.
func (c *chaos) rejection() rejection.Rejection {
	r := rejection.Rejection{Task: "x", ReasonType: rejection.ScopeCreep}
	c.tasks++
	r.Suggested = fmt.Sprint("other ", c.tasks)
	n := 1 + c.r.IntN(3)
	for i := range n {
		task := rejection.Task{Title: fmt.Sprintf("part %d.%d", c.tasks, i)}
		if c.r.IntN(2) == 0 {
			task.Dependencies = []string{fmt.Sprintf("part %d.%d", c.tasks, c.r.IntN(n))}
		}
		r.Alternatives = append(r.Alternatives, task)
	}
	return r
}

func modelOf(events []core.Event) *wholeTask {
	m := &wholeTask{}
	for _, e := range events {
		m.take(e.Data)
	}
	return m
}

// Whatever happens to a run, also when looprun dies at any event and the run is
// resumed: it is never done while parts of its task are left, unless its check
// passed; and each iteration works on the first of what is left.
func TestNothingIsDoneWhilePartsAreLeft(t *testing.T) {
	all, taken, ended := rounds.Of(150), 0, map[core.Status]int{}
	for seed := range uint64(all) {
		r := rand.New(rand.NewPCG(seed, 4))
		decide := []string{"decompose", "decompose", "decompose", "reformulate", "override", "defer", "defer", "accept", "cancel"}
		responder := core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			option := decide[r.IntN(len(decide))]
			if _, ok := q.Option(option); !ok || r.IntN(12) == 0 {
				return core.Answer{}, core.ErrNoAnswer
			}
			return core.Answer{Option: option, Guidance: "words", Responder: core.RespondedByUser, Person: true}, nil
		})
		limits := core.Limits{Iterations: 12 + r.IntN(20), Runtime: core.Off, Loop: 2 + r.IntN(4), Errors: 2 + r.IntN(4)}
		began := core.RunStarted{RunID: "r", Name: "all of it", Limits: limits}
		if r.IntN(2) == 0 {
			began.Check = []string{"sh", "-c", "make test"}
		}
		journal := &core.MemoryJournal{}
		var result core.Result
		for process := range 6 {
			ctx, cancel := context.WithCancelCause(t.Context())
			l := &engine.Loop{
				Guards: guards.Default(), Journal: journal, Questions: looptest.Decisions{}, Responders: []core.Responder{responder},
				Runner: &chaos{t: t, r: r, events: &journal.Events, cancel: cancel, tasks: 100 * process},
			}
			var err error
			if process == 0 {
				err = l.Start(began)
			} else {
				err = l.Resume(*looptest.Replay(t, journal.Events), core.RunResumed{})
			}
			if err == nil {
				result, err = l.Run(ctx)
			}
			cancel(nil)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			m := modelOf(journal.Events)
			switch {
			case result.Status == core.StatusDone && !m.passed:
				t.Fatalf("seed %d: done, and %q are left (check: %v)", seed, m.left, m.check)
			case result.Status == core.StatusDone && !m.check && len(m.left) > 0:
				t.Fatalf("seed %d: done, and %q are left", seed, m.left)
			case m.list != (result.Subtasks != nil):
				t.Fatalf("seed %d: taken apart: %v, and the result has %v", seed, m.list, result.Subtasks)
			case m.list && result.Subtasks.Left() != len(m.left):
				t.Fatalf("seed %d: left are %q, and the result says %s", seed, m.left, result.Subtasks)
			}
			if m.list {
				taken++
			}
			ended[result.Status]++
			if r.IntN(3) == 0 { // looprun died at any event instead
				journal.Events = journal.Events[:1+r.IntN(len(journal.Events))]
			}
			if s := looptest.Replay(t, journal.Events); s.Ended && !s.Ending.Status.Resumable() {
				break
			}
		}
	}
	if 4*taken < all || 10*ended[core.StatusDone] < all || 10*ended[core.StatusInterrupted] < all || 100*ended[core.StatusPaused] < all {
		t.Errorf("%d runs with parts; ended: %v", taken, ended)
	}
}

// apart are the events up to the decision to take the task apart.
func apart(d core.ActionApplied) []core.Data {
	r := rejection.Rejection{Alternatives: []rejection.Task{{Title: "one"}, {Title: "two"}, {Title: "three"}}}
	d.Action, d.Option, d.Guard, d.Limits = core.ActionDecompose, "decompose", core.Rejection, looptest.Defaults
	d.Task = "one"
	return []core.Data{
		looptest.Begun, looptest.First,
		core.RejectionSubmitted{RejectionID: "j", Rejection: r},
		looptest.Ended1,
		core.GuardTripped{Trip: core.Trip{Guard: core.Rejection, Iteration: 1}},
		looptest.Question, looptest.Answered,
		core.RejectionDecided{RejectionID: "j", Decision: rejection.Decompose},
		d,
	}
}

// The end of a part ends streaks, and no limit.
func TestTheEndOfAPartEndsStreaks(t *testing.T) {
	one := rejection.Task{Title: "one"}
	events := apart(core.ActionApplied{Subtask: &one, Subtasks: []rejection.Task{{Title: "two", Scope: "all"}}})
	fails := core.IterationFinished{Iteration: 2, Outcome: core.OutcomeError}
	fails.Signature.Hash, fails.Tree, fails.Content = 7, 8, 9
	events = append(events, core.IterationStarted{Iteration: 2}, fails)
	for n := 3; n <= 5; n++ {
		again := fails
		if again.Iteration = n; n == 5 {
			again.Outcome = core.OutcomeDone
		}
		events = append(events, core.IterationStarted{Iteration: n}, again)
	}
	s := looptest.Folded(t, append(events, core.SubtaskFinished{Title: "one"})...)
	if s.ErrorRun != 0 || s.Idle != 0 || len(s.Labels) != 0 || s.Baseline != nil || s.Iterations != 5 || s.Limits != looptest.Defaults {
		t.Errorf("after it: %d errors, %d idle, labels %v, baseline %v, %d iterations", s.ErrorRun, s.Idle, s.Labels, s.Baseline, s.Iterations)
	}
	if _, ok := s.Cycles.Tripped(2); ok {
		t.Error("the failures of the part before make a loop")
	}
	if s.Task != "two: all" || !strings.Contains(s.Guidance, "Sub-task 1 of 2 is done: one. Continue with the next: two: all") {
		t.Errorf("the task is %q, and the guidance %q", s.Task, s.Guidance)
	}
}
