// Package review examines runs and recordings afterwards: what happened, why it ended so, and
// what other limits would have changed.
package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

// Explanation is why a run ended as it did.
type Explanation struct {
	RunID      string         `json:"run_id"`
	Status     core.Status    `json:"status"`
	Ending     *core.Ending   `json:"ending,omitempty"`
	Iterations int            `json:"iterations"`
	Subtasks   *core.Subtasks `json:"subtasks,omitempty"`
	Blockers   []string       `json:"blockers,omitempty"`
	Warnings   []string       `json:"warnings,omitempty"`
	Trip       *core.Trip     `json:"trip,omitempty"`
	Counted    []counted      `json:"counted,omitempty"`
	// Shared holds the facts common to all counted iterations; for a cycle, those of each
	// position in it.
	Shared  []string              `json:"shared,omitempty"`
	Compare *signature.Difference `json:"first_and_last,omitempty"`
	// Failing lists the checks that failed in the last of them, each with its reason.
	Failing []core.FailingCheck `json:"failing,omitempty"`
	// OnlyCounts means that the last two iterations differ only in numbers.
	OnlyCounts bool `json:"only_counts_changed,omitempty"`

	// Suggestion is set by [Explanation.Suggest].
	Suggestion *Suggestion `json:"suggestion,omitempty"`

	state       *core.State
	dir         string
	first, last *core.IterationFinished
	sides       [2]signature.Explanation
}

// counted is an iteration that a guard counted.
type counted struct {
	Iteration int            `json:"iteration"`
	Outcome   core.Outcome   `json:"outcome"`
	ExitCode  int            `json:"exit_code"`
	Hash      signature.Hash `json:"hash"`
	Label     string         `json:"label"`

	says string
}

// Explain derives the explanation from the run in dir.
func Explain(dir string) (*Explanation, error) {
	s, _, err := scratchpad.Load(dir)
	if err != nil {
		return nil, err
	}
	e := &Explanation{
		RunID: s.RunID, Status: scratchpad.Standing(s, scratchpad.Locked(dir)),
		Ending: s.Ending, Iterations: s.Iterations, Subtasks: s.Decomposed(), Blockers: s.Blockers, Warnings: s.Warnings, Trip: s.LastTrip, state: s, dir: dir,
	}
	e.OnlyCounts = s.OnlyCountsChanged()
	e.window()
	return e, e.compare()
}

// window finds the iterations that the last trip counted.
func (e *Explanation) window() {
	t := e.Trip
	if t == nil || t.Window == 0 {
		return
	}
	skipped := e.skipped()
	var window []core.IterationFinished
	for _, d := range slices.Backward(e.state.History) {
		if d.Iteration <= t.Iteration && len(window) < t.Window && !skipped(d.Signature) {
			window = append(window, d)
		}
	}
	if len(window) == 0 {
		return
	}
	slices.Reverse(window)
	e.Counted = convert.Each(window, func(d core.IterationFinished) counted {
		return counted{d.Iteration, d.Outcome, d.ExitCode, d.Signature.Hash, d.Signature.Label, d.Says()}
	})
	e.Shared = window[0].Signature.Facts
	for _, d := range window[1:] {
		e.Shared = convert.Where(e.Shared, func(f string) bool { return slices.Contains(d.Signature.Facts, f) })
	}
	e.first, e.last = &window[0], &window[len(window)-1]
	if e.last.Progress() != nil {
		e.Failing = e.last.Failing(failingShown)
	}
	if period := max(1, t.Period); len(window) > period {
		// In a cycle, the last iteration's twin is a whole number of cycles before it.
		e.first = &window[(len(window)-1)%period]
	}
}

// failingShown is the maximum number of failing checks shown.
const failingShown = 10

// skipped returns a function that reports whether the last trip ignored a signature, as an
// issue that an earlier answer had skipped.
func (e *Explanation) skipped() func(signature.Signature) bool {
	t := e.Trip
	if t.Known || t.Guard != core.LoopDetected && t.Guard != core.ConsecutiveErrors {
		return func(signature.Signature) bool { return false }
	}
	var known []core.KnownIssue
	for _, d := range e.state.Decisions {
		if d.Iteration < t.Iteration {
			known = append(known, d.Known...)
		}
	}
	return func(sig signature.Signature) bool {
		h := e.state.Match(sig)
		return slices.ContainsFunc(known, func(k core.KnownIssue) bool { return k.Hash == h })
	}
}

// compare rereads the first and the last output, to show their noise.
func (e *Explanation) compare() error {
	if e.first == nil || e.first.Iteration == e.last.Iteration {
		return nil
	}
	r, err := session.RecordedOf(e.dir)
	if err != nil {
		return nil //nolint:nilerr // a run of a program has no recorded rules: its outputs are not compared
	}
	for i, d := range []*core.IterationFinished{e.first, e.last} {
		f, err := scratchpad.OpenWithin(e.dir, session.Judged(e.dir, d.Iteration, d))
		if err != nil {
			return nil //nolint:nilerr // a silent command has no output to compare
		}
		e.sides[i], err = Sign(f, d.ExitCode, r.Options.Signature, r.Options.Agents, true)
		f.Close()
		if err != nil {
			return err
		}
	}
	e.Compare = new(signature.Diff(e.sides[0].Signature, e.sides[1].Signature))
	return nil
}

// How much of two outputs is shown side by side.
const (
	sideLines = 20
	sideWidth = 58
)

// indent begins every line of a program's output. If the text is pasted into a page of
// Markdown, such as an issue or a prompt, those lines become a block of code after a blank
// line, which nothing in them can end.
const indent = "    "

// Text returns the explanation for a person.
func (e *Explanation) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s: %s after %s in %s\n", e.RunID, strings.ReplaceAll(string(e.Status), "_", " "), plural.Count(e.Iterations, "iteration"), plural.Round(e.state.Elapsed))
	if answered := e.state.Unused(); answered != "" {
		fmt.Fprintf(&b, "Why: it is answered (%s), and nobody has gone on with it yet; looprun resume %s does\n", termsafe.Line(answered), e.RunID)
	} else if e.Ending != nil && e.Ending.Reason != "" {
		fmt.Fprintf(&b, "Why: %s\n", termsafe.Line(e.Ending.Reason))
	}
	if e.Status == core.StatusCrashed {
		fmt.Fprintf(&b, "Why: it has no end, so looprun was killed; looprun resume %s continues it\n", e.RunID)
	}
	if e.Subtasks != nil {
		fmt.Fprintf(&b, "Sub-tasks: %s\n", e.Subtasks)
	}
	for _, blocker := range e.Blockers {
		fmt.Fprintf(&b, "Deferred for: %s\n", termsafe.Line(blocker))
	}
	for _, w := range e.state.Warnings {
		fmt.Fprintf(&b, "Warning: %s\n", termsafe.Line(w))
	}
	if e.Trip != nil {
		e.tripText(&b)
	}
	if answers := e.state.PastAnswers(); len(answers) > 0 {
		b.WriteString("\nDecisions, the newest first:\n\n")
		for _, a := range answers {
			fmt.Fprintf(&b, indent+"%s\n", a)
		}
	}
	if hint := console.Hint(e.state, e.state.Last); hint != "" {
		b.WriteString("\n" + strings.ToUpper(hint[:1]) + hint[1:] + ".\n")
	}
	if e.OnlyCounts {
		b.WriteString("\nBetween the last two iterations only counts changed: --loop-match loose calls them the same.\n")
	}
	e.sidesText(&b)
	e.suggestionText(&b)
	e.lastText(&b)
	return b.String()
}

func (e *Explanation) tripText(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s tripped after iteration %d", e.Trip.Guard, e.Trip.Iteration)
	if e.Ending == nil || !strings.HasPrefix(e.Ending.Reason, e.Trip.Reason) { // else it is the “Why”
		b.WriteString(": " + strings.TrimSuffix(termsafe.Line(e.Trip.Reason), "."))
	}
	b.WriteString(".\n")
	if len(e.Counted) == 0 {
		return
	}
	b.WriteString("\nThe iterations that it counted:\n\n")
	for _, d := range e.Counted {
		fmt.Fprintf(b, indent+"%4d  %s  exit %-3d  %s\n", d.Iteration, d.Hash, d.ExitCode, console.Short(cmp.Or(d.says, d.Label), 80))
	}
	if len(e.Failing) > 0 {
		b.WriteString("\nWhat fails in the last of them:\n\n")
	}
	for _, f := range e.Failing {
		fmt.Fprintf(b, indent+"%s\n", strings.TrimPrefix(strings.TrimSuffix(f.Check+": "+f.Why, ": "), ": "))
	}
	if len(e.Shared) > 0 {
		b.WriteString("\nWhat they have in common:\n\n")
	}
	for _, f := range e.Shared {
		fmt.Fprintf(b, indent+"%s\n", console.Short(f, 120))
	}
}

// sidesText shows the first and the last output side by side, as they are compared: without
// their noise. It marks lines that the other side lacks.
func (e *Explanation) sidesText(b *strings.Builder) {
	if e.Compare == nil {
		return
	}
	fmt.Fprintf(b, "\nIterations %d and %d: %s\n", e.first.Iteration, e.last.Iteration, e.Compare.Why)
	var sides [2][]string
	for i, s := range e.sides {
		sides[i] = texts(s.Lines[max(0, len(s.Lines)-sideLines):])
	}
	if slices.Equal(sides[0], sides[1]) {
		b.WriteString("\nBoth end in the same way, with noise masked:\n\n")
		for _, l := range sides[0] {
			fmt.Fprintf(b, indent+"%s\n", console.Short(l, 2*sideWidth))
		}
		return
	}
	b.WriteString("\nTheir ends, with noise masked:\n\n")
	for i := range max(len(sides[0]), len(sides[1])) {
		left, right := at(sides[0], i), at(sides[1], i)
		mark := " "
		if left != right {
			mark = "|"
		}
		fmt.Fprintf(b, indent+"%s %s %s\n", cells.Pad(console.Short(left, sideWidth), sideWidth), mark, console.Short(right, sideWidth))
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func (e *Explanation) lastText(b *strings.Builder) {
	d := e.state.Ran
	if d == nil {
		return
	}
	if d.Excerpt != "" && e.Compare == nil && e.Trip != nil {
		b.WriteString("\nThe end of the last output:\n\n")
		for line := range strings.SplitSeq(termsafe.Text(d.Excerpt), "\n") {
			fmt.Fprintf(b, indent+"%s\n", line)
		}
	}
	if file := scratchpad.OutputFile(e.dir, d.Iteration); inputfile.IsFile(file) {
		fmt.Fprintf(b, "\nThe last output is in %s\n", console.Relative(file))
	}
}
