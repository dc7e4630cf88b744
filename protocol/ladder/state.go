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

// otherTasks shares its counters between all tasks after the first 256. This means that a
// person is asked earlier, never later, and memory use stays bounded.
const otherTasks = "…"

// Cause is why a person must decide at once.
type Cause string

// The causes that a command can name.
const (
	CircularDependency Cause = "circular_dependency"
	SecurityConcern    Cause = "security_concern"
	AmbiguousCriteria  Cause = "ambiguous_criteria"
	Clarification      Cause = "clarification"
)

// Causes returns all causes in the order in which they are documented.
func Causes() []Cause {
	return []Cause{CircularDependency, SecurityConcern, AmbiguousCriteria, Clarification}
}

// State is the ladder's memory: the fold of the events of a run. The zero value is a run in
// which nothing happened. The fields are read-only for others.
//
// Copies, even shallow ones, do not change: the methods replace the contents of Tasks and
// Attempts and modify nothing that a copy can see.
type State struct {
	// Tasks holds the counters by the name of the task; a run without named tasks has one, "".
	// Names are cleaned, so use [State.Task] to look one up.
	Tasks map[string]*Tracking `json:"tasks,omitempty"`
	// Attempts are the last 50 attempts at all tasks, oldest first.
	Attempts []Attempt `json:"attempts,omitempty"`
}

// Tracking holds the counters of one task. An answer resets them all, except for the history,
// the last attempt and the number of clarifications.
type Tracking struct {
	// SelfSolve and Delegation count failed attempts; Total is their sum.
	SelfSolve  int `json:"self_solve,omitempty"`
	Delegation int `json:"delegation,omitempty"`
	Total      int `json:"total,omitempty"`
	// ExpertsTried are the experts asked for this question, in order.
	ExpertsTried []string `json:"experts_tried,omitempty"`
	// ExpertsHistory are the last 50 experts asked for any question.
	ExpertsHistory []string `json:"experts_history,omitempty"`
	// LastType and LastOutcome describe the last attempt.
	LastType    AttemptType `json:"last_type,omitempty"`
	LastOutcome string      `json:"last_outcome,omitempty"`
	// LastIteration is the last iteration that made an attempt: it cannot make another.
	LastIteration int `json:"last_iteration,omitempty"`
	// Clarifications counts the answers.
	Clarifications int `json:"clarifications,omitempty"`
	// Approaches are the keys of the failed approaches.
	Approaches []string `json:"approaches,omitempty"`
	// Guided is the expert whose guidance the next iteration puts to the test.
	Guided string `json:"guided,omitempty"`
	// Failing reports that an attempt failed and nothing has improved since.
	Failing bool `json:"failing,omitempty"`
	// Requested reports that the command asked for an expert and none has been successful
	// since.
	Requested bool `json:"requested,omitempty"`
	// Wanted is the expert that the command named; empty means the next one.
	Wanted string `json:"wanted,omitempty"`
	// Causes are the causes named by the command for which a person must decide.
	Causes []Cause `json:"causes,omitempty"`
}

// Task returns a copy of the counters of the task. For an unknown task they are all zero.
func (s *State) Task(task string) Tracking {
	t, ok := s.Tasks[s.slot(task)]
	if !ok || t == nil {
		return Tracking{}
	}
	return t.clone()
}

// Made returns the attempts at the task for the current question, oldest first.
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

// Failed returns the attempt made by a failed iteration that did not improve; the caller must
// know that it did not. It returns false if there is no attempt, because there is no ladder,
// the approach failed before or is unknown, or the iteration has already made one. An
// iteration that follows an expert's guidance always makes one: the guidance failed.
// Iterations are numbered from 1. Failed does not change the state: [State.Record] counts the
// attempt.
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

// Refuse returns why the attempt cannot be recorded now; "" if it can.
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

// Record folds attempt.recorded. An attempt refused by [State.Refuse] changes nothing.
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

// Improved folds an iteration that improved: it is not a failed attempt, and the guidance that
// it followed was good. The counters are unchanged.
func (s *State) Improved(task string) {
	if t := s.Task(task); t.Failing || t.Guided != "" {
		s.change(task, func(t *Tracking) { t.Failing, t.Guided = false, "" })
	}
}

// ExpertFinished folds expert.finished. The output of a successful expert is guidance, which
// the next iteration puts to the test. An unsuccessful expert is a failed attempt at once,
// which is recorded with the outcome: the caller must not record another. An expert that was
// already asked for this question does not count again.
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

// Request folds a signal that asks for an expert. An empty name, or that of an expert that can
// no longer be asked, means the next one.
func (s *State) Request(task, expert string) {
	s.change(task, func(t *Tracking) { t.Requested, t.Wanted = true, name(expert) })
}

// Mandatory folds a signal for which a person must decide at once.
func (s *State) Mandatory(task string, cause Cause) {
	cause = Cause(name(string(cause)))
	s.change(task, func(t *Tracking) {
		if !slices.Contains(t.Causes, cause) && len(t.Causes) < causesKept {
			t.Causes = append(t.Causes, cause)
		}
	})
}

// Reset folds counters.reset: an answer lets this task, and no other, start again at the
// bottom of the ladder. The experts' history is kept.
func (s *State) Reset(task string) {
	s.change(task, func(t *Tracking) {
		*t = Tracking{
			ExpertsHistory: t.ExpertsHistory, LastType: t.LastType, LastOutcome: t.LastOutcome,
			LastIteration: t.LastIteration, Clarifications: t.Clarifications + 1,
		}
	})
}

// slot returns the key under which the counters of the task are stored.
func (s *State) slot(task string) string {
	task = taskName(task)
	if _, known := s.Tasks[task]; !known && len(s.Tasks) >= tasksKept {
		return otherTasks
	}
	return task
}

// change replaces the counters of the task and the map that holds them with modified copies,
// so that copies of the state keep the old ones.
func (s *State) change(task string, f func(*Tracking)) {
	slot := s.slot(task)
	t := s.Task(task)
	f(&t)
	tasks := map[string]*Tracking{}
	maps.Copy(tasks, s.Tasks)
	tasks[slot] = &t
	s.Tasks = tasks
}

func (t *Tracking) clone() Tracking {
	c := *t
	c.ExpertsTried, c.ExpertsHistory = slices.Clone(t.ExpertsTried), slices.Clone(t.ExpertsHistory)
	c.Approaches, c.Causes = slices.Clone(t.Approaches), slices.Clone(t.Causes)
	return c
}

// last returns the last n elements of a list.
func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
