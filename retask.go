package looprun

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/protocol/rejection"
)

// counting are the guards that start over when another task takes the place of
// the rejected one. Limits do not: they bound the run.
var counting = []GuardID{LoopDetected, ConsecutiveErrors, NoProgress, WorkspaceCycle}

// retask puts the task of a rejection in the place of the rejected one.
func (s *State) retask(a Action, d *ActionApplied) error {
	if s.Rejected == nil {
		return errors.New("no rejection names another task")
	}
	r := s.Rejected.Rejection
	switch a {
	case ActionDecompose:
		// They are all there, also where their dependencies cannot be ordered.
		tasks, _ := r.Subtasks()
		if len(tasks) == 0 {
			return errors.New("the rejection names no sub-tasks")
		}
		d.Task, d.Subtask = taskText(tasks[0]), &tasks[0]
		d.Subtasks = slices.Concat(tasks[1:], s.Subtasks)
	case ActionReformulate:
		if d.Task = r.Reformulated(); strings.TrimSpace(d.Task) == "" {
			return errors.New("the rejection suggests no other task")
		}
	}
	d.Resets = counting
	return nil
}

func taskText(t rejection.Task) string {
	if t.Scope == "" {
		return t.Title
	}
	return t.Title + ": " + t.Scope
}

// delivered is guidance in the form in which the answer to a signal reaches the
// command: Task, Agent, Question, Guidance.
func (s *State) delivered(guidance string) string {
	sig := s.Signal
	if sig == nil || s.Trip == nil || (s.Trip.Guard != Blocked && s.Trip.Guard != Clarification) {
		return guidance
	}
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, text)
		}
	}
	task := sig.Task
	if task == "" {
		task = s.Task
	}
	line("Task", task)
	line("Agent", sig.Agent)
	line("Question", joinLines(sig.Question, sig.Text))
	line("Guidance", guidance)
	return strings.TrimSpace(b.String())
}

// consequences are the events that belong before the answer is carried out.
func (s *State) consequences(o Option, a Answer, d ActionApplied) []Data {
	var list []Data
	if s.Trip.Guard == Rejection && s.Rejected != nil && !s.Decided {
		list = append(list, s.decision(o, a, d))
	}
	if len(s.Rungs) > 0 && s.restarts(o.Action) && !s.Restarted {
		list = append(list, CountersReset{Task: s.Task})
	}
	return list
}

// restarts reports whether the answer starts the task's attempts over: one to
// what the ladder or the command asked does, one to a guard does not, and a
// rejection that is overridden does not either.
func (s *State) restarts(a Action) bool {
	switch s.Trip.Guard {
	case LadderExhausted, Clarification, Blocked:
		return a.Continues()
	case Rejection:
		return a.Retasks()
	}
	return false
}

// decision is the record of what became of the rejection.
func (s *State) decision(o Option, a Answer, d ActionApplied) RejectionDecided {
	r := RejectionDecided{
		RejectionID: s.Rejected.RejectionID, Decision: rejection.Decision(o.ID),
		Responder: a.Responder, Reason: a.Reason,
	}
	r.Rationale = rejection.Rationale(r.Decision, s.Rejected.Rejection)
	if d.Task != "" {
		r.Created = append(r.Created, d.Task)
	}
	for _, t := range d.Subtasks[:max(0, len(d.Subtasks)-len(s.Subtasks))] { // those after them were there
		r.Created = append(r.Created, taskText(t))
	}
	if d.Blocker != "" {
		r.Created = append(r.Created, d.Blocker)
	}
	return r
}
