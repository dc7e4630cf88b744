package policy

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/templates"
)

// ends runs a loop that the policy answers for. Each iteration prints what work
// returns for its number.
func ends(t *testing.T, p *Policy, limits core.Limits, debug engine.Debugger, work func(n int) error) core.Result {
	t.Helper()
	set, err := templates.Load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := looprun.Run(t.Context(), looprun.Config{
		Work:   engine.Func(func(_ context.Context, in engine.Invocation) error { return work(in.Iteration.Number) }),
		Limits: limits, Guards: guards.Default(), Debug: debug,
		Questions: set.WithDebug(debug != nil), Responders: []core.Responder{p.Responder(Options{Dir: t.TempDir()})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func different(n int) error { return fmt.Errorf("error: problem %s", string(rune('a'+n%26))) }

func same(int) error { return errors.New("error: the file is locked") }

func TestInALoop(t *testing.T) {
	few := core.Limits{Iterations: 3, Runtime: core.Off, Loop: core.Off, Errors: core.Off}
	loop := core.Limits{Iterations: 50, Runtime: core.Off, Loop: 3, Errors: core.Off}
	for _, c := range []struct {
		name, policy string
		limits       core.Limits
		work         func(int) error
		status       core.Status
		iterations   int
	}{
		{"nothing said", "exit_codes: {accepted: 0}\n", few, different, core.StatusTripped, 3},
		{"goes on until the budget is spent", "budget: {continues: 2}\nrules:\n" + goOn, few, different, core.StatusTripped, 13},
		{"goes on for the iterations of the budget", "budget: {iterations: 12}\nrules:\n" + goOn + cancel, few, different, core.StatusCancelled, 13},
		{"goes on until the cap", "rules:\n" + goOn + cancel, few, different, core.StatusCancelled, 50},
		{"goes on as often as the condition says", "rules:\n  - {guard: max_iterations, when: continues < 3, answer: new_approach, reason: r}\n" + verify, few, different, core.StatusAccepted, 18},
		{"stuck", "rules:\n  - {guard: loop_detected, answer: cancel, reason: r}\n", loop, same, core.StatusCancelled, 3},
		{"stuck twice", "rules:\n  - {guard: loop_detected, when: trips < 2, answer: new_approach, reason: r}\n", loop, same, core.StatusTripped, 6},
		{"pauses", "rules: [{guard: loop_detected, answer: pause, reason: r}]", loop, same, core.StatusPaused, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ends(t, parse(t, c.policy), c.limits, nil, c.work)
			if r.Status != c.status || r.Iterations != c.iterations {
				t.Errorf("%+v, want %s after %d", r, c.status, c.iterations)
			}
		})
	}
}

type debugger struct{ runs int }

func (d *debugger) Debug(context.Context, *core.State, core.Option, core.Answer) (core.DebugFinished, error) {
	d.runs++
	return core.DebugFinished{ExitCode: 1, Findings: "nothing found"}, nil
}

// A rule whose debugging found nothing does not debug again in the same trip.
func TestSameAnswerOnce(t *testing.T) {
	d := &debugger{}
	limits := core.Limits{Iterations: 50, Runtime: core.Off, Loop: 3, Errors: core.Off}
	r := ends(t, parse(t, "rules:\n  - {guard: loop_detected, answer: debug, reason: r}\n  - {guard: loop_detected, answer: cancel, reason: found nothing}\n"), limits, d, same)
	if r.Status != core.StatusCancelled || d.runs != 1 || r.Reason != "found nothing" {
		t.Errorf("%+v, %d times", r, d.runs)
	}
}
