//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
)

// TestAnswerRace: four people answer the same question at the same moment, and the
// next one comes as soon as one of them was heard. Nobody's answer lands on a
// question that they did not see, in whichever form it was given.
func TestAnswerRace(t *testing.T) {
	t.Parallel()
	for round := range rounds.Of(2) {
		t.Run(fmt.Sprint("round ", round+1), func(t *testing.T) { race(t, round) })
	}
}

func race(t *testing.T, round int) {
	dir := t.TempDir()
	// The answer continue leads to loop_detected two iterations later.
	run := begin(t, dir, "-q", "--max-iterations", "2", "--loop-threshold", "3", "--wait-answer", "1h", "-c", "echo Error: same; exit 1")
	seen := waitsFor(t, run, "")
	people := []person{
		{"continue", nil, ""},
		{"accept", nil, ""},
		{"accept", nil, `{"option": "accept", "question": "` + seen.ID + `"}`},
		{"cancel", nil, `{"answers": {"` + seen.ID + `": "cancel"}}`},
	}
	if round%2 == 0 { // who does not say which question it is for is not heard at all
		people = append(people, person{"accept", nil, `{"option": "accept"}`}, person{"cancel", []string{"cancel"}, ""})
	}
	heard := make([]bool, len(people))
	var all sync.WaitGroup
	for i := range people {
		p := people[(i+round)%len(people)]
		all.Go(func() { heard[(i+round)%len(people)] = p.answers(t, dir, seen.ID) })
	}
	all.Wait()
	winners := 0
	for i, h := range heard {
		if h {
			winners++
		}
		if h && i >= 4 {
			t.Errorf("an answer for no question was heard: %+v", people[i])
		}
	}
	if winners != 1 {
		t.Errorf("%d answers were heard", winners)
	}
	ended := func() bool { return run.state(t).Ended }
	if heard[0] {
		next := waitsFor(t, run, seen.ID)
		if (person{"accept", nil, ""}).answers(t, dir, seen.ID) { // later than all of them
			t.Error("an answer to the question before was heard")
		}
		if next.Guard == seen.Guard {
			t.Fatalf("the next question is the same: %+v", next)
		}
		if !(person{"cancel", nil, ""}).answers(t, dir, next.ID) {
			t.Error("the answer to the next question was not heard")
		}
	}
	until(t, "the run ends", ended)
	given := map[string]int{}
	for _, a := range run.state(t).Answered {
		given[a.QuestionID]++
		if a.QuestionID != seen.ID && a.Option != "cancel" {
			t.Errorf("%s was answered with %q", a.QuestionID, a.Option)
		}
	}
	if given[seen.ID] != 1 {
		t.Errorf("answers: %v", given)
	}
	run.ended(t)
}

// person is somebody who answers: with an option, with other words, or with a
// document on standard input.
type person struct {
	option   string
	words    []string
	document string
}

// answers reports whether the answer was taken.
func (p person) answers(t *testing.T, dir, question string) bool {
	args := []string{"answer", p.option, "--question", question}
	switch {
	case p.document != "":
		args = []string{"answer", "-"}
	case p.words != nil:
		args = append([]string{"answer"}, p.words...)
	}
	s := ready(t, dir, args...)
	s.Stdin = strings.NewReader(p.document)
	s.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask at
	if err := s.Start(); err != nil {
		t.Error(err)
		return false
	}
	code := s.ended(t)
	told := strings.Contains(s.stderr.String(), "answered "+question+" (")
	if code == 0 && !told {
		t.Errorf("it was answered, and which question is not said: %s", s.stderr.String())
	}
	if code != 0 && code != core.ExitFailed {
		t.Errorf("exit code %d: %s", code, s.stderr.String())
	}
	return code == 0
}

// waitsFor waits until the run has put a question other than that one.
func waitsFor(t *testing.T, run *started, before string) core.Question {
	t.Helper()
	var q core.Question
	until(t, "it asks", func() bool {
		if _, err := os.Stat(run.file("state")); err != nil {
			return false
		}
		dir, err := scratchpad.Find(run.file("state"), "")
		if err != nil {
			return false
		}
		s, _, err := scratchpad.Load(dir)
		if err != nil || len(s.Pending()) == 0 || s.Pending()[0].ID == before {
			return false
		}
		q = s.Pending()[0]
		return session.Reachable(dir)
	})
	return q
}

// An answer to a run that is going on and is not known to be one's own is refused
// like one to a run that has paused.
func TestAnswerToALiveRunOfSomebodyElse(t *testing.T) {
	dir := t.TempDir()
	run := ready(t, dir, "-q", "--max-iterations", "1", "--wait-answer", "1h", "-c", "exit 1")
	run.Env = append(run.Env, "XDG_STATE_HOME=/dev/null") // it has no key
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	id := waitsFor(t, run, "").ID
	for _, words := range [][]string{{"accept"}, {run.state(t).RunID, "accept"}} {
		if (person{"", append(words, "--question", id), ""}).answers(t, dir, id) {
			t.Errorf("the run of somebody else was answered with %q", words)
		}
	}
	if !(person{"", []string{"accept", "--question", id, "--trust-run"}, ""}).answers(t, dir, id) {
		t.Error("--trust-run was refused")
	}
	if code := run.ended(t); code != 100 {
		t.Errorf("the run ended with %d", code)
	}
}
