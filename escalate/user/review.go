package user

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

// History returns the contents of a review: iterations, errors, signatures and decisions of
// the run, as lines that are safe on a terminal. A nil state has none.
func History(s *core.State, texts core.Texts) []string {
	h := history{s, texts}
	if s == nil {
		return []string{h.say("history_empty", nil)}
	}
	var lines []string
	part := func(title string, more []string) {
		if len(more) > 0 {
			lines = append(append(lines, "", title), more...)
		}
	}
	if s.Weakened() != "" && s.Last.Diff != "" {
		part(h.say("history_changed", nil), strings.Split(termsafe.Text(strings.TrimSpace(s.Last.Diff)), "\n"))
	}
	shown := map[string]any{"Shown": len(s.History), "Iterations": 0}
	if len(s.History) < s.Iterations {
		shown["Iterations"] = s.Iterations
	}
	part(h.say("history_iterations", shown), h.iterations())
	part(h.say("history_errors", nil), h.errors())
	part(h.say("history_signatures", nil), h.signatures())
	part(h.say("history_known", nil), h.known())
	part(h.say("history_decisions", nil), h.decisions())
	if len(lines) == 0 { // also where nothing but the precheck, or what was cut off, has run
		return []string{h.say("history_empty", nil)}
	}
	return append(lines[1:], "")
}

// history is a run's history in the words of texts.
type history struct {
	*core.State
	texts core.Texts
}

func (h history) say(key string, values map[string]any) string { return h.texts.Text(key, values) }

func (h history) exit(code int) string { return h.say("error_exit", map[string]any{"Code": code}) }

func (h history) iterations() []string {
	var lines []string
	for _, d := range h.History {
		took := (time.Duration(d.DurationMS) * time.Millisecond).Round(10 * time.Millisecond)
		outcome, exit := h.say("outcome_"+string(d.Outcome), nil), h.exit(d.ExitCode)
		line := fmt.Sprintf("%4d  %s %s  %8s  %s", d.Iteration, cells.Pad(outcome, 11), cells.Pad(exit, 8), took, h.label(&d))
		if d.Detail != "" {
			line += "  (" + termsafe.Line(d.Detail) + ")"
		}
		lines = append(lines, line)
	}
	if h.Running && h.Trip != nil { // suspended while the question waits
		lines = append(lines, fmt.Sprintf("%4d  …", h.Trip.Iteration))
		lines = appendOutput(lines, h.Trip.Output)
	}
	return lines
}

// appendOutput adds the lines of an output, indented, without blank ones.
func appendOutput(lines []string, output string) []string {
	for _, l := range strings.Split(strings.TrimSpace(termsafe.Text(output)), "\n") {
		if l = strings.TrimRight(l, " \t\r"); l != "" {
			lines = append(lines, "      "+l)
		}
	}
	return lines
}

func (h history) label(d *core.IterationFinished) string {
	if d.Signature.Hash == 0 {
		return h.say("history_unsigned", nil)
	}
	return cmp.Or(d.SaysIn(h.texts), h.say("how_passed", nil))
}

func (h history) errors() []string {
	var lines []string
	for _, d := range h.Errors {
		lines = append(lines, fmt.Sprintf("%4d  %s, %s", d.Iteration, h.exit(d.ExitCode), h.label(&d)))
		lines = appendOutput(lines, cmp.Or(strings.TrimSpace(d.Excerpt), strings.Join(d.Signature.Errors, "\n")))
	}
	return lines
}

// signatures counts the distinct signatures of the history, in order of first appearance.
func (h history) signatures() []string {
	type count struct {
		core.KnownIssue
		n, last int
	}
	var counts []count
	for _, d := range h.History {
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
		last := h.say("history_signature", map[string]any{"Label": termsafe.Line(h.NamedIn(c.KnownIssue, h.texts)), "Iteration": c.last})
		lines = append(lines, fmt.Sprintf("%4d×  %s  %s", c.n, c.Hash, last))
	}
	return lines
}

func (h history) known() []string {
	return convert.Each(h.Known, func(k core.KnownIssue) string {
		return fmt.Sprintf("      %s  %s", k.Hash, termsafe.Line(h.NamedIn(k, h.texts)))
	})
}

func (h history) decisions() []string {
	var lines []string
	for _, d := range h.Decisions {
		line := h.say("history_decision", map[string]any{"Guard": string(d.Guard), "Answer": d.Option, "Responder": d.Who(), "Why": d.Reason})
		lines = append(lines, fmt.Sprintf("%4d  %s", d.Iteration, line))
	}
	return lines
}
