package report

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
	"github.com/looprun/looprun/templates"
)

// day is when the runs of the tests start.
var day = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// recorder makes the directory of a run out of events and outputs.
type recorder struct {
	t     testing.TB
	run   *scratchpad.Run
	state core.State
	at    time.Duration
}

// record starts a run; change may change its first event.
func record(t testing.TB, change func(*core.RunStarted)) *recorder {
	t.Helper()
	run, err := scratchpad.Create(filepath.Join(t.TempDir(), ".looprun"), day, scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Close() })
	limits := core.DefaultLimits()
	started := core.RunStarted{
		RunID: run.ID, Name: "make the tests pass", Command: []string{"./fix.sh", "--all"}, Version: "v1",
		Limits: limits, Caps: core.DefaultCaps(limits),
	}
	if change != nil {
		change(&started)
	}
	r := &recorder{t: t, run: run}
	r.add(started)
	return r
}

// add appends an event, a second after the one before.
func (r *recorder) add(d core.Data) {
	r.t.Helper()
	e := core.Event{Seq: r.state.Seq + 1, Time: day.Add(r.at), Elapsed: r.at, Data: d}
	r.at += time.Second
	if err := r.state.Apply(e); err != nil {
		r.t.Fatal(err)
	}
	if err := r.run.Journal.Append(e); err != nil {
		r.t.Fatal(err)
	}
}

// iterate adds an iteration that printed this.
func (r *recorder) iterate(d core.IterationFinished, output string) {
	r.t.Helper()
	if d.Iteration == 0 {
		d.Iteration = r.state.NextIteration()
	}
	r.add(core.IterationStarted{Iteration: d.Iteration})
	if output != "" {
		d.OutputBytes = int64(len(output))
		out, err := r.run.Output(d.Iteration)
		if err == nil {
			_, err = io.WriteString(out, output)
		}
		if err == nil {
			err = out.Close()
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.add(d)
}

// load closes the run and reads it.
func (r *recorder) load() *Report {
	r.t.Helper()
	_ = r.run.Close() // again at the end of the test
	report, err := Load(r.run.Dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

// failing is an iteration in which these checks fail, of five.
func failing(checks ...string) core.IterationFinished {
	label := fmt.Sprintf("test-fail:%d-%s", len(checks), strings.Join(checks, ","))
	return core.IterationFinished{
		Outcome: core.OutcomeNotDone, ExitCode: 1, DurationMS: 1500,
		Signature: signature.Signature{
			Kind: signature.KindTestFail, Label: label, Hash: hashOf(label), Loose: 7,
			Failing: len(checks), Passed: 5 - len(checks), Total: 5, Checks: checks,
			Errors: []string{checks[0] + "_test.go:31: got 401, want 200"},
		},
		Excerpt: "--- FAIL: " + strings.Join(checks, "\n--- FAIL: "),
	}
}

func hashOf(s string) signature.Hash {
	h := signature.Hash(14695981039346656037)
	for _, c := range []byte(s) {
		h = (h ^ signature.Hash(c)) * 1099511628211
	}
	return h
}

// crashing is an iteration that ends as an error without saying anything known.
func crashing(label string) core.IterationFinished {
	return core.IterationFinished{
		Outcome: core.OutcomeError, ExitCode: 139, DurationMS: 20, Excerpt: "segmentation fault",
		Signature: signature.Signature{Kind: signature.KindError, Label: label, Hash: hashOf(label), Failing: -1, Passed: -1, Total: -1},
	}
}

// passing is an iteration that is done.
func passing() core.IterationFinished {
	return core.IterationFinished{Outcome: core.OutcomeDone, DurationMS: 900, Signature: signature.Pass, Excerpt: "ok"}
}

func done() core.RunFinished {
	return core.RunFinished{Ending: core.Ending{Status: core.StatusDone}}
}

func ended(status core.Status, guard core.GuardID, reason string) core.RunFinished {
	return core.RunFinished{Ending: core.Ending{Status: status, ExitCode: status.ExitCode(), Guard: guard, Reason: reason}}
}

// story is a run with all that a run can have: a loop, answers of a policy that
// were refused and taken, an error, a pause, a known issue, and a good end.
func story(t testing.TB) *recorder {
	t.Helper()
	r := record(t, func(d *core.RunStarted) { d.Check = []string{"sh", "-c", "go test ./... | tee log"} })
	r.iterate(failing("auth", "login", "logout"), "\x1b[1mrunning\x1b[0m\n\x1b[31m--- FAIL\x1b[0m: auth\nFAIL\n")
	for range 3 {
		r.iterate(failing("auth", "login"), "running\n--- FAIL: auth\n--- FAIL: login\nFAIL\n")
	}
	r.add(core.GuardTripped{Trip: core.Trip{
		Guard: core.LoopDetected, Iteration: 4, Also: []core.GuardID{core.NoProgress},
		Reason: "the last 3 iterations failed in the same way", Window: 3, Period: 1, Repeats: 3,
	}})
	question := core.Question{
		ID: "q1", Guard: core.LoopDetected, Kind: core.KindSelect, Header: "Loop detected", Text: "The same failure came 3 times. How to proceed?",
		Options: []core.Option{
			{ID: "new_approach", Label: "Try different approach", Action: core.ActionContinue}, {ID: "cancel", Label: "Cancel", Action: core.ActionCancel},
		},
	}
	question.Evidence, question.Details = new(core.Evidence), []string{"the place", "", "2 tests fail", "  auth  got 401", "", "how far"}
	r.add(core.QuestionAsked{Question: question})
	r.add(core.AnswerInvalid{QuestionID: "q1", Responder: "assistant", Reason: "it printed no JSON"})
	r.add(core.VerifyFinished{Rule: "policy.yaml:3", Command: "make smoke", ExitCode: 0, DurationMS: 12})
	r.add(core.QuestionAnswered{QuestionID: "q1", Answer: core.Answer{
		Option: "new_approach", Responder: "policy", Rule: "policy.yaml:3", Reason: "Once more, in another way.", Guidance: "Use *sha256*.",
	}})
	r.add(core.ActionApplied{
		Option: "new_approach", Action: core.ActionContinue, Guard: core.LoopDetected, Responder: "policy",
		Limits: r.state.Limits, Resets: []core.GuardID{core.LoopDetected}, Guidance: "Try a different approach than previous iterations",
	})
	r.iterate(crashing("error:segfault"), "segmentation fault\n")
	r.add(core.RunPaused{Reason: "the machine goes down"})
	r.add(core.RunResumed{})
	r.iterate(failing("auth"), "--- FAIL: auth\n")
	r.iterate(passing(), "ok\n")
	r.add(done())
	return r
}

// live runs a real loop: real processes, the real guards, the real templates,
// with a responder for what trips.
func live(t *testing.T, work, check engine.Step, limits core.Limits, answer core.ResponderFunc) *Report {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("the commands of this test need a shell: %v", err)
	}
	run, err := scratchpad.Create(filepath.Join(t.TempDir(), ".looprun"), day, scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	questions, err := templates.Load()
	if err != nil {
		t.Fatal(err)
	}
	x := &engine.Executor{Work: work, Check: check, Judge: new(engine.DefaultJudge()), Output: run.Output, Dir: t.TempDir()}
	loop := &engine.Loop{Guards: guards.Default(), Runner: x, Journal: run.Journal, Questions: questions}
	if answer != nil {
		loop.Responders = []core.Responder{answer}
	}
	started := core.RunStarted{RunID: run.ID, Command: work.Argv(), Limits: limits, Caps: core.DefaultCaps(limits)}
	if check != nil {
		started.Check = check.Argv()
	}
	if err := loop.Start(started); err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Load(run.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// written is what one of the writers of a report writes.
func written(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdown(t testing.TB, r *Report) string {
	t.Helper()
	return written(t, func(w io.Writer) error { return r.Markdown(w, 0) })
}
