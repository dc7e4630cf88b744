// Package guards has the guards that looprun brings along, one file each.
//
// A guard is a type without fields: its limit and what it counts are in the
// state, so that answers can extend the one and a restart cannot lose the
// other. To add one, write a file beside these with its doc comment (when it
// trips, what turns it off, what resets it) and its table test, add it to
// [Default] in the place where it shall ask, and let guardtest.Check check it.
package guards

import (
	"fmt"

	"github.com/looprun/looprun/core"
)

// Default are all guards, in the order in which they ask when several trip.
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

// counted is “1 iteration”, “2 iterations”.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// latest is “3 iterations”, or says that those of skipped issues, which lie
// between them, do not count.
func latest(s *core.State, n int) string {
	text := counted(n, "iteration")
	for _, d := range s.History[max(0, len(s.History)-n):] {
		if s.IsKnown(s.Match(d.Signature)) {
			return text + " without a skipped issue"
		}
	}
	return text
}
