package core

import (
	"cmp"
	"slices"
	"time"

	"github.com/looprun/looprun/internal/convert"
)

// GuardID names a guard, in questions, policies, results and the journal.
type GuardID string

// Other reasons to stop the run and ask. They are not limits: they come from the command's own
// messages. A policy rule for "*" does not cover them.
const (
	Rejection       GuardID = "rejection"        // the task cannot be done as given
	Blocked         GuardID = "blocked"          // something outside is in the way
	Clarification   GuardID = "clarification"    // the task cannot be understood
	LadderExhausted GuardID = "ladder_exhausted" // a person has to decide before the next attempt
)

// ProtocolIDs returns the ids above, in the order in which they ask. All of them ask before
// any guard.
func ProtocolIDs() []GuardID { return idsOf(func(g Spec) bool { return g.limit == nil }) }

// Mandatory reports whether a person must answer questions of this id, except that a policy
// rule may name ladder_exhausted.
func (id GuardID) Mandatory() bool { return id == Clarification || id == LadderExhausted }

// GuardIDs returns all guards, in the order in which they ask.
func GuardIDs() []GuardID { return idsOf(func(g Spec) bool { return g.limit != nil }) }

func idsOf(want func(Spec) bool) []GuardID {
	return convert.Each(convert.Where(specs, want), func(g Spec) GuardID { return g.ID })
}

// Guard watches the state of a run and trips when it has gone on for too long.
//
// Check returns nil as long as all is well. It is deterministic, does no I/O, reads no clock
// and does not modify the state: package guards/guardtest checks all of that for any guard.
// Guards are stateless; everything they need to remember is in the state, so that a restart
// forgets nothing.
type Guard interface {
	ID() GuardID
	Check(*State) *Trip
}

// Deadline is a [Guard] that can trip in the middle of an iteration.
type Deadline interface {
	Guard
	// Remaining returns how much active time is left; ok is false if no deadline is set, or
	// time is not what makes the guard trip.
	Remaining(*State) (left time.Duration, ok bool)
}

// Trip is the result of a guard that stops the run.
type Trip struct {
	Guard     GuardID `json:"guard"` // empty in what a guard returns: its ID
	Iteration int     `json:"iteration"`
	// Also are the other guards that tripped at the same moment.
	Also []GuardID `json:"also,omitempty"`
	// Reason is one sentence with the relevant numbers.
	Reason string `json:"reason"`
	// Window is how many of the last iterations form the evidence; zero for limits.
	Window int `json:"window,omitempty"`
	// Period is the length of the cycle that repeats, 1 for plain repetition; Repeats is how
	// often it occurred. Both are zero for guards that find no cycles.
	Period  int `json:"period,omitempty"`
	Repeats int `json:"repeats,omitempty"`
	// Confirmed is the result of running the check once more.
	Confirmed Confirmation `json:"confirmed,omitempty"`
	// Known says that nothing but known issues came; skip is then not offered.
	Known bool `json:"known,omitempty"`
	// During means that it tripped while the iteration was running.
	During bool `json:"during,omitempty"`
	// Mandatory means that a person must decide.
	Mandatory bool `json:"mandatory,omitempty"`
	// Output is the end of the running iteration's output (During), and QuietMS is how long it
	// had printed nothing.
	Output  string `json:"output,omitempty"`
	QuietMS int64  `json:"quiet_ms,omitempty"`
}

// Evaluate shows the state to every guard. The first guard that trips asks, and the others
// that trip are listed in its Also. As an exception, [ConsecutiveErrors] asks before
// [LoopDetected] if the whole repeating window consists of errors: the errors matter more than
// their repetition.
func Evaluate(guards []Guard, s *State) *Trip {
	var trips []*Trip
	for _, g := range guards {
		if t := g.Check(s); t != nil {
			t.Guard = cmp.Or(t.Guard, g.ID())
			trips = append(trips, t)
		}
	}
	if len(trips) == 0 {
		return nil
	}
	loop := slices.IndexFunc(trips, func(t *Trip) bool { return t.Guard == LoopDetected })
	errs := slices.IndexFunc(trips, func(t *Trip) bool { return t.Guard == ConsecutiveErrors })
	if loop >= 0 && errs > loop && s.ErrorRun >= trips[loop].Window {
		trips[loop], trips[errs] = trips[errs], trips[loop]
	}
	first := *trips[0]
	first.Also = nil
	for _, t := range trips[1:] {
		first.Also = append(first.Also, t.Guard)
	}
	return &first
}
