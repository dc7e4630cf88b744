package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// While a limit is waited out a person sees how long it still takes: each minute,
// and in the last one each time.
func TestCountDown(t *testing.T) {
	var out bytes.Buffer
	m := &Observer{Messages: Messages{W: &out}}
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	until := begin.Add(150 * time.Second)
	s := &core.State{Until: &until}
	m.Observe(core.Event{Time: begin, Data: core.WaitStarted{Match: "limit reached", Until: until}}, s)
	for after := 10 * time.Second; after <= 160*time.Second; after += 10 * time.Second {
		m.Observe(core.Event{Time: begin.Add(after), Data: core.RunAlive{}}, s)
	}
	m.Observe(core.Event{Time: until, Data: core.WaitFinished{}}, s)
	m.Observe(core.Event{Time: until, Data: core.RunAlive{}}, &core.State{})
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		lines = append(lines, strings.TrimPrefix(line, "looprun: "))
	}
	want := "waiting: 2m20s left, waiting: 1m20s left, waiting: 1m left, waiting: 50s left, waiting: 40s left, waiting: 30s left, waiting: 20s left, waiting: 10s left, continuing after the wait"
	if got := strings.Join(lines, ", "); got != want {
		t.Errorf("said %s", got)
	}
}

// What an iteration warns of is said once, with -q too.
func TestWarningsOfIterations(t *testing.T) {
	var out strings.Builder
	m := &Observer{Messages: Messages{W: &out, Flags: Flags{Quiet: true}}}
	for n := range 3 {
		d := core.IterationFinished{Iteration: n, Outcome: core.OutcomeDone, Warnings: []string{"something is left"}}
		m.Observe(core.Event{Data: d}, &core.State{})
	}
	if want := "looprun: warning: something is left\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}

// A command that looks for a terminal is noticed, and what to do about it is said once.
func TestATerminalForTheCommand(t *testing.T) {
	var out strings.Builder
	m := &Observer{Messages: Messages{W: &out}}
	for n := range 3 {
		d := core.IterationFinished{Iteration: n + 1, Outcome: core.OutcomeNotDone, Excerpt: "sh: 1: cannot open /dev/tty: No such device or address"}
		m.Observe(core.Event{Data: d}, &core.State{})
	}
	if got := strings.Count(out.String(), "-i gives it"); got != 1 {
		t.Errorf("it says so %d times:\n%s", got, out.String())
	}
}

// In JSON a message is an object on one line, whatever is in it.
func TestMessagesAsJSON(t *testing.T) {
	var out bytes.Buffer
	m := &Observer{Messages: Messages{W: &out, Colour: true, Flags: Flags{LogFormat: "json", Verbose: true}}}
	m.Warn("one\ntwo \x1b[31m\"red\"")
	m.Observe(core.Event{Data: core.RunStarted{RunID: "r", Dir: "/d"}}, &core.State{RunID: "r"})
	m.Problem(errors.New("wrong"))
	m.Summarize(&core.State{RunID: "r", Iterations: 2}, core.Result{RunID: "r", Iterations: 2, Ending: core.Ending{Status: core.StatusTripped, Guard: core.LoopDetected}}, 111, "")
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

// To a person the end of a run is one line, and what to do next.
func TestClosing(t *testing.T) {
	failing := func(n int) *core.IterationFinished {
		return &core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone, Signature: signature.Signature{Hash: 1, Kind: signature.KindTestFail, Passed: -1, Total: -1, Failing: n, Checks: []string{"TestLogin"}}}
	}
	moved := core.State{Command: []string{"./fix.sh"}, History: []core.IterationFinished{*failing(21)}, Last: failing(4), Limits: core.Limits{Iterations: 10, Runtime: time.Hour}}
	asks := core.State{Question: &core.Question{Text: "The same failure 3 times in a row"}}
	asked := core.State{Asked: []core.Asked{
		{Question: core.Question{From: core.FromCommand, Text: "Deploy?"}}, {Question: core.Question{From: core.FromCommand, Text: "Delete?"}},
	}}
	for _, c := range []struct {
		s    core.State
		r    core.Result
		code int
		want string
	}{
		{moved, core.Result{Ending: core.Ending{Status: core.StatusDone}, Iterations: 3, Runtime: 41 * time.Second}, 0, "done after 3 iterations in 41s"},
		{moved, core.Result{Ending: core.Ending{Status: core.StatusDone}}, 0, "done: it passes already, and ./fix.sh was not run"},
		{asks, core.Result{Ending: core.Ending{Status: core.StatusPaused}, Pending: true}, 102, "paused, it asks: looprun answer r (The same failure 3 times in a row)"},
		{asked, core.Result{Ending: core.Ending{Status: core.StatusPaused}, Pending: true}, 102, "paused, 2 questions wait: looprun answer r (“Deploy?”)"},
		{asks, core.Result{Ending: core.Ending{Status: core.StatusInterrupted}, Pending: true}, 130, "interrupted, it asks: looprun answer r (The same failure 3 times in a row)"},
		{moved, core.Result{Ending: core.Ending{Status: core.StatusInterrupted}, Iterations: 1, Runtime: time.Second}, 130, "interrupted after 1 iteration in 1s; continue: looprun resume r"},
		{
			moved,
			core.Result{Ending: core.Ending{Status: core.StatusTripped, Guard: core.MaxIterations}, Iterations: 10, Runtime: time.Minute},
			110,
			"stopped after 10 iterations in 1m: 4 tests failing: TestLogin (21 at first); exit 110\ncontinue: looprun resume r --max-iterations 20\nwhy: looprun explain r",
		},
		{
			moved,
			core.Result{Ending: core.Ending{Status: core.StatusCancelled}, Iterations: 10, Runtime: time.Minute},
			101,
			"cancelled after 10 iterations in 1m: 4 tests failing: TestLogin (21 at first); exit 101\nreopen: looprun resume r --reopen",
		},
		{asks, core.Result{Ending: core.Ending{Status: core.StatusRejected}, Iterations: 1}, 103, "rejected after 1 iteration in 0s; exit 103\nwhy: looprun explain r"},
	} {
		var out bytes.Buffer
		m := &Observer{Messages: Messages{W: &out, Person: true}}
		c.r.RunID = "r"
		m.Summarize(&c.s, c.r, c.code, "page")
		if got, want := out.String(), "looprun: "+strings.ReplaceAll(c.want, "\n", "\nlooprun: ")+"\n"; got != want {
			t.Errorf("it says\n%swant\n%s", got, want)
		}
	}
}

// A command that waits for something is spoken of when something changes.
func TestPolling(t *testing.T) {
	var out bytes.Buffer
	m := &Observer{Messages: Messages{W: &out}, Polls: true}
	for n, says := range []string{"refused", "refused", "refused", "starting", "starting"} {
		m.Observe(core.Event{Data: core.IterationStarted{Iteration: n + 1}}, &core.State{})
		d := core.IterationFinished{Iteration: n + 1, Outcome: core.OutcomeNotDone, ExitCode: 1, OutputBytes: 1, Excerpt: says}
		m.Observe(core.Event{Data: d}, &core.State{})
	}
	want := "looprun: iteration 1\nlooprun: iteration 1: not done after <1ms: “refused”\nlooprun: iteration 4: not done after <1ms: “starting”\n"
	if out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}

// The first Ctrl-C says for how long the command is waited for.
func TestInterruptSaysWhatItWaitsFor(t *testing.T) {
	for _, c := range []struct {
		person, running bool
		want            string
	}{
		{true, true, "SIGINT received; the command has 10s to end, and Ctrl-C again kills it"},
		{false, true, "SIGINT received; the command has 10s to end"},
		{true, false, "SIGINT received; ending"},
	} {
		var out bytes.Buffer
		m := &Observer{Messages: Messages{W: &out, Person: c.person}, Grace: 10 * time.Second}
		m.Observe(core.Event{Data: core.InterruptReceived{Signal: "SIGINT"}}, &core.State{Running: c.running})
		if out.String() != "looprun: "+c.want+"\n" {
			t.Errorf("it says %q, want %q", out.String(), c.want)
		}
	}
}

// A person who watches sees an answer that was given elsewhere by its label and with its words.
func TestAnswersFromElsewhere(t *testing.T) {
	s := &core.State{Question: &core.Question{ID: "q", Options: []core.Option{{ID: "new_approach", Label: "Try different approach"}}}}
	for _, c := range []struct {
		person bool
		want   string
	}{
		{true, "looprun: answered by user: Try different approach: “Use sha256.”: as before\n"},
		{false, "looprun: answered by user: new_approach: as before\n"},
	} {
		var out strings.Builder
		m := &Observer{Messages: Messages{W: &out, Person: c.person}}
		m.Observe(core.Event{Data: core.QuestionAnswered{QuestionID: "q", Answer: core.Answer{Option: "new_approach", Guidance: "Use sha256.", Responder: "user", Reason: "as before"}}}, s)
		if out.String() != c.want {
			t.Errorf("person %t: it says %q, want %q", c.person, out.String(), c.want)
		}
	}
}
