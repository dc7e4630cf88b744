package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
)

// place describes when a trip happened: “after iteration 4”.
func (t *Trip) place() string {
	if t.During {
		return fmt.Sprintf("during iteration %d", t.Iteration)
	}
	return fmt.Sprintf("after iteration %d", t.Iteration)
}

// what describes what stopped the run: the guard and its reason, or the question.
func (t *Trip) what() string {
	if t.Guard == "" {
		return "the command asked: " + line(t.Question, maxProse)
	}
	text := words(t.Guard)
	switch {
	case t.Evidence != nil:
		text += ": " + t.Question
	case t.Reason != "":
		text += ": " + t.Reason
	}
	if len(t.Also) > 0 {
		text += fmt.Sprintf(" (%s tripped too)", strings.Join(convert.Each(t.Also, words), ", "))
	}
	return text
}

// named returns the assistant with its texts cleaned for a report.
func named(a core.Assistant) core.Assistant {
	return core.Assistant{Name: line(a.Name, maxLabel), Model: line(a.Model, maxLabel)}
}

// who names the responder that ended the run.
func (r *Report) who() string {
	return core.Answer{Responder: r.Responder, Assistant: r.Assistant}.Who()
}

// Who names the responder: “policy (policy.yaml:3)”.
func (a *Answer) Who() string {
	who := core.Answer{Responder: a.Responder, Rule: a.Rule, Assistant: a.Assistant, Via: a.Via}.Who()
	if a.Person && a.Via == "" && a.Responder != "user" {
		return who + " (a person)"
	}
	return who
}

// sentence describes the answer, with who gave it and why.
func (a *Answer) sentence() string {
	text := fmt.Sprintf("%s by %s", a.Chosen(), a.Who())
	if a.Words != "" {
		text += ": “" + line(a.Words, maxProse) + "”"
	}
	if a.Reason != "" {
		text += " (" + a.Reason + ")"
	}
	return text
}

// What returns the type of the event in words: “run paused”.
func (m Moment) What() string { return strings.ReplaceAll(words(m.Type), ".", " ") }

// Chosen returns the answer for a person to read.
func (a *Answer) Chosen() string { return cmp.Or(a.Label, a.Option) }
