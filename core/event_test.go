package core_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
)

// firstEdition are the events of a run that the first edition recorded: an unusable
// answer, advice and a message that was not taken, all three as answer.invalid.
func firstEdition(t *testing.T) []core.Event {
	t.Helper()
	text, err := os.ReadFile("testdata/first-edition/journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var events []core.Event
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e core.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// What the first edition wrote as one type is read as what it is, means what it meant,
// and means the same when it is written again.
func TestFirstEditionEvents(t *testing.T) {
	events := firstEdition(t)
	var got []string
	for _, e := range events {
		switch d := e.Data.(type) {
		case core.AnswerInvalid:
			got = append(got, "invalid "+d.Responder)
		case core.AdviceGiven:
			got = append(got, "advice for "+d.QuestionID)
		case core.MessageRefused:
			got = append(got, "refused "+d.Reason[:8])
		}
	}
	if want := []string{"invalid assistant", "refused What you", "invalid assistant", "refused What you", "advice for max_iterations-144"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s := looptest.Replay(t, events)
	if q := s.Question; q == nil || q.Advice == nil || !strings.Contains(q.Advice.Text, "recommended rejecting this: “stuck”") {
		t.Errorf("the question that waits has no advice: %+v", q)
	}
	if !strings.Contains(s.Guidance, "was not taken: 64 signals") {
		t.Errorf("the next iteration is not told: %q", s.Guidance)
	}
	var read core.State
	for _, e := range events {
		if err := read.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := looptest.Encode(t, &read), looptest.Encode(t, s); !bytes.Equal(a, b) {
		t.Errorf("written again they give another state:\n%s\n%s", a, b)
	}
}

// It goes on where it stood: nothing but a person's answer gets past the advice.
func TestFirstEditionGoesOn(t *testing.T) {
	for by, want := range map[string]core.Status{core.RespondedByPolicy: core.StatusTripped, core.RespondedByUser: core.StatusDone} {
		answer := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			return core.Answer{Option: "continue", Responder: by, Person: by == core.RespondedByUser}, nil
		})
		l := &engine.Loop{
			Guards: guards.Default(), Questions: looptest.Asks{}, Responders: []core.Responder{answer},
			Runner: &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone}}},
		}
		if err := l.Resume(*looptest.Replay(t, firstEdition(t)), core.RunResumed{}); err != nil {
			t.Fatal(err)
		}
		if res, err := l.Run(t.Context()); err != nil || res.Status != want {
			t.Errorf("answered by %s: %+v, %v, want %s", by, res, err, want)
		}
	}
}

// TestHeaderIsReadAsJSON: the quick reading of a header reads what JSON says, and nothing
// that is no JSON or is written in another way.
func TestHeaderIsReadAsJSON(t *testing.T) {
	whole := `{"seq":7,"time":"2026-01-02T03:04:05.678Z","type":"iteration.started","elapsed_ms":9,"iteration":3}`
	for _, text := range []string{
		whole,
		strings.Replace(whole, `,"iteration":3`, "", 1),
		strings.Replace(whole, `,"iteration":3`, ",", 1),
		strings.Replace(whole, `9,"iteration"`, `9"iteration"`, 1),
		strings.Replace(whole, `9,`, `9, `, 1),
		strings.Replace(whole, `9,`, `9,,`, 1),
		strings.Replace(whole, `9`, `-9`, 1),
		strings.Replace(whole, `9`, `09`, 1),
		strings.Replace(whole, `9`, `+9`, 1),
		strings.Replace(whole, `9`, `9.0`, 1),
		strings.Replace(whole, `"seq":7`, `"seq":07`, 1),
		strings.Replace(whole, `"seq":7`, `"seq":99999999999999999999`, 1),
		strings.Replace(whole, `"seq":7`, `"seq":"7"`, 1),
		strings.Replace(whole, `"seq":7`, `"seq": 7`, 1),
		strings.Replace(whole, `started`, `st\u0061rted`, 1),
		strings.Replace(whole, `started`, "st\x01rted", 1),
		strings.Replace(whole, `iteration.started`, `moon.landed`, 1),
		strings.Replace(whole, `678Z`, `678+02:00`, 1),
		strings.Replace(whole, `T03`, ` 03`, 1),
		strings.Replace(whole, `"seq":7,`, ``, 1),
		whole[:len(whole)-1], whole + "}", whole + " ", "", "{", "{}", `{"seq":`, `{"seq":7,"time":"`,
	} {
		var read, plain core.Event
		err := read.UnmarshalJSON([]byte(text))
		perr := plain.UnmarshalJSON([]byte(" " + text)) // a blank: not as it is written
		if (err == nil) != (perr == nil) || err == nil && !reflect.DeepEqual(read, plain) {
			t.Errorf("%s: %+v, %v; as JSON %+v, %v", text, read, err, plain, perr)
		}
	}
}
