package user

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/termsafe"
)

// History returns the contents of a review: iterations, errors, signatures and decisions of
// the run, as lines that are safe on a terminal. A nil state has none.
func History(s *core.State) []string {
	if s == nil {
		return []string{noHistory}
	}
	var lines []string
	part := func(title string, more []string) {
		if len(more) > 0 {
			lines = append(append(lines, "", title), more...)
		}
	}
	if s.Weakened() != "" && s.Last.Diff != "" {
		part("What changed in protected files", strings.Split(termsafe.Text(strings.TrimSpace(s.Last.Diff)), "\n"))
	}
	part(iterationsTitle(s), iterationLines(s))
	part("Errors, the last one at the end", errorLines(s))
	part("Signatures", signatureLines(s))
	part("Skipped as known issues", knownLines(s))
	part("Decisions, after which iteration", decisionLines(s))
	if len(lines) == 0 { // also where nothing but the precheck, or what was cut off, has run
		return []string{noHistory}
	}
	return append(lines[1:], "")
}

const noHistory = "No iteration has ended yet."

func iterationsTitle(s *core.State) string {
	if n := len(s.History); n < s.Iterations {
		return fmt.Sprintf("Iterations (the last %d of %d)", n, s.Iterations)
	}
	return "Iterations"
}

func iterationLines(s *core.State) []string {
	var lines []string
	for _, d := range s.History {
		took := (time.Duration(d.DurationMS) * time.Millisecond).Round(10 * time.Millisecond)
		line := fmt.Sprintf("%4d  %-11s exit %-3d  %8s  %s", d.Iteration, strings.ReplaceAll(string(d.Outcome), "_", " "), d.ExitCode, took, label(&d))
		if d.Detail != "" {
			line += "  (" + termsafe.Line(d.Detail) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func label(d *core.IterationFinished) string {
	if d.Signature.Hash == 0 {
		return "no signature"
	}
	return cmp.Or(d.Says(), "passed")
}

func errorLines(s *core.State) []string {
	var lines []string
	for _, d := range s.Errors {
		lines = append(lines, fmt.Sprintf("%4d  exit %d, %s", d.Iteration, d.ExitCode, label(&d)))
		text := strings.TrimSpace(termsafe.Text(d.Excerpt))
		if text == "" {
			text = strings.Join(d.Signature.Errors, "\n")
		}
		for _, l := range strings.Split(text, "\n") {
			if l = strings.TrimRight(l, " \t\r"); l != "" {
				lines = append(lines, "      "+termsafe.Text(l))
			}
		}
	}
	return lines
}

// signatureLines counts the distinct signatures of the history, in order of first appearance.
func signatureLines(s *core.State) []string {
	type count struct {
		core.KnownIssue
		n, last int
	}
	var counts []count
	for _, d := range s.History {
		if d.Signature.Hash == 0 {
			continue
		}
		i := slices.IndexFunc(counts, func(c count) bool { return c.Hash == d.Signature.Hash })
		if i < 0 {
			i = len(counts)
			counts = append(counts, count{KnownIssue: core.KnownIssue{Hash: d.Signature.Hash, Label: d.Signature.Label}})
		}
		counts[i].n++
		counts[i].last = d.Iteration
	}
	var lines []string
	for _, c := range counts {
		lines = append(lines, fmt.Sprintf("%4d×  %s  %s, last in iteration %d", c.n, c.Hash, termsafe.Line(s.Named(c.KnownIssue)), c.last))
	}
	return lines
}

func knownLines(s *core.State) []string {
	var lines []string
	for _, k := range s.Known {
		lines = append(lines, fmt.Sprintf("      %s  %s", k.Hash, termsafe.Line(s.Named(k))))
	}
	return lines
}

func decisionLines(s *core.State) []string {
	var lines []string
	for _, d := range s.Decisions {
		line := fmt.Sprintf("%s: %s, by %s: %s", d.Guard, d.Option, d.Who(), d.Reason)
		lines = append(lines, fmt.Sprintf("%4d  %s", d.Iteration, termsafe.Line(line)))
	}
	return lines
}
