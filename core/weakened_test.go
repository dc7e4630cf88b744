package core

import (
	"testing"

	"github.com/looprun/looprun/signature"
)

// stub is a guard that never trips.
type stub struct{ id GuardID }

func (g stub) ID() GuardID      { return g.id }
func (stub) Check(*State) *Trip { return nil }

// What a pass checks less than the run has seen trips, or warns, as it was asked for.
func TestWeigh(t *testing.T) {
	most := Checked{Known: true, Ran: 7, Skips: true, Skipped: 1, Parts: []string{"a"}, Names: []string{"TestA", "TestB"}}
	seven := func(of signature.Tally) *signature.Tally { return &of }
	for name, c := range map[string]struct {
		limit     Weakening
		check     string
		agent     bool
		before    Checked
		end       IterationFinished
		trip, say string
	}{
		"the same":               {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 7, Skipped: 1})}},
		"more":                   {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 9, Skipped: 0})}},
		"not stated":             {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: -1, Skipped: -1})}},
		"nothing stated":         {limit: WeakenedTrips, before: most},
		"nothing known before":   {limit: WeakenedTrips, end: IterationFinished{Tally: seven(signature.Tally{Ran: 2, Skipped: 5})}},
		"fewer":                  {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}, trip: "Passes, with 6 tests where 7 ran"},
		"fewer, named":           {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1, Names: []string{"TestB"}})}, trip: "Passes, with 6 tests where 7 ran: TestA is gone"},
		"more skipped":           {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 7, Skipped: 2})}, trip: "Passes, with 2 tests skipped where 1 were"},
		"a package is empty":     {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: -1, Skipped: -1, Parts: []string{"b"}, Empty: []string{"a", "new"}})}, trip: "Passes, with no tests in a, where there were some"},
		"a file changed":         {limit: WeakenedTrips, end: IterationFinished{Changed: []string{"t/a"}}, trip: "Passes, and t/a has changed"},
		"it did not pass":        {limit: WeakenedTrips, before: most, end: IterationFinished{Outcome: OutcomeNotDone, Tally: seven(signature.Tally{Ran: 1})}},
		"off":                    {limit: WeakenedOff, before: most, end: IterationFinished{Tally: seven(signature.Tally{})}},
		"warn":                   {limit: WeakenedWarns, check: "make test", agent: true, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}, say: "Passes, with 6 tests where 7 ran"},
		"a check of no agent":    {check: "make test", before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}, say: "Passes, with 6 tests where 7 ran"},
		"an agent, no check":     {agent: true, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}, say: "Passes, with 6 tests where 7 ran"},
		"a check of an agent":    {check: "make test", agent: true, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}, trip: "Passes, with 6 tests where 7 ran"},
		"by its transcript":      {check: "make test", before: most, end: IterationFinished{Transcript: true, Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}, trip: "Passes, with 6 tests where 7 ran"},
		"zero, whoever judges":   {before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 0, Skipped: -1})}, trip: "Passes, with 0 tests where 7 ran"},
		"none of any package":    {before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: -1, Skipped: -1, Empty: []string{"a"}})}, trip: "Passes, with no tests in a, where there were some"},
		"one package of several": {before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: -1, Skipped: -1, Parts: []string{"b"}, Empty: []string{"a"}})}, say: "Passes, with no tests in a, where there were some"},
	} {
		s := &State{Limits: Limits{Weakened: c.limit}, Transcript: c.agent, Checked: c.before}
		if c.check != "" {
			s.Check = []string{"sh", "-c", c.check}
		}
		if c.end.Outcome == "" {
			c.end.Outcome = OutcomeDone
		}
		c.end.Iteration = 1
		d := &Driver{State: s, Guards: []Guard{stub{Weakened}}}
		d.weigh(&c.end)
		said := ""
		if len(c.end.Warnings) > 0 {
			said = c.end.Warnings[0]
		}
		if c.end.Weakened != c.trip || said != c.say {
			t.Errorf("%s: trips with %q, warns with %q; want %q and %q", name, c.end.Weakened, said, c.trip, c.say)
		}
		if c.trip == "" {
			continue
		}
		d.Guards = nil // a run without the guard can only warn
		if d.weigh(&c.end); c.end.Weakened != "" {
			t.Errorf("%s, without the guard: trips with %q", name, c.end.Weakened)
		}
	}
}
