package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/rounds"
)

// TestLoopHoldsInvariants drives whole runs with random outcomes and random,
// partly invalid answers.
func TestLoopHoldsInvariants(t *testing.T) {
	outcomes := []core.Outcome{core.OutcomeNotDone, core.OutcomeNotDone, core.OutcomeNotDone, core.OutcomeError, core.OutcomeError, core.OutcomeDone}
	options := []string{"continue", "continue", "nothing", "skip", "debug", "review", "nonsense", "accept", "pause", "cancel", ""}
	for seed := range uint64(rounds.Of(300)) {
		r := rand.New(rand.NewPCG(seed, 2))
		steps := make([]looptest.Play, 1+r.IntN(30))
		for i := range steps {
			steps[i] = looptest.Play{Outcome: outcomes[r.IntN(len(outcomes)-r.IntN(2))], Same: r.IntN(3)}
		}
		var said []string
		answers := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			o := options[r.IntN(len(options))]
			if o == "" {
				return core.Answer{}, core.ErrNoAnswer
			}
			said = append(said, o)
			return core.Answer{Option: o, Responder: core.RespondedByPolicy, Rule: fmt.Sprint(r.IntN(3)), Person: r.IntN(2) == 0}, nil
		})
		l := core.Limits{Iterations: 2 + r.IntN(8), Runtime: time.Hour, Loop: 2 + r.IntN(3), Errors: 1 + r.IntN(3)}
		sc := &looptest.Script{Steps: steps}
		run := looptest.Start(t, l, sc, answers)
		res := run.ToEnd(t)
		checkEnd(t, seed, run, res, sc, said)
	}
}

func checkEnd(t *testing.T, seed uint64, run *looptest.Run, res core.Result, sc *looptest.Script, said []string) {
	t.Helper()
	fail := func(what string) {
		t.Helper()
		t.Fatalf("seed %d: %s: %+v after answers %v", seed, what, res, said)
	}
	lastSaid := ""
	if len(said) > 0 {
		lastSaid = said[len(said)-1]
	}
	switch res.Status {
	case core.StatusDone:
		if run.State().Last.Outcome != core.OutcomeDone {
			fail("done although the last iteration was not")
		}
	case core.StatusAccepted:
		if lastSaid != "accept" {
			fail("accepted although nobody said so")
		}
	case core.StatusCancelled:
		if lastSaid != "cancel" {
			fail("cancelled although nobody said so")
		}
	case core.StatusPaused:
		if lastSaid != "pause" {
			fail("paused although nobody said so")
		}
	case core.StatusTripped:
	default:
		fail("an ending that nothing called for")
	}
	continued := 0
	for _, o := range said {
		if o == "continue" || o == "skip" || o == "nothing" {
			continued++
		}
	}
	if run.State().Continues > continued {
		fail("it continued more often than was said")
	}
	if n := len(sc.Seen); n != res.Iterations || n > 50 {
		fail(fmt.Sprintf("%d iterations ran", n))
	}
}
