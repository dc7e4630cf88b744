package core

import (
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/signature"
)

// stub is a guard that never trips.
type stub struct{ id GuardID }

func (g stub) ID() GuardID      { return g.id }
func (stub) Check(*State) *Trip { return nil }

func TestParseWeakening(t *testing.T) {
	for text, good := range map[string]bool{"trip": true, "warn": true, "off": true, "": false, "none": false} {
		if w, err := ParseWeakening(text); (err == nil) != good || good && string(w) != text {
			t.Errorf("%q: %q, %v", text, w, err)
		}
	}
}

// The most that ran counts, with its names, and the fewest that were skipped; what is not stated
// changes nothing.
func TestTheMostThatWasChecked(t *testing.T) {
	many := make([]string, signature.MaxNames+1)
	for n := range many {
		many[n] = strconv.Itoa(n)
	}
	for name, c := range map[string]struct {
		tallies []*signature.Tally
		want    Checked
	}{
		"nothing":      {[]*signature.Tally{nil, {Ran: -1, Skipped: -1}}, Checked{}},
		"none":         {[]*signature.Tally{{Ran: 0, Skipped: 0}}, Checked{Known: true, Skips: true}},
		"the most":     {[]*signature.Tally{{Ran: 2, Skipped: 3, Names: []string{"a"}}, {Ran: 5, Skipped: 1, Names: []string{"b"}}, {Ran: 4, Skipped: 2}, {Ran: -1, Skipped: -1}}, Checked{Known: true, Ran: 5, Names: []string{"b"}, Skips: true, Skipped: 1}},
		"the last":     {[]*signature.Tally{{Ran: 2, Skipped: -1, Names: []string{"a"}}, {Ran: 2, Skipped: -1, Names: []string{"b"}}}, Checked{Known: true, Ran: 2, Names: []string{"b"}}},
		"each package": {[]*signature.Tally{{Ran: -1, Skipped: -1, Parts: []string{"p"}}, {Ran: -1, Skipped: -1, Parts: []string{"p", "q"}}}, Checked{Parts: []string{"p", "q"}}},
		"too many":     {[]*signature.Tally{{Ran: -1, Skipped: -1, Parts: many}}, Checked{Parts: many[:signature.MaxNames]}},
	} {
		var got Checked
		for _, tally := range c.tallies {
			got.take(tally)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Before anything was run, nothing was weakened.
func TestNothingHasPassed(t *testing.T) {
	if why := (&State{Passed: true}).Weakened(); why != "" {
		t.Error(why)
	}
}

// What a pass checks less than the run has seen trips, or warns, as it was asked for.
func TestWeigh(t *testing.T) {
	most := Checked{Known: true, Ran: 7, Skips: true, Skipped: 1, Parts: []string{"a"}, Names: []string{"TestA", "TestB"}}
	seven := func(of signature.Tally) *signature.Tally { return &of }
	for name, c := range map[string]struct {
		limit     Weakening
		check     string
		agent     bool
		parts     int
		before    Checked
		end       IterationFinished
		trip, say string
	}{
		"the same":               {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 7, Skipped: 1})}},
		"the same, to be warned": {limit: WeakenedWarns, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 7, Skipped: 1})}},
		"more":                   {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 9, Skipped: 0})}},
		"not stated":             {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: -1, Skipped: -1})}},
		"nothing stated":         {limit: WeakenedTrips, before: most},
		"nothing known before":   {limit: WeakenedTrips, end: IterationFinished{Tally: seven(signature.Tally{Ran: 2, Skipped: 5})}},
		"fewer":                  {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}, trip: "Passes, with 6 tests where 7 ran"},
		"fewer, named":           {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1, Names: []string{"TestB"}})}, trip: "Passes, with 6 tests where 7 ran: TestA is gone"},
		"several are gone":       {limit: WeakenedTrips, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 5, Skipped: 1, Names: []string{}})}, trip: "Passes, with 5 tests where 7 ran: TestA, TestB are gone"},
		"none, as ever":          {limit: WeakenedTrips, end: IterationFinished{Tally: seven(signature.Tally{Ran: 0, Skipped: -1})}, trip: "Passes, and no tests ran"},
		"a part of the task":     {limit: WeakenedTrips, parts: 2, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}},
		"a check, with parts":    {limit: WeakenedTrips, check: "make test", parts: 2, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}, trip: "Passes, with 6 tests where 7 ran"},
		"the parts are done":     {limit: WeakenedTrips, parts: 1, before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 6, Skipped: 1})}, trip: "Passes, with 6 tests where 7 ran"},
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
		"none ran, they say":     {before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 0, Skipped: -1, Parts: []string{"b"}, Empty: []string{"a"}})}, trip: "Passes, with 0 tests where 7 ran; with no tests in a, where there were some"},
		"others ran":             {before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: 7, Skipped: -1, Empty: []string{"a"}})}, say: "Passes, with no tests in a, where there were some"},
		"one package of several": {before: most, end: IterationFinished{Tally: seven(signature.Tally{Ran: -1, Skipped: -1, Parts: []string{"b"}, Empty: []string{"a"}})}, say: "Passes, with no tests in a, where there were some"},
	} {
		s := &State{Limits: Limits{Weakened: c.limit}, Transcript: c.agent, Checked: c.before}
		for n := range c.parts {
			s.foldList(ActionApplied{Subtask: &rejection.Task{}, Subtasks: make([]rejection.Task, n)})
		}
		if c.check != "" {
			s.Check = []string{"sh", "-c", c.check}
		}
		if c.end.Outcome == "" {
			c.end.Outcome = OutcomeDone
		}
		c.end.Iteration = 1
		d := &Driver{State: s, Guards: []Guard{stub{Weakened}}}
		d.weigh(&c.end)
		var say []string
		if c.say != "" {
			say = []string{c.say}
		}
		if c.end.Weakened != c.trip || !slices.Equal(c.end.Warnings, say) {
			t.Errorf("%s: trips with %q, warns with %q; want %q and %q", name, c.end.Weakened, c.end.Warnings, c.trip, say)
		}
		if c.trip == "" {
			continue
		}
		d.Guards = []Guard{stub{MaxIterations}} // a run without the guard can only warn
		if d.weigh(&c.end); c.end.Weakened != "" {
			t.Errorf("%s, without the guard: trips with %q", name, c.end.Weakened)
		}
	}
}
