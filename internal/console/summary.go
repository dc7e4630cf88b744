package console

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// Summarize prints how the run ended. Its last line always has the same form, so that a script
// can parse it, except for a person at a terminal.
func (m *Observer) Summarize(s *core.State, r core.Result, code int, page string) {
	if r.Subtasks.Left() > 0 {
		m.Printf("sub-tasks: %s", r.Subtasks)
	}
	if r.Status == core.StatusFailed && r.Reason != "" && r.Reason != m.explained && !strings.Contains(r.Says, r.Reason) {
		m.Say(Problem, "%s", r.Reason)
	}
	if m.Person {
		m.recall(s)
		m.morning()
		m.Say(ToneOf(r.Status), "%s", closing(s, r, code))
		return
	}
	if s.Iterations == 0 && r.Status == core.StatusDone {
		m.Printf("already passing; %s was not run", core.CommandLine(s.Command))
	}
	pending := s.Pending()
	for _, q := range pending {
		how := ""
		if len(pending) > 1 { // the last line names the command for one
			how = fmt.Sprintf("; looprun answer %s --question %s", s.RunID, q.ID)
		}
		m.Printf("a question waits for an answer: %s%s", WordsOfQuestion(q), how)
	}
	m.recall(s)
	if page != "" {
		m.Detail("scratchpad: %s", page)
	}
	m.morning()
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

func (m *Observer) morning() {
	for _, line := range m.Morning {
		m.News("%s", line)
	}
}

// ToneOf returns the tone of a verdict.
func ToneOf(status core.Status) Tone {
	levels := map[core.Status]string{core.StatusTripped: "warning", core.StatusFailed: "error"}
	return Tone{Level: cmp.Or(levels[status], "info"), Colour: StatusColour(status)}
}

// StatusColour returns the colour of a status: green is done, red needs somebody, and yellow
// is what a person decided or can continue with.
func StatusColour(status core.Status) string {
	colours := map[core.Status]string{core.StatusDone: Green, core.StatusTripped: Red, core.StatusFailed: Red, core.StatusCrashed: Red}
	return cmp.Or(colours[status], Yellow)
}

// closing tells a person how the run ended, and what to do next.
func closing(s *core.State, r core.Result, code int) string {
	but := "" // a person has just read them
	if n := len(doubts(s, r)); n > 0 {
		but = "; " + plural.Count(n, "warning")
	}
	after := fmt.Sprintf("after %s in %s", plural.Count(r.Iterations, "iteration"), plural.Round(r.Runtime))
	pending := s.Pending()
	switch {
	case code == 0 && r.Iterations == 0:
		return fmt.Sprintf("done: it passes already, and %s was not run%s", Short(core.CommandLine(s.Command), 60), but)
	case code == 0:
		return "done " + after + but
	case r.Pending && len(pending) > 0:
		asks := "it asks"
		if len(pending) > 1 {
			asks = fmt.Sprintf("%d questions wait", len(pending))
		}
		return fmt.Sprintf("%s, %s: looprun answer %s (%s)", r.Status, asks, r.RunID, WordsOfQuestion(pending[0]))
	case r.Status == core.StatusPaused, r.Status == core.StatusInterrupted:
		return fmt.Sprintf("%s %s; continue: looprun resume %s", r.Status, after, r.RunID)
	}
	status := string(r.Status)
	if r.Status == core.StatusTripped {
		status = "stopped"
	}
	if said := s.Last.Says(); said != "" {
		after += ": " + Short(said, 80) + atFirst(s)
	}
	after = fmt.Sprintf("%s %s; exit %d", status, after, code)
	switch {
	case r.Status.Reopens():
		return fmt.Sprintf("%s\nreopen: looprun resume %s --reopen", after, r.RunID)
	case r.Status.Resumable():
		after += fmt.Sprintf("\ncontinue: looprun resume %s%s", r.RunID, further(s, r.Guard))
	}
	return after + "\nwhy: looprun explain " + r.RunID
}

// doubts returns the warnings of the iteration that made the run done.
func doubts(s *core.State, r core.Result) []string {
	if r.Status != core.StatusDone || s.Last == nil {
		return nil
	}
	return s.Last.Warnings
}

// atFirst returns how many checks failed at first, if the number has changed.
func atFirst(s *core.State) string {
	if len(s.History) == 0 || s.History[0].Iteration != 1 {
		return ""
	}
	first, last := s.History[0].Progress(), s.Last.Progress()
	if first == nil || last == nil || first.Failing == last.Failing {
		return ""
	}
	return fmt.Sprintf(" (%d at first)", first.Failing)
}

// further returns the flags that let a run continue after it has used up a limit.
func further(s *core.State, guard core.GuardID) string {
	switch guard {
	case core.MaxIterations:
		return fmt.Sprintf(" --max-iterations %d", 2*s.Limits.Iterations)
	case core.MaxRuntime:
		return " --max-runtime " + plural.Round(2*s.Limits.Runtime)
	}
	return ""
}

// Verdict returns STATUS (GUARD) after N of MAX iterations, RUNTIME: WHAT; exit CODE; next:
// looprun answer, resume or explain RUN. After success there is no next command, only the
// warnings of the last iteration: warning: TEXT.
func Verdict(s *core.State, r core.Result, code int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s after %s, %s", r, plural.Of(r.Iterations, s.Limits.Iterations, "iteration"), plural.Round(r.Runtime))
	if r.Says != "" {
		b.WriteString(": " + Short(r.Says, 80))
	}
	fmt.Fprintf(&b, "; exit %d", code)
	if next := nextOf(s, r); next != "" {
		fmt.Fprintf(&b, "; next: looprun %s %s", next, r.RunID)
	}
	if list := doubts(s, r); len(list) > 0 {
		b.WriteString("; warning: " + termsafe.Line(strings.Join(list, "; ")))
	}
	return b.String()
}

// nextOf returns what a person should do next; empty if there is nothing left to do.
func nextOf(s *core.State, r core.Result) string {
	switch {
	case r.Status == core.StatusDone:
		return ""
	case r.Pending && len(s.Pending()) > 0:
		return "answer"
	case r.Status == core.StatusPaused, r.Status == core.StatusInterrupted:
		return "resume"
	}
	return "explain"
}

// Relative returns the file as a person in this folder would name it.
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

// WordsOfQuestion identifies a question to a person, shown with its id.
func WordsOfQuestion(q core.Question) string {
	if q.From == core.FromCommand && q.Short == "" { // it was asked without a heading
		return "“" + Short(q.Text, 60) + "”"
	}
	if q.From == "" { // what stopped the run
		return Short(q.Text, 100)
	}
	return termsafe.Line(q.Header)
}

// Settled says who answered what, where, with what, and when.
func Settled(a core.Answered, what string) string {
	return fmt.Sprintf("%s answered %s with %q at %s", a.Who(), what, Short(a.String(), 100), a.Time.Local().Format(time.DateTime))
}

// named returns the run's id and name, as a prefix of its command.
func named(s *core.State) string {
	if s.Name == "" {
		return s.RunID + ", "
	}
	return s.RunID + ", " + Short(s.Name, 60) + ", "
}
