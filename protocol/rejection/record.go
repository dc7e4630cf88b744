package rejection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

// Record is a rejection from a journal, with its decision.
type Record struct {
	RunID string
	Dir   string
	Time  time.Time
	// ID is the run and the sequence number of its event. A journal that is read twice, for
	// example from two work trees, counts once; a record with an empty ID always counts.
	ID        string
	Rejection Rejection
	Valid     bool
	Issues    []Issue
	// Decision is empty while there is none. Invalid rejections are never decided.
	Decision      Decision
	DecidedBy     string
	DecidedReason string
	DecidedAt     time.Time
	// Created lists the tasks that the decision created.
	Created []string
}

// Text returns the whole rejection with its decision, in words for a person. It is safe to
// show.
func (r Record) Text() string {
	var b strings.Builder
	head := []string{r.ID, string(r.Rejection.ReasonType)}
	if !r.Time.IsZero() {
		head = append(head, r.Time.Format("2006-01-02 15:04"))
	}
	fmt.Fprintln(&b, termsafe.Line(strings.Join(head, "  ")))
	say := func(name, text string) {
		if !blank(text) {
			fmt.Fprintf(&b, "  %s: %s\n", name, strings.ReplaceAll(strings.TrimSpace(termsafe.Text(text)), "\n", "\n    "))
		}
	}
	list := func(name string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "  %s:\n    %s\n", name, strings.Join(lines, "\n    "))
		}
	}
	j := r.Rejection
	for _, part := range [][2]string{
		{"Task", j.Task},
		{"Agent", j.Agent},
		{"Summary", j.Summary},
		{"Detail", j.Detail},
		{"Blocking factor", j.BlockingFactor},
		{"Original scope", j.OriginalScope},
	} {
		say(part[0], part[1])
	}
	if j.Growth != 0 {
		say("Growth", fmt.Sprint(j.Growth))
	}
	list("What was attempted", convert.Each(j.Attempted, termsafe.Line))
	list("Evidence", convert.Each(j.Evidence, func(e Evidence) string {
		return termsafe.Line(strings.TrimSuffix(fmt.Sprintf("%s: %s (%s)", e.Type, e.Data, e.Source), " ()"))
	}))
	say("Suggested alternative", j.Suggested)
	list("Alternative tasks", convert.Each(j.Alternatives, taskLine))
	list("It breaks the rules", convert.Each(r.Issues, func(i Issue) string { return termsafe.Line(i.String()) }))
	switch {
	case r.decided():
		text := string(r.Decision) + " by " + r.DecidedBy
		if !blank(r.DecidedReason) {
			text += ": " + r.DecidedReason
		}
		say("Decided", text)
	case r.Valid:
		say("Decided", "not yet")
	}
	list("Tasks that it created", convert.Each(r.Created, termsafe.Line))
	return b.String()
}

// taskLine returns a task on one line.
func taskLine(t Task) string {
	text := t.Title
	for _, more := range [][2]string{{"scope: ", t.Scope}, {"after: ", strings.Join(t.Dependencies, ", ")}, {"estimate: ", t.Estimate}} {
		if !blank(more[1]) {
			text += "; " + more[0] + more[1]
		}
	}
	return termsafe.Line(text)
}

// decided reports whether there is a decision on it.
func (r Record) decided() bool { return r.Valid && r.Decision != "" }

// Since returns the records from a time on, sorted by time and without duplicates; the zero
// time means all.
func Since(records []Record, since time.Time) []Record {
	return slices.DeleteFunc(ordered(records), func(r Record) bool { return r.Time.Before(since) })
}

// ordered returns the records sorted by time, without duplicates. Of two copies of a record,
// the one with a decision is kept, because its journal goes further.
func ordered(records []Record) []Record {
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.ID, b.ID),
			b.DecidedAt.Compare(a.DecidedAt), cmp.Compare(b.Decision, a.Decision), cmp.Compare(a.Dir, b.Dir))
	})
	seen := map[[2]string]bool{}
	var once []Record
	for _, r := range records {
		key := [2]string{r.RunID, r.ID}
		if r.ID == "" || !seen[key] {
			seen[key] = true
			once = append(once, r)
		}
	}
	return once
}

// sameText returns equal texts for inputs that differ only in case, white space and trailing
// punctuation.
func sameText(s string) string {
	line := strings.Map(fold, termsafe.Line(s))
	if bare := strings.TrimRight(line, ".,;:!?…。，；：！？ "); bare != "" {
		return bare
	}
	return line
}
