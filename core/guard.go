package core

import (
	"slices"
	"time"
)

// GuardID names a guard, in questions, policies, results and the journal.
type GuardID string

// What else can stop a run to ask: these are no limits but what the command said.
// A policy rule for "*" does not cover them.
const (
	Rejection       GuardID = "rejection"        // the task cannot be done as given
	Blocked         GuardID = "blocked"          // something outside is in the way
	Clarification   GuardID = "clarification"    // the task cannot be understood
	LadderExhausted GuardID = "ladder_exhausted" // a person has to decide before the next attempt
)

// ProtocolIDs are those, in the order in which they ask, before any guard.
func ProtocolIDs() []GuardID { return idsOf(func(g Spec) bool { return g.limit == nil }) }

// Mandatory reports whether what this id asks is for a person to answer, except
// that a policy rule may name ladder_exhausted.
func (id GuardID) Mandatory() bool { return id == Clarification || id == LadderExhausted }

// GuardIDs are all guards, in the order in which they ask.
func GuardIDs() []GuardID { return idsOf(func(g Spec) bool { return g.limit != nil }) }

func idsOf(want func(Spec) bool) (ids []GuardID) {
	for _, g := range specs {
		if want(g) {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// Guard watches the state of a run and trips when it has gone on for too long.
//
// Check returns nil as long as all is well. It is deterministic, does no I/O,
// reads no clock and leaves the state as it is: package guards/guardtest checks
// all of that for any guard. Guards keep nothing of their own; what they need
// to remember is in the state, so that a restart forgets nothing.
type Guard interface {
	ID() GuardID
	Check(*State) *Trip
}

// Deadline is a [Guard] that can trip in the middle of an iteration.
type Deadline interface {
	Guard
	// Remaining is how much active time is left; false: no deadline is set, or it is no
	// time that makes it trip.
	Remaining(*State) (left time.Duration, ok bool)
}

// Trip is what a guard says when it stops the run.
type Trip struct {
	Guard     GuardID `json:"guard"` // empty in what a guard returns: its ID
	Iteration int     `json:"iteration"`
	// Also are the other guards that tripped at the same moment.
	Also []GuardID `json:"also,omitempty"`
	// Reason is one sentence with the numbers.
	Reason string `json:"reason"`
	// Window is how many of the last iterations are the evidence; zero for limits.
	Window int `json:"window,omitempty"`
	// Period is the length of the cycle that repeats, 1 for plain repetition;
	// Repeats is how often it was seen. Zero for guards that find no cycles.
	Period  int `json:"period,omitempty"`
	Repeats int `json:"repeats,omitempty"`
	// Confirmed is what the check came to when it was run once more.
	Confirmed Confirmation `json:"confirmed,omitempty"`
	// Known says that nothing but known issues came; skip is then not offered.
	Known bool `json:"known,omitempty"`
	// During says that the iteration was still running.
	During bool `json:"during,omitempty"`
	// Mandatory says that a person has to decide.
	Mandatory bool `json:"mandatory,omitempty"`
	// Output is the end of what the running iteration had printed (During), and
	// QuietMS how long it had printed nothing more.
	Output  string `json:"output,omitempty"`
	QuietMS int64  `json:"quiet_ms,omitempty"`
}

// Evaluate shows the state to every guard. Of those that trip the first asks
// and the others are named in its Also, except that [ConsecutiveErrors] asks
// before [LoopDetected] when the whole repeating window is errors: then the
// errors are the news, not that they repeat.
func Evaluate(guards []Guard, s *State) *Trip {
	var trips []*Trip
	for _, g := range guards {
		if t := g.Check(s); t != nil {
			if t.Guard == "" {
				t.Guard = g.ID()
			}
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
