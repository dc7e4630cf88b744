package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// foldTask replaces the current task.
func (s *State) foldTask(d ActionApplied) {
	if d.Blocker != "" {
		s.Blockers = last(append(slices.Clone(s.Blockers), d.Blocker), blockersKept)
		s.Deferred = deferred(d)
	}
	if d.Task != "" {
		s.replaced()
		s.Task, s.Best, s.Climbed = d.Task, nil, ""
		s.foldList(d)
	}
	switch d.Guard {
	case Rejection:
		s.Rejected, s.Decided = nil, false
	case Blocked, Clarification:
		s.Signal = nil
		if d.Guidance != "" && s.Question != nil {
			s.Undelivered = s.Question.ID
		}
	}
}

// counting returns the guards whose streaks are reset when the work continues with another
// task, or with guidance or an approach that is new. Limits are not reset: they bound the run.
func counting() []GuardID { return idsOf(func(g Spec) bool { return g.Streak }) }

// retask replaces the rejected task with the one that the rejection names.
func (s *State) retask(a Action, d *ActionApplied) error {
	if s.Rejected == nil {
		return errors.New("no rejection names another task")
	}
	r := s.Rejected.Rejection
	switch a {
	case ActionDecompose:
		// All of them are returned, even if their dependencies cannot be ordered.
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
	d.Resets = counting()
	return nil
}

func taskText(t rejection.Task) string {
	if t.Scope == "" {
		return t.Title
	}
	return t.Title + ": " + t.Scope
}

// Subtasks is the progress through a split task, by the titles of its parts.
type Subtasks struct {
	Done      []string `json:"done" doc:"Those that ended, in their order."`
	Current   string   `json:"current" doc:"The one that is worked on; empty when all have ended."`
	Remaining []string `json:"remaining" doc:"Those that have not begun, in their order."`
}

// Decomposed returns the progress through the split task; nil if the task was not split.
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

// Of returns how many sub-tasks there are.
func (l *Subtasks) Of() int {
	n := len(l.Done) + len(l.Remaining)
	if l.Current != "" {
		n++
	}
	return n
}

// Left returns how many have not ended; 0 for nil.
func (l *Subtasks) Left() int {
	if l == nil {
		return 0
	}
	return l.Of() - len(l.Done)
}

// place returns the position of the current sub-task, such as 2/3; empty for nil.
func (l *Subtasks) place() string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", min(len(l.Done)+1, l.Of()), l.Of())
}

// String returns the progress in words; empty for nil.
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

// title returns the name of a sub-task on one line; it is never empty.
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

// endsSubtask reports whether the iteration ends the current sub-task. Without a check, the
// judge decides. A check judges the whole task: if it does not pass, only an explicit message
// from the command ends a part.
func (s *State) endsSubtask(d IterationFinished) bool {
	switch {
	case s.Subtask == nil:
		return false
	case len(s.Check) == 0:
		return d.Outcome == OutcomeDone
	}
	return d.Outcome == OutcomeNotDone && d.Promised && len(s.Subtasks) > 0 && s.objection() == ""
}

// foldSubtask continues with the next sub-task, or ends the run after the last. Because this
// is a different task, counts of consecutive failures are reset, but limits are not.
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
	s.Task, s.Best, s.Climbed = taskText(next), nil, ""
	for _, id := range counting() {
		s.reset(id)
	}
	s.Baseline, s.Previous, s.Declared, s.Weigh, s.Holds = nil, nil, nil, false, ""
	s.Guidance = joinLines(s.Guidance, fmt.Sprintf("Sub-task %d of %d is done: %s. Continue with the next: %s",
		len(s.Finished), len(s.Finished)+1+len(s.Subtasks), title(ended), s.Task))
}

// foldList takes over the list of a split task. A sub-task that is itself split or replaced
// keeps its place in the list.
func (s *State) foldList(d ActionApplied) {
	switch {
	case d.Subtask != nil:
		s.Subtask, s.Subtasks = d.Subtask, d.Subtasks
	case s.Subtask != nil:
		s.Subtask = &rejection.Task{Title: d.Task}
	}
}

// deferred returns the message about a deferred task for the next iteration after a resume.
func deferred(d ActionApplied) string {
	text := "The task was deferred, to wait for this: " + d.Blocker
	if d.Reason != "" {
		text += "\nWhy: " + d.Reason
	}
	return text + "\nThe run was resumed, so this is its task now."
}

// NextExpert returns the expert that the ladder requires before the next iteration.
func (s *State) NextExpert() (ladder.Expert, bool) {
	if len(s.Rungs) == 0 {
		return ladder.Expert{}, false
	}
	step, e, _ := s.Ladder.Next(s.Rungs, s.LadderTask())
	return e, step == ladder.StepExpert
}

// MandatoryReason returns why a person must decide before the work continues; empty if nobody
// has to.
func (s *State) MandatoryReason() string {
	if len(s.Rungs) == 0 {
		return ""
	}
	step, _, why := s.Ladder.Next(s.Rungs, s.LadderTask())
	if step != ladder.StepMandatory {
		return ""
	}
	if s.Climbed != "" {
		why = "“" + s.Climbed + "”: " + why
	}
	return why
}

// LadderTask returns the task whose attempts count now: the one that the command last named,
// or else the run's.
func (s *State) LadderTask() string { return cmp.Or(s.Climbed, s.Task) }

// climbed returns that task if the iteration's signals or earlier ones name it; empty for the
// run's own task.
func (s *State) climbed() string {
	named := s.Climbed
	for _, sig := range s.Signals {
		if task := termsafe.Line(sig.Task); task != "" && len(s.Rungs) > 0 &&
			(sig.Name == signal.Attempt || sig.Name == signal.Clarify || sig.Name == signal.Expert) {
			named = task
		}
	}
	if named == s.Task {
		return ""
	}
	return named
}

// Weighed returns how the last iteration counts on the ladder: as a distinct approach that
// failed, a repetition, or an improvement.
func (s *State) Weighed() AttemptRecorded {
	d := AttemptRecorded{Iteration: s.Iterations}
	if n := len(s.History); n >= 2 {
		d.Improved = s.History[n-1].Progress().better(s.History[n-2].Progress())
	}
	if d.Improved || len(s.Errors) == 0 {
		return d
	}
	last := s.Errors[len(s.Errors)-1]
	var declared signal.Signal
	if s.Declared != nil {
		declared = *s.Declared
	}
	seen, change := "", ""
	if last.Signature.Hash != 0 {
		seen = last.Signature.Hash.String()
	}
	if last.Tree != 0 {
		change = last.Tree.String()
	}
	outcome := cmp.Or(declared.Outcome, last.Says())
	d.Attempt, d.Counted = s.Ladder.Failed(
		s.Rungs, s.LadderTask(), ladder.Key(declared.Approach, seen, change),
		declared.Approach, outcome, declared.WhyDifferent, s.Iterations)
	return d
}

// foldExpert folds the end of an expert.
func (s *State) foldExpert(d ExpertFinished) {
	outcome := cmp.Or(d.Why, fmt.Sprintf("exit code %d", d.ExitCode))
	s.Ladder.ExpertFinished(d.Task, d.Expert, d.Helped(), outcome, s.Iterations)
	s.Guidance = joinLines(s.Guidance, d.Guidance)
}

// foldAttempt folds the weighing of an iteration.
func (s *State) foldAttempt(d AttemptRecorded) {
	s.Weigh, s.Declared = false, nil
	switch {
	case d.Counted:
		s.Ladder.Record(d.Attempt)
	case d.Improved:
		s.Ladder.Improved(s.LadderTask())
	}
}

// foldActing takes over the one signal of the iteration that is acted on; the others are only
// recorded.
func (s *State) foldActing() {
	s.Signal, s.Declared = nil, nil
	s.Climbed = s.climbed()
	for _, sig := range s.Signals {
		if sig.Name == signal.Attempt || sig.Name == signal.Unsuccessful && s.Declared == nil {
			s.Declared = &sig
		}
	}
	i := signal.Acting(s.Signals)
	if i >= 0 {
		switch sig := s.Signals[i]; sig.Name {
		case signal.Blocked:
			s.Signal = &sig
		case signal.Clarify:
			s.Signal = &sig
			if len(s.Rungs) > 0 {
				s.Ladder.Mandatory(s.LadderTask(), causeOf(sig))
			}
		case signal.Expert:
			s.requestExpert(sig.Expert)
		}
	}
	for j, sig := range s.Signals {
		if j != i && sig.Name.Priority() > 0 && sig.Name != s.Signals[i].Name {
			s.notice(fmt.Sprintf("Your signal %s did nothing: %s came in the same iteration and goes first.", sig.Name, s.Signals[i].Name))
		}
	}
	s.unsay()
}

func causeOf(sig signal.Signal) ladder.Cause {
	if c := ladder.Cause(sig.Cause); slices.Contains(ladder.Causes(), c) {
		return c
	}
	return ladder.Clarification
}

// requestExpert requests the next expert, and informs the command if there is none.
func (s *State) requestExpert(name string) {
	left := s.Ladder.Untried(s.Rungs, s.LadderTask())
	switch {
	case len(left) == 0:
		s.notice("You asked for an expert, and there is none left to ask.")
		return
	case name != "" && !slices.ContainsFunc(left, func(e ladder.Expert) bool { return e.Name == name }):
		s.notice(fmt.Sprintf("You asked for the expert %s, who cannot be asked; the next one is.", name))
	}
	s.Ladder.Request(s.LadderTask(), name)
}
