package guards

import (
	"cmp"
	"fmt"
	"math"

	"github.com/looprun/looprun/core"
)

// Loop trips when one of these happens: the same signature occurred as many times in a row as
// the threshold, a cycle of two to five signatures repeated that often, the same checks failed
// twice that often in a row and only values changed, or the same failure occurred in as many
// of the last iterations as State.Often sets. Iterations without a signature, interrupted
// ones, the precheck and skipped issues are no evidence. But if only skipped issues occurred
// that often, the guard trips once more. An answer resets the count.
type Loop struct{}

// ID returns loop_detected.
func (Loop) ID() core.GuardID { return core.LoopDetected }

// Check trips at Limits.Loop.
func (Loop) Check(s *core.State) *core.Trip {
	threshold := s.Limits.Loop
	if threshold <= 0 {
		return nil
	}
	if s.SkippedBy == core.LoopDetected && s.KnownRun >= threshold {
		return &core.Trip{
			Guard: core.LoopDetected, Window: s.KnownRun, Known: true,
			Reason: fmt.Sprintf("the last %d iterations showed nothing but skipped issues", s.KnownRun),
		}
	}
	period, ok := s.Cycles.Tripped(threshold)
	if !ok {
		return cmp.Or(onlyValues(s, threshold), often(s, threshold))
	}
	t := &core.Trip{Guard: core.LoopDetected, Period: period, Repeats: threshold, Window: period * threshold}
	if period == 1 {
		t.Repeats = s.Cycles.Repeats()
		t.Window = t.Repeats
		t.Reason = fmt.Sprintf("the last %s failed in the same way", latest(s, t.Repeats))
	} else {
		t.Reason = fmt.Sprintf("the last %s repeated a cycle of %d failures %d times", latest(s, t.Window), period, t.Repeats)
	}
	return t
}

// onlyValues trips when the same checks have failed twice as many times in a row as the
// threshold: values that change from wrong to wrong do not stay progress for long.
func onlyValues(s *core.State, threshold int) *core.Trip {
	if s.AnyValue || s.Core == 0 || s.CoreRun < 2*threshold {
		return nil
	}
	if s.OnlyWords() {
		return &core.Trip{
			Guard: core.LoopDetected, Window: s.CoreRun,
			Reason: fmt.Sprintf("the last %s changed nothing, and only the agent's words differ", counted(s.CoreRun, "turn")),
		}
	}
	return &core.Trip{
		Guard: core.LoopDetected, Window: s.CoreRun,
		Reason: fmt.Sprintf("the same checks fail for the %s time, only values change (--loop-values off lets them)", ordinal(s.CoreRun)),
	}
}

// often trips when the last failure occurred in many of the last iterations, with others in
// between: the run goes back and forth without a cycle. It does not trip if fewer checks fail
// than before.
func often(s *core.State, threshold int) *core.Trip {
	o := s.Often.For(threshold)
	last := s.Failures[max(0, len(s.Failures)-max(0, o.Of)):]
	if o.Times <= 0 || len(last) < o.Times || fewer(last) {
		return nil
	}
	h, times := last[len(last)-1].Hash, 0
	for _, f := range last {
		if f.Hash == h {
			times++
		}
	}
	if h == 0 || times < o.Times {
		return nil
	}
	return &core.Trip{
		Guard: core.LoopDetected, Period: 1, Repeats: times, Window: len(last),
		Reason: fmt.Sprintf("the same failure came in %d of the last %s", times, latest(s, len(last))),
	}
}

// fewer reports whether the second half of the iterations had one with fewer failing checks
// than any in the first half.
func fewer(last []core.Failure) bool {
	least := func(fs []core.Failure) int {
		n := math.MaxInt
		for _, f := range fs {
			if f.Failing >= 0 {
				n = min(n, f.Failing)
			}
		}
		return n
	}
	half := len(last) / 2
	before := least(last[:half])
	return before != math.MaxInt && least(last[half:]) < before
}

// ordinal returns “6th”.
func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}
