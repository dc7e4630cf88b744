package rejection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// Stats holds counts over the rejections of many runs. Lists are sorted by count, then by
// name, and never null.
type Stats struct {
	// Since is the requested earliest time; null for all time.
	Since *time.Time `json:"since"`
	// First and Last are the times of the first and the last rejection; null if there are
	// none.
	First   *time.Time `json:"first"`
	Last    *time.Time `json:"last"`
	Runs    int        `json:"runs"`
	Total   int        `json:"total"` // valid and invalid ones
	Valid   int        `json:"valid"` // decided and pending ones
	Invalid int        `json:"invalid"`
	Decided int        `json:"decided"`
	Pending int        `json:"pending"`

	ByReason []Group `json:"by_reason"`
	ByAgent  []Group `json:"by_agent"`
	ByTask   []Group `json:"by_task"`
	// Blockers counts the blocking factors of valid rejections.
	Blockers []BlockerCount `json:"blockers"`
	// Decisions lists all decisions in order, including those never made.
	Decisions []DecisionCount `json:"decisions"`
	// OverrideRate is overrides ÷ decisions, from 0 to 1; null without decisions.
	OverrideRate *float64 `json:"override_rate"`
}

// Group holds the counts of rejections with the same reason, agent or task.
type Group struct {
	Name       string `json:"name"` // empty where the rejections do not say
	Total      int    `json:"total"`
	Valid      int    `json:"valid"`
	Decided    int    `json:"decided"`
	Overridden int    `json:"overridden"`
}

// BlockerCount is a blocking factor and how many valid rejections have it, ignoring case,
// white space and closing punctuation.
type BlockerCount struct {
	Text  string   `json:"text"` // as it was written first
	Count int      `json:"count"`
	Tasks []string `json:"tasks"` // those it blocked, sorted
}

// DecisionCount is how often a decision was made.
type DecisionCount struct {
	Decision Decision `json:"decision"`
	Count    int      `json:"count"`
}

// Collect counts the records from a time on; the zero time means all. The order
// of the records does not matter.
func Collect(records []Record, since time.Time) Stats {
	var s Stats
	if !since.IsZero() {
		s.Since = &since
	}
	runs := map[string]bool{}
	decisions := map[Decision]int{}
	reasons, agents, tasks := groups{}, groups{}, groups{}
	blockers := blockerCounts{}
	for _, r := range Since(records, since) {
		s.span(r.Time)
		runs[r.RunID] = true
		s.Total++
		switch {
		case !r.Valid:
			s.Invalid++
		case r.decided():
			s.Valid, s.Decided = s.Valid+1, s.Decided+1
			decisions[r.Decision]++
		default:
			s.Valid, s.Pending = s.Valid+1, s.Pending+1
		}
		reasons.add(string(r.Rejection.ReasonType), r)
		agents.add(r.Rejection.Agent, r)
		tasks.add(r.Rejection.Task, r)
		blockers.add(r)
	}
	s.Runs = len(runs)
	s.ByReason, s.ByAgent, s.ByTask = reasons.ranked(), agents.ranked(), tasks.ranked()
	s.Blockers = blockers.ranked()
	s.Decisions = listed(decisions)
	if s.Decided > 0 {
		s.OverrideRate = new(float64(decisions[Override]) / float64(s.Decided))
	}
	return s
}

// span extends the range from First to Last to include t.
func (s *Stats) span(t time.Time) {
	if t.IsZero() {
		return
	}
	if s.First == nil {
		s.First = &t
	}
	s.Last = &t
}

// groups maps names to groups.
type groups map[string]*Group

func (g groups) add(name string, r Record) {
	name = termsafe.Line(name)
	if g[name] == nil {
		g[name] = &Group{Name: name}
	}
	group := g[name]
	group.Total++
	if r.Valid {
		group.Valid++
	}
	if r.decided() {
		group.Decided++
		if r.Decision == Override {
			group.Overridden++
		}
	}
}

func (g groups) ranked() []Group {
	list := make([]Group, 0, len(g))
	for _, group := range g {
		list = append(list, *group)
	}
	slices.SortStableFunc(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// blockerCounts maps the identity of blocking factors to their counts.
type blockerCounts map[string]*blocked

type blocked struct {
	BlockerCount
	tasks map[string]bool
}

func (b blockerCounts) add(r Record) {
	text := termsafe.Line(r.Rejection.BlockingFactor)
	if !r.Valid || text == "" {
		return
	}
	key := sameText(text)
	if b[key] == nil {
		b[key] = &blocked{BlockerCount{Text: text}, map[string]bool{}}
	}
	b[key].Count++
	if task := termsafe.Line(r.Rejection.Task); task != "" {
		b[key].tasks[task] = true
	}
}

func (b blockerCounts) ranked() []BlockerCount {
	list := make([]BlockerCount, 0, len(b))
	for _, blocker := range b {
		blocker.Tasks = slices.AppendSeq([]string{}, maps.Keys(blocker.tasks))
		slices.Sort(blocker.Tasks)
		list = append(list, blocker.BlockerCount)
	}
	slices.SortStableFunc(list, func(x, y BlockerCount) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Text, y.Text))
	})
	return list
}

// listed returns every decision, followed by those from a later looprun.
func listed(counts map[Decision]int) []DecisionCount {
	list := convert.Each(Decisions(), func(d Decision) DecisionCount { return DecisionCount{d, counts[d]} })
	for _, d := range slices.Sorted(maps.Keys(counts)) {
		if !slices.Contains(Decisions(), d) {
			list = append(list, DecisionCount{d, counts[d]})
		}
	}
	return list
}

// cell is the maximum length of a text in a table, in code points.
const cell = 72

// Text returns the counts as aligned tables for a person. It is safe to show.
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

// name returns a text in the form used in a table.
func name(s string) string {
	if s = termsafe.Short(s, cell); s != "" {
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
