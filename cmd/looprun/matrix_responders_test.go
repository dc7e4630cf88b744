//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

// outcome is how a run of the matrix ended.
type outcome struct {
	code   int
	dir    string // the run's directory; empty: there is none
	stderr string
}

// responder is one way to get an answer to the run.
type responder struct {
	as string // how the record names it
	// person says that a person answers, rule that a rule does; reasons that the
	// reason is the one of the cell.
	person, rule, reasons bool
	sub                   string // where below the test's folder the run is
	run                   func(*testing.T, *cell) outcome
}

// responders are all of them, by the way they are reached.
var responders = map[string]responder{
	"policy":    {as: core.RespondedByPolicy, rule: true, reasons: true, run: byPolicy},
	"assistant": {as: core.RespondedByAssistant, reasons: true, run: byAssistant("--assistant-for", "ask,guards")},
	"auto":      {as: core.RespondedByAssistant, reasons: true, run: byAssistant("--detached", "auto")},
	"parent":    {as: core.RespondedByParent, person: true, reasons: true, sub: "inside", run: byParentRun},
	"user":      {as: core.RespondedByUser, person: true, run: byPerson},
	"live":      {as: core.RespondedByUser, person: true, reasons: true, run: byOtherTerminal},
	"deferred":  {as: core.RespondedByUser, person: true, reasons: true, run: byAnswerLater},
}

// over waits for the end of a run of the cell.
func (c *cell) over(t *testing.T, s *started, state string) outcome {
	t.Helper()
	code := s.ended(t)
	out := outcome{code: code, stderr: s.stderr.String()}
	if dir, err := scratchpad.Find(filepath.Join(c.dir, state), ""); err == nil {
		out.dir = dir
	}
	return out
}

func byPolicy(t *testing.T, c *cell) outcome {
	when := ""
	if c.option.Action == core.ActionDone { // a rule may not take every pass for done
		when = "    when: iteration >= 0\n"
	}
	c.write(t, "policy.yaml", fmt.Sprintf("version: 1\nrules:\n  - guard: %s\n    answer: %s\n    reason: %s\n%s", c.ruled(), c.option.ID, c.reason, when))
	return c.over(t, begin(t, c.home, c.command("--policy", "policy.yaml", "--non-interactive")...), "state")
}

// ruled are the guards that a rule has to name to answer the question.
func (c *cell) ruled() string {
	if c.personal && c.guard != core.LadderExhausted {
		return fmt.Sprintf("[%s, %s]", c.guard, core.LadderExhausted)
	}
	return string(c.guard)
}

func byAssistant(flags ...string) func(*testing.T, *cell) outcome {
	return func(t *testing.T, c *cell) outcome {
		c.write(t, "reply.json", fmt.Sprintf(`{"reason": %q, "answer": %q}`, c.reason, c.option.ID))
		flags := append([]string{"--assistant", "cat >request.json; cat reply.json", "--non-interactive"}, flags...)
		return c.over(t, begin(t, c.home, c.command(flags...)...), "state")
	}
}

// byParentRun starts the run as the work of another one, whose question is
// answered from another terminal.
func byParentRun(t *testing.T, c *cell) outcome {
	// A turn that the pause cuts off is the inner run's affair: the outer one does not read it.
	outer := "cd inside && LOOPRUN --state-dir ../inner " + shellWords(c.command()) + " >../printed\necho $? >../code\n"
	writeFile(t, c.dir, "outer.sh", outer)
	s := begin(t, c.dir, "--wait-answer", "1h", "--non-interactive", "--", "sh", "outer.sh")
	if _, given := c.answerFrom(t, s); !given {
		c.answerWith(t, s, string(core.ActionCancel))
	}
	if code := s.ended(t); code != 0 {
		t.Errorf("the outer run ended with %d", code)
	}
	inner, err := scratchpad.Find(filepath.Join(c.dir, "inner"), "")
	if err != nil {
		t.Fatal(err)
	}
	return outcome{code: s.pid(t, "code"), dir: inner, stderr: s.stderr.String()}
}

// shellWords quotes words for a shell script.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + w + "'"
	}
	return strings.Join(quoted, " ")
}

// byOtherTerminal answers while the run waits.
func byOtherTerminal(t *testing.T, c *cell) outcome {
	s := begin(t, c.home, c.command("--wait-answer", "1h", "--non-interactive")...)
	if _, given := c.answerFrom(t, s); !given {
		c.answerWith(t, s, string(core.ActionCancel))
	}
	return c.over(t, s, "state")
}

// byAnswerLater answers when the run has exited, and goes on with it where the answer did
// not end it.
func byAnswerLater(t *testing.T, c *cell) outcome {
	s := begin(t, c.home, c.command("--detached", "defer", "--non-interactive")...)
	if code := s.ended(t); code != 102 {
		t.Errorf("deferred with %d, want 102", code)
	}
	answer, given := c.answerFrom(t, s)
	if !given {
		answer = c.answerWith(t, s, string(core.ActionCancel))
	}
	dir, err := scratchpad.Find(filepath.Join(c.dir, "state"), "")
	if err != nil {
		t.Fatal(err)
	}
	if is := scratchpad.Summarize(dir); is.Answered == "" { // it has ended the run
		return outcome{code: is.ExitCode, dir: dir, stderr: answer.stderr.String()}
	}
	return c.over(t, begin(t, c.home, "resume", "--non-interactive"), "state")
}

// answerFrom gives the cell's answer with looprun answer as soon as the question
// waits. It is not given when the answer is refused, as it should be for a review.
func (c *cell) answerFrom(t *testing.T, s *started) (answer *started, given bool) {
	t.Helper()
	s.asked(t)
	got := begin(t, s.dir, "answer", c.option.ID, "--reason", c.reason, "--question", s.state(t).Pending()[0].ID)
	code := got.ended(t)
	want := 0
	if c.option.Action == core.ActionReview {
		want = core.ExitFailed
	}
	if code != want {
		t.Fatalf("looprun answer %s ended with %d, want %d: %s", c.option.ID, code, want, got.stderr.String())
	}
	return got, code == 0
}

func (c *cell) answerWith(t *testing.T, s *started, option string) *started {
	t.Helper()
	got := begin(t, s.dir, "answer", option, "--reason", c.reason, "--question", s.state(t).Pending()[0].ID)
	if got.ended(t) != 0 {
		t.Fatalf("looprun answer %s: %s", option, got.stderr.String())
	}
	return got
}

// asked waits until a question of the run waits for its answer.
func (s *started) asked(t *testing.T) {
	t.Helper()
	until(t, "a question waits for an answer", func() bool {
		dir, err := scratchpad.Find(s.file("state"), "")
		if err != nil {
			return false
		}
		time.Sleep(10 * time.Millisecond) // reading the journal is not free
		state, _, err := scratchpad.Load(dir)
		return err == nil && len(state.Answerable()) > 0
	})
}

// words are what a person answers where the command asks for words.
const words = "Take the second one"

// byPerson chooses at the terminal, with the arrow keys and Enter. After a review
// the same question is asked again.
func byPerson(t *testing.T, c *cell) outcome {
	s := onTerminal(t, c.home, c.command()...)
	s.moveTo(t, c.option.Label)
	s.keys(t, "\r")
	if c.option.Action == core.ActionReview {
		until(t, "the history is shown", s.shows("Signatures"))
		s.moveTo(t, "Cancel")
		s.keys(t, "\r")
	}
	c.says(t, s)
	out := c.over(t, &s.started, "state")
	until(t, "the last line", s.closed)
	out.stderr = s.stdout.String()
	if c.option.Action == core.ActionReview && out.code != 101 {
		t.Errorf("cancelled after the review with %d", out.code)
	}
	return out
}

// says types the words that go with an option that is answered in words.
func (c *cell) says(t *testing.T, s *screen) {
	t.Helper()
	if q := (core.Question{Guard: c.guard}); !q.WantsWords(c.option) && !q.AsksWords(c.option) {
		return
	}
	until(t, "the words are asked for", s.shows("type what to do"))
	s.keys(t, words)
	until(t, "the words are in the field", func() bool { return s.marked() == words })
	s.press(t, "\r", "the words are taken", func() bool { return s.marked() != words })
}

// moveTo moves the cursor to an entry; the ellipsis of one that asks again counts for
// nothing. A key is pressed once: a second one, because
// the screen was late, would move the cursor on behind our back.
func (s *screen) moveTo(t *testing.T, label string) {
	t.Helper()
	s.ready(t)
	for range 20 {
		at := s.marked()
		if name, _, _ := strings.Cut(at, "  "); strings.TrimSuffix(name, " …") == label {
			return
		}
		s.keys(t, keyUp)
		until(t, "the cursor moves", func() bool {
			now := s.marked()
			return now != at && now != "" // which it is while the menu is drawn
		})
	}
	t.Fatalf("%q is not among the entries", label)
}

// ready waits for a menu that takes keys: one that has just appeared does not.
func (s *screen) ready(t *testing.T) {
	t.Helper()
	until(t, "a question takes keys", func() bool {
		text := s.term.String()
		hints := []string{"Ctrl-C interrupts", "nothing is marked", "nothing is ticked", "w types words", "Enter: "}
		return slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(text, hint) }) && !strings.Contains(text, "one moment")
	})
}

// numbered is an entry with its number and its letter.
var numbered = regexp.MustCompile(`^[1-9 ] [a-z ]  `)

// marked is the entry under the cursor, without the cursor; empty: no menu is
// on the screen.
func (s *screen) marked() string { return markedIn(s.term.String()) }

func markedIn(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if text, ok := strings.CutPrefix(lines[i], "> "); ok {
			if numbered.MatchString(text) {
				text = text[5:]
			}
			return strings.TrimSpace(text)
		}
	}
	return ""
}
