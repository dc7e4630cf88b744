package guards

import (
	"fmt"

	"github.com/looprun/looprun"
)

// Loop trips when the same signature came as often in a row as the threshold
// says, or a cycle of two to five signatures was seen that often. Iterations
// without a signature, interrupted ones and the precheck are no evidence, and
// neither are skipped issues; but when nothing except skipped issues came that
// often it trips once more. An answer starts the count over.
type Loop struct{}

// ID is loop_detected.
func (Loop) ID() looprun.GuardID { return looprun.LoopDetected }

// Check trips at Limits.Loop.
func (Loop) Check(s *looprun.State) *looprun.Trip {
	threshold := s.Limits.Loop
	if threshold <= 0 {
		return nil
	}
	if s.SkippedBy == looprun.LoopDetected && s.KnownRun >= threshold {
		return &looprun.Trip{
			Guard: looprun.LoopDetected, Window: s.KnownRun, Known: true,
			Reason: fmt.Sprintf("the last %d iterations showed nothing but skipped issues", s.KnownRun),
		}
	}
	period, ok := s.Cycles.Tripped(threshold)
	if !ok {
		return nil
	}
	t := &looprun.Trip{Guard: looprun.LoopDetected, Period: period, Repeats: threshold, Window: period * threshold}
	if period == 1 {
		t.Repeats = s.Cycles.Repeats()
		t.Window = t.Repeats
		t.Reason = fmt.Sprintf("the last %s failed in the same way", latest(s, t.Repeats))
	} else {
		t.Reason = fmt.Sprintf("the last %s went %d times through the same %d failures", latest(s, t.Window), t.Repeats, period)
	}
	return t
}
