package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/signature"
)

// What looprun or a signal ended never passes, whatever its code; and what
// cannot be run at the first try ends the run, unless it was judged to pass.
func TestJudge(t *testing.T) {
	codes := func(text string) engine.Codes {
		c, err := engine.ParseCodes(text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	pass, fail := &engine.Exit{}, &engine.Exit{Code: 1}
	by := func(code int, c core.Cause) *engine.Exit { return &engine.Exit{Code: code, Cause: c} }
	killed := &engine.Exit{Code: 137, Signal: syscall.SIGKILL}
	any137 := engine.Judge{Done: codes("0,137"), Stop: codes("137")}
	promises := engine.DefaultJudge()
	promises.Done, promises.Promise = codes("0,3"), true
	turns, turnPromises := engine.DefaultJudge(), promises
	turns.Turn, turnPromises.Turn = true, true
	for _, c := range []struct {
		name  string
		judge engine.Judge
		exits engine.Exits
		want  core.Outcome
		fatal int
	}{
		{name: "work out of time, the check passes", exits: engine.Exits{Work: by(0, core.CauseIterationTimeout), Check: pass}, want: done},
		{name: "silent work, the check passes", exits: engine.Exits{Work: by(0, core.CauseIdleTimeout), Check: pass}, want: done},
		{name: "work out of the run's time, the check passes", exits: engine.Exits{Work: by(0, core.CauseMaxRuntime), Check: pass}, want: failed},
		{name: "a check out of time with exit 0", exits: engine.Exits{Work: pass, Check: by(0, core.CauseIterationTimeout)}, want: failed},
		{name: "an interrupted check", exits: engine.Exits{Work: pass, Check: &engine.Exit{Code: 130, Signal: syscall.SIGINT}}, want: interrupted},
		{name: "an interrupted precheck", exits: engine.Exits{Check: by(0, core.CauseInterrupt)}, want: interrupted},
		{name: "interrupted work, the check passes", exits: engine.Exits{Work: by(0, core.CauseInterrupt), Check: pass}, want: interrupted},
		{name: "a crash with exit 0", exits: engine.Exits{Work: by(0, core.CauseCrash)}, want: failed},
		{name: "not started with exit 1", exits: engine.Exits{Work: by(1, core.CauseStartFailed)}, want: failed, fatal: 1},
		{name: "killed, and its code is a done code and a stop code", judge: any137, exits: engine.Exits{Work: killed}, want: failed},
		{name: "the work cannot be run, and the check passes", exits: engine.Exits{Work: &engine.Exit{Code: 127}, Check: pass}, want: done},
		{name: "the work was not started, and the check fails", exits: engine.Exits{Work: by(126, core.CauseStartFailed), Check: fail}, want: failed, fatal: 126},
		{name: "127 is a done code, and the promise is missing", judge: engine.Judge{Done: codes("127"), Promise: true}, exits: engine.Exits{Work: &engine.Exit{Code: 127}}, want: notDone},
		{name: "the work passes, and the check did not run", exits: engine.Exits{Work: pass, Unchecked: true}, want: notDone},
		{name: "a stop code that is done", judge: engine.Judge{Done: codes("3"), Stop: codes("3")}, exits: engine.Exits{Work: &engine.Exit{Code: 3}}, want: done},
		{name: "a stop code that is done, and the promise is missing", judge: engine.Judge{Done: codes("3"), Stop: codes("3"), Promise: true}, exits: engine.Exits{Work: &engine.Exit{Code: 3}}, want: notDone, fatal: 3},
		{name: "a stop code that is done, and the promise is made", judge: engine.Judge{Done: codes("3"), Stop: codes("3"), Promise: true}, exits: engine.Exits{Work: &engine.Exit{Code: 3}, Promised: true}, want: done},
		{name: "a stop code of what was out of time", judge: engine.Judge{Done: codes("0"), Stop: codes("3")}, exits: engine.Exits{Work: by(3, core.CauseIterationTimeout)}, want: failed},
		{name: "127 is a done code, and nothing was started", judge: engine.Judge{Done: codes("127")}, exits: engine.Exits{Work: by(127, core.CauseStartFailed)}, want: failed, fatal: 127},
		{name: "127 of what was out of time", exits: engine.Exits{Work: by(127, core.CauseIdleTimeout)}, want: failed},
		{name: "127 of what was killed", exits: engine.Exits{Work: &engine.Exit{Code: 127, Signal: syscall.SIGKILL}}, want: failed},
		{name: "not started, where the work has no error codes", judge: engine.Judge{Done: codes("0")}, exits: engine.Exits{Work: by(2, core.CauseStartFailed), Check: fail}, want: failed, fatal: 2},
		{name: "SIGINT by the idle timeout", exits: engine.Exits{Work: &engine.Exit{Code: 130, Signal: syscall.SIGINT, Cause: core.CauseIdleTimeout}}, want: failed},
		{name: "130 on a terminal", judge: engine.Judge{Done: codes("0"), Errors: codes("126-255"), Terminal: true}, exits: engine.Exits{Work: &engine.Exit{Code: 130}}, want: interrupted},
		{name: "130 elsewhere", judge: engine.Judge{Done: codes("0"), Errors: codes("126-255")}, exits: engine.Exits{Work: &engine.Exit{Code: 130}}, want: failed},
		{name: "129 on a terminal", judge: engine.Judge{Done: codes("0"), Errors: codes("126-255"), Terminal: true}, exits: engine.Exits{Work: &engine.Exit{Code: 129}}, want: failed},
		{name: "1 on a terminal", judge: engine.Judge{Done: codes("0"), Errors: codes("126-255"), Terminal: true}, exits: engine.Exits{Work: fail}, want: notDone},
		{name: "a done code without the promise", judge: promises, exits: engine.Exits{Work: &engine.Exit{Code: 3}}, want: notDone},
		{name: "another code without the promise", judge: promises, exits: engine.Exits{Work: &engine.Exit{Code: 4}}, want: failed},
		{name: "a done code of the work, and the check judges", judge: promises, exits: engine.Exits{Work: &engine.Exit{Code: 3}, Check: &engine.Exit{}}, want: failed},
		{name: "lost work, and the check passes", exits: engine.Exits{Work: by(0, core.CauseLost), Check: pass}, want: failed},
		{name: "lost work that promised", judge: promises, exits: engine.Exits{Work: by(0, core.CauseLost), Promised: true}, want: failed},
		{name: "a lost check", exits: engine.Exits{Work: pass, Check: by(0, core.CauseLost)}, want: failed},
		{name: "a promise made in time", judge: promises, exits: engine.Exits{Work: by(0, core.CauseIdleTimeout), Promised: true}, want: done},
		{name: "a promise made in time by an agent that says it failed", judge: promises, exits: engine.Exits{Work: &engine.Exit{Cause: core.CauseIdleTimeout, Failure: "quota"}, Promised: true}, want: failed},
		{name: "a precheck that fails", exits: engine.Exits{Check: fail}, want: notDone},
		{name: "a turn that ended", judge: turns, exits: engine.Exits{Work: &engine.Exit{Turn: engine.Turn{Ended: true}}}, want: done},
		{name: "no turn ended", judge: turns, exits: engine.Exits{Work: pass}, want: failed},
		{name: "a turn that ended, with exit 1", judge: turns, exits: engine.Exits{Work: &engine.Exit{Code: 1, Turn: engine.Turn{Ended: true}}}, want: notDone},
		{name: "a turn that ended, and the promise is missing", judge: turnPromises, exits: engine.Exits{Work: &engine.Exit{Code: 3, Turn: engine.Turn{Ended: true}}}, want: notDone},
		{name: "a promise without a turn", judge: turnPromises, exits: engine.Exits{Work: &engine.Exit{Code: 3}, Promised: true}, want: failed},
		{name: "a promise made in time by a turn that has no end", judge: turnPromises, exits: engine.Exits{Work: by(0, core.CauseIdleTimeout), Promised: true}, want: failed},
		{name: "no turn ended, and the check passes", judge: turns, exits: engine.Exits{Work: pass, Check: pass}, want: done},
		{name: "no turn ended, and the check fails", judge: turns, exits: engine.Exits{Work: pass, Check: fail}, want: notDone},
		{name: "a stop code of the work is none of the judge", judge: engine.Judge{Done: codes("0"), Stop: codes("3")}, exits: engine.Exits{Work: &engine.Exit{Code: 3}, Check: fail}, want: notDone},
	} {
		if c.judge == (engine.Judge{}) {
			c.judge = engine.DefaultJudge()
		}
		if got := c.judge.Outcome(c.exits); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := c.judge.Fatal(c.exits, true); got != c.fatal {
			t.Errorf("%s: fatal %d, want %d", c.name, got, c.fatal)
		}
	}
}

// The manual's table of all cases is what is judged.
func TestOutcomesAreThoseOfTheManual(t *testing.T) {
	page, err := os.ReadFile("../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	works := map[string]engine.Exits{
		"exits with 0":                      {Work: &engine.Exit{}},
		"exits with 1 to 125":               {Work: &engine.Exit{Code: 1}},
		"exits with 126 and up":             {Work: &engine.Exit{Code: 126}},
		"is killed by a signal":             {Work: &engine.Exit{Code: 137, Signal: syscall.SIGKILL}},
		"is ended by `--iteration-timeout`": {Work: &engine.Exit{Code: 143, Signal: syscall.SIGTERM, Cause: core.CauseIterationTimeout}},
		"is ended by `--idle-timeout`":      {Work: &engine.Exit{Cause: core.CauseIdleTimeout}},
		"is an agent's turn that [goes in circles](guards.md#turn_loop) and is ended": {Work: &engine.Exit{Code: 143, Signal: syscall.SIGTERM, Cause: core.CauseTurnLoop, Turn: engine.Turn{Wrong: "cut off"}}},
		"exits with 0, and its agent's turn has no end":                               {Work: &engine.Exit{Turn: engine.Turn{Wrong: "cut off"}}},
		"reports that it failed, as an agent does":                                    {Work: &engine.Exit{Failure: "Not logged in"}},
		"is interrupted by a person":                                                  {Work: &engine.Exit{Code: 130, Signal: syscall.SIGINT}},
		"is ended by `max_runtime`":                                                   {Work: &engine.Exit{Cause: core.CauseMaxRuntime}},
	}
	says := map[string]core.Outcome{"done": done, "not done": notDone, "error": failed, "interrupted": interrupted}
	_, table, _ := strings.Cut(string(page), "| the command | alone | with `--promise` | with `--check` |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "| "), " | ")
		e, ok := works[cells[0]]
		if !ok || len(cells) != 4 {
			t.Fatalf("no such case, or too few columns: %q", cells)
		}
		delete(works, cells[0])
		for i, cell := range cells[1:] {
			judge, e := engine.DefaultJudge(), e
			judge.Promise = i == 1
			then, otherwise := cell, cell
			if first, second, ok := strings.Cut(cell, ", else "); ok {
				then, otherwise = strings.TrimSuffix(strings.TrimSuffix(first, " if the promise was made"), " if the check passes"), second
			}
			for _, yes := range []bool{true, false} {
				want := map[bool]string{true: then, false: otherwise}[yes]
				e.Promised = yes
				if i == 2 {
					e.Promised, e.Check = false, &engine.Exit{Code: map[bool]int{true: 0, false: 1}[yes]}
				}
				if got := judge.Outcome(e); says[want] == "" || got != says[want] {
					t.Errorf("%s, column %d, %t: %s, and the manual says %q", cells[0], i+1, yes, got, want)
				}
			}
		}
	}
	if len(works) > 0 {
		t.Errorf("the manual lacks %v", works)
	}
}

// part is a step that does what the test says.
type part func(context.Context, engine.Invocation) engine.Exit

func (part) Argv() []string { return []string{"part"} }
func (p part) Run(ctx context.Context, in engine.Invocation) engine.Exit {
	return p(ctx, in)
}

// held is a running step that writes down what is done to it.
type held struct{ calls []string }

func (h *held) Suspend() error        { h.calls = append(h.calls, "suspend"); return nil }
func (h *held) Resume() error         { h.calls = append(h.calls, "resume"); return nil }
func (h *held) Stop(s syscall.Signal) { h.calls = append(h.calls, s.String()) }

// A step stands still as long as anything asks for it, also one that starts
// meanwhile; a kill waits for nothing.
func TestAStepStandsStillAsLongAsItIsHeld(t *testing.T) {
	h := &held{}
	x := &engine.Executor{Judge: new(engine.DefaultJudge())}
	x.Work = part(func(_ context.Context, in engine.Invocation) engine.Exit {
		x.Resume() // nothing holds it
		in.Started(h)
		x.Suspend()
		x.Suspend()
		x.Resume()
		if !slices.Equal(h.calls, []string{"suspend"}) {
			t.Errorf("held twice and released once: %v", h.calls)
		}
		x.Resume()
		x.Kill()
		return engine.Exit{Code: 1}
	})
	if _, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"suspend", "resume", "killed", "killed"}; !slices.Equal(h.calls, want) {
		t.Errorf("got %v, want %v", h.calls, want)
	}

	h.calls = nil
	x.Work = part(func(_ context.Context, in engine.Invocation) engine.Exit {
		x.Suspend()
		in.Started(h)
		return engine.Exit{}
	})
	if _, err := x.Run(t.Context(), core.Iteration{Number: 2}); err != nil || !slices.Equal(h.calls, []string{"suspend"}) {
		t.Errorf("a step that starts while held: %v, %v", h.calls, err)
	}
	x.Kill() // nothing runs any more
	if len(h.calls) != 1 {
		t.Errorf("a step that has ended: %v", h.calls)
	}
}

// What was said to one iteration, and not taken back, holds for no later one: what
// max_runtime cuts off was suspended, and is not resumed.
func TestAnIterationIsHeldAlone(t *testing.T) {
	h := &held{}
	x := &engine.Executor{}
	x.Work = part(func(_ context.Context, in engine.Invocation) engine.Exit {
		in.Started(h)
		if in.Iteration.Number == 1 {
			x.Suspend()
		}
		return engine.Exit{Code: 1}
	})
	for n := 1; n <= 2; n++ {
		if _, err := x.Run(t.Context(), core.Iteration{Number: n}); err != nil || !slices.Equal(h.calls, []string{"suspend"}) {
			t.Errorf("after iteration %d: %v, %v; want that the first was suspended", n, h.calls, err)
		}
		x.Kill() // there is nothing to end any more
	}
}

// heldClocks is a running step whose time limits can stand still.
type heldClocks struct{ held }

func (h *heldClocks) HoldClocks()    { h.calls = append(h.calls, "hold") }
func (h *heldClocks) ReleaseClocks() { h.calls = append(h.calls, "release") }

// While the command's question is asked its time stands still and its output waits; the
// command itself stands still where it would take the keys of the answer.
func TestACommandWhoseQuestionIsAskedIsHeld(t *testing.T) {
	for interactive, want := range map[bool][]string{false: {"hold", "release"}, true: {"suspend", "resume"}} {
		synctest.Test(t, func(t *testing.T) {
			h := &heldClocks{}
			var out bytes.Buffer
			x := &engine.Executor{Interactive: interactive, Stdout: &out}
			x.Work = part(func(_ context.Context, in engine.Invocation) engine.Exit {
				in.Started(h)
				x.Hold()
				if !interactive { // else nothing can write
					go in.Stdout([]byte("hello"))
					if synctest.Wait(); out.Len() > 0 {
						t.Error("output came through the question")
					}
				}
				x.Release()
				synctest.Wait()
				return engine.Exit{}
			})
			if _, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || !slices.Equal(h.calls, want) || (out.Len() > 0) == interactive {
				t.Errorf("interactive %v: %v, %q, %v; want %v", interactive, h.calls, out.String(), err, want)
			}
		})
	}
}

// What is for the work alone does not reach the check.
func TestTheCheckIsAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	var work, check engine.Invocation
	x := &engine.Executor{
		Work:        part(func(_ context.Context, in engine.Invocation) engine.Exit { work = in; return engine.Exit{} }),
		Check:       part(func(_ context.Context, in engine.Invocation) engine.Exit { check = in; return engine.Exit{} }),
		Judge:       new(engine.DefaultJudge()),
		Interactive: true, KeepBackground: true,
		Stdin: func() (*os.File, error) { return os.Open(filepath.Join(dir, "in")) },
	}
	if _, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil {
		t.Fatal(err)
	}
	if !work.Interactive || !work.KeepBackground || work.Stdin == nil {
		t.Errorf("the work has %+v", work)
	}
	if check.Interactive || check.KeepBackground || check.Stdin != nil {
		t.Errorf("the check has %+v", check)
	}
}

// Once a person, or the run's time, has ended the work there is nothing for the check to
// judge: it does not run.
func TestTheCheckDoesNotRunAfterWorkThatWasEnded(t *testing.T) {
	for _, c := range []struct {
		cause core.Cause
		want  core.Outcome
	}{
		{core.CauseInterrupt, interrupted},
		{core.CauseMaxRuntime, failed},
		{core.CauseLost, failed},
	} {
		x := &engine.Executor{Judge: new(engine.DefaultJudge())}
		x.Work = part(func(context.Context, engine.Invocation) engine.Exit { return engine.Exit{Cause: c.cause} })
		x.Check = part(func(context.Context, engine.Invocation) engine.Exit {
			t.Errorf("the check ran after work that was ended by %s", c.cause)
			return engine.Exit{}
		})
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != c.want {
			t.Errorf("%s: %+v, %v; want %s", c.cause, d, err, c.want)
		}
	}
}

// Work that was cut off after it had moved the work tree is no error in a row, nor, where
// no check has said so, the same failure again. What is not known is no movement.
func TestCutOffWorkThatMovesTheTreeIsNoErrorInARow(t *testing.T) {
	timeout := core.IterationFinished{Outcome: failed, Cause: core.CauseIdleTimeout, WorkCause: core.CauseIdleTimeout}
	timeout.Signature = signature.Signature{Label: "error:idle_timeout", Hash: 7, Loose: 7}
	for _, c := range []struct {
		name  string
		d     core.IterationFinished
		trees []signature.Hash
		want  int
	}{
		{"it moves", timeout, []signature.Hash{1, 2, 3, 4}, 0},
		{"it stands still", timeout, []signature.Hash{1, 1, 1}, 3},
		{"it moves at last", timeout, []signature.Hash{1, 1, 2}, 0},
		{"it is not known", timeout, []signature.Hash{0, 0, 0}, 3},
		{"not known at first", timeout, []signature.Hash{0, 1, 2}, 0},
	} {
		s := core.State{}
		e := core.Event{Seq: 1, Data: core.RunStarted{RunID: "r", Command: []string{"x"}, Limits: core.Limits{Iterations: 20}}}
		apply := func(d core.Data) {
			e.Data = d
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
			e.Seq++
		}
		apply(e.Data)
		for i, tree := range c.trees {
			apply(core.IterationStarted{Iteration: i + 1})
			c.d.Iteration, c.d.Tree = i+1, tree
			apply(c.d)
		}
		if s.ErrorRun != c.want {
			t.Errorf("%s: %d errors in a row, want %d", c.name, s.ErrorRun, c.want)
		}
		if moved := c.want == 0; moved != (s.Cycles.Repeats() < len(c.trees)) {
			t.Errorf("%s: the same failure %d times", c.name, s.Cycles.Repeats())
		}
	}
}

// The check that failed is the one that judges, not those before it that passed.
func TestTheLastPassJudges(t *testing.T) {
	n := 0
	x := &engine.Executor{Judge: new(engine.DefaultJudge()), Passes: 2}
	x.Work = part(func(context.Context, engine.Invocation) engine.Exit { return engine.Exit{} })
	x.Check = part(func(_ context.Context, in engine.Invocation) engine.Exit {
		if n++; n == 1 {
			in.Stdout([]byte("all is well\n"))
			return engine.Exit{}
		}
		in.Stdout([]byte("--- FAIL: TestLogin\nFAIL\n"))
		return engine.Exit{Code: 1}
	})
	if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != notDone || d.Excerpt != "--- FAIL: TestLogin\nFAIL" {
		t.Errorf("%+v, %v", d, err)
	}
}

// The time that an iteration stands still for a question is not its own.
func TestTheIterationTimeoutStandsStillToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &engine.Executor{Judge: new(engine.DefaultJudge()), IterationTimeout: time.Minute}
		x.Work = part(func(context.Context, engine.Invocation) engine.Exit {
			time.Sleep(20 * time.Second)
			x.Suspend()
			time.Sleep(time.Hour)
			x.Resume()
			return engine.Exit{}
		})
		left := time.Duration(0)
		x.Check = part(func(_ context.Context, in engine.Invocation) engine.Exit { left = in.Timeout; return engine.Exit{} })
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != done || left != 40*time.Second {
			t.Errorf("%+v, %v; the check has %s, want 40s", d, err, left)
		}
	})
}

// Work that used the whole time up leaves none for the check: that is an error.
func TestTheCheckDoesNotRunWithoutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &engine.Executor{Judge: new(engine.DefaultJudge()), IterationTimeout: time.Minute}
		x.Work = part(func(context.Context, engine.Invocation) engine.Exit { time.Sleep(time.Minute); return engine.Exit{} })
		x.Check = part(func(context.Context, engine.Invocation) engine.Exit {
			t.Error("the check ran")
			return engine.Exit{}
		})
		if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != failed || d.Cause != core.CauseIterationTimeout {
			t.Errorf("%+v, %v; want an error by the timeout", d, err)
		}
	})
}

// A promise is for the iteration that made it.
func TestAPromiseDoesNotOutliveItsIteration(t *testing.T) {
	x := &engine.Executor{
		Work: part(func(_ context.Context, in engine.Invocation) engine.Exit {
			if in.Iteration.Number == 1 {
				in.Stdout([]byte("DONE\n"))
				return engine.Exit{Code: 1}
			}
			return engine.Exit{}
		}),
		Judge: new(engine.DefaultJudge()), Promise: "DONE",
	}
	x.Judge.Promise = true
	for n, want := range []core.Outcome{failed, notDone} {
		if d, err := x.Run(t.Context(), core.Iteration{Number: n + 1}); err != nil || d.Outcome != want {
			t.Errorf("iteration %d: %s, %v; want %s", n+1, d.Outcome, err, want)
		}
	}
}

// Nothing runs without what it needs: its input, a place for its output, and a
// run that has not been interrupted.
func TestNothingRunsWithoutWhatItNeeds(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	with := func(change func(*engine.Executor)) *engine.Executor {
		x := &engine.Executor{Work: engine.Argv("touch", ran), Judge: new(engine.DefaultJudge())}
		change(x)
		return x
	}
	it := core.Iteration{Number: 1, First: true}
	x := with(func(x *engine.Executor) { x.Stdin = func() (*os.File, error) { return nil, os.ErrPermission } })
	if d, err := x.Run(t.Context(), it); err != nil || d.Outcome != failed || d.Cause != core.CauseStartFailed || d.Fatal != 126 {
		t.Errorf("without its input: %+v, %v", d, err)
	}
	x = with(func(x *engine.Executor) { x.Output = func(int) (engine.Output, error) { return nil, syscall.ENOSPC } })
	if _, err := x.Run(t.Context(), it); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("without a place for its output: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&engine.Interrupt{Signal: "SIGTERM", Code: 143})
	if d, err := with(func(*engine.Executor) {}).Run(ctx, it); err != nil || d.Outcome != interrupted {
		t.Errorf("interrupted: %+v, %v", d, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran")
	}
}

// Functions are steps like commands: errors are failures, and what is ended
// from outside is not done.
func TestFunctionsAreSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := engine.Func(func(ctx context.Context, _ engine.Invocation) error {
			select {
			case <-ctx.Done():
			case <-time.After(40 * time.Second):
			}
			return nil
		})
		fails := engine.Func(func(context.Context, engine.Invocation) error { return errors.New("no") })
		for _, c := range []struct {
			name        string
			work, check engine.Step
			want        core.Outcome
			cause       core.Cause
		}{
			{"in time", slow, nil, done, core.CauseExited},
			{"an error", fails, nil, notDone, core.CauseExited},
			{"one timeout for both", slow, slow, failed, core.CauseIterationTimeout},
		} {
			x := &engine.Executor{Work: c.work, Check: c.check, Judge: new(engine.DefaultJudge()), IterationTimeout: time.Minute}
			if d, err := x.Run(t.Context(), core.Iteration{Number: 1}); err != nil || d.Outcome != c.want || d.Cause != c.cause {
				t.Errorf("%s: %+v, %v; want %s", c.name, d, err, c.want)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(&engine.Interrupt{Signal: "SIGTERM", Code: 143}) })
		x := &engine.Executor{Work: slow, Judge: new(engine.DefaultJudge())}
		if d, err := x.Run(ctx, core.Iteration{Number: 1}); err != nil || d.Outcome != interrupted {
			t.Errorf("interrupted: %+v, %v", d, err)
		}
	})
}
