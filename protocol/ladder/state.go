package ladder

import (
	"maps"
	"slices"
)

// How much is kept.
const (
	attemptsKept = 50
	historyKept  = 50
	causesKept   = 8
	keysKept     = 64
	tasksKept    = 256
)

// otherTasks shares its counters between all tasks past the first 256. A person
// is then asked earlier, never later, and memory stays bounded.
const otherTasks = "…"

// Cause is why a person has to decide at once.
type Cause string

// The causes that a command can name.
const (
	CircularDependency Cause = "circular_dependency"
	SecurityConcern    Cause = "security_concern"
	AmbiguousCriteria  Cause = "ambiguous_criteria"
	Clarification      Cause = "clarification"
)

// Causes are all of them, in the order in which they are documented.
func Causes() []Cause {
	return []Cause{CircularDependency, SecurityConcern, AmbiguousCriteria, Clarification}
}

// State is what the ladder remembers: the fold of the events of a run. Its zero
// value is a run in which nothing happened. Fields are for reading.
//
// A copy, even a shallow one, stays as it was: the methods replace what Tasks and
// Attempts hold and change nothing that a copy can see.
type State struct {
	// Tasks holds the counters by the name of the task; a run without named tasks
	// has one, "". Names are cleaned, use [State.Task] to look one up.
	Tasks map[string]*Tracking `json:"tasks,omitempty"`
	// Attempts are the last 50 of all tasks, oldest first.
	Attempts []Attempt `json:"attempts,omitempty"`
}

// Tracking are the counters of one task. All but the history, the last attempt
// and the number of clarifications start over with an answer.
type Tracking struct {
	// SelfSolve and Delegation count failed attempts; Total is their sum.
	SelfSolve  int `json:"self_solve,omitempty"`
	Delegation int `json:"delegation,omitempty"`
	Total      int `json:"total,omitempty"`
	// ExpertsTried are the experts asked for this question, in their order.
	ExpertsTried []string `json:"experts_tried,omitempty"`
	// ExpertsHistory are the last 50 that were asked for any question.
	ExpertsHistory []string `json:"experts_history,omitempty"`
	// LastType and LastOutcome are those of the last attempt.
	LastType    AttemptType `json:"last_type,omitempty"`
	LastOutcome string      `json:"last_outcome,omitempty"`
	// LastIteration is the last that made an attempt: it cannot make another.
	LastIteration int `json:"last_iteration,omitempty"`
	// Clarifications counts the answers.
	Clarifications int `json:"clarifications,omitempty"`
	// Approaches are the keys of the approaches that failed.
	Approaches []string `json:"approaches,omitempty"`
	// Guided is the expert whose guidance the next iteration judges.
	Guided string `json:"guided,omitempty"`
	// Failing says that an attempt failed and nothing improved since.
	Failing bool `json:"failing,omitempty"`
	// Requested says that the command asked for an expert and none was
	// successful since.
	Requested bool `json:"requested,omitempty"`
	// Wanted is the expert that the command named; empty: the next.
	Wanted string `json:"wanted,omitempty"`
	// Causes are what the command named, for which a person has to decide.
	Causes []Cause `json:"causes,omitempty"`
}

// Task returns a copy of the counters of the task. Nothing happened to a task
// that is not known: its counters are zero.
func (s *State) Task(task string) Tracking {
	t, ok := s.Tasks[s.slot(task)]
	if !ok || t == nil {
		return Tracking{}
	}
	return t.clone()
}

// Made are the attempts of the task for the question at hand, oldest first.
func (s *State) Made(task string) []Attempt {
	task = s.slot(task)
	left := s.Task(task).Total
	var made []Attempt
	for _, a := range slices.Backward(s.Attempts) {
		if left == 0 {
			break
		}
		if s.slot(a.Task) == task {
			made = append(made, a)
			left--
		}
	}
	slices.Reverse(made)
	return made
}

// Failed is the attempt that a failed iteration makes which did not improve; it
// is for the caller to know that it did not. False: it makes none, because there
// is no ladder, the approach failed before or is not known, or the iteration made
// one already. An iteration that follows an expert's guidance always makes one:
// the guidance failed. Iterations are numbered from 1. The state stays as it is:
// [State.Record] counts.
func (s *State) Failed(c Config, task, approachKey, approach, outcome, whyDifferent string, iteration int) (Attempt, bool) {
	t := s.Task(task)
	a := Attempt{
		Number: t.Total + 1, Task: task, Type: BySelf, Key: approachKey, Approach: approach,
		Outcome: outcome, WhyDifferent: whyDifferent, Iteration: iteration,
	}.clean()
	switch {
	case len(c) == 0 || iteration <= t.LastIteration || t.Total >= MaxAttempts:
		return Attempt{}, false
	case t.Guided != "":
		a.Type, a.Expert = ByExpert, t.Guided
	case a.Key == "" || slices.Contains(t.Approaches, a.Key):
		return Attempt{}, false
	}
	return a, true
}

// Refuse says why the attempt cannot be recorded now; "" when it can.
func (s *State) Refuse(a Attempt) string {
	t := s.Task(a.Task)
	switch {
	case t.Total >= MaxAttempts:
		return "a person has to decide before the next attempt"
	case a.Number != t.Total+1:
		return "attempts are numbered one after the other"
	case a.Type != BySelf && a.Type != ByExpert:
		return "it has no type that is known"
	case a.Type == ByExpert && (t.Guided == "" || name(a.Expert) != t.Guided):
		return "no guidance of that expert is to be judged"
	case a.Type == BySelf && t.Guided != "":
		return "the guidance of an expert is to be judged first"
	}
	return ""
}

// Record folds attempt.recorded. An attempt that [State.Refuse] refuses changes
// nothing.
func (s *State) Record(a Attempt) {
	if s.Refuse(a) != "" {
		return
	}
	s.count(a.clean())
}

func (s *State) count(a Attempt) {
	s.change(a.Task, func(t *Tracking) {
		if a.Type == ByExpert {
			t.Delegation++
		} else {
			t.SelfSolve++
		}
		t.Total++
		t.LastType, t.LastOutcome = a.Type, a.Outcome
		t.LastIteration = max(t.LastIteration, a.Iteration)
		t.Failing, t.Guided = true, ""
		if a.Key != "" && !slices.Contains(t.Approaches, a.Key) {
			t.Approaches = last(append(t.Approaches, a.Key), keysKept)
		}
	})
	s.Attempts = last(append(slices.Clone(s.Attempts), a), attemptsKept)
}

// Improved folds an iteration that improved: it is no failed attempt, and the
// guidance that it followed was good. The counters stay as they are.
func (s *State) Improved(task string) {
	if t := s.Task(task); t.Failing || t.Guided != "" {
		s.change(task, func(t *Tracking) { t.Failing, t.Guided = false, "" })
	}
}

// ExpertFinished folds expert.finished. The output of a successful expert is
// guidance, which the next iteration judges. An unsuccessful one is a failed
// attempt at once, which is recorded with the outcome: the caller records no
// other. An expert that was asked already for this question counts no more.
func (s *State) ExpertFinished(task, expert string, successful bool, outcome string, iteration int) {
	expert = name(expert)
	if slices.Contains(s.Task(task).ExpertsTried, expert) {
		return
	}
	s.change(task, func(t *Tracking) {
		t.ExpertsTried = append(t.ExpertsTried, expert)
		t.ExpertsHistory = last(append(t.ExpertsHistory, expert), historyKept)
		if successful {
			t.Guided, t.Requested, t.Wanted = expert, false, ""
		}
	})
	if t := s.Task(task); !successful && t.Total < MaxAttempts {
		s.count(Attempt{
			Number: t.Total + 1, Task: task, Type: ByExpert, Expert: expert, Outcome: outcome, Iteration: iteration,
		}.clean())
	}
}

// Request folds a signal that asks for an expert; an empty name, or one that
// cannot be asked any more, is the next.
func (s *State) Request(task, expert string) {
	s.change(task, func(t *Tracking) { t.Requested, t.Wanted = true, name(expert) })
}

// Mandatory folds a signal for which a person has to decide, at once.
func (s *State) Mandatory(task string, cause Cause) {
	cause = Cause(name(string(cause)))
	s.change(task, func(t *Tracking) {
		if !slices.Contains(t.Causes, cause) && len(t.Causes) < causesKept {
			t.Causes = append(t.Causes, cause)
		}
	})
}

// Reset folds counters.reset: an answer lets this task, and no other, begin at
// the bottom of the ladder again. The experts' history stays.
func (s *State) Reset(task string) {
	s.change(task, func(t *Tracking) {
		*t = Tracking{
			ExpertsHistory: t.ExpertsHistory, LastType: t.LastType, LastOutcome: t.LastOutcome,
			LastIteration: t.LastIteration, Clarifications: t.Clarifications + 1,
		}
	})
}

// slot is where the counters of the task are.
func (s *State) slot(task string) string {
	task = taskName(task)
	if _, known := s.Tasks[task]; !known && len(s.Tasks) >= tasksKept {
		return otherTasks
	}
	return task
}

// change replaces the counters of the task by changed ones, and the map that
// holds them: copies of the state keep the old ones.
func (s *State) change(task string, f func(*Tracking)) {
	slot := s.slot(task)
	t := s.Task(task)
	f(&t)
	tasks := maps.Clone(s.Tasks)
	if tasks == nil {
		tasks = map[string]*Tracking{}
	}
	tasks[slot] = &t
	s.Tasks = tasks
}

func (t *Tracking) clone() Tracking {
	c := *t
	c.ExpertsTried, c.ExpertsHistory = slices.Clone(t.ExpertsTried), slices.Clone(t.ExpertsHistory)
	c.Approaches, c.Causes = slices.Clone(t.Approaches), slices.Clone(t.Causes)
	return c
}

// last are the last n of a list.
func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
