//go:build unix

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/scratchpad"
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
	s.take(t, "a", "the end", s.shows("accepted after 1 iteration"))
	if code := s.ended(t); code != 0 { // the answer was carried out
		t.Errorf("exit code %d", code)
	}
	journal, err := os.ReadFile(filepath.Join(only, "journal.jsonl"))
	if err != nil || !strings.Contains(string(journal), `"responder":"user"`) || !strings.Contains(string(journal), "Enough for today.") {
		t.Errorf("the answer is not on record: %v\n%s", err, journal)
	}
}

// An answer that reaches a run which has just paused is recorded once the run has gone.
func TestAnswerToARunThatPauses(t *testing.T) {
	dir := t.TempDir()
	run := begin(t, dir, "--detached", "defer", "--max-iterations", "1", "--hook-on-end", "touch ending; until test -e go; do sleep 0.02; done", "--", "false")
	until(t, "it ends", func() bool {
		_, err := os.Stat(filepath.Join(dir, "ending"))
		return err == nil
	})
	only := onlyRun(t, dir)
	state, _, err := scratchpad.Load(only)
	if err != nil {
		t.Fatal(err)
	}
	question := state.Pending()[0].ID
	server, err := socket.Listen(socket.Options{Handle: func(context.Context, socket.Peer, string, json.RawMessage) (any, error) {
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil { // the run ends
			return nil, err
		}
		return nil, &socket.Error{Code: socket.CodeClosed, Text: "the run has ended"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := os.WriteFile(filepath.Join(only, session.SocketName), []byte(server.Path()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := begin(t, dir, "answer", filepath.Base(only), "accept", "--question", question).ended(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if code := run.ended(t); code != 102 {
		t.Errorf("the run ended with %d", code)
	}
	if state, _, err := scratchpad.Load(only); err != nil || len(state.Answered) != 1 {
		t.Errorf("answers %v, %v", state.Answered, err)
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

// After an answer that goes on, looprun asks at a terminal whether to go on now: Enter does,
// and n leaves the answer for later. The run's end is not the answer's.
func TestAnswerGoesOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys    string
		resumes int
	}{{"\r", 1}, {"n\r", 0}} {
		dir := t.TempDir()
		if code := begin(t, dir, "--detached", "defer", "--max-iterations", "1", "--", "false").ended(t); code != 102 {
			t.Fatalf("exit code %d", code)
		}
		s := onTerminal(t, dir, "answer", "continue")
		until(t, "it asks", s.shows("Go on now? [Y/n]"))
		s.keys(t, c.keys)
		if c.resumes > 0 { // 5 iterations more, and the question again
			until(t, "the next question", s.shows(cancelOption))
			s.take(t, "c", "the end", s.shows("cancelled after"))
		}
		if code := s.ended(t); code != 0 {
			t.Errorf("%q: exit code %d", c.keys, code)
		}
		if st := s.state(t); st.Resumes != c.resumes || len(st.Answered) == 0 {
			t.Errorf("%q: resumed %d times, %d answers", c.keys, st.Resumes, len(st.Answered))
		}
	}
}

// Where several runs could be meant a person chooses one by its number, and nothing else
// takes one: each has a command and a question of its own.
func TestOneOfSeveralRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		paused  []string
		command []string
		ask     string
		took    func(*core.State) bool
	}{
		{"answer", []string{"--detached", "defer", "--max-iterations", "1"}, []string{"answer", "accept"}, "answer which one? [1-2]", func(s *core.State) bool { return len(s.Answered) > 0 }},
		{"resume", []string{"--once"}, []string{"resume"}, "resume which one? [1-2]", func(s *core.State) bool { return s.Resumes > 0 }},
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
			for _, key := range []string{"\r", "n\r", "y\r", "3\r", "2\r"} {
				s := onTerminal(t, dir, c.command...)
				until(t, "it asks", s.shows(c.ask))
				if !s.shows("2 runs could be meant")() || !s.shows("Port to Go 1.26")() || !s.shows("Fix the auth tests")() {
					t.Error("the runs are not shown")
				}
				s.keys(t, key)
				want := 125
				if key == "2\r" {
					want = 0
				}
				code := s.ended(t)
				runs, err := filepath.Glob(filepath.Join(dir, "state", "*-*"))
				if code != want || err != nil || len(runs) != 2 {
					t.Fatalf("%q: exit code %d, %v, %v", key, code, runs, err)
				}
				for i, run := range runs { // the oldest first
					st, _, err := scratchpad.Load(run)
					if err != nil || c.took(st) != (want == 0 && i == 0) {
						t.Fatalf("%q: run %d: taken %t, %v", key, i, c.took(st), err)
					}
				}
			}
		})
	}
}
