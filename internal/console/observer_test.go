package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun"
)

// While a limit is waited out a person sees how long it still takes: each minute,
// and in the last one each time.
func TestCountDown(t *testing.T) {
	var out bytes.Buffer
	m := &Observer{Messages: Messages{W: &out}}
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	until := begin.Add(150 * time.Second)
	s := &looprun.State{Until: &until}
	m.Observe(looprun.Event{Time: begin, Data: looprun.WaitStarted{Match: "limit reached", Until: until}}, s)
	for after := 10 * time.Second; after <= 160*time.Second; after += 10 * time.Second {
		m.Observe(looprun.Event{Time: begin.Add(after), Data: looprun.RunAlive{}}, s)
	}
	m.Observe(looprun.Event{Time: until, Data: looprun.WaitFinished{}}, s)
	m.Observe(looprun.Event{Time: until, Data: looprun.RunAlive{}}, &looprun.State{})
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		lines = append(lines, strings.TrimPrefix(line, "looprun: "))
	}
	want := "waiting: 2m20s left, waiting: 1m20s left, waiting: 1m0s left, waiting: 50s left, waiting: 40s left, waiting: 30s left, waiting: 20s left, waiting: 10s left, the wait is over"
	if got := strings.Join(lines, ", "); got != want {
		t.Errorf("said %s", got)
	}
}

// What an iteration warns of is said once, with -q too.
func TestWarningsOfIterations(t *testing.T) {
	var out strings.Builder
	m := &Observer{Messages: Messages{W: &out, Flags: Flags{Quiet: true}}}
	for n := range 3 {
		d := looprun.IterationFinished{Iteration: n, Outcome: looprun.OutcomeDone, Warnings: []string{"something is left"}}
		m.Observe(looprun.Event{Data: d}, &looprun.State{})
	}
	if want := "looprun: warning: something is left\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}

// In JSON a message is an object on one line, whatever is in it.
func TestMessagesAsJSON(t *testing.T) {
	var out bytes.Buffer
	m := &Observer{Messages: Messages{W: &out, Colour: true, Flags: Flags{LogFormat: "json", Verbose: true}}}
	m.Warn("one\ntwo \x1b[31m\"red\"")
	m.Observe(looprun.Event{Data: looprun.RunStarted{RunID: "r", Dir: "/d"}}, &looprun.State{RunID: "r"})
	m.Problem(errors.New("wrong"))
	m.Summarize(&looprun.State{RunID: "r", Iterations: 2}, looprun.Result{RunID: "r", Iterations: 2, Ending: looprun.Ending{Status: looprun.StatusTripped, Guard: looprun.LoopDetected}}, 111, "")
	var got []string
	for line := range strings.Lines(out.String()) {
		var o struct {
			Time                  time.Time
			Level, Message, Event string
			Run                   string `json:"run_id"`
			Fields                struct{ Status, Guard string }
			ExitCode              int
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Time.IsZero() {
			t.Fatalf("%q: %v", line, err)
		}
		got = append(got, strings.Join([]string{o.Level, o.Message, o.Event, o.Run, o.Fields.Status, o.Fields.Guard}, "|"))
	}
	want := []string{
		"warning|one\ntwo \"red\"||||",
		"debug|run r in /d|run.started|r||",
		"error|wrong||r||",
		"warning|tripped (loop_detected) after 2 iterations, 0s; exit 111; next: looprun explain r||r|tripped|loop_detected",
	}
	if strings.Join(got, "\n\n") != strings.Join(want, "\n\n") {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
