package main

import (
	"fmt"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// How much of two outputs is shown side by side.
const (
	sideLines = 20
	sideWidth = 58
)

// indent begins every line that shows what a program printed. Where the text is
// pasted into a page of Markdown, such as an issue or a prompt, those lines are a
// block of code behind a blank line, which nothing in them can end.
const indent = "    "

// text is the explanation for a person.
func (e *explanation) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s is %s after %s and %s.\n", e.RunID, e.Status, plural.Count(e.Iterations, "iteration"), roundTime(e.state.Elapsed))
	if e.Ending != nil && e.Ending.Reason != "" {
		fmt.Fprintf(&b, "Why: %s\n", termsafe.Line(e.Ending.Reason))
	}
	if e.Status == looprun.StatusCrashed {
		fmt.Fprintf(&b, "Why: it has no end, so looprun was killed; looprun resume %s goes on with it\n", e.RunID)
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
	if e.OnlyCounts {
		b.WriteString("\nBetween the last two iterations only counts changed.\n")
	}
	e.sidesText(&b)
	e.lastText(&b)
	return b.String()
}

func (e *explanation) tripText(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s tripped after iteration %d: %s.\n", e.Trip.Guard, e.Trip.Iteration, termsafe.Line(e.Trip.Reason))
	if len(e.Counted) == 0 {
		return
	}
	b.WriteString("\nThe iterations that it counted:\n\n")
	for _, d := range e.Counted {
		fmt.Fprintf(b, indent+"%4d  %s  exit %-3d  %s\n", d.Iteration, d.Hash, d.ExitCode, short(d.Label, 80))
	}
	if len(e.Shared) > 0 {
		b.WriteString("\nWhat all of them say:\n\n")
	}
	for _, f := range e.Shared {
		fmt.Fprintf(b, indent+"%s\n", short(f, 120))
	}
}

// sidesText shows the first and the last output beside each other, as they are
// compared: without their noise. A line that the other side lacks is marked.
func (e *explanation) sidesText(b *strings.Builder) {
	if e.Compare == nil {
		return
	}
	fmt.Fprintf(b, "\nIterations %d and %d: %s\n", e.first.Iteration, e.last.Iteration, e.Compare.Why)
	var sides [2][]string
	for i, s := range e.sides {
		lines := s.Lines[max(0, len(s.Lines)-sideLines):]
		for _, l := range lines {
			sides[i] = append(sides[i], l.Text)
		}
	}
	b.WriteString("\nTheir ends, with what is noise masked:\n\n")
	for i := range max(len(sides[0]), len(sides[1])) {
		left, right := at(sides[0], i), at(sides[1], i)
		mark := " "
		if left != right {
			mark = "|"
		}
		fmt.Fprintf(b, indent+"%s %s %s\n", cells.Pad(short(left, sideWidth), sideWidth), mark, short(right, sideWidth))
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func (e *explanation) lastText(b *strings.Builder) {
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
	if file := scratchpad.OutputFile(e.dir, d.Iteration); isFile(file) {
		fmt.Fprintf(b, "\nThe last output is in %s\n", relative(file))
	}
}
