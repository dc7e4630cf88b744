package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/termsafe"
)

// Summarize prints how the run ended. Its last line is always the same form, so
// that a script can read it.
func (m *Observer) Summarize(s *looprun.State, r looprun.Result, code int, page string) {
	if s.Iterations == 0 && r.Status == looprun.StatusDone {
		m.Printf("already passing; %s was not run", CommandLine(s.Command))
	}
	if n := len(s.Decisions); n > 0 && r.Decision != "" {
		d := s.Decisions[n-1]
		m.News("decision: %s by %s", d.Option, Decider(d.Responder, d.Rule))
	}
	if r.Subtasks.Left() > 0 {
		m.Printf("sub-tasks: %s", r.Subtasks)
	}
	if r.Status == looprun.StatusFailed && r.Reason != "" {
		m.Say(Problem, "%s", r.Reason)
	}
	pending := s.Pending()
	for _, q := range pending {
		if !r.Pending {
			break
		}
		m.Printf("a question waits for its answer: %s; give it with looprun answer %s --question %s, then go on with looprun resume %s",
			WordsOfQuestion(q), s.RunID, q.ID, s.RunID)
	}
	m.recall(s)
	if page != "" {
		m.News("scratchpad: %s", page)
	}
	fields := map[string]any{
		"status": r.Status, "exit_code": code, "guard": r.Guard, "iterations": r.Iterations, "runtime_seconds": r.RuntimeSeconds, "signature": r.Signature,
	}
	if r.Subtasks != nil {
		fields["subtasks"] = r.Subtasks
	}
	if len(r.Warnings) > 0 {
		fields["warnings"] = r.Warnings
	}
	m.Tell(ToneOf(r.Status), fields, "%s", Verdict(s, r, code))
}

// ToneOf is how a verdict sounds.
func ToneOf(status looprun.Status) Tone {
	t := Tone{Level: "info", Colour: StatusColour(status)}
	switch status {
	case looprun.StatusTripped:
		t.Level = "warning"
	case looprun.StatusFailed:
		t.Level = "error"
	}
	return t
}

// StatusColour is the colour of a status: green is done, red needs somebody, and
// yellow is what a person decided or can go on with.
func StatusColour(status looprun.Status) string {
	switch status {
	case looprun.StatusDone:
		return Green
	case looprun.StatusTripped, looprun.StatusFailed, looprun.StatusCrashed:
		return Red
	}
	return Yellow
}

// Verdict is: STATUS (GUARD) after N of MAX iterations, RUNTIME: LABEL; exit
// CODE; next: looprun answer, resume or explain RUN, and nothing more after success.
func Verdict(s *looprun.State, r looprun.Result, code int) string {
	var b strings.Builder
	b.WriteString(string(r.Status))
	if r.Guard != "" {
		fmt.Fprintf(&b, " (%s)", r.Guard)
	}
	fmt.Fprintf(&b, " after %d", r.Iterations)
	if s.Limits.Iterations > 0 {
		fmt.Fprintf(&b, " of %d", s.Limits.Iterations)
	}
	fmt.Fprintf(&b, " iterations, %s", Round(r.Runtime))
	if r.Signature != "" {
		b.WriteString(": " + r.Signature)
	}
	fmt.Fprintf(&b, "; exit %d", code)
	if next := nextOf(s, r); next != "" {
		fmt.Fprintf(&b, "; next: looprun %s %s", next, r.RunID)
	}
	return b.String()
}

// nextOf is what a person does next; empty: nothing is left to do.
func nextOf(s *looprun.State, r looprun.Result) string {
	switch {
	case r.Status == looprun.StatusDone:
		return ""
	case r.Pending && len(s.Pending()) > 0:
		return "answer"
	case r.Status == looprun.StatusPaused, r.Status == looprun.StatusInterrupted:
		return "resume"
	}
	return "explain"
}

// Decider is who took a decision, and by which rule.
func Decider(responder, rule string) string {
	if rule == "" {
		return responder
	}
	return responder + " (" + rule + ")"
}

// Relative is the file as a person in this folder would name it.
func Relative(file string) string {
	dir, err := os.Getwd()
	if err != nil || file == "" {
		return file
	}
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}

// WordsOfQuestion name a question to a person, beside its id.
func WordsOfQuestion(q looprun.Question) string {
	if q.From == looprun.FromCommand && q.Short == "" { // it was asked without a heading
		return "“" + Short(q.Text, 60) + "”"
	}
	if q.From == "" { // what stopped the run
		return Short(q.Text, 100)
	}
	return termsafe.Line(q.Header)
}

// named is the run before its command: its id, and what it is called.
func named(s *looprun.State) string {
	if s.Name == "" {
		return s.RunID + ", "
	}
	return s.RunID + ", " + Short(s.Name, 60) + ", "
}
