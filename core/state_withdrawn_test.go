package core_test

import (
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/looptest"
)

// TestAnIterationThatIsHandedBackIsNoCrash: the third crash in an iteration makes it an error, and a
// worker that hands an iteration back has not crashed.
func TestAnIterationThatIsHandedBackIsNoCrash(t *testing.T) {
	for _, c := range []struct {
		handedBack bool
		crashes    int
	}{{false, 1}, {true, 0}} {
		var s core.State
		for _, d := range []core.Data{looptest.Begun, looptest.First, core.IterationWithdrawn{Iteration: 1, HandedBack: c.handedBack}} {
			if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		if s.Crashes != c.crashes || s.Running {
			t.Errorf("handed back %t: %d crashes, running %t", c.handedBack, s.Crashes, s.Running)
		}
	}
}
