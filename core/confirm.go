package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/signature"
)

// CheckRun is the check of an iteration that can be run once more, because it changed no file
// and reported no cost.
type CheckRun struct {
	DurationMS int64 `json:"duration_ms"`
	// Hash and Loose are the hashes of its signature.
	Hash  signature.Hash `json:"hash"`
	Loose signature.Hash `json:"loose"`
}

// Confirmation is the result of running the unchanged check once more before [LoopDetected]
// asks.
type Confirmation string

// The confirmations.
const (
	ConfirmedNot    Confirmation = ""       // it was not run once more
	ConfirmedSame   Confirmation = "same"   // it failed in the same way
	ConfirmedOther  Confirmation = "other"  // it failed otherwise
	ConfirmedFlaky  Confirmation = "flaky"  // it passed and then failed
	ConfirmedPassed Confirmation = "passed" // it passed, which is not all that done needs
)

// says returns the text that ends the trip's reason.
func (c Confirmation) says() string {
	return map[Confirmation]string{
		ConfirmedSame:   "; a repeat of the check failed the same way",
		ConfirmedOther:  "; a repeat of the check failed differently",
		ConfirmedFlaky:  "; the check is flaky: failed, passed, failed",
		ConfirmedPassed: "; a repeat of the check passed",
	}[c]
}

// CheckRerun is the result of running the check once more. It is not an iteration, and no
// guard counts it. If its outcome is done, it ends the run as the iteration would have.
type CheckRerun struct {
	Confirmed Confirmation `json:"confirmed"`
	Passes    int          `json:"passes,omitempty"` // how often in a row it passed
	IterationFinished
}

// Type implements [Data].
func (CheckRerun) Type() EventType { return TypeCheckRerun }

// confirmLimit is the duration below which a check may be run once more.
const confirmLimit = time.Minute

// confirms reports whether to run the check once more before the trip.
func (s *State) confirms(t *Trip) bool {
	if !s.Confirm || t.Guard != LoopDetected || t.Known || s.ConfirmedAt == s.Iterations || s.Last == nil || s.Last.Check == nil {
		return false
	}
	took := time.Duration(s.Last.Check.DurationMS) * time.Millisecond
	return took < confirmLimit && (s.Limits.Runtime <= 0 || took < (s.Limits.Runtime-s.Elapsed)/10)
}

// mayTrip reports whether one more failure can make [LoopDetected] trip.
func (s *State) mayTrip() bool {
	n := s.Limits.Loop
	return s.Confirm && n > 0 && (s.Cycles.Repeats() >= n-1 || s.Iterations+1 >= 2*n)
}

// Confirmed records the outcome of [NextConfirm]: how often the check passed in a row, and the
// result, which is done if the check passed often enough.
func (d *Driver) Confirmed(end IterationResult, passes int) error {
	s := d.State
	e := CheckRerun{Passes: passes, IterationFinished: end.IterationFinished}
	last := s.Last
	e.Iteration, e.Fatal, e.Promised, e.WorkExitCode, e.Words, e.Transcript = s.Iterations, 0, last.Promised, last.WorkExitCode, last.Words, last.Transcript
	e.Tree, e.Content, e.Git, e.Checkpoint = last.Tree, last.Content, last.Git, last.Checkpoint
	again := last.Check.Hash
	if s.Loose {
		again = last.Check.Loose
	}
	switch {
	case e.Cause != CauseExited:
		e.Confirmed = ConfirmedNot
	case e.Outcome == OutcomeDone, passes > 0 && e.Signature.Hash == signature.Pass.Hash:
		e.Confirmed = ConfirmedPassed
	case passes > 0:
		e.Confirmed = ConfirmedFlaky
	case s.Match(e.Signature) == again:
		e.Confirmed = ConfirmedSame
	default:
		e.Confirmed = ConfirmedOther
	}
	if e.Outcome == OutcomeDone {
		e.Warnings = append(slices.Clone(e.Warnings), fmt.Sprintf("flaky: the check failed in iteration %d, and then passed %s in a row with nothing changed", s.Iterations, plural.Count(passes, "time")))
		if why := s.contradiction(end); why != "" {
			e.Warnings = append(e.Warnings, why)
		}
		d.weigh(&e.IterationFinished)
	}
	return d.Record(e)
}

// foldRerun applies the result of running the check once more.
func (s *State) foldRerun(d CheckRerun) {
	s.Confirmed, s.ConfirmedAt = d.Confirmed, s.Iterations
	if d.Outcome != OutcomeDone {
		return
	}
	s.warn(d.Warnings)
	last := d.IterationFinished
	s.Last, s.Ran = &last, &last
	if n := len(s.History); n > 0 {
		s.History = append(slices.Clone(s.History[:n-1]), last)
	}
	s.judged(last)
	s.endWith(last)
}
