package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/signature"
)

// The objects of an agent's transcript.
const (
	began      = `{"type":"system","subtype":"init","session_id":"s"}` + "\n"
	ended      = `{"type":"result","subtype":"success","is_error":false,"session_id":"s"}` + "\n"
	endedBadly = `{"type":"result","subtype":"success","is_error":true,"result":"no credit","session_id":"s"}` + "\n"
)

func says(text string) string {
	return fmt.Sprintf(`{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":%q}]},"uuid":"u"}`+"\n", text)
}

func calls(input, output string, failed bool) string {
	return fmt.Sprintf(`{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":%q}}]},"uuid":"u"}
{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%q,"is_error":%t}]},"uuid":"u"}
`, input, output, failed)
}

// prints returns a step that prints and exits.
func prints(out, errs string, code int) engine.Step {
	return part(func(_ context.Context, in engine.Invocation) engine.Exit {
		in.Stdout([]byte(out))
		in.Stderr([]byte(errs))
		return engine.Exit{Code: code}
	})
}

// An agent's turn that failed or has no end is never done where the work judges. A check's
// word counts, but its own transcript has to end well too.
func TestTheEndOfATurnCounts(t *testing.T) {
	turn := began + says("x") + ended
	for _, c := range []struct {
		name       string
		work       engine.Step
		check      engine.Step
		judgesTurn bool
		want       core.Outcome
		detail     string
		label      string
	}{
		{name: "it ended", work: prints(turn, "", 0), want: done, label: "pass"},
		{name: "it has no end", work: prints(began+says("x"), "", 0), want: failed, detail: "the turn of claude was cut off: its transcript has no end"},
		{name: "it has no end on standard error", work: prints("", began+says("x"), 0), want: failed, detail: "the turn of claude was cut off: its transcript has no end"},
		{name: "it failed", work: prints(began+endedBadly, "", 0), want: failed, label: "error:no credit"},
		{name: "the second ended, the first failed", work: prints(began+endedBadly+turn, "", 0), want: failed, detail: "a turn of claude failed: no credit"},
		{name: "the second ended, the first has no end", work: prints(began+turn, "", 0), want: failed, detail: "the turn of claude was cut off: its transcript has no end"},
		{name: "another agent's ended after it", work: prints(began+"{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n{\"type\":\"turn.completed\"}\n", "", 0), want: failed, detail: "the turn of claude was cut off: its transcript has no end"},
		{name: "the second has no end", work: prints(turn+began, "", 0), want: failed, detail: "the turn of claude was cut off: its transcript has no end"},
		{name: "it judges and ended", work: prints(turn, "", 0), judgesTurn: true, want: done, label: "pass"},
		{name: "it judges and there is none", work: prints("hello\n", "", 0), judgesTurn: true, want: failed, detail: "no turn ended: the agent's output was not understood"},
		{name: "it judges and a second began", work: prints(turn+began, "", 0), judgesTurn: true, want: failed},
		{name: "there is none, and nobody asks", work: prints("hello\n", "", 0), want: done, label: "pass"},
		{name: "it has no end, and the check passes", work: prints(began, "", 0), check: prints("", "", 0), want: done, detail: "the turn of claude was cut off: its transcript has no end", label: "pass"},
		{name: "it has no end, and the check fails", work: prints(began, "", 0), check: prints("", "", 1), want: notDone, detail: "the turn of claude was cut off: its transcript has no end"},
		{name: "it has no end and exits with 1, and the check fails", work: prints(began, "", 1), check: prints("", "", 1), want: failed, detail: "the turn of claude was cut off: its transcript has no end"},
		{name: "it failed, and the check passes", work: prints(began+endedBadly, "", 0), check: prints("", "", 0), want: done, label: "pass"},
		{name: "it failed, and the check fails", work: prints(began+endedBadly, "", 0), check: prints("", "", 1), want: failed, label: "error:no credit"},
		{name: "the check's has no end", work: prints("", "", 0), check: prints(began, "", 0), want: failed, detail: "the turn of claude was cut off: its transcript has no end"},
		{name: "the check's failed", work: prints("", "", 0), check: prints(began+endedBadly, "", 0), want: failed, label: "error:no credit"},
		{name: "the check's ended", work: prints("", "", 0), check: prints(turn, "", 0), want: done, label: "pass"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &engine.Executor{Work: c.work, Check: c.check, Judge: new(engine.DefaultJudge())}
			x.Judge.Turn = c.judgesTurn
			d, err := x.Run(t.Context(), core.Iteration{Number: 1})
			if err != nil || d.Outcome != c.want || c.detail != "" && d.Detail != c.detail || c.label != "" && d.Signature.Label != c.label {
				t.Errorf("got %s, %q, %q, %v; want %s, %q, %q", d.Outcome, d.Detail, d.Signature.Label, err, c.want, c.detail, c.label)
			}
			if (d.WorkExitCode != nil) != (c.check != nil) || (d.Printed.Hash != 0) != (c.want == done) {
				t.Errorf("the work's exit code is %v, what it printed %+v", d.WorkExitCode, d.Printed)
			}
		})
	}
}

// Of an agent only the last message of the last turn can make the promise, and of several in
// one command each has to make it.
func TestThePromiseInATranscript(t *testing.T) {
	eventually.Ends(t)
	const (
		late  = "promised before the last message: not counted; say it last"
		early = "promised in line 1, and more was printed after it: not counted; print it last"
	)
	for _, c := range []struct {
		name, out, errs string
		anywhere        bool
		want            bool
		why             string
	}{
		{name: "said last", out: began + says("x") + says("DONE") + ended, want: true},
		{name: "said before", out: began + says("DONE") + says("no") + ended, why: late},
		{name: "said before, in one message", out: began + says("DONE\nno") + ended, why: early},
		{name: "never said", out: began + says("no") + ended},
		{name: "before a call", out: began + says("DONE") + calls("ls", "x", false) + ended, want: true},
		{name: "before a call that failed", out: began + says("DONE") + calls("ls", "x", true) + calls("ls", "x", false) + ended, why: "promise before a failed call: not counted; make the promise last"},
		{name: "after a call that failed", out: began + calls("ls", "x", true) + says("DONE") + ended, want: true},
		{name: "not said, and a call failed", out: began + says("no") + calls("ls", "x", true) + ended},
		{name: "in the turn before", out: began + says("DONE") + ended + began + says("no") + ended, why: late},
		{name: "in the turn before one without a word", out: began + says("DONE") + ended + began + ended, why: late},
		{name: "in the turn before one of which only the end is shown", out: says("DONE") + ended + ended, why: late},
		{name: "said before and in a block of code", out: began + says("DONE") + says("```\nDONE\n```") + ended, why: "promised in line 2, in a block of code: not counted; print it by itself"},
		{name: "twice by the first of two agents", out: began + says("DONE") + says("DONE") + ended, errs: began + says("no") + ended},
		{name: "in the last turn", out: says("no") + ended + says("DONE") + ended, want: true},
		{name: "printed around the transcript", out: "DONE\n" + began + says("no") + ended + "DONE\n"},
		{name: "by both of two agents", out: began + says("DONE") + ended, errs: began + says("DONE") + ended, want: true},
		{name: "by the first of two", out: began + says("DONE") + ended, errs: began + says("no") + ended},
		{name: "by the second of two", out: began + says("no") + ended, errs: began + says("DONE") + ended},
		{name: "by the command, not by its agent", out: "DONE\n", errs: began + says("no") + ended},
		{name: "by the agent, not by the command", out: began + says("DONE") + ended, errs: "no\n", want: true},
		{name: "by the agent on standard error", out: "no\n", errs: began + says("DONE") + ended, want: true},
		{name: "on standard error", out: "no\n", errs: "DONE\n", why: "promise on standard error: not counted; print it on standard output"},
		{name: "on both", out: "DONE\n", errs: "DONE\n", want: true},
		{name: "anywhere on standard error", out: "no\n", errs: "so DONE it is\n", anywhere: true, want: true},
		{name: "in tags before tags", out: "<promise>DONE</promise>\n</answer> <a>\n", want: true},
		{name: "in tags before a word", out: "<promise>DONE</promise>\n</answer> x\n", why: early},
		{name: "in tags before half a tag", out: "<promise>DONE</promise>\n<answer <a>\n", why: early},
		{name: "in tags before an empty tag", out: "<promise>DONE</promise>\n<>\n", why: early},
		{name: "in tags before a word and a tag", out: "<promise>DONE</promise>\nx</answer>\n", why: early},
		{name: "in tags before half a tag's end", out: "<promise>DONE</promise>\nxx>\n", why: early},
		{name: "in half of its tags", out: "DONE</promise>\n"},
		{name: "between two decorations", out: "*DONE_\n"},
		{name: "alone before tags", out: "DONE\n</answer>\n", why: early},
		{name: "before a line of looprun's", out: "DONE\nlooprun: nested: done\n", want: true},
		{name: "within a line of looprun's", out: "looprun: nested: it has to say DONE\n"},
		{name: "in the middle of a block of code", out: "```\nDONE\n\nx\n```\n", why: "promised in line 2, in a block of code: not counted; print it by itself"},
		{name: "in a block of code", out: "```\nDONE\n```\n", why: "promised in line 2, in a block of code: not counted; print it by itself"},
		{name: "in and after a block of code", out: "```\nDONE\n```\nDONE\n", want: true},
		{name: "between letters that are no decoration", out: "xDONEx\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &engine.Executor{Work: prints(c.out, c.errs, 0), Judge: new(engine.DefaultJudge()), Promise: "DONE", PromiseAnywhere: c.anywhere}
			x.Judge.Promise = true
			for n := 1; n <= 2; n++ { // nothing is left of the first
				d, err := x.Run(t.Context(), core.Iteration{Number: n})
				if err != nil || d.Promised != c.want || (d.Outcome == done) != c.want || d.Detail != c.why {
					t.Errorf("iteration %d: promised %t, %s, %q, %v; want %t, %q", n, d.Promised, d.Outcome, d.Detail, err, c.want, c.why)
				}
			}
			if c.errs != "" { // only one stream is recorded
				return
			}
			if made, err := engine.Promised(strings.NewReader(c.out), "DONE", c.anywhere); made != c.want || err != nil {
				t.Errorf("recorded: %t, %v", made, err)
			}
		})
	}
}

// A decoration without an end is none, and the promise is not found beyond it.
func TestAPromiseOfDecorations(t *testing.T) {
	if made, err := engine.Promised(strings.NewReader("***\n"), "*a", false); made || err != nil {
		t.Errorf("%t, %v", made, err)
	}
	if made, err := engine.Promised(strings.NewReader("<promise><a></promise>\nx\n<promise><a></promise>\n"), "<a>", false); !made || err != nil {
		t.Errorf("a tag as the promise: %t, %v", made, err)
	}
}

// A recorded output that cannot be read to its end makes no promise.
func TestAPromiseOfHalfAnOutput(t *testing.T) {
	if made, err := engine.Promised(io.MultiReader(strings.NewReader("DONE\n"), iotest.ErrReader(io.ErrUnexpectedEOF)), "DONE", false); made || err == nil {
		t.Errorf("%t, %v", made, err)
	}
}

// A signal makes the promise unless the work fails after it, or the promise means nothing.
func TestASignalIsAPromiseUntilTheWorkFails(t *testing.T) {
	for _, c := range []struct {
		name      string
		exit      engine.Exit
		out       string
		unwanted  bool
		elsewhere bool // not through the executor
		want      bool
	}{
		{name: "it passes", exit: engine.Exit{}, want: true},
		{name: "in another way", exit: engine.Exit{}, elsewhere: true, want: true},
		{name: "nothing waits for it", exit: engine.Exit{}, unwanted: true},
		{name: "nothing waits for it in another way", exit: engine.Exit{}, unwanted: true, elsewhere: true},
		{name: "it fails", exit: engine.Exit{Code: 1}},
		{name: "it is killed", exit: engine.Exit{Signal: 9}},
		{name: "it crashes", exit: engine.Exit{Cause: core.CauseCrash}},
		{name: "it has another code that is done", exit: engine.Exit{Code: 3}, want: true},
		{name: "it runs out of time", exit: engine.Exit{Code: 143, Signal: 15, Cause: core.CauseIdleTimeout}, want: true},
		{name: "it runs out of the run's time", exit: engine.Exit{Cause: core.CauseMaxRuntime}},
		{name: "its agent fails", out: began + endedBadly},
		{name: "its agent fails and runs out of time", out: began + endedBadly, exit: engine.Exit{Cause: core.CauseIdleTimeout}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &engine.Executor{Judge: new(engine.DefaultJudge())}
			x.Judge.Done, _ = engine.ParseCodes("0,3")
			x.Judge.Promise = !c.unwanted
			if c.elsewhere {
				x.AlsoPromised = func() bool { return true }
			}
			x.Work = part(func(_ context.Context, in engine.Invocation) engine.Exit {
				if !c.elsewhere && x.MakePromise() == c.unwanted {
					t.Errorf("MakePromise reports %t", !c.unwanted)
				}
				in.Stdout([]byte(c.out))
				return c.exit
			})
			d, err := x.Run(t.Context(), core.Iteration{Number: 1})
			if err != nil || d.Promised != c.want {
				t.Errorf("promised %t, %v: %+v", d.Promised, err, d)
			}
			x.AlsoPromised, x.Work = func() bool { return false }, prints("", "", 0)
			if d, err := x.Run(t.Context(), core.Iteration{Number: 2}); err != nil || d.Promised {
				t.Errorf("the next iteration promised too: %v", err)
			}
		})
	}
}

// A promise that the work made before its own time ended is done; the limit decided nothing.
func TestAPromiseOutlastsATimeLimit(t *testing.T) {
	x := &engine.Executor{Judge: new(engine.DefaultJudge()), Promise: "DONE"}
	x.Judge.Promise = true
	x.Work = part(func(_ context.Context, in engine.Invocation) engine.Exit {
		in.Stdout([]byte("DONE\n"))
		return engine.Exit{Code: 143, Signal: 15, Cause: core.CauseIdleTimeout, Detail: "quiet"}
	})
	d, err := x.Run(t.Context(), core.Iteration{Number: 1})
	if err != nil || d.Outcome != done || d.Cause != core.CauseExited || strings.HasPrefix(d.Signature.Label, "error:") || d.WorkCause != core.CauseIdleTimeout {
		t.Errorf("%+v, %v", d.IterationFinished, err)
	}
}

// The check of a precheck judges alone: there is no work to look at.
func TestAPrecheckIsJudgedByItsCheck(t *testing.T) {
	no := func(context.Context, engine.Invocation) engine.Exit {
		t.Error("the work ran")
		return engine.Exit{}
	}
	for _, c := range []struct {
		name  string
		check engine.Step
		want  core.Outcome
		fatal int
	}{
		{"it passes", prints("", "", 0), done, 0},
		{"it fails", prints("stop", "", 1), notDone, 0},
		{"its function fails", engine.Func(func(context.Context, engine.Invocation) error { return errors.New("no") }), notDone, 0},
		{"it cannot be run", prints("", "", 127), failed, 127},
	} {
		reads := 0
		x := &engine.Executor{
			Work: part(no), Check: c.check, Agent: "claude",
			Heard:   func(core.Iteration, *core.IterationResult) { t.Errorf("%s: the work was heard", c.name) },
			Reports: func(s *signature.Signer, _ time.Time) { reads++ },
			StopOn:  finds{text: "stop"}, WaitOn: finds{text: "wait"}, Outages: finds{text: "stop"},
		}
		d, err := x.Run(t.Context(), core.Iteration{First: true})
		if err != nil || d.Outcome != c.want || d.Fatal != c.fatal || d.WorkExitCode != nil || len(d.Warnings) > 0 || d.Transcript || reads != 1 || d.Outage != "" {
			t.Errorf("%s: %+v, %v", c.name, d.IterationFinished, err)
		}
	}
}

// finds matches a text, and names a moment for it.
type finds struct {
	text  string
	until time.Time
}

func (f finds) Match(end []byte, _ bool) (string, time.Time, bool) {
	if !bytes.Contains(end, []byte(f.text)) {
		return "", time.Time{}, false
	}
	return f.text, f.until, true
}

// The output ends the run or lets it wait only where the iteration is not done and looprun
// has not ended the work, and an outage is only what a coding agent that failed reports.
func TestWhatTheOutputAsksFor(t *testing.T) {
	const (
		retry = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"retry_delay_ms":560,"error_status":529,"error":"overloaded","session_id":"s","uuid":"u"}` + "\n"
		down  = "529 overloaded"
	)
	at := time.Unix(2_000_000_000, 0)
	cut := func(out string, c core.Cause) engine.Step {
		return part(func(_ context.Context, in engine.Invocation) engine.Exit {
			in.Stdout([]byte(out))
			return engine.Exit{Code: 143, Signal: 15, Cause: c}
		})
	}
	for _, c := range []struct {
		name        string
		work, check engine.Step
		first       bool
		until       time.Time
		want        core.Outcome
		fatal       int
		outage      string
	}{
		{name: "stop", work: prints("stop", "", 1), want: notDone, fatal: core.ExitFailed},
		{name: "stop of a check", work: prints("", "", 0), check: prints("", "stop", 1), want: notDone, fatal: core.ExitFailed},
		{name: "stop, and done", work: prints("stop", "", 0), want: done},
		{name: "stop before wait", work: prints("stop wait", "", 1), want: notDone, fatal: core.ExitFailed},
		{name: "stop of what cannot be run", work: prints("stop", "", 127), first: true, want: failed, fatal: 127},
		{name: "stop of what was interrupted", work: cut("stop", core.CauseInterrupt), want: interrupted},
		{name: "stop of what ran out of the run's time", work: cut("stop", core.CauseMaxRuntime), want: failed},
		{name: "stop of what ran out of time", work: cut("stop", core.CauseIdleTimeout), want: failed, fatal: core.ExitFailed},
		{name: "wait", work: prints("wait", "", 1), want: core.OutcomeWaiting},
		{name: "wait until", work: prints("wait", "", 1), until: at, want: core.OutcomeWaiting},
		{name: "wait, and done", work: prints("wait", "", 0), want: done},
		{name: "wait of what ran out of time", work: cut("wait", core.CauseIdleTimeout), want: failed},
		{name: "wait of what cannot be run", work: prints("wait", "", 127), first: true, want: failed, fatal: 127},
		{name: "an outage on standard error", work: prints("", down, 1), want: notDone, outage: down},
		{name: "an outage on standard output", work: prints(down, "", 1), want: notDone},
		{name: "an outage that the work outlived", work: prints("", down, 0), check: prints("", "", 1), want: notDone},
		{name: "an outage beside a turn that failed of something else", work: prints(began+endedBadly, down, 0), want: failed},
		{name: "an outage that the transcript tells", work: prints(began+retry, "no credit", 0), want: failed, outage: down},
		{name: "an outage that the turn outlived", work: prints(began+retry+says("x"), "no credit", 1), want: failed},
		{name: "an outage that a call outlived", work: prints(began+retry+calls("ls", "x", false), "no credit", 1), want: failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &engine.Executor{Work: c.work, Check: c.check, StopOn: finds{text: "stop"}, WaitOn: finds{text: "wait", until: c.until}, Outages: finds{text: down}}
			d, err := x.Run(t.Context(), core.Iteration{Number: 1, First: c.first})
			if err != nil || d.Outcome != c.want || d.Fatal != c.fatal || d.Outage != c.outage {
				t.Errorf("%s, fatal %d, outage %q, %v; want %s, %d, %q", d.Outcome, d.Fatal, d.Outage, err, c.want, c.fatal, c.outage)
			}
			if waits := d.Until != nil; waits != !c.until.IsZero() || waits && !d.Until.Equal(c.until) {
				t.Errorf("until %v", d.Until)
			}
		})
	}
}

// A check that failed can run once more if the work tree is known and is as it was, nothing cut
// it off, and no agent judged.
func TestWhichChecksCanRunOnceMore(t *testing.T) {
	for _, c := range []struct {
		name   string
		may    bool
		trees  []signature.Hash // nil: nobody looks
		check  engine.Step
		checks int
	}{
		{"after an agent's turn", true, []signature.Hash{7, 7, 7}, prints("x", "", 1), 1},
		{"after an agent's turn, and no guard can trip", false, []signature.Hash{7, 7, 7}, prints("x", "", 1), 0},
		{"one", true, []signature.Hash{7, 7}, prints("x", "", 1), 1},
		{"no guard can trip", false, []signature.Hash{7, 7}, prints("x", "", 1), 0},
		{"nobody looks at the tree", true, nil, prints("x", "", 1), 0},
		{"the tree is not known", true, []signature.Hash{0, 0}, prints("x", "", 1), 0},
		{"it changes the tree", true, []signature.Hash{7, 8}, prints("x", "", 1), 0},
		{"an agent judges", true, []signature.Hash{7, 7}, prints(began+says("x")+ended, "", 1), 0},
		{"it was cut off", true, []signature.Hash{7, 7}, part(func(context.Context, engine.Invocation) engine.Exit { return engine.Exit{Cause: core.CauseIdleTimeout} }), 0},
	} {
		x := &engine.Executor{Work: prints("", "", 0), Check: c.check}
		if c.trees != nil {
			if len(c.trees) > 2 {
				x.Agent = "claude"
			}
			x.Tree = func() signature.Hash { next := c.trees[0]; c.trees = c.trees[1:]; return next }
		}
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1, MayTrip: c.may}); err != nil || (d.Check != nil) != (c.checks == 1) {
			t.Errorf("%s: %+v, %v", c.name, d.Check, err)
		}
	}
}

// A check that runs once more has to pass as often as done requires, twice at least, and
// shows nothing.
func TestACheckRunsOnceMore(t *testing.T) {
	for _, c := range []struct {
		passes int
		codes  string // of the runs of the check
		want   core.Outcome
		passed int
	}{
		{0, "00", done, 2},
		{3, "000", done, 3},
		{3, "001", notDone, 2},
		{0, "1", notDone, 0},
		{0, "01", notDone, 1},
	} {
		var shown bytes.Buffer
		runs, reads := 0, 0
		x := &engine.Executor{Passes: c.passes, Stdout: &shown, Reports: func(*signature.Signer, time.Time) { reads++ }}
		x.Check = part(func(_ context.Context, in engine.Invocation) engine.Exit {
			in.Stdout([]byte("x"))
			runs++
			return engine.Exit{Code: int(c.codes[runs-1] - '0')}
		})
		d, passed, err := x.Confirm(t.Context(), core.Iteration{Number: 1, Last: new(core.IterationFinished)})
		if err != nil || d.Outcome != c.want || passed != c.passed || runs != len(c.codes) || shown.Len() > 0 || reads != 1 || x.Stdout == nil {
			t.Errorf("%+v: %s, %d passes of %d, %q shown, %d reports, %v", c, d.Outcome, passed, runs, shown.String(), reads, err)
		}
	}
}

// A protected file is looked at only after a pass.
func TestProtectedFilesOfAPass(t *testing.T) {
	for code, want := range []int{1, 0} {
		looks := 0
		x := &engine.Executor{Work: prints("", "", code), Changed: func() ([]string, string) { looks++; return []string{"a_test.go"}, "diff" }}
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || looks != want || len(d.Changed) != want || (d.Diff == "diff") != (want == 1) {
			t.Errorf("exit %d: %d looks, %q, %q, %v", code, looks, d.Changed, d.Diff, err)
		}
	}
}

// An agent whose transcript is not understood is reported; what printed nothing, what was cut
// off, and what has a transcript are not.
func TestAnAgentThatIsNotUnderstood(t *testing.T) {
	for _, c := range []struct {
		name, agent string
		work        engine.Step
		want        int
	}{
		{"plain", "claude", prints("hello", "", 0), 1},
		{"not an agent", "", prints("hello", "", 0), 0},
		{"silent", "claude", prints("", "", 0), 0},
		{"transcript", "claude", prints(began+ended, "", 0), 0},
		{"cut off", "claude", part(func(_ context.Context, in engine.Invocation) engine.Exit {
			in.Stdout([]byte("hello"))
			return engine.Exit{Cause: core.CauseIdleTimeout}
		}), 0},
	} {
		x := &engine.Executor{Work: c.work, Agent: c.agent}
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || len(d.Warnings) != c.want {
			t.Errorf("%s: %q, %v", c.name, d.Warnings, err)
		}
	}
}

// Where the context has ended, no check runs, and the work is not done without it.
func TestNothingPassesAfterTheEnd(t *testing.T) {
	for cause, want := range map[error]core.Outcome{&engine.Interrupt{Signal: "SIGTERM", Code: 143}: interrupted, core.ErrRuntime: failed} {
		ctx, end := context.WithCancelCause(t.Context())
		x := &engine.Executor{
			Work:  part(func(context.Context, engine.Invocation) engine.Exit { end(cause); return engine.Exit{} }),
			Check: part(func(context.Context, engine.Invocation) engine.Exit { t.Error("the check ran"); return engine.Exit{} }),
		}
		if d, err := x.Run(ctx, core.Iteration{Number: 1}); err != nil || d.Outcome != want {
			t.Errorf("%v: %+v, %v", cause, d.IterationFinished, err)
		}
		x.Work = engine.Func(func(context.Context, engine.Invocation) error { t.Error("the work ran"); return nil })
		if d, err := x.Run(ctx, core.Iteration{Number: 2}); err != nil || d.Outcome != want {
			t.Errorf("%v: %+v, %v", cause, d.IterationFinished, err)
		}
	}
}

// Tests are counted from the output of a judge that ended by itself, not from what the tools
// of an agent printed.
func TestWhoseTestsAreCounted(t *testing.T) {
	const tests = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tm\t0.004s\nFAIL\n"
	for _, c := range []struct {
		name  string
		check engine.Step
		want  bool
	}{
		{"a check", prints(tests, "", 1), true},
		{"an agent", prints(began+says("x")+calls("go test -v", tests, true)+ended, "", 1), false},
		{"cut off", part(func(_ context.Context, in engine.Invocation) engine.Exit {
			in.Stdout([]byte(tests))
			return engine.Exit{Code: 1, Cause: core.CauseIdleTimeout}
		}), false},
	} {
		x := &engine.Executor{Work: prints("", "", 0), Check: c.check}
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || (d.Tally != nil) != c.want {
			t.Errorf("%s: %+v, %v", c.name, d.Tally, err)
		}
	}
	for _, c := range []struct {
		cause core.Cause
		want  bool
	}{{core.CauseExited, true}, {core.CauseIdleTimeout, false}} { // both are done, by the promise
		x := &engine.Executor{Judge: new(engine.DefaultJudge()), Promise: "DONE", Work: part(func(_ context.Context, in engine.Invocation) engine.Exit {
			in.Stdout([]byte(strings.Replace(tests, "FAIL: TestB", "PASS: TestB", 1) + "DONE\n"))
			return engine.Exit{Cause: c.cause}
		})}
		x.Judge.Promise = true
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != done || (d.Tally != nil) != c.want {
			t.Errorf("%s: %s, %+v, %v", c.cause, d.Outcome, d.Tally, err)
		}
	}
}

// The evidence is only words where an agent judges itself and its tools printed nothing.
func TestTheEvidenceIsOnlyWords(t *testing.T) {
	spoken := began + says("x") + ended
	for _, c := range []struct {
		name  string
		work  string
		check engine.Step
		want  bool
	}{
		{"words", spoken, nil, true},
		{"a tool", began + says("x") + calls("ls", "a.go", false) + ended, nil, false},
		{"plain text", "x\n", nil, false},
		{"a check", spoken, prints("red", "", 1), false},
	} {
		x := &engine.Executor{Work: prints(c.work, "", 1), Check: c.check}
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Worded != c.want {
			t.Errorf("%s: %t, %v", c.name, d.Worded, err)
		}
	}
}

// The work is to blame for an error unless the check itself could not judge.
func TestWhoIsToBlame(t *testing.T) {
	lost := errors.New("lost")
	for _, c := range []struct {
		name        string
		work, check engine.Exit
		want        core.Cause
		detail      string
		err         error
	}{
		{"the work crashed", engine.Exit{Code: 2, Cause: core.CauseCrash, Detail: "crashed"}, engine.Exit{Code: 1, Detail: "red"}, core.CauseCrash, "crashed", nil},
		{"the check was cut off", engine.Exit{Code: 2, Cause: core.CauseCrash, Detail: "crashed"}, engine.Exit{Cause: core.CauseIdleTimeout, Detail: "quiet"}, core.CauseIdleTimeout, "quiet", nil},
		{"the check crashed", engine.Exit{Code: 2}, engine.Exit{Code: 139, Signal: 11, Detail: "killed"}, core.CauseExited, "killed", nil},
		{"the check fails", engine.Exit{}, engine.Exit{Code: 1, Detail: "red"}, core.CauseExited, "red", nil},
		{"the check fails after a time limit", engine.Exit{Cause: core.CauseIdleTimeout, Detail: "quiet"}, engine.Exit{Code: 1}, core.CauseIdleTimeout, "quiet", nil},
		{"the work's function fails", engine.Exit{Code: 1, Err: lost}, engine.Exit{Code: 1}, core.CauseExited, "", lost},
		{"the check's function fails", engine.Exit{}, engine.Exit{Code: 1, Err: lost}, core.CauseExited, "", lost},
	} {
		x := &engine.Executor{
			Work:  part(func(context.Context, engine.Invocation) engine.Exit { return c.work }),
			Check: part(func(context.Context, engine.Invocation) engine.Exit { return c.check }),
		}
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Cause != c.want || d.Detail != c.detail || !errors.Is(d.Err, c.err) {
			t.Errorf("%s: %+v, %v, %v", c.name, d.IterationFinished, d.Err, err)
		}
	}
}

// A time limit that ended the work leaves the check a time of its own, and the check decides.
// The check also runs where a later try of the work cannot be run.
func TestTheCheckRunsAfterATimeLimit(t *testing.T) {
	for _, c := range []struct {
		name string
		work engine.Exit
		left time.Duration
	}{
		{"the iteration's", engine.Exit{Code: 143, Signal: 15, Cause: core.CauseIterationTimeout}, time.Hour},
		{"of silence", engine.Exit{Code: 143, Signal: 15, Cause: core.CauseIdleTimeout}, time.Hour},
		{"of a turn that goes in circles", engine.Exit{Code: 143, Signal: 15, Cause: core.CauseTurnLoop}, time.Hour},
		{"none", engine.Exit{Code: 127}, 15 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			left := time.Duration(0)
			x := &engine.Executor{IterationTimeout: time.Hour}
			x.Work = part(func(context.Context, engine.Invocation) engine.Exit {
				time.Sleep(45 * time.Minute)
				return c.work
			})
			x.Check = part(func(_ context.Context, in engine.Invocation) engine.Exit {
				left = in.Timeout
				return engine.Exit{}
			})
			if d, err := x.Run(t.Context(), core.Iteration{Number: 2}); err != nil || d.Outcome != done || left != c.left {
				t.Errorf("%s: %s, %s left, %v", c.name, d.Outcome, left, err)
			}
		})
	}
}

// A check that begins while the iteration stands still loses no time, whether the work could
// be suspended or not.
func TestACheckThatBeginsWhileTheIterationStandsStill(t *testing.T) {
	for suspends, want := range map[bool][]time.Duration{true: {time.Hour, time.Hour}, false: {40 * time.Minute, 30 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			var left []time.Duration
			step := engine.Stopper(&goesOn{})
			if suspends {
				step = new(stops)
			}
			x := &engine.Executor{IterationTimeout: time.Hour, Passes: 2}
			x.Work = part(func(_ context.Context, in engine.Invocation) engine.Exit {
				in.Started(step)
				x.Suspend()
				time.Sleep(20 * time.Minute)
				return engine.Exit{}
			})
			x.Check = part(func(_ context.Context, in engine.Invocation) engine.Exit {
				left = append(left, in.Timeout)
				in.Started(step)
				if len(left) == 1 {
					time.Sleep(10 * time.Minute)
					x.Resume()
					x.Hold()
					time.Sleep(time.Minute)
					x.Release()
				}
				return engine.Exit{}
			})
			if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != done || !slices.Equal(left, want) {
				t.Errorf("suspended %t: %s, %s left, %v", suspends, d.Outcome, left, err)
			}
		})
	}
}

// An output that cannot be kept, from its beginning or to its end, ends the run.
func TestOutputThatIsNotKept(t *testing.T) {
	x := &engine.Executor{Work: part(func(context.Context, engine.Invocation) engine.Exit { t.Error("it ran"); return engine.Exit{} })}
	x.Output = func(int) (engine.Output, error) { return nil, io.ErrClosedPipe }
	if _, err := x.Run(t.Context(), core.Iteration{Number: 1}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	x.Work, x.Output = prints("", "", 0), func(int) (engine.Output, error) { return unclosed{}, nil }
	if _, err := x.Run(t.Context(), core.Iteration{Number: 1}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// Work whose input cannot be opened does not run.
func TestWorkWithoutItsInput(t *testing.T) {
	x := &engine.Executor{Work: part(func(context.Context, engine.Invocation) engine.Exit { t.Error("it ran"); return engine.Exit{} })}
	x.Stdin = func() (*os.File, error) { return nil, io.ErrClosedPipe }
	if d, err := x.Run(t.Context(), core.Iteration{Number: 1, First: true}); err != nil || d.Outcome != failed || d.Cause != core.CauseStartFailed || d.Fatal == 0 {
		t.Errorf("%+v, %v", d.IterationFinished, err)
	}
}

// unclosed is an output that fails when it is closed.
type unclosed struct{}

func (unclosed) Write(b []byte) (int, error) { return len(b), nil }
func (unclosed) Check() io.Writer            { return io.Discard }
func (unclosed) Close() error                { return io.ErrClosedPipe }
