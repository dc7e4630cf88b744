package policy

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/templates"
)

// ends runs a loop that the policy answers for. Each iteration prints what work
// returns for its number.
func ends(t *testing.T, p *Policy, limits looprun.Limits, debug looprun.Debugger, work func(n int) error) looprun.Result {
	t.Helper()
	set, err := templates.Load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := looprun.Run(t.Context(), looprun.Config{
		Work:   looprun.Func(func(_ context.Context, in looprun.Invocation) error { return work(in.Iteration.Number) }),
		Limits: limits, Guards: guards.Default(), Debug: debug,
		Questions: set.WithDebug(debug != nil), Responders: []looprun.Responder{p.Responder(Options{Dir: t.TempDir()})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func different(n int) error { return fmt.Errorf("error: problem %s", string(rune('a'+n%26))) }

func same(int) error { return errors.New("error: the file is locked") }

func TestInALoop(t *testing.T) {
	few := looprun.Limits{Iterations: 3, Runtime: looprun.Off, Loop: looprun.Off, Errors: looprun.Off}
	loop := looprun.Limits{Iterations: 50, Runtime: looprun.Off, Loop: 3, Errors: looprun.Off}
	for _, c := range []struct {
		name, policy string
		limits       looprun.Limits
		work         func(int) error
		status       looprun.Status
		iterations   int
	}{
		{"nothing said", "", few, different, looprun.StatusTripped, 3},
		{"goes on until the budget is spent", "budget: {continues: 2}\nrules:\n" + goOn, few, different, looprun.StatusTripped, 13},
		{"goes on for the iterations of the budget", "budget: {iterations: 12}\nrules:\n" + goOn + cancel, few, different, looprun.StatusCancelled, 13},
		{"goes on until the cap", "rules:\n" + goOn + cancel, few, different, looprun.StatusCancelled, 50},
		{"goes on as often as the condition says", "rules:\n  - {guard: max_iterations, when: continues < 3, answer: new_approach, reason: r}\n" + verify, few, different, looprun.StatusAccepted, 18},
		{"stuck", "rules:\n  - {guard: loop_detected, answer: cancel, reason: r}\n", loop, same, looprun.StatusCancelled, 3},
		{"stuck twice", "rules:\n  - {guard: loop_detected, when: trips < 2, answer: new_approach, reason: r}\n", loop, same, looprun.StatusTripped, 6},
		{"pauses", "rules: [{guard: loop_detected, answer: pause, reason: r}]", loop, same, looprun.StatusPaused, 3},
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

func (d *debugger) Debug(context.Context, *looprun.State, looprun.Option, looprun.Answer) (looprun.DebugFinished, error) {
	d.runs++
	return looprun.DebugFinished{ExitCode: 1, Findings: "nothing found"}, nil
}

// A rule whose debugging found nothing does not debug again in the same trip.
func TestSameAnswerOnce(t *testing.T) {
	d := &debugger{}
	limits := looprun.Limits{Iterations: 50, Runtime: looprun.Off, Loop: 3, Errors: looprun.Off}
	r := ends(t, parse(t, "rules:\n  - {guard: loop_detected, answer: debug, reason: r}\n  - {guard: loop_detected, answer: cancel, reason: found nothing}\n"), limits, d, same)
	if r.Status != looprun.StatusCancelled || d.runs != 1 || r.Reason != "found nothing" {
		t.Errorf("%+v, %d times", r, d.runs)
	}
}
