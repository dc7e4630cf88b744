//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// A person is offered a review on every question, whether it lists one or not. It
// shows what happened, and asks the same question again.
func TestMatrixReview(t *testing.T) {
	t.Parallel()
	for _, guard := range tried() {
		t.Run(string(guard), func(t *testing.T) {
			t.Parallel()
			c := newCell(t, guard, core.Option{}, "")
			s := onTerminal(t, c.home, c.command()...)
			s.moveTo(t, "Review")
			s.keys(t, "\r")
			want := "Signatures"
			if c.after == 0 {
				want = "1  …" // which is suspended
			}
			until(t, "the history is shown", s.shows(want))
			s.moveTo(t, "Cancel")
			s.keys(t, "\r")
			out := c.over(t, &s.started, "state")
			j := readJournal(t, out.dir)
			j.failsClosed(t)
			if d, _ := j.applied(t); out.code != 101 || d == nil || d.Action != core.ActionCancel {
				t.Errorf("exit code %d, applied %+v", out.code, d)
			}
			if n := len(j.of(core.TypeQuestionAsked)); n != 1 {
				t.Errorf("%d questions on record: a review asks the same one again", n)
			}
		})
	}
}

// A history that is longer than the screen goes through $PAGER.
func TestMatrixReviewPages(t *testing.T) {
	t.Parallel()
	s := onTerminalWith(t, t.TempDir(), "PAGER=cat >paged; echo that was the pager", "--max-iterations", "45", "--loop-threshold", "off", "--", "sh", "-c", "echo Error: same; exit 1")
	s.moveTo(t, "Review")
	s.keys(t, "\r")
	until(t, "the pager has run", s.shows("that was the pager"))
	paged, err := os.ReadFile(s.file("paged"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(paged), "not_done") + strings.Count(string(paged), "not done"); n != 45 {
		t.Errorf("the pager had %d iterations:\n%s", n, paged)
	}
	s.moveTo(t, "Cancel")
	s.keys(t, "\r")
	if got := s.ended(t); got != 101 {
		t.Errorf("ended with %d, want 101", got)
	}
}

// A debug command that finds no cause asks again, with its findings in the
// question, and nothing runs meanwhile.
func TestMatrixDebugFindsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := onTerminal(t, dir, "--debug", "echo the cache is fine; exit 1", "--loop-threshold", "2", "--", "sh", "-c", stuckWork)
	s.moveTo(t, "Debug first")
	s.keys(t, "\r")
	until(t, "the findings are in the question", func() bool {
		_, after, found := strings.Cut(s.term.String(), "Findings:")
		return found && strings.Contains(after, "the cache is fine")
	})
	s.moveTo(t, "Accept current")
	s.keys(t, "\r")
	if got := s.ended(t); got != 100 {
		t.Errorf("ended with %d, want 100", got)
	}
	run, err := findRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	j := readJournal(t, run)
	j.failsClosed(t)
	if n := len(j.of(core.TypeIterationStarted)); n != 2 {
		t.Errorf("%d iterations, want 2", n)
	}
	if debugged := j.of(core.TypeDebugFinished); len(debugged) != 1 || debugged[0].(core.DebugFinished).ExitCode != 1 {
		t.Errorf("debug commands on record: %+v", debugged)
	}
	page, err := os.ReadFile(filepath.Join(run, "scratchpad.md"))
	if err != nil || !strings.Contains(string(page), "Not done: ") {
		t.Errorf("the page does not say what is not done (%v)", err)
	}
}

// A debug command that finds no cause is no answer where nobody can be asked
// again: a rule cannot give the same answer twice.
func TestMatrixDebugFindsNothingAlone(t *testing.T) {
	t.Parallel()
	for _, guard := range tried() {
		for _, o := range builtin(t).Template(guard).Options {
			if o.Action != core.ActionDebug {
				continue
			}
			t.Run(string(guard), func(t *testing.T) {
				t.Parallel()
				c := newCell(t, guard, o.Option, "")
				c.write(t, "policy.yaml", "version: 1\nrules:\n  - guard: "+string(guard)+"\n    answer: "+o.ID+"\n    reason: Look first.\n")
				args := c.command("--policy", "policy.yaml", "--non-interactive")
				args[1] = "echo nothing; exit 1"
				out := c.over(t, begin(t, c.home, args...), "state")
				j := readJournal(t, out.dir)
				j.failsClosed(t)
				c.unanswered(t, out, j)
				if n := len(j.of(core.TypeDebugFinished)); n != 1 {
					t.Errorf("%d debug commands, want 1", n)
				}
			})
		}
	}
}

// A question that only a person may answer takes no assistant's answer and no
// rule's, unless the rule names ladder_exhausted too.
func TestMatrixMandatory(t *testing.T) {
	t.Parallel()
	ladder := ways[core.LadderExhausted]
	for name, tt := range map[string]struct {
		guard   core.GuardID
		rule    string // the guards of the rule; empty: the assistant answers
		answers bool
	}{
		"a rule for the clarification alone": {core.Clarification, "[clarification]", false},
		"a rule that names the ladder too":   {core.Clarification, "[clarification, ladder_exhausted]", true},
		"an assistant at a clarification":    {core.Clarification, "", false},
		"an assistant at the ladder's end":   {core.LadderExhausted, "", false},
		"a rule for every guard":             {core.LadderExhausted, `"*"`, false},
		"a rule for the ladder":              {core.LadderExhausted, "ladder_exhausted", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCell(t, tt.guard, core.Option{ID: "continue", Action: core.ActionContinue}, "")
			c.personal, c.flags = true, ladder.flags
			c.write(t, "ladder.yaml", ladder.files["ladder.yaml"])
			c.write(t, "policy.yaml", "version: 1\nrules:\n  - guard: "+tt.rule+"\n    answer: continue\n    reason: "+c.reason+"\n")
			c.write(t, "reply.json", `{"reason": "It will work.", "answer": "continue"}`)
			switch {
			case tt.rule == "":
				c.nobody(t, "--assistant", "cat >request.json; cat reply.json", "--assistant-for", "ask,guards")
			case tt.answers:
				out := c.over(t, begin(t, c.home, c.command("--policy", "policy.yaml", "--non-interactive")...), "state")
				c.check(t, responder{as: core.RespondedByPolicy, rule: true, reasons: true}, out)
			default:
				out := c.over(t, begin(t, c.home, c.command("--policy", "policy.yaml", "--non-interactive")...), "state")
				if out.dir == "" && out.code == core.ExitFailed {
					return // the rule could never match: nothing was run
				}
				j := readJournal(t, out.dir)
				j.failsClosed(t)
				c.unanswered(t, out, j)
			}
		})
	}
}
