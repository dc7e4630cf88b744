package guards

import "github.com/looprun/looprun/core"

// Silence trips when several iterations in a row printed nothing. Limits.Silence turns it on;
// an answer starts its count again.
type Silence struct{}

// ID is output_silence.
func (Silence) ID() core.GuardID { return core.OutputSilence }

// Check trips after as many silent iterations as the limit says.
func (Silence) Check(s *core.State) *core.Trip {
	silent := 0
	for i := len(s.History) - 1; i >= 0 && s.History[i].OutputBytes == 0 && s.History[i].Iteration > s.ResetAt[core.OutputSilence]; i-- {
		silent++
	}
	if s.Limits.Silence <= 0 || silent < s.Limits.Silence {
		return nil
	}
	return &core.Trip{
		Guard: core.OutputSilence, Iteration: s.Iterations, Window: silent,
		Reason: counted(silent, "iteration") + " in a row printed nothing",
	}
}
