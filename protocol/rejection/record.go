package rejection

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/termsafe"
)

// Record is a rejection as it stands in a journal, with what became of it.
type Record struct {
	RunID string
	Dir   string
	Time  time.Time
	// ID is the run and the sequence number of its event. A journal that is read
	// twice, such as from two work trees, counts once; an empty ID always counts.
	ID        string
	Rejection Rejection
	Valid     bool
	Issues    []Issue
	// Decision is empty while it is undecided. Nobody decides on an invalid one.
	Decision      Decision
	DecidedBy     string
	DecidedReason string
	DecidedAt     time.Time
	// Created are the tasks that the decision created.
	Created []string
}

// decided reports whether somebody decided on it.
func (r Record) decided() bool { return r.Valid && r.Decision != "" }

// ordered are the records by time, each once. Of a record that is there twice
// the one with a decision comes first, as that journal goes on further.
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

// sameText is equal for texts that differ in case, white space and the
// punctuation at their ends only.
func sameText(s string) string {
	line := strings.Map(fold, termsafe.Line(s))
	if bare := strings.TrimRight(line, ".,;:!?…。，；：！？ "); bare != "" {
		return bare
	}
	return line
}
