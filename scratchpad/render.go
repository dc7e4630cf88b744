package scratchpad

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/ladder"
)

// Render returns the page without its notes. Its size is bounded: it shows the last 50
// iterations, 20 answers and 5 errors.
func Render(s *core.State) []byte {
	var b bytes.Buffer
	p := printTo(&b)
	p("# %s\n\n", cmp.Or(inline(s.Name), inline(strings.Join(s.Command, " ")), s.RunID))
	p("Run %s, started %s. %s\n\n", s.RunID, s.Started.Format(time.RFC3339), standing(s))
	for _, w := range s.Warnings {
		p("Warning: %s\n\n", inline(w))
	}
	configuration(p, s)
	if told := s.Told(); told != "" {
		p("## Guidance for the next iteration\n\n%s\n", quoted(told))
	}
	tasks(p, s)
	history(p, s)
	errorHistory(p, s)
	attempts(p, s)
	escalations(p, s)
	questions(p, s)
	if len(s.Known) > 0 {
		p("## Known issues\n\nSkipped: they count neither for nor against a streak, and never as done.\n\n")
		for _, k := range s.Known[max(0, len(s.Known)-50):] {
			p("- %s (%s)\n", inline(s.Named(k)), k.Hash)
		}
		p("\n")
	}
	return b.Bytes()
}

// decisions lists the answers, newest first, for later readers.
func decisions(p printer, s *core.State) {
	if len(s.PastAnswers()) == 0 {
		return
	}
	p("## Decisions\n\n")
	answers(p, s)
	p("\n")
}

func answers(p printer, s *core.State) {
	for _, a := range s.PastAnswers() {
		p("- %s: %s\n", a.Time.UTC().Format("2006-01-02 15:04"), escaper.Replace(termsafe.Short(a.String(), 1000)))
	}
}

type printer func(format string, args ...any)

func printTo(b *bytes.Buffer) printer {
	return func(format string, args ...any) {
		if len(args) == 0 { // most of it
			b.WriteString(format)
			return
		}
		fmt.Fprintf(b, format, args...)
	}
}

func standing(s *core.State) string {
	switch {
	case s.Ending != nil:
		return fmt.Sprintf("Status: %s.", s.Ending)
	case s.Trip != nil:
		return fmt.Sprintf("Status: stopped by %s, waiting for an answer.", s.Trip.Guard)
	}
	return "Status: running. " + "Progress: " + inline(s.Summary()) + "."
}

func configuration(p printer, s *core.State) {
	p("## Configuration\n\n")
	p("- Command: %s\n", code(strings.Join(s.Command, " ")))
	if len(s.Check) > 0 {
		p("- Check: %s (done when it passes)\n", code(s.Check[len(s.Check)-1]))
	}
	if s.Promise != "" {
		p("- Done needs a line that the command prints and that says nothing but %s.\n", code(s.Promise))
	}
	p("- Iterations: %d of %s\n", s.Iterations, limit(s.Limits.Iterations, "no limit"))
	runtime := "no limit"
	if s.Limits.Runtime > 0 {
		runtime = plural.Duration(s.Limits.Runtime)
	}
	p("- Runtime: %s of %s\n", plural.Duration(s.Elapsed.Round(time.Second)), runtime)
	p("- The same failure %s times, or %s errors in a row, stop the loop\n\n", limit(s.Limits.Loop, "any number of"), limit(s.Limits.Errors, "any number of"))
}

func limit(n int, off string) string {
	if n <= 0 {
		return off
	}
	return fmt.Sprint(n)
}

func history(p printer, s *core.State) {
	p("## Iteration history\n\n")
	if len(s.History) == 0 {
		p("None yet.\n\n")
		return
	}
	if left := s.Iterations - len(s.History); left > 0 {
		p("%d earlier iterations are in the journal.\n\n", left)
	}
	for i, d := range s.History {
		var before *core.Progress
		if i > 0 {
			before = s.History[i-1].Progress()
		}
		p("### Iteration %d\n\n", d.Iteration)
		p("- Status: %s (exit code %d, %s)\n", strings.ReplaceAll(string(d.Outcome), "_", " "), d.ExitCode, time.Duration(d.DurationMS)*time.Millisecond)
		p("- Accomplished: %s\n", inline(accomplished(before, d)))
		p("- Errors encountered: %s\n", inline(encountered(d)))
		p("- Next steps: %s\n\n", inline(nextSteps(d)))
	}
}

// accomplished describes progress according to the counts; without counts it is unknown.
func accomplished(before *core.Progress, d core.IterationFinished) string {
	now := d.Progress()
	switch {
	case d.Outcome == core.OutcomeDone:
		return "done"
	case now == nil:
		return "unknown: the output has no counts"
	case before != nil && before.Failing > now.Failing && now.Failing >= 0:
		return fmt.Sprintf("%d fewer failing than before; %s", before.Failing-now.Failing, now)
	case before != nil && before.Failing == now.Failing && now.Failing >= 0:
		return fmt.Sprintf("as many failing as before; %s", now)
	}
	return cmp.Or(now.String(), "unknown")
}

func encountered(d core.IterationFinished) string {
	switch {
	case d.Outcome == core.OutcomeDone:
		return "none"
	case d.Detail != "":
		return d.Detail
	}
	errs := strings.Join(d.Signature.Errors, "; ")
	switch said := d.Says(); {
	case said == "" || strings.Contains(errs, said):
		return cmp.Or(errs, "none that was recognised")
	case errs == "" || strings.Contains(said, errs):
		return said
	default:
		return said + ": " + errs
	}
}

func nextSteps(d core.IterationFinished) string {
	switch {
	case d.Outcome == core.OutcomeDone:
		return "none"
	case len(d.Signature.Checks) > 0:
		return "make these pass: " + strings.Join(d.Signature.Checks[:min(5, len(d.Signature.Checks))], ", ")
	}
	return "see the output of this iteration"
}

func errorHistory(p printer, s *core.State) {
	p("## Error history\n\n")
	if len(s.Errors) == 0 {
		p("None yet.\n\n")
		return
	}
	for _, d := range s.Errors {
		p("- Iteration %d: %s\n", d.Iteration, inline(encountered(d)))
	}
	p("\n")
	if e := s.Errors[len(s.Errors)-1].Excerpt; e != "" {
		p("The end of the last one's output:\n\n%s\n", quoted(e))
	}
}

func escalations(p printer, s *core.State) {
	p("## Decisions\n\n")
	if len(s.PastAnswers()) == 0 && s.Trip == nil && (s.Ending == nil || s.Ending.Guard == "") {
		p("None yet.\n\n")
		return
	}
	if s.Trip != nil {
		p("- Waiting: %s tripped: %s.\n", s.Trip.Guard, inline(s.Trip.Reason))
	}
	if e := s.Ending; e != nil && e.Status == core.StatusTripped {
		p("- %s tripped, and %s.\n", e.Guard, inline(cmp.Or(e.Reason, "nobody answered")))
	}
	if e := s.Ending; e != nil && e.Status == core.StatusAccepted {
		p("- The result is partial and was accepted as it is. Done: %s. Not done: %s.\n", inline(s.CurrentState()), inline(s.Summary()))
	}
	answers(p, s)
	p("\n")
}

// after surrounds a text unless it is empty.
func after(before, text, behind string) string {
	if text == "" {
		return ""
	}
	return before + text + behind
}

// tasks shows the current task if it is not the one that the run began with.
func tasks(p printer, s *core.State) {
	if s.Task == s.Name && len(s.Blockers) == 0 {
		return
	}
	p("## Task\n\n%s\n\n", inline(s.Task))
	subtasks(p, s, inline)
	for _, b := range s.Blockers {
		p("- Has to be done elsewhere first: %s\n", inline(b))
	}
	p("\n")
}

// subtasks lists the parts of a task that was split.
func subtasks(p printer, s *core.State, written func(string) string) {
	list := s.Decomposed()
	if list == nil {
		return
	}
	for _, t := range list.Done {
		p("- Done: %s\n", written(t))
	}
	if list.Current != "" {
		p("- Now (%d of %d): %s\n", len(list.Done)+1, list.Of(), written(list.Current))
	}
	for _, t := range list.Remaining {
		p("- Later: %s\n", written(t))
	}
}

// attempts lists the distinct approaches that failed.
func attempts(p printer, s *core.State) {
	if len(s.Rungs) == 0 {
		return
	}
	p("## Attempts\n\n")
	if len(s.Ladder.Attempts) == 0 {
		p("None yet.\n")
	}
	attemptsIn(p, s, s.Ladder.Attempts, inline)
}

// attemptsIn prints a list of attempts and notes where the attempts at another task start.
func attemptsIn(p printer, s *core.State, list []ladder.Attempt, written func(string) string) {
	made := map[string]bool{}
	for _, a := range list {
		if a.Number == 1 && made[a.Task] {
			p("\nStarted over, after an answer:\n\n")
		}
		made[a.Task] = true
		p("- %s%s\n", written(a.String()), after(" (task: ", written(otherTask(s, a)), ")"))
	}
	p("\n")
}

// otherTask returns the task of an attempt if it is not the run's.
func otherTask(s *core.State, a ladder.Attempt) string {
	if a.Task == s.Task || a.Task == s.Name {
		return ""
	}
	return a.Task
}

// questions lists the command's waiting questions.
func questions(p printer, s *core.State) {
	if s.Unanswered() == nil {
		return
	}
	p("## Questions of the command\n\n")
	for _, a := range s.Asked {
		if a.Answer == nil {
			p("- Waiting: %s (%s)\n", inline(a.Question.Text), a.Question.ID)
		}
	}
	p("\n")
}
