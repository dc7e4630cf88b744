package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/signature"
)

// Weakening is what happens if the judge passes but less was checked than before.
type Weakening string

// The possible reactions. The zero value trips where a check judges a coding agent, and warns
// elsewhere.
const (
	WeakenedTrips Weakening = "trip"
	WeakenedWarns Weakening = "warn"
	WeakenedOff   Weakening = offWord
)

// ParseWeakening parses trip, warn or off.
func ParseWeakening(text string) (Weakening, error) {
	w := Weakening(text)
	if w != WeakenedTrips && w != WeakenedWarns && w != WeakenedOff {
		return "", fmt.Errorf("%q is not trip, warn or off", text)
	}
	return w, nil
}

// Checked is the most that was checked in one iteration of a run, including the precheck. The
// zero value means that nothing is known.
type Checked struct {
	Known   bool     `json:"known,omitempty"` // Ran is
	Ran     int      `json:"ran,omitempty"`
	Names   []string `json:"names,omitempty"`   // of those that ran then
	Skips   bool     `json:"skips,omitempty"`   // Skipped is known
	Skipped int      `json:"skipped,omitempty"` // the fewest that were
	Parts   []string `json:"parts,omitempty"`   // packages whose tests ran
}

// take adds the counts of an iteration.
func (c *Checked) take(t *signature.Tally) {
	if t == nil {
		return
	}
	if t.Ran >= c.Ran { // below 0 it is not known
		c.Known, c.Ran, c.Names = true, t.Ran, t.Names
	}
	if t.Skipped >= 0 && (!c.Skips || t.Skipped < c.Skipped) {
		c.Skips, c.Skipped = true, t.Skipped
	}
	for _, p := range t.Parts {
		if len(c.Parts) < signature.MaxNames && !slices.Contains(c.Parts, p) {
			c.Parts = append(slices.Clone(c.Parts), p)
		}
	}
}

// Weakened returns why the pass of the last iteration does not count as done until somebody
// confirms it; empty if it counts, or nothing has passed.
func (s *State) Weakened() string {
	if !s.Passed || s.Last == nil || s.Limits.Weakened == WeakenedOff {
		return ""
	}
	return s.Last.Weakened
}

// weigh records in a passed iteration what was checked less than before: as the reason for a
// trip, or as a warning.
func (d *Driver) weigh(end *IterationFinished) {
	s := d.State
	end.Weakened = ""
	part := len(s.Check) == 0 && len(s.Subtasks) > 0 // a check judges the whole task
	if end.Outcome != OutcomeDone || s.Limits.Weakened == WeakenedOff || part {
		return
	}
	why, zero := s.fewer(end)
	if why == "" {
		return
	}
	trips := zero || s.Limits.Weakened == WeakenedTrips || s.Limits.Weakened == "" && len(s.Check) > 0 && (s.Transcript || end.Transcript)
	if trips && slices.ContainsFunc(d.Guards, func(g Guard) bool { return g.ID() == Weakened }) {
		end.Weakened = why
		return
	}
	end.Warnings = append(slices.Clone(end.Warnings), why)
}

// fewer returns what a pass checked less than earlier iterations did, and whether the tool
// itself reports that nothing ran although something had run before.
func (s *State) fewer(d *IterationFinished) (why string, zero bool) {
	before, t := &s.Checked, d.Tally
	if t == nil {
		t = &signature.Tally{Ran: -1, Skipped: -1}
	}
	var all []string
	switch {
	case t.Ran >= 0 && t.Ran < before.Ran:
		zero = t.Ran == 0
		text := fmt.Sprintf("with %s where %d ran", plural.Count(t.Ran, "test"), before.Ran)
		if gone := missing(before.Names, t.Names); len(gone) > 0 {
			text += ": " + few(gone) + isAre(len(gone)) + "gone"
		}
		all = append(all, text)
	case t.Ran == 0 && d.Iteration > 0:
		all = append(all, "and no tests ran")
	}
	if before.Skips && t.Skipped > before.Skipped {
		all = append(all, fmt.Sprintf("with %s skipped where %d were", plural.Count(t.Skipped, "test"), before.Skipped))
	}
	if empty := convert.Where(t.Empty, func(p string) bool { return slices.Contains(before.Parts, p) }); len(empty) > 0 {
		zero = zero || t.Ran <= 0 && len(t.Parts) == 0
		all = append(all, "with no tests in "+few(empty)+", where there were some")
	}
	if n := len(d.Changed); n > 0 {
		all = append(all, "and "+few(d.Changed)+map[bool]string{true: " has", false: " have"}[n == 1]+" changed")
	}
	if len(all) == 0 {
		return "", false
	}
	return "Passes, " + strings.Join(all, "; "), zero
}

func isAre(n int) string {
	if n == 1 {
		return " is "
	}
	return " are "
}

// missing returns the names that are gone, if both lists are known.
func missing(before, now []string) []string {
	if now == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(before), func(n string) bool { return slices.Contains(now, n) })
}

// few lists the first five names and the number of the rest.
func few(names []string) string {
	return termsafe.Line(plural.First(convert.Each(names, oneLine), 5))
}
