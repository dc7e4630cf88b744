package core_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/signature"
)

// randomData makes any event, whether or not it can happen now; about half of
// the time one that fits the state.
func randomData(r *rand.Rand, s *core.State) core.Data {
	outcomes := []core.Outcome{core.OutcomeNotDone, core.OutcomeNotDone, core.OutcomeError, core.OutcomeInterrupted, core.OutcomeDone}
	causes := []core.Cause{core.CauseExited, core.CauseExited, core.CauseExited, core.CauseIterationTimeout, core.CauseMaxRuntime}
	n := s.NextIteration()
	if s.Running {
		n = s.Open
	}
	if r.IntN(10) == 0 {
		n += r.IntN(3) - 1
	}
	question := "none"
	if s.Question != nil {
		question = s.Question.ID
	}
	limits := s.Limits
	limits.Iterations += r.IntN(4)
	limits.Runtime += time.Duration(r.IntN(4)) * time.Minute
	actions := []core.Action{core.ActionContinue, core.ActionContinue, core.ActionSkip, core.ActionAccept, core.ActionCancel, core.ActionPause}
	guard := core.GuardIDs()[r.IntN(4)]
	switch r.IntN(20) {
	case 0:
		return core.RunStarted{RunID: "r", Limits: core.DefaultLimits(), Caps: core.DefaultCaps(core.DefaultLimits()), Precheck: r.IntN(2) == 0}
	case 1, 2, 3:
		return core.IterationStarted{Iteration: n}
	case 4, 5, 6, 7:
		d := core.IterationFinished{Iteration: n, Outcome: outcomes[r.IntN(5)], Cause: causes[r.IntN(5)], ExitCode: r.IntN(3)}
		d.Signature.Hash = signature.Hash(r.IntN(4))
		d.Signature.Label = fmt.Sprint("output:", d.Signature.Hash)
		d.Signature.Failing = r.IntN(4) - 1
		return d
	case 8, 9:
		return core.GuardTripped{Trip: core.Trip{Guard: guard, Iteration: n, Reason: "random", Period: r.IntN(3), During: r.IntN(4) == 0}}
	case 10:
		return core.QuestionAsked{Question: core.Question{ID: fmt.Sprint(r.IntN(1000))}}
	case 11:
		return core.QuestionAnswered{QuestionID: question, Answer: core.Answer{Option: "o", Responder: core.RespondedByPolicy}}
	case 12:
		return core.QuestionClosed{QuestionID: question, Unanswered: r.IntN(2) == 0}
	case 13, 14:
		return core.ActionApplied{
			Action: actions[r.IntN(6)], Option: "o", Guard: guard, Limits: limits, Pending: r.IntN(8) == 0, Responder: core.RespondedByPolicy,
			Resets: []core.GuardID{guard}, Known: []core.KnownIssue{{Hash: signature.Hash(1 + r.IntN(3)), Label: "known"}},
		}
	case 15:
		return core.DebugFinished{Action: core.ActionDebug, ExitCode: r.IntN(2), Findings: "found"}
	case 16:
		return core.InterruptReceived{Signal: "SIGINT", Code: 130}
	case 17:
		return core.RunFinished{Ending: core.Ending{Status: core.StatusTripped, ExitCode: 110}}
	case 18:
		return core.RunPaused{Reason: "paused"}
	default:
		return core.RunResumed{}
	}
}

// TestApplyHoldsInvariants drives the state with random events, thousands of
// sequences of them with fixed seeds.
func TestApplyHoldsInvariants(t *testing.T) {
	all := guards.Default()
	for seed := range uint64(rounds.Of(250)) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s core.State
		var journal []core.Event
		start := core.RunStarted{RunID: "r", Limits: core.Limits{Iterations: 4, Runtime: time.Minute, Loop: 2 + r.IntN(2), Errors: 2}, Caps: core.Caps{Iterations: 20}, Precheck: r.IntN(2) == 0}
		for i := range 60 {
			var d core.Data = start
			if i > 0 {
				d = randomData(r, &s)
			}
			e := core.Event{Seq: s.Seq + 1, Elapsed: s.Elapsed + time.Duration(r.IntN(2000))*time.Millisecond, Data: d}
			before := looptest.Encode(t, &s)
			known := snapshot(&s)
			if err := s.Apply(e); err != nil {
				if after := looptest.Encode(t, &s); !bytes.Equal(before, after) {
					t.Fatalf("seed %d: a refused event (%v) changed the state:\n%s\n%s", seed, err, before, after)
				}
				continue
			}
			journal = append(journal, e)
			checkStep(t, seed, known, &s, d, all)
		}
		if got, want := looptest.Encode(t, looptest.Replay(t, journal)), looptest.Encode(t, &s); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: the replayed journal gives another state:\n%s\n%s", seed, got, want)
		}
	}
}

// counts is what a restart must not touch.
type counts struct {
	Iterations, ErrorRun, KnownRun, Trips int
	Elapsed                               time.Duration
	Limits                                core.Limits
	Repeats                               int
	open                                  bool // a trip waits
}

func snapshot(s *core.State) counts {
	return counts{s.Iterations, s.ErrorRun, s.KnownRun, s.Trips, s.Elapsed, s.Limits, s.Cycles.Repeats(), s.Trip != nil}
}

func checkStep(t *testing.T, seed uint64, was counts, s *core.State, d core.Data, all []core.Guard) {
	t.Helper()
	now := snapshot(s)
	fail := func(what string) {
		t.Helper()
		t.Fatalf("seed %d, event %d, %s: %s\nbefore %+v\nafter  %+v", seed, s.Seq, d.Type(), what, was, now)
	}
	if now.Elapsed < was.Elapsed {
		fail("time ran backwards")
	}
	if now.Iterations < was.Iterations || now.Iterations > was.Iterations+1 {
		fail("iterations are counted one by one")
	}
	switch d := d.(type) {
	case core.RunResumed:
		was.Elapsed, was.open = now.Elapsed, now.open
		if now != was {
			fail("a restart reset or changed something")
		}
	case core.ActionApplied:
	default:
		_, started := d.(core.RunStarted)
		if now.Limits != was.Limits && !started {
			fail("only an answer changes limits")
		}
	}
	next, _ := s.Next(all)
	if was.open && (next == core.NextIterate || next == core.NextGoOn) {
		a, acted := d.(core.ActionApplied)
		closed, withdrawn := d.(core.QuestionClosed)
		if !(acted && a.Action.Continues()) && !(withdrawn && !closed.Unanswered) {
			fail("a trip was left without an answer that continues")
		}
	}
	if next == core.NextIterate && (s.Ended || s.Ending != nil || core.Evaluate(all, s) != nil) {
		fail("it goes on although it has ended or a guard trips")
	}
}
