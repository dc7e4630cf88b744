//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/session"
)

// Without an option looprun answer asks at the terminal, for the latest run that
// waits and for one that is named. Ctrl-C leaves the question as it was.
func TestAnswerAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deferred := begin(t, dir, "--detached", "defer", "--max-iterations", "1", "--", "false")
	if code := deferred.ended(t); code != 102 {
		t.Fatalf("exit code %d", code)
	}
	only := onlyRun(t, dir)

	s := onTerminal(t, dir, "answer")
	until(t, "the question is there", s.shows(cancelOption))
	s.press(t, "\x03", "the end", s.shows("interrupted; the question still waits"))
	if code := s.ended(t); code != -2 { // by SIGINT
		t.Errorf("exit code %d after Ctrl-C", code)
	}

	s = onTerminal(t, dir, "answer", filepath.Base(only), "--reason", "Enough for today.")
	until(t, "the question is there", s.shows(cancelOption))
	s.take(t, "a", "the end", s.shows("continue with looprun resume"))
	if code := s.ended(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	journal, err := os.ReadFile(filepath.Join(only, "journal.jsonl"))
	if err != nil || !strings.Contains(string(journal), `"responder":"user"`) || !strings.Contains(string(journal), "Enough for today.") {
		t.Errorf("the answer is not on record: %v\n%s", err, journal)
	}
}

// onlyRun is the directory of the only run.
func onlyRun(t *testing.T, dir string) string {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(dir, "state", "*-*"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	return runs[0]
}

// For a run that is going on an answer without --question is shown its question
// first, and nothing but yes gives it.
func TestAnswerShowsTheQuestion(t *testing.T) {
	dir := t.TempDir()
	run := begin(t, dir, "--wait-answer", "1h", "--max-iterations", "1", "--", "false")
	q := waitsFor(t, run, "")
	err := session.Tell(onlyRun(t, dir), session.KindAnswer, map[string]any{"answer": core.Answer{Option: "accept"}})
	if err == nil || !strings.Contains(err.Error(), "question_id is missing") {
		t.Errorf("an answer for no question: %v", err)
	}

	s := onTerminal(t, dir, "answer", "accept")
	until(t, "it asks", s.shows(`answer this with "accept"? [y/N]`))
	if !s.shows("("+q.ID+")")() || !s.shows("The only iteration is used")() {
		t.Error("the question is not shown")
	}
	s.press(t, "\r", "the end", s.shows("nothing was answered"))
	if code := s.ended(t); code != 125 {
		t.Errorf("exit code %d", code)
	}

	s = onTerminal(t, dir, "answer", "accept")
	until(t, "it asks", s.shows(`answer this with "accept"? [y/N]`))
	s.press(t, "y\r", "the answer", s.shows("answered "+q.ID+" (The only iteration is used): accept; run "))
	if code := s.ended(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if code := run.ended(t); code != 100 {
		t.Errorf("the run ended with %d", code)
	}
}

// Where several runs could be meant a person is shown them and asked, and nothing but
// yes takes the first: each has a command and a question of its own.
func TestOneOfSeveralRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		paused  []string
		command []string
		ask     string
		took    func(*core.State) bool
	}{
		{"answer", []string{"--detached", "defer", "--max-iterations", "1"}, []string{"answer", "accept"}, "answer the first, ", func(s *core.State) bool { return len(s.Answered) > 0 }},
		{"resume", []string{"--once"}, []string{"resume"}, "go on with the first, ", func(s *core.State) bool { return s.Resumes > 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range []string{"Port to Go 1.26", "Fix the auth tests"} {
				args := append(slices.Clone(c.paused), "--name", name, "--", "sh", "-c", "test $LOOPRUN_ITERATION = 2")
				if code := begin(t, dir, args...).ended(t); code != 102 {
					t.Fatalf("exit code %d", code)
				}
			}
			for _, key := range []string{"\r", "n\r", "x\r", "y\r"} {
				s := onTerminal(t, dir, c.command...)
				until(t, "it asks", s.shows(c.ask))
				if !s.shows("2 runs could be meant")() || !s.shows("Port to Go 1.26")() || !s.shows("Fix the auth tests")() {
					t.Error("the runs are not shown")
				}
				s.keys(t, key)
				want := 125
				if key == "y\r" {
					want = 0
				}
				if code, took := s.ended(t), c.took(s.state(t)); code != want || took != (want == 0) {
					t.Fatalf("%q: exit code %d, taken %t", key, code, took)
				}
			}
		})
	}
}
