//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/review"
	"github.com/looprun/looprun/scratchpad"
)

// journal is what a run of the matrix left on record.
type journal struct {
	events []core.Event
	state  *core.State
}

// findRun is the directory of the run that was started in dir.
func findRun(dir string) (string, error) { return scratchpad.Find(filepath.Join(dir, "state"), "") }

func readJournal(t *testing.T, dir string) *journal {
	t.Helper()
	j := &journal{state: new(core.State)}
	_, err := scratchpad.Replay(dir, func(e core.Event) error {
		j.events = append(j.events, e)
		return j.state.Apply(e)
	})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// of are the events of one type.
func (j *journal) of(kind core.EventType) []core.Data {
	var list []core.Data
	for _, e := range j.events {
		if e.Data.Type() == kind {
			list = append(list, e.Data)
		}
	}
	return list
}

// applied is the only answer that was carried out, and where it stands. A run
// that was deferred has paused for it before.
func (j *journal) applied(t *testing.T) (*core.ActionApplied, int) {
	t.Helper()
	var found *core.ActionApplied
	at := -1
	for i, e := range j.events {
		if d, ok := e.Data.(core.ActionApplied); ok && !d.Pending {
			if found != nil {
				t.Errorf("%s was applied, and then %s", found.Option, d.Option)
			}
			found, at = &d, i
		}
	}
	return found, at
}

// finished counts the iterations that ended before and after that event. One
// that was cut off, and runs again under its own number, is counted where it
// ended.
func (j *journal) finished(at int) (before, after int) {
	for i, e := range j.events {
		if d, ok := e.Data.(core.IterationFinished); ok && d.Iteration > 0 {
			switch {
			case i > at:
				after++
			case d.Cause != core.CauseMaxRuntime:
				before++
			}
		}
	}
	return before, after
}

func (j *journal) startedAfter(at int) int {
	n := 0
	for i, e := range j.events {
		if e.Data.Type() == core.TypeIterationStarted && i > at {
			n++
		}
	}
	return n
}

// failsClosed checks the rule of the whole matrix: nothing goes on past a trip
// and nothing is accepted unless its question was answered so, by whom the record
// names, after it was asked.
func (j *journal) failsClosed(t *testing.T) {
	t.Helper()
	for _, problem := range j.unfounded() {
		t.Error(problem)
	}
}

// unfounded is what happened in a run without an answer that said so.
func (j *journal) unfounded() (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var tripped *core.Trip
	var question *core.Question
	var answer *core.Answer
	for _, e := range j.events {
		switch d := e.Data.(type) {
		case core.GuardTripped:
			tripped, question, answer = &d.Trip, nil, nil
		case core.QuestionAsked:
			if d.From != core.FromCommand {
				question, answer = &d.Question, nil
			}
		case core.QuestionAnswered:
			if question != nil && d.QuestionID == question.ID {
				answer = &d.Answer
			}
		case core.QuestionClosed:
			if !d.Unanswered {
				tripped = nil
			}
			question, answer = nil, nil
		case core.ActionApplied:
			if d.Pending {
				continue
			}
			if question == nil || answer == nil || answer.Option != d.Option || answer.Responder != d.Responder || answer.Reason != d.Reason || answer.Rule != d.Rule {
				wrong("%s (%s) by %s was applied; the answer on record is %+v", d.Option, d.Action, d.Responder, answer)
				continue
			}
			o, ok := question.Option(answer.Option)
			if !ok && !answer.Unlisted || ok && o.Action != d.Action {
				wrong("%s did %s, and the question offered %+v", d.Option, d.Action, question.Options)
			}
			if question.Mandatory && !answer.Person && !answer.Mandatory {
				wrong("%s answered a question that only a person may answer", d.Responder)
			}
			tripped, question, answer = nil, nil, nil
		case core.IterationStarted:
			if tripped != nil && !tripped.During {
				wrong("iteration %d was started past %s", d.Iteration, tripped.Guard)
			}
		}
	}
	return problems
}

// audit checks that journal, page, result and looprun show agree on who answered
// what, why, and by which rule.
func (c *cell) audit(t *testing.T, j *journal, d *core.ActionApplied, out outcome) {
	t.Helper()
	e := effects[d.Action]
	var result scratchpad.Verdict
	readJSON(t, filepath.Join(out.dir, "result.json"), &result)
	if result.Status != e.status || result.ExitCode != out.code || result.Iterations != j.state.Iterations {
		t.Errorf("result.json says %+v", result)
	}
	if !e.goesOn && (result.Guard != c.guard || result.Decision != d.Option || result.Responder != d.Responder || result.Reason != d.Reason || result.Rule != d.Rule || result.DecidedAt.IsZero()) {
		t.Errorf("result.json says %s decided %q about %s: %q", result.Responder, result.Decision, result.Guard, result.Reason)
	}
	c.auditShow(t, d, out)
	page, err := os.ReadFile(filepath.Join(out.dir, "scratchpad.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(strings.Split(string(page), "\n"), func(line string) bool {
		return c.tells(line, d)
	}) {
		t.Errorf("the page does not say who decided:\n%s", page)
	}
	if d.Action == core.ActionSkip && !strings.Contains(string(page), d.Known[0].Hash.String()) {
		t.Error("the page does not name the known issue")
	}
	if d.Action == core.ActionAccept {
		warning := "Task completed with partial results due to " + string(c.guard)
		if !strings.Contains(out.stderr, warning) && !strings.Contains(out.stderr, "looprun: accepted after ") { // to a person
			t.Errorf("there is no warning %q", warning)
		}
		if !strings.Contains(string(page), "Not done: ") {
			t.Error("the page does not say what is not done")
		}
	}
}

// auditShow looks at both forms of looprun show.
func (c *cell) auditShow(t *testing.T, d *core.ActionApplied, out outcome) {
	t.Helper()
	state := filepath.Dir(out.dir)
	s := begin(t, c.home, "show", "--format", "json", "--state-dir", state)
	if code := s.ended(t); code != 0 {
		t.Fatalf("show ended with %d", code)
	}
	var shown review.Run
	if err := json.Unmarshal([]byte(s.stdout.String()), &shown); err != nil {
		t.Fatal(err)
	}
	decisions := slices.DeleteFunc(shown.Decisions, func(d core.Decision) bool { return d.Pending })
	if shown.Status != effects[d.Action].status || len(decisions) != 1 {
		t.Fatalf("show says %s, %+v", shown.Status, shown.Decisions)
	}
	if got := decisions[0]; got.Guard != c.guard || got.Option != d.Option || got.Responder != d.Responder || got.Reason != d.Reason || got.Rule != d.Rule {
		t.Errorf("show says %+v", got)
	}
	text := begin(t, c.home, "show", "--state-dir", state)
	if code := text.ended(t); code != 0 || !slices.ContainsFunc(strings.Split(text.stdout.String(), "\n"), func(line string) bool {
		return c.tells(line, d)
	}) {
		t.Errorf("show (%d) does not say who decided:\n%s", code, text.stdout.String())
	}
}

// tells reports whether one line says all of a decision, in words: programs have the guard and
// the option in the JSON of show.
func (c *cell) tells(line string, d *core.ActionApplied) bool {
	by := d.Responder
	if by == core.RespondedByParent {
		by = "the run above"
	}
	return says(line, c.option.Label, "by "+by, d.Rule, d.Reason)
}

func says(line string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(line, part) {
			return false
		}
	}
	return true
}

func readJSON(t *testing.T, file string, to any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
