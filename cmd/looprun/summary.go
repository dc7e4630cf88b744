package main

import (
	"fmt"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
)

// summarize prints how the run ended. Its last line is always the same form, so
// that a script can read it.
func (m *messages) summarize(s *looprun.State, r looprun.Result, code int, page string) {
	if s.Iterations == 0 && r.Status == looprun.StatusDone {
		m.Printf("already passing; %s was not run", console.CommandLine(s.Command))
	}
	if n := len(s.Decisions); n > 0 && r.Decision != "" {
		d := s.Decisions[n-1]
		m.News("decision: %s by %s", d.Option, decider(d.Responder, d.Rule))
	}
	if r.Subtasks.Left() > 0 {
		m.Printf("sub-tasks: %s", r.Subtasks)
	}
	if r.Status == looprun.StatusFailed && r.Reason != "" {
		m.Say(console.Problem, "%s", r.Reason)
	}
	pending := s.Pending()
	for _, q := range pending {
		if !r.Pending {
			break
		}
		m.Printf("a question waits for its answer: %s; give it with looprun answer %s --question %s, then go on with looprun resume %s",
			wordsOfQuestion(q), s.RunID, q.ID, s.RunID)
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
	m.Tell(toneOf(r.Status), fields, "%s", lastLine(s, r, code))
}

// toneOf is how a verdict sounds.
func toneOf(status looprun.Status) console.Tone {
	t := console.Tone{Level: "info", Colour: statusColour(status)}
	switch status {
	case looprun.StatusTripped:
		t.Level = "warning"
	case looprun.StatusFailed:
		t.Level = "error"
	}
	return t
}

// statusColour is the colour of a status: green is done, red needs somebody, and
// yellow is what a person decided or can go on with.
func statusColour(status looprun.Status) string {
	switch status {
	case looprun.StatusDone:
		return console.Green
	case looprun.StatusTripped, looprun.StatusFailed, looprun.StatusCrashed:
		return console.Red
	}
	return console.Yellow
}

// lastLine is: STATUS (GUARD) after N of MAX iterations, RUNTIME: LABEL; exit
// CODE; next: looprun explain RUN.
func lastLine(s *looprun.State, r looprun.Result, code int) string {
	var b strings.Builder
	b.WriteString(string(r.Status))
	if r.Guard != "" {
		fmt.Fprintf(&b, " (%s)", r.Guard)
	}
	fmt.Fprintf(&b, " after %d", r.Iterations)
	if s.Limits.Iterations > 0 {
		fmt.Fprintf(&b, " of %d", s.Limits.Iterations)
	}
	fmt.Fprintf(&b, " iterations, %s", console.Round(r.Runtime))
	if r.Signature != "" {
		b.WriteString(": " + r.Signature)
	}
	fmt.Fprintf(&b, "; exit %d; next: looprun explain %s", code, r.RunID)
	return b.String()
}

// exitCode is the run's exit code: what --exit-code, the policy or looprun.yaml
// says, each for the guard, then for the status; then the command's own with --passthrough; then the table's. With
// --passthrough a run that is not done never exits 0 by the command's code, and
// that looprun itself failed, or was interrupted, is not hidden by it.
func exitCode(o *config.Options, policy map[string]int, s *looprun.State, r looprun.Result) int {
	for _, mapped := range []map[string]int{o.ExitCode, policy, o.ConfigExitCodes} {
		if code, ok := mapped[string(r.Guard)]; ok && r.Status == looprun.StatusTripped {
			return code
		}
		if code, ok := mapped[string(r.Status)]; ok {
			return code
		}
	}
	own := r.Status == looprun.StatusInterrupted || r.Status == looprun.StatusFailed && r.ExitCode == looprun.ExitFailed
	if o.Passthrough && s.Ran != nil && !own {
		if code := s.Ran.ExitCode; code > 0 || r.Status == looprun.StatusDone {
			return code
		}
	}
	return r.ExitCode
}

// decider is who took a decision, and by which rule.
func decider(responder, rule string) string {
	if rule == "" {
		return responder
	}
	return responder + " (" + rule + ")"
}
