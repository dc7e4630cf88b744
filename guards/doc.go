// Package guards provides the guards that are built into looprun, one per file.
//
// A guard is a type without fields: its limit and its counters are in the state, so that
// answers can extend the limit and a restart cannot lose the counters. To add a guard, write a
// file next to these with its doc comment (when it trips, what turns it off, what resets it)
// and its table test, add it to [Default] in the place where it should ask, and test it with
// guardtest.Check.
package guards

import (
	"fmt"

	"github.com/looprun/looprun/core"
)

// Default returns all guards in the order in which they ask if several trip.
func Default() []core.Guard {
	return []core.Guard{
		Weakened{},
		Rejection{},
		Blocked{},
		Clarification{},
		Ladder{},
		Iterations{},
		Runtime{},
		Loop{},
		Errors{},
		Cost{},
		Tokens{},
		Progress{},
		Workspace{},
		Turn{},
	}
}

// counted returns “1 iteration”, “2 iterations”.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// latest returns “3 iterations”, and mentions if those with skipped issues in between do not
// count.
func latest(s *core.State, n int) string {
	text := counted(n, "iteration")
	for _, d := range s.History[max(0, len(s.History)-n):] {
		if s.IsKnown(s.Match(d.Signature)) {
			return text + " without a skipped issue"
		}
	}
	return text
}
