package looprun_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/signature"
)

// randomData makes any event, whether or not it can happen now; about half of
// the time one that fits the state.
func randomData(r *rand.Rand, s *looprun.State) looprun.Data {
	outcomes := []looprun.Outcome{looprun.OutcomeNotDone, looprun.OutcomeNotDone, looprun.OutcomeError, looprun.OutcomeInterrupted, looprun.OutcomeDone}
	causes := []looprun.Cause{looprun.CauseExited, looprun.CauseExited, looprun.CauseExited, looprun.CauseIterationTimeout, looprun.CauseMaxRuntime}
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
	actions := []looprun.Action{looprun.ActionContinue, looprun.ActionContinue, looprun.ActionSkip, looprun.ActionAccept, looprun.ActionCancel, looprun.ActionPause}
	guard := looprun.GuardIDs()[r.IntN(4)]
	switch r.IntN(20) {
	case 0:
		return looprun.RunStarted{RunID: "r", Limits: looprun.DefaultLimits(), Caps: looprun.DefaultCaps(looprun.DefaultLimits()), Precheck: r.IntN(2) == 0}
	case 1, 2, 3:
		return looprun.IterationStarted{Iteration: n}
	case 4, 5, 6, 7:
		d := looprun.IterationFinished{Iteration: n, Outcome: outcomes[r.IntN(5)], Cause: causes[r.IntN(5)], ExitCode: r.IntN(3)}
		d.Signature.Hash = signature.Hash(r.IntN(4))
		d.Signature.Label = fmt.Sprint("output:", d.Signature.Hash)
		d.Signature.Failing = r.IntN(4) - 1
		return d
	case 8, 9:
		return looprun.GuardTripped{Trip: looprun.Trip{Guard: guard, Iteration: n, Reason: "random", Period: r.IntN(3), During: r.IntN(4) == 0}}
	case 10:
		return looprun.QuestionAsked{Question: looprun.Question{ID: fmt.Sprint(r.IntN(1000))}}
	case 11:
		return looprun.QuestionAnswered{QuestionID: question, Answer: looprun.Answer{Option: "o", Responder: looprun.RespondedByPolicy}}
	case 12:
		return looprun.QuestionClosed{QuestionID: question, Unanswered: r.IntN(2) == 0}
	case 13, 14:
		return looprun.ActionApplied{
			Action: actions[r.IntN(6)], Option: "o", Guard: guard, Limits: limits, Pending: r.IntN(8) == 0, Responder: looprun.RespondedByPolicy,
			Resets: []looprun.GuardID{guard}, Known: []looprun.KnownIssue{{Hash: signature.Hash(1 + r.IntN(3)), Label: "known"}},
		}
	case 15:
		return looprun.DebugFinished{Action: looprun.ActionDebug, ExitCode: r.IntN(2), Findings: "found"}
	case 16:
		return looprun.InterruptReceived{Signal: "SIGINT", Code: 130}
	case 17:
		return looprun.RunFinished{Ending: looprun.Ending{Status: looprun.StatusTripped, ExitCode: 110}}
	case 18:
		return looprun.RunPaused{Reason: "paused"}
	default:
		return looprun.RunResumed{}
	}
}

// TestApplyHoldsInvariants drives the state with random events, thousands of
// sequences of them with fixed seeds.
func TestApplyHoldsInvariants(t *testing.T) {
	all := guards.Default()
	for seed := range uint64(rounds.Of(1000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s looprun.State
		var journal []looprun.Event
		start := looprun.RunStarted{RunID: "r", Limits: looprun.Limits{Iterations: 4, Runtime: time.Minute, Loop: 2 + r.IntN(2), Errors: 2}, Caps: looprun.Caps{Iterations: 20}, Precheck: r.IntN(2) == 0}
		for i := range 60 {
			var d looprun.Data = start
			if i > 0 {
				d = randomData(r, &s)
			}
			e := looprun.Event{Seq: s.Seq + 1, Elapsed: s.Elapsed + time.Duration(r.IntN(2000))*time.Millisecond, Data: d}
			before := encode(t, &s)
			known := snapshot(&s)
			if err := s.Apply(e); err != nil {
				if after := encode(t, &s); !bytes.Equal(before, after) {
					t.Fatalf("seed %d: a refused event (%v) changed the state:\n%s\n%s", seed, err, before, after)
				}
				continue
			}
			journal = append(journal, e)
			checkStep(t, seed, known, &s, d, all)
		}
		if got, want := encode(t, replay(t, journal)), encode(t, &s); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: the replayed journal gives another state:\n%s\n%s", seed, got, want)
		}
	}
}

// counts is what a restart must not touch.
type counts struct {
	Iterations, ErrorRun, KnownRun, Trips int
	Elapsed                               time.Duration
	Limits                                looprun.Limits
	Repeats                               int
	open                                  bool // a trip waits
}

func snapshot(s *looprun.State) counts {
	return counts{s.Iterations, s.ErrorRun, s.KnownRun, s.Trips, s.Elapsed, s.Limits, s.Cycles.Repeats(), s.Trip != nil}
}

func checkStep(t *testing.T, seed uint64, was counts, s *looprun.State, d looprun.Data, all []looprun.Guard) {
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
	case looprun.RunResumed:
		was.Elapsed, was.open = now.Elapsed, now.open
		if now != was {
			fail("a restart reset or changed something")
		}
	case looprun.ActionApplied:
	default:
		_, started := d.(looprun.RunStarted)
		if now.Limits != was.Limits && !started {
			fail("only an answer changes limits")
		}
	}
	next, _ := s.Next(all)
	if was.open && (next == looprun.NextIterate || next == looprun.NextGoOn) {
		a, acted := d.(looprun.ActionApplied)
		closed, withdrawn := d.(looprun.QuestionClosed)
		if !(acted && a.Action.Continues()) && !(withdrawn && !closed.Unanswered) {
			fail("a trip was left without an answer that continues")
		}
	}
	if next == looprun.NextIterate && (s.Ended || s.Ending != nil || looprun.Evaluate(all, s) != nil) {
		fail("it goes on although it has ended or a guard trips")
	}
}

func replay(t *testing.T, journal []looprun.Event) *looprun.State {
	t.Helper()
	var s looprun.State
	for _, e := range journal {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back looprun.Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if err := s.Apply(back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	}
	return &s
}

func encode(t *testing.T, s *looprun.State) []byte {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
