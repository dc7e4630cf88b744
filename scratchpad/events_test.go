package scratchpad

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// story is a run in which every type of event happens.
func story() []core.Data {
	start := started()
	start.Precheck, start.Check, start.Promise = true, []string{"sh", "-c", "go test ./..."}, "<DONE>"
	start.Dir, start.Parent, start.Config = "/tmp/x y", "20260101-000000-0000", json.RawMessage(`{"detail_sum":"x","a":[1,2]}`)
	precheck := failing(0)
	work := 3
	one := failing(1)
	one.WorkExitCode, one.Promised = &work, true
	cut := core.IterationFinished{Iteration: 2, Outcome: core.OutcomeInterrupted, ExitCode: 130, Cause: core.CauseInterrupt, Detail: "interrupted"}
	trip := core.Trip{Guard: core.LoopDetected, Reason: "the same failure 3 times", Iteration: 1, Window: 3, Period: 1, Repeats: 3}
	question := core.Question{
		ID: "q1", Guard: core.LoopDetected, Kind: core.KindSelect, Header: "Loop Detected", Short: "Loop", Text: "How to proceed?",
		Details: []string{"a", "b"}, Default: "cancel", Options: []core.Option{
			{ID: "continue", Label: "Continue", Action: core.ActionContinue, Extend: core.Extend{Iterations: 5}, Guidance: "try another way"},
			{ID: "cancel", Label: "Cancel", Action: core.ActionCancel},
		},
	}
	limits := core.DefaultLimits()
	limits.Iterations, limits.Errors = 15, core.Off
	applied := core.ActionApplied{
		Option: "continue", Label: "Continue", Action: core.ActionContinue, Guard: core.LoopDetected, Responder: core.RespondedByPolicy,
		Reason: "fewer fail", Rule: "policy.yaml:3", Limits: limits, Resets: []core.GuardID{core.LoopDetected},
		Known: []core.KnownIssue{{Hash: 9, Label: "test-fail:1-x"}}, Guidance: "try another way",
	}
	caps := core.DefaultCaps(limits)
	return []core.Data{
		start,
		core.IterationStarted{Iteration: 0},
		precheck,
		core.IterationStarted{Iteration: 1},
		core.RunAlive{},
		one,
		core.GuardTripped{Trip: trip},
		core.QuestionAsked{Question: question},
		core.AnswerInvalid{QuestionID: "q1", Responder: "assistant", Reason: "it answered “maybe”"},
		core.VerifyFinished{Rule: "policy.yaml:3", Command: "make smoke", ExitCode: 1, DurationMS: 12},
		core.QuestionAnswered{QuestionID: "q1", Answer: core.Answer{Option: "debug", Responder: core.RespondedByUser, Person: true}},
		core.DebugFinished{Action: core.ActionDebug, ExitCode: 1, Findings: "port 80 is taken"},
		core.QuestionAsked{Question: question},
		core.QuestionAnswered{QuestionID: "q1", Answer: core.Answer{Option: "continue", Responder: core.RespondedByPolicy, Rule: "policy.yaml:3"}},
		applied,
		core.IterationStarted{Iteration: 2},
		core.InterruptReceived{Signal: "SIGTERM", Code: 143},
		cut,
		core.RunPaused{Reason: "checkpoint"},
		core.RunResumed{Version: "v2", Limits: &limits, Caps: &caps, Config: json.RawMessage(`{"b":true}`)},
		core.GuardTripped{Trip: trip},
		core.QuestionAsked{Question: question},
		core.QuestionClosed{QuestionID: "q1", Reason: "nobody answered", Unanswered: true},
		core.RunFinished{Ending: core.Ending{Status: core.StatusTripped, ExitCode: 111, Guard: core.LoopDetected, Reason: "nobody answered"}},
	}
}

func TestEveryEventTypeComesBack(t *testing.T) {
	events := numbered(story()...)
	types := map[core.EventType]bool{}
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
	s := new(core.State)
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
		e := core.Event{Seq: 1, Time: day, Data: d}
		dir := t.TempDir()
		back, err := decode(dir, encoded(t, dir, e))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ToValidUTF8(strings.ReplaceAll(d.Excerpt, "\xff", "\ufffd"), "?")
		if got := back.Data.(core.IterationFinished).Excerpt; got != want {
			t.Errorf("%d times: %q came back", n, got[:min(len(got), 80)])
		}
		if twice, err := decode(dir, encoded(t, dir, back)); err != nil || asJSON(twice) != asJSON(back) {
			t.Errorf("%d times: it changes again the second time: %v", n, err)
		}
	}
}
