package rejection

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/looprun/looprun/internal/plural"
)

// cell is the longest text in a table, in code points.
const cell = 72

// Text shows the counts to a person, as aligned tables. It is safe to show.
func (s Stats) Text() string {
	var b strings.Builder
	b.WriteString("Rejections")
	if s.Since != nil {
		b.WriteString(" since " + s.Since.Format(time.DateOnly))
	}
	if s.Total == 0 {
		b.WriteString(": none\n")
		return b.String()
	}
	fmt.Fprintf(&b, ": %d in %s\n", s.Total, plural.Count(s.Runs, "run"))
	if s.First != nil && s.Last != nil {
		const minutes = "2006-01-02 15:04"
		fmt.Fprintf(&b, "From %s to %s\n", s.First.Format(minutes), s.Last.Format(minutes))
	}
	fmt.Fprintf(&b, "%d valid, %d invalid; %d decided, %d pending\n", s.Valid, s.Invalid, s.Decided, s.Pending)
	if s.OverrideRate != nil {
		fmt.Fprintf(&b, "Override rate: %.0f %% of %s\n", *s.OverrideRate*100, plural.Count(s.Decided, "decision"))
	} else {
		b.WriteString("Override rate: no decisions yet\n")
	}
	grouped(&b, "REASON", s.ByReason)
	grouped(&b, "AGENT", s.ByAgent)
	grouped(&b, "TASK", s.ByTask)
	if len(s.Blockers) > 0 {
		rows := [][]string{{"BLOCKER", "COUNT", "TASKS"}}
		for _, blocker := range s.Blockers {
			rows = append(rows, []string{name(blocker.Text), fmt.Sprint(blocker.Count), fmt.Sprint(len(blocker.Tasks))})
		}
		table(&b, rows)
	}
	rows := [][]string{{"DECISION", "COUNT"}}
	for _, d := range s.Decisions {
		rows = append(rows, []string{name(string(d.Decision)), fmt.Sprint(d.Count)})
	}
	table(&b, rows)
	return b.String()
}

func grouped(b *strings.Builder, title string, groups []Group) {
	rows := [][]string{{title, "TOTAL", "VALID", "DECIDED", "OVERRIDDEN"}}
	for _, g := range groups {
		rows = append(rows, []string{name(g.Name), fmt.Sprint(g.Total), fmt.Sprint(g.Valid), fmt.Sprint(g.Decided), fmt.Sprint(g.Overridden)})
	}
	table(b, rows)
}

// name is a text for a table.
func name(s string) string {
	if s = short(s, cell); s != "" {
		return s
	}
	return "(not given)"
}

func table(b *strings.Builder, rows [][]string) {
	b.WriteByte('\n')
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
}
