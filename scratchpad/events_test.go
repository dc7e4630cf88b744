package scratchpad

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun"
)

// story is a run in which every type of event happens.
func story() []looprun.Data {
	start := started()
	start.Precheck, start.Check, start.Promise = true, []string{"sh", "-c", "go test ./..."}, "<DONE>"
	start.Dir, start.Parent, start.Config = "/tmp/x y", "20260101-000000-0000", json.RawMessage(`{"detail_sum":"x","a":[1,2]}`)
	precheck := failing(0)
	work := 3
	one := failing(1)
	one.WorkExitCode, one.Promised = &work, true
	cut := looprun.IterationFinished{Iteration: 2, Outcome: looprun.OutcomeInterrupted, ExitCode: 130, Cause: looprun.CauseInterrupt, Detail: "interrupted"}
	trip := looprun.Trip{Guard: looprun.LoopDetected, Reason: "the same failure 3 times", Iteration: 1, Window: 3, Period: 1, Repeats: 3}
	question := looprun.Question{
		ID: "q1", Guard: looprun.LoopDetected, Kind: looprun.KindSelect, Header: "Loop Detected", Short: "Loop", Text: "How to proceed?",
		Details: []string{"a", "b"}, Default: "cancel", Options: []looprun.Option{
			{ID: "continue", Label: "Continue", Action: looprun.ActionContinue, Extend: looprun.Extend{Iterations: 5}, Guidance: "try another way"},
			{ID: "cancel", Label: "Cancel", Action: looprun.ActionCancel},
		},
	}
	limits := looprun.DefaultLimits()
	limits.Iterations, limits.Errors = 15, looprun.Off
	applied := looprun.ActionApplied{
		Option: "continue", Label: "Continue", Action: looprun.ActionContinue, Guard: looprun.LoopDetected, Responder: looprun.RespondedByPolicy,
		Reason: "fewer fail", Rule: "policy.yaml:3", Limits: limits, Resets: []looprun.GuardID{looprun.LoopDetected},
		Known: []looprun.KnownIssue{{Hash: 9, Label: "test-fail:1-x"}}, Guidance: "try another way",
	}
	caps := looprun.DefaultCaps(limits)
	return []looprun.Data{
		start,
		looprun.IterationStarted{Iteration: 0},
		precheck,
		looprun.IterationStarted{Iteration: 1},
		looprun.RunAlive{},
		one,
		looprun.GuardTripped{Trip: trip},
		looprun.QuestionAsked{Question: question},
		looprun.AnswerInvalid{QuestionID: "q1", Responder: "assistant", Reason: "it answered “maybe”"},
		looprun.VerifyFinished{Rule: "policy.yaml:3", Command: "make smoke", ExitCode: 1, DurationMS: 12},
		looprun.QuestionAnswered{QuestionID: "q1", Answer: looprun.Answer{Option: "debug", Responder: looprun.RespondedByUser, Person: true}},
		looprun.DebugFinished{Action: looprun.ActionDebug, ExitCode: 1, Findings: "port 80 is taken"},
		looprun.QuestionAsked{Question: question},
		looprun.QuestionAnswered{QuestionID: "q1", Answer: looprun.Answer{Option: "continue", Responder: looprun.RespondedByPolicy, Rule: "policy.yaml:3"}},
		applied,
		looprun.IterationStarted{Iteration: 2},
		looprun.InterruptReceived{Signal: "SIGTERM", Code: 143},
		cut,
		looprun.RunPaused{Reason: "checkpoint"},
		looprun.RunResumed{Version: "v2", Limits: &limits, Caps: &caps, Config: json.RawMessage(`{"b":true}`)},
		looprun.GuardTripped{Trip: trip},
		looprun.QuestionAsked{Question: question},
		looprun.QuestionClosed{QuestionID: "q1", Reason: "nobody answered", Unanswered: true},
		looprun.RunFinished{Ending: looprun.Ending{Status: looprun.StatusTripped, ExitCode: 111, Guard: looprun.LoopDetected, Reason: "nobody answered"}},
	}
}

func TestEveryEventTypeComesBack(t *testing.T) {
	events := numbered(story()...)
	types := map[looprun.EventType]bool{}
	dir := t.TempDir()
	for _, e := range events {
		types[e.Data.Type()] = true
		line := encoded(t, dir, e)
		back, err := decode(dir, line)
		if err != nil {
			t.Fatalf("%s: %v in %s", e.Data.Type(), err, line)
		}
		if !reflect.DeepEqual(back, e) {
			t.Errorf("%s came back as\n%#v, want\n%#v", e.Data.Type(), back, e)
		}
	}
	if len(types) != 16 {
		t.Errorf("the story has %d types of events; complete it", len(types))
	}
}

// TestReplayedStateIsTheAppliedOne compares all of the state, after every event.
func TestReplayedStateIsTheAppliedOne(t *testing.T) {
	r := newRun(t, SyncOff)
	s := new(looprun.State)
	for _, e := range numbered(story()...) {
		if err := r.Journal.Append(e); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
		loaded, tail, err := Load(r.Dir)
		if err != nil || tail.Cut != 0 || tail.Events != e.Seq {
			t.Fatalf("after %s: %v, %+v", e.Data.Type(), err, tail)
		}
		if got, want := asJSON(loaded), asJSON(s); got != want {
			t.Fatalf("after %s the replayed state is\n%s, want\n%s", e.Data.Type(), got, want)
		}
	}
}

// TestTextThatIsNotUTF8 comes back as JSON writes it, in line and in detail file.
func TestTextThatIsNotUTF8(t *testing.T) {
	for _, n := range []int{1, 5000} {
		d := failing(1)
		d.Excerpt = strings.Repeat("a\xff\x00\u2028\U0001f600\x1b[31m<&>\"\\", n)
		e := looprun.Event{Seq: 1, Time: day, Data: d}
		dir := t.TempDir()
		back, err := decode(dir, encoded(t, dir, e))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ToValidUTF8(strings.ReplaceAll(d.Excerpt, "\xff", "\ufffd"), "?")
		if got := back.Data.(looprun.IterationFinished).Excerpt; got != want {
			t.Errorf("%d times: %q came back", n, got[:min(len(got), 80)])
		}
		if twice, err := decode(dir, encoded(t, dir, back)); err != nil || asJSON(twice) != asJSON(back) {
			t.Errorf("%d times: it changes again the second time: %v", n, err)
		}
	}
}
