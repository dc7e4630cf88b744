package looprun

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/rejection"
)

// Subtasks is how far a task is that was taken apart, by the titles of its parts.
type Subtasks struct {
	Done      []string `json:"done" doc:"Those that ended, in their order."`
	Current   string   `json:"current" doc:"The one that is worked on; empty when all have ended."`
	Remaining []string `json:"remaining" doc:"Those that have not begun, in their order."`
}

// Decomposed is how far the task is that was taken apart; nil: none was.
func (s *State) Decomposed() *Subtasks {
	if s.Subtask == nil && len(s.Finished) == 0 {
		return nil
	}
	list := &Subtasks{Done: titles(s.Finished), Remaining: titles(s.Subtasks)}
	switch {
	case s.Subtask == nil:
	case s.Advance: // it has ended, and the next has not begun
		list.Done = append(list.Done, title(*s.Subtask))
	default:
		list.Current = title(*s.Subtask)
	}
	return list
}

// Of is how many sub-tasks there are.
func (l *Subtasks) Of() int {
	n := len(l.Done) + len(l.Remaining)
	if l.Current != "" {
		n++
	}
	return n
}

// Left is how many have not ended; 0 for nil.
func (l *Subtasks) Left() int {
	if l == nil {
		return 0
	}
	return l.Of() - len(l.Done)
}

// place is which of them is worked on, as 2/3; empty for nil.
func (l *Subtasks) place() string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", min(len(l.Done)+1, l.Of()), l.Of())
}

// String is empty for nil.
func (l *Subtasks) String() string {
	if l == nil {
		return ""
	}
	text := fmt.Sprintf("%d of %d done", len(l.Done), l.Of())
	if l.Current != "" {
		text += "; now: " + l.Current
	}
	if len(l.Remaining) > 0 {
		text += "; then: " + strings.Join(l.Remaining, ", ")
	}
	return text
}

// title names a sub-task on one line; it is never empty.
func title(t rejection.Task) string {
	return cmp.Or(termsafe.Line(t.Title), termsafe.Line(t.Scope), "(no title)")
}

func titles(tasks []rejection.Task) []string {
	list := make([]string, len(tasks))
	for i, t := range tasks {
		list[i] = title(t)
	}
	return list
}

// endsSubtask reports whether the iteration ends the sub-task that is worked on.
// Where there is no check the judge says so. A check judges the whole: where it does
// not pass, only what the command says in as many words ends a part of it.
func (s *State) endsSubtask(d IterationFinished) bool {
	switch {
	case s.Subtask == nil:
		return false
	case len(s.Check) == 0:
		return d.Outcome == OutcomeDone
	}
	return d.Outcome == OutcomeNotDone && d.Promised && len(s.Subtasks) > 0 && s.objection() == ""
}

// advance puts the end of a sub-task on record.
func (l *Loop) advance() error {
	s := &l.state
	n := len(s.Finished) + 1
	d := SubtaskFinished{Iteration: s.Iterations, Title: title(*s.Subtask), Number: n, Of: n + len(s.Subtasks)}
	if len(s.Subtasks) > 0 {
		d.Next = title(s.Subtasks[0])
	}
	return l.record(d)
}

// foldSubtask goes on with the next sub-task, or ends the run after the last. It is
// another task: what counts failures in a row starts over, limits do not.
func (s *State) foldSubtask() {
	ended := *s.Subtask
	s.Advance, s.Subtask = false, nil
	s.Finished = append(slices.Clip(s.Finished), ended)
	if len(s.Subtasks) == 0 {
		s.Passed = true
		s.endDone()
		return
	}
	next := s.Subtasks[0]
	s.Subtask, s.Subtasks = &next, slices.Clone(s.Subtasks[1:])
	s.Task = taskText(next)
	for _, id := range counting {
		s.reset(id)
	}
	s.Baseline, s.Previous, s.Declared, s.Weigh = nil, nil, nil, false
	s.Guidance = joinLines(s.Guidance, fmt.Sprintf("Sub-task %d of %d is done: %s. Go on with the next: %s",
		len(s.Finished), len(s.Finished)+1+len(s.Subtasks), title(ended), s.Task))
}

// foldList takes over the list of a task that was taken apart. A sub-task that is
// taken apart itself, or becomes another one, does so in its place.
func (s *State) foldList(d ActionApplied) {
	switch {
	case d.Subtask != nil:
		s.Subtask, s.Subtasks = d.Subtask, d.Subtasks
	case d.Action == ActionDecompose: // recorded before there was a list
		s.Subtask = &rejection.Task{Title: d.Task}
		s.Subtasks = slices.Concat(d.Subtasks, s.Subtasks)
	case s.Subtask != nil:
		s.Subtask = &rejection.Task{Title: d.Task}
	}
}

// deferred is what the next iteration is told of a task that was put off, when the
// run goes on.
func deferred(d ActionApplied) string {
	text := "The task was deferred, to wait for this: " + d.Blocker
	if d.Reason != "" {
		text += "\nWhy: " + d.Reason
	}
	return text + "\nThe run was resumed, so it goes on now."
}
