package looprun

import (
	"context"
	"fmt"
	"slices"

	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/signal"
)

// NextExpert is the expert that the ladder wants before the next iteration.
func (s *State) NextExpert() (ladder.Expert, bool) {
	if len(s.Rungs) == 0 {
		return ladder.Expert{}, false
	}
	step, e, _ := s.Ladder.Next(s.Rungs, s.Task)
	return e, step == ladder.StepExpert
}

// MandatoryReason says why a person has to decide before the work goes on;
// empty: nobody has to.
func (s *State) MandatoryReason() string {
	if len(s.Rungs) == 0 {
		return ""
	}
	if step, _, why := s.Ladder.Next(s.Rungs, s.Task); step == ladder.StepMandatory {
		return why
	}
	return ""
}

// Weighed is what the last iteration is on the ladder: a distinct approach that
// failed, the same one again, or an improvement.
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
	outcome := declared.Outcome
	if outcome == "" {
		outcome = last.Signature.Label
	}
	d.Attempt, d.Counted = s.Ladder.Failed(
		s.Rungs, s.Task, ladder.Key(declared.Approach, seen, change),
		declared.Approach, outcome, declared.WhyDifferent, s.Iterations)
	return d
}

// weigh puts on record what the last iteration is on the ladder.
func (l *Loop) weigh() error { return l.record(l.state.Weighed()) }

// expert runs the next expert, between two iterations. The clock runs.
func (l *Loop) expert(ctx context.Context) error {
	if ctx.Err() != nil {
		return l.durable(interrupted(ctx))
	}
	e, _ := l.state.NextExpert()
	end := ExpertFinished{ExitCode: -1, Why: "nothing runs experts here"}
	if l.Experts != nil {
		var err error
		limited, cancel := l.within(ctx)
		end, err = l.Experts.Expert(limited, &l.state, e)
		cancel()
		if err != nil {
			end = ExpertFinished{ExitCode: -1, Why: err.Error()}
		}
	}
	if ctx.Err() != nil {
		return l.durable(interrupted(ctx))
	}
	end.Task, end.Expert = l.state.Task, e.Name
	if end.ExitCode != 0 {
		end.Guidance = ""
	}
	return l.durable(end)
}

// foldExpert folds the end of an expert.
func (s *State) foldExpert(d ExpertFinished) {
	outcome := d.Why
	if outcome == "" {
		outcome = fmt.Sprintf("exit code %d", d.ExitCode)
	}
	s.Ladder.ExpertFinished(d.Task, d.Expert, d.ExitCode == 0, outcome, s.Iterations)
	s.Guidance = joinLines(s.Guidance, d.Guidance)
}

// foldAttempt folds the weight of an iteration.
func (s *State) foldAttempt(d AttemptRecorded) {
	s.Weigh, s.Declared = false, nil
	switch {
	case d.Counted:
		s.Ladder.Record(d.Attempt)
	case d.Improved:
		s.Ladder.Improved(s.Task)
	}
}

// foldActing takes over the signal of the iteration that acts; the others are
// on record.
func (s *State) foldActing() {
	s.Signal, s.Declared = nil, nil
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
				s.Ladder.Mandatory(s.Task, causeOf(sig))
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

// requestExpert asks for the next expert, and tells the command when there is
// none.
func (s *State) requestExpert(name string) {
	left := s.Ladder.Untried(s.Rungs, s.Task)
	switch {
	case len(left) == 0:
		s.notice("You asked for an expert, and there is none left to ask.")
		return
	case name != "" && !slices.ContainsFunc(left, func(e ladder.Expert) bool { return e.Name == name }):
		s.notice(fmt.Sprintf("You asked for the expert %s, who cannot be asked; the next one is.", name))
	}
	s.Ladder.Request(s.Task, name)
}
