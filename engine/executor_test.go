package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/signature"
)

func TestMain(m *testing.M) {
	if code, ok := engine.Guardian(); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

const (
	done        = core.OutcomeDone
	notDone     = core.OutcomeNotDone
	failed      = core.OutcomeError
	interrupted = core.OutcomeInterrupted
)

// TestOutcomes is the table of the specification, with real processes.
func TestOutcomes(t *testing.T) {
	mustCodes := func(text string) engine.Codes {
		c, err := engine.ParseCodes(text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		name, work, check, promise string
		judge                      func(*engine.Judge)
		want                       core.Outcome
		fatal                      int
	}{
		{name: "command passes", work: "exit 0", want: done},
		{name: "command fails", work: "exit 1", want: notDone},
		{name: "command fails with 125", work: "exit 125", want: notDone},
		{name: "command cannot be run", work: "exit 126", want: failed, fatal: 126},
		{name: "command is not found", work: "exit 127", want: failed, fatal: 127},
		{name: "command dies of a signal", work: "kill -9 $$", want: failed},
		{name: "command exits with 128 and more", work: "exit 200", want: failed},
		{name: "command dies of SIGINT", work: "kill -2 $$", want: interrupted},
		{name: "exit 130 without a terminal", work: "exit 130", want: failed},
		{name: "exit 130 on a terminal", work: "exit 130", judge: func(j *engine.Judge) { j.Terminal = true }, want: interrupted},
		{name: "other done codes", work: "exit 3", judge: func(j *engine.Judge) { j.Done = mustCodes("0,3") }, want: done},
		{name: "0 is no done code", work: "exit 0", judge: func(j *engine.Judge) { j.Done = mustCodes("3") }, want: notDone},
		{name: "other error codes", work: "exit 2", judge: func(j *engine.Judge) { j.Errors = mustCodes("2,70-78") }, want: failed},
		{name: "error codes none", work: "exit 200", judge: func(j *engine.Judge) { j.Errors = mustCodes("none") }, want: notDone},
		{name: "error codes none, a signal", work: "kill -9 $$", judge: func(j *engine.Judge) { j.Errors = mustCodes("none") }, want: failed},
		{name: "stop code", work: "exit 125", judge: func(j *engine.Judge) { j.Stop = mustCodes("125") }, want: notDone, fatal: 125},

		{name: "check passes", work: "exit 0", check: "exit 0", want: done},
		{name: "check fails", work: "exit 0", check: "exit 1", want: notDone},
		{name: "check passes after failed work", work: "exit 1", check: "exit 0", want: done},
		{name: "check fails after failed work", work: "exit 1", check: "exit 1", want: failed},
		{name: "check fails after failed work that is no error", work: "exit 1", check: "exit 1", judge: func(j *engine.Judge) { j.WorkErrors = mustCodes("none") }, want: notDone},
		{name: "check fails after work that was killed, errors none", work: "kill -9 $$", check: "exit 1", judge: func(j *engine.Judge) { j.WorkErrors = mustCodes("none") }, want: failed},
		{name: "check is not found", work: "exit 0", check: "exit 127", want: failed, fatal: 127},
		{name: "work is interrupted, the check does not run", work: "kill -2 $$", check: "exit 0", want: interrupted},
		{name: "work is not found, the check fails, 127 of a check would pass", work: "exit 127", check: "exit 1", judge: func(j *engine.Judge) { j.Done, j.Errors = mustCodes("0,127"), mustCodes("none") }, want: failed},
		{name: "work is not found, the check does not run", work: "exit 127", check: "exit 0", want: failed, fatal: 127},

		{name: "promise made", work: "echo DONE", promise: "DONE", want: done},
		{name: "promise in tags", work: "echo '<promise>DONE</promise>'", promise: "DONE", want: done},
		{name: "promise not made", work: "echo not DONE yet", promise: "DONE", want: notDone},
		{name: "promise made and failed", work: "echo DONE; exit 1", promise: "DONE", want: failed},
		{name: "promise on stderr", work: "echo DONE >&2", promise: "DONE", want: notDone},
		{name: "promise without a line break", work: "printf DONE", promise: "DONE", want: done},
		{name: "promise and check", work: "echo DONE", check: "exit 0", promise: "DONE", want: done},
		{name: "promise made, check fails", work: "echo DONE", check: "exit 1", promise: "DONE", want: notDone},
		{name: "no promise, check passes", work: "echo almost", check: "exit 0", promise: "DONE", want: notDone},
		{name: "no promise, work fails, check passes", work: "exit 1", check: "exit 0", promise: "DONE", want: failed},
		{name: "promise by the check is none", work: "echo no", check: "echo DONE", promise: "DONE", want: notDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &engine.Executor{Work: engine.Shell(c.work), Judge: new(engine.DefaultJudge()), Promise: c.promise, KillAfter: time.Second}
			if c.check != "" {
				x.Check = engine.Shell(c.check)
			}
			x.Judge.Promise = c.promise != ""
			if c.judge != nil {
				c.judge(x.Judge)
			}
			d, err := x.Run(patient(t), core.Iteration{Number: 1, First: true})
			if err != nil {
				t.Fatal(err)
			}
			if d.Outcome != c.want || d.Fatal != c.fatal {
				t.Errorf("outcome %s, fatal %d; want %s, %d (%+v)", d.Outcome, d.Fatal, c.want, c.fatal, d)
			}
		})
	}
}

// patient returns a context that ends long after every command of these tests has, so that one
// that hangs fails its test.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestA127IsFatalAtTheFirstTryOnly(t *testing.T) {
	x := &engine.Executor{Work: engine.Argv("looprun-test-no-such-command"), Judge: new(engine.DefaultJudge())}
	first, err := x.Run(t.Context(), core.Iteration{Number: 1, First: true})
	if err != nil || first.Fatal != 127 || !strings.Contains(first.Detail, "looprun-test-no-such-command") {
		t.Errorf("first: %+v, %v; want 127 and the name", first, err)
	}
	later, err := x.Run(t.Context(), core.Iteration{Number: 2})
	if err != nil || later.Fatal != 0 || later.Outcome != failed {
		t.Errorf("later: %+v, %v; want an error that is not fatal", later, err)
	}
}

func TestTimeouts(t *testing.T) {
	for _, c := range []struct {
		name        string
		work, check string
		set         func(*engine.Executor)
		want        core.Cause
	}{
		{"iteration", "sleep 60", "exit 1", func(x *engine.Executor) { x.IterationTimeout = 50 * time.Millisecond }, core.CauseIterationTimeout},
		{"iteration, in the check", "true", "sleep 60", func(x *engine.Executor) { x.IterationTimeout = 50 * time.Millisecond }, core.CauseIterationTimeout},
		{"idle", "echo begun; sleep 60", "exit 1", func(x *engine.Executor) { x.IdleTimeout = 50 * time.Millisecond }, core.CauseIdleTimeout},
		{"a child that ignores SIGTERM", "trap '' TERM; sleep 60 & sleep 60; sleep 60", "exit 1", func(x *engine.Executor) {
			x.IterationTimeout, x.KillAfter = 50*time.Millisecond, 50*time.Millisecond
		}, core.CauseIterationTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &engine.Executor{Work: engine.Shell(c.work), Check: engine.Shell(c.check), Judge: new(engine.DefaultJudge())}
			c.set(x)
			d, err := x.Run(patient(t), core.Iteration{Number: 1, First: true})
			if err != nil {
				t.Fatal(err)
			}
			if d.Outcome != failed || d.Cause != c.want || d.Signature.Label != "error:"+string(c.want) {
				t.Errorf("got %+v, want an error by %s", d, c.want)
			}
		})
	}
}

func TestAnInterruptIsForwarded(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP is ignored, as below nohup: no shell can catch it then")
	}
	dir := t.TempDir()
	ready, got := filepath.Join(dir, "ready"), filepath.Join(dir, "got")
	x := &engine.Executor{
		Work:  engine.Shell("trap 'echo hup > got; exit 0' HUP; echo > ready; while :; do sleep 0.05; done"),
		Judge: new(engine.DefaultJudge()), Dir: dir,
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		waitFor(t, ready)
		cancel(&engine.Interrupt{Signal: "SIGHUP", Code: 128 + int(syscall.SIGHUP)})
	}()
	d, err := x.Run(ctx, core.Iteration{Number: 1})
	if err != nil || d.Outcome == done && d.Cause == core.CauseExited {
		t.Errorf("got %+v, %v", d, err)
	}
	waitFor(t, got)
}

// waitFor waits until the file is there.
func waitFor(t *testing.T, file string) {
	for range 2000 {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
	t.Errorf("%s did not appear", file)
}

type kept struct {
	all, check strings.Builder
	fail       error
}

func (k *kept) Write(b []byte) (int, error) {
	if k.fail != nil {
		return 0, k.fail
	}
	return k.all.Write(b)
}
func (k *kept) Check() io.Writer { return &k.check }
func (k *kept) Close() error     { return nil }

func TestOutputIsShownKeptAndSigned(t *testing.T) {
	var out, errs strings.Builder
	k := &kept{}
	x := &engine.Executor{
		Work: engine.Shell("echo working; echo warned >&2"), Check: engine.Shell("echo '--- FAIL: TestLogin'; echo FAIL; exit 1"),
		Judge: new(engine.DefaultJudge()), Stdout: &out, Stderr: &errs,
		Output: func(int) (engine.Output, error) { return k, nil },
	}
	d, err := x.Run(t.Context(), core.Iteration{Number: 1, First: true})
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != "working\n--- FAIL: TestLogin\nFAIL\n" || errs.String() != "warned\n" {
		t.Errorf("shown %q and %q", out.String(), errs.String())
	}
	if k.check.String() != "--- FAIL: TestLogin\nFAIL\n" || !strings.Contains(k.all.String(), "working") {
		t.Errorf("kept %q, of the check %q", k.all.String(), k.check.String())
	}
	if d.Signature.Label != "test-fail:1-login" || d.Excerpt != "--- FAIL: TestLogin\nFAIL" {
		t.Errorf("label %q, excerpt %q", d.Signature.Label, d.Excerpt)
	}
}

// The judgement waits until all of a long output has been signed.
func TestALongOutputIsSignedToItsEnd(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(before)
	x := &engine.Executor{
		Work:  engine.Shell("yes 'INFO all is well' | head -c 2000000; echo; echo '--- FAIL: TestLogin' >&2; echo FAIL; exit 1"),
		Judge: new(engine.DefaultJudge()),
	}
	for n := range 3 {
		d, err := x.Run(t.Context(), core.Iteration{Number: n + 1})
		if err != nil {
			t.Fatal(err)
		}
		if d.Signature.Label != "test-fail:1-login" || d.OutputBytes < 2000000 {
			t.Errorf("iteration %d: label %q of %d bytes", n+1, d.Signature.Label, d.OutputBytes)
		}
	}
}

func TestOutputThatCannotBeKeptEndsTheIteration(t *testing.T) {
	eventually.Ends(t)
	x := &engine.Executor{
		Work: engine.Shell("echo one; sleep 60"), Judge: new(engine.DefaultJudge()),
		Output: func(int) (engine.Output, error) { return &kept{fail: syscall.ENOSPC}, nil },
	}
	if _, err := x.Run(t.Context(), core.Iteration{Number: 1}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v, want that no space is left", err)
	}
}

func TestSignatures(t *testing.T) {
	sign := func(work, check, promise string) signature.Signature {
		t.Helper()
		x := &engine.Executor{Work: engine.Shell(work), Judge: new(engine.DefaultJudge()), Promise: promise}
		x.Judge.Promise = promise != ""
		if check != "" {
			x.Check = engine.Shell(check)
		}
		d, err := x.Run(t.Context(), core.Iteration{Number: 1})
		if err != nil {
			t.Fatal(err)
		}
		return d.Signature
	}
	const fails = "echo '--- FAIL: TestLogin'; echo FAIL; exit 1"
	if a, b := sign("echo one", fails, ""), sign("echo two", fails, ""); a.Hash != b.Hash {
		t.Error("the work's output counts although the work did not fail")
	}
	if a, b := sign("echo no route to host; exit 1", fails, ""), sign("echo disk full; exit 1", fails, ""); a.Hash == b.Hash {
		t.Error("the work's output does not count although the work failed")
	}
	if a, b := sign("echo one", "echo ok 3ms", "DONE"), sign("echo two", "echo fine", "DONE"); a.Hash != b.Hash || a.Kind != signature.KindPass {
		t.Errorf("a passing check has no constant signature: %+v, %+v", a, b)
	}
	if a, b := sign("echo step alpha", "", "DONE"), sign("echo step beta", "", "DONE"); a.Hash == b.Hash || a.Hash == 0 {
		t.Errorf("an exit 0 without its promise is not signed by its content: %+v, %+v", a, b)
	}
}

func TestPasses(t *testing.T) {
	dir := t.TempDir()
	x := &engine.Executor{
		Work: engine.Argv("true"), Check: engine.Shell("echo >> runs; test $(wc -l < runs) -ne 2"), Passes: 3,
		Judge: new(engine.DefaultJudge()), Dir: dir,
	}
	if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != notDone {
		t.Errorf("got %+v, %v; the second pass fails", d, err)
	}
	if d, err := x.Run(t.Context(), core.Iteration{Number: 2}); err != nil || d.Outcome != done {
		t.Errorf("got %+v, %v; it passes three times", d, err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "runs")); len(b) != 5 {
		t.Errorf("the check ran %d times, want 5", len(b))
	}
}

func TestEnvironment(t *testing.T) {
	it := core.Iteration{Number: 3, Limit: 10, Guidance: "try\x00 harder", Task: "the\x00 flow", Subtasks: &core.Subtasks{Done: []string{"a"}, Current: "b", Remaining: []string{"c"}}, Last: &core.IterationFinished{ExitCode: 2}}
	it.Last.Signature.Label = "test-fail:1-a"
	got := strings.Join(it.Environ(), "\n")
	want := "LOOPRUN=1\nLOOPRUN_ITERATION=3\nLOOPRUN_ITERATION_LIMIT=10\nLOOPRUN_GUIDANCE=try harder\nLOOPRUN_TASK=the flow\nLOOPRUN_SUBTASK=2/3\nLOOPRUN_LAST_EXIT_CODE=2\nLOOPRUN_LAST_SIGNATURE=test-fail:1-a"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	it.Guidance = strings.Repeat("é", 20000)
	for _, v := range it.Environ() {
		if text, ok := strings.CutPrefix(v, "LOOPRUN_GUIDANCE="); ok && (len(text) != 16<<10 || strings.ContainsRune(text, '\ufffd')) {
			t.Errorf("guidance is cut to %d bytes", len(text))
		}
	}
}

// stops counts how often a step was told to end.
type stops int

func (s *stops) Suspend() error      { return nil }
func (s *stops) Resume() error       { return nil }
func (s *stops) Stop(syscall.Signal) { *s++ }

// startsLate is a step that is killed in the moment in which it starts.
type startsLate struct {
	x *engine.Executor
	s stops
}

func (l *startsLate) Argv() []string { return []string{"late"} }

func (l *startsLate) Run(_ context.Context, in engine.Invocation) engine.Exit {
	if in.Iteration.Number == 1 {
		l.x.Kill()
	}
	in.Started(&l.s)
	return engine.Exit{Code: 1}
}

func TestAKillIsNotTooEarly(t *testing.T) {
	l := &startsLate{x: &engine.Executor{}}
	l.x.Work = l
	for n := 1; n <= 2; n++ { // only the first is killed
		if _, err := l.x.Run(t.Context(), core.Iteration{Number: n}); err != nil || l.s != 2 {
			t.Errorf("after iteration %d: told to end %d times, %v; want 2", n, l.s, err)
		}
	}
}

// A step that stands still twice at once, for a question of its own and for a stop in
// the middle of it, has stood still for as long as both took together.
func TestTimeThatStandsStillTwiceCountsOnce(t *testing.T) {
	eventually.Ends(t)
	synctest.Test(t, func(t *testing.T) {
		x := &engine.Executor{IterationTimeout: time.Hour}
		x.Work = part(func(context.Context, engine.Invocation) engine.Exit {
			x.Hold()
			time.Sleep(2 * time.Hour)
			x.Suspend()
			time.Sleep(30 * time.Minute)
			x.Resume()
			x.Release()
			time.Sleep(5 * time.Minute)
			return engine.Exit{}
		})
		left := time.Duration(0)
		x.Check = part(func(_ context.Context, in engine.Invocation) engine.Exit {
			left = in.Timeout
			return engine.Exit{}
		})
		d, err := x.Run(t.Context(), core.Iteration{Number: 1})
		if err != nil || d.Outcome != done || left != 55*time.Minute {
			t.Errorf("the check has %s left, want 55m: %+v, %v", left, d, err)
		}
		x.Work = part(func(context.Context, engine.Invocation) engine.Exit {
			time.Sleep(50 * time.Minute)
			return engine.Exit{}
		})
		if d, err := x.Run(t.Context(), core.Iteration{Number: 2}); err != nil || left != 10*time.Minute {
			t.Errorf("the check of the next iteration has %s left, want 10m: %+v, %v", left, d, err)
		}
	})
}

// goesOn is a step that a system cannot suspend.
type goesOn struct{ stops }

func (goesOn) Suspend() error { return fmt.Errorf("not here: %w", errors.ErrUnsupported) }

// The time of a step that cannot be suspended does not stand still: it goes on.
func TestTheTimeOfWhatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, early := range []bool{false, true} {
			x := &engine.Executor{IterationTimeout: time.Hour}
			x.Work = part(func(_ context.Context, in engine.Invocation) engine.Exit {
				if early { // it is to stand still before it runs
					x.Suspend()
					time.Sleep(10 * time.Minute)
				}
				in.Started(&goesOn{})
				if !early {
					x.Suspend()
				}
				time.Sleep(20 * time.Minute)
				x.Resume()
				x.Hold() // a question of its own
				time.Sleep(40 * time.Minute)
				x.Release()
				return engine.Exit{}
			})
			left := time.Duration(0)
			x.Check = part(func(_ context.Context, in engine.Invocation) engine.Exit {
				left = in.Timeout
				return engine.Exit{}
			})
			if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != done || left != 40*time.Minute {
				t.Errorf("early %t: the check has %s left, want 40m: %+v, %v", early, left, d, err)
			}
		}
	})
}

// warner is a step that passes and warns.
type warner string

func (warner) Argv() []string { return []string{"warner"} }

func (w warner) Run(context.Context, engine.Invocation) engine.Exit {
	return engine.Exit{Warnings: []string{string(w)}}
}

// What any step of an iteration warns of is with the iteration, and not with the next.
func TestExecutorKeepsWarnings(t *testing.T) {
	x := &engine.Executor{Work: warner("work"), Check: warner("check"), Passes: 2}
	for n := 1; n <= 2; n++ {
		d, err := x.Run(t.Context(), core.Iteration{Number: n})
		if err != nil || strings.Join(d.Warnings, " ") != "work check check" {
			t.Errorf("iteration %d warns of %q, %v", n, d.Warnings, err)
		}
	}
}
