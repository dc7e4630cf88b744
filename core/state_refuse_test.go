package core_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

func times(n int, d core.Data) []core.Data { return slices.Repeat([]core.Data{d}, n) }

func commandAsks(id string) core.QuestionAsked {
	return core.QuestionAsked{Question: core.Question{ID: id, From: core.FromCommand, Kind: core.KindConfirm}}
}

// What the command causes is checked as every event is: each refusal beside the
// event, or the past, for which there is none.
func TestWhatTheCommandCausesIsRefusedWhereItCannotBe(t *testing.T) {
	yes := func(id string) core.QuestionAnswered {
		return core.QuestionAnswered{QuestionID: id, Answer: core.Answer{Option: core.Yes, Responder: core.RespondedByUser, Person: true}}
	}
	climbing := looptest.Begun
	climbing.Name = "task"
	climbing.Ladder = ladder.Config{{Rung: ladder.SelfSolve, Attempts: 1}, {Rung: ladder.Experts, Attempts: 2, Experts: []ladder.Expert{{Name: "crypto"}, {Name: "law"}}}, {Rung: ladder.Human}}
	malformed := core.SignalReceived{Signal: signal.Signal{Name: signal.Progress}, Problem: "no text"}
	progress := core.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: "on"}}
	blocked := core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}
	report := core.SignalReceived{Signal: signal.Signal{Name: signal.Cost, USD: 0.5}}
	rejected := core.RejectionSubmitted{RejectionID: "j"}
	decided := core.RejectionDecided{RejectionID: "j"}
	attempt := core.AttemptRecorded{Iteration: 1, Counted: true, Attempt: ladder.Attempt{Number: 1, Task: "task", Type: ladder.BySelf, Key: "k", Iteration: 1}}
	second := attempt
	second.Attempt.Number = 2
	blockedTrip := core.GuardTripped{Trip: core.Trip{Guard: core.Blocked, Iteration: 1}}
	toldIt := core.ActionApplied{Action: core.ActionContinue, Option: "continue", Guard: core.Blocked, Limits: looptest.Defaults, Guidance: "ask there"}
	list := func(d ...any) []core.Data {
		var all []core.Data
		for _, e := range d {
			switch e := e.(type) {
			case core.Data:
				all = append(all, e)
			case []core.Data:
				all = append(all, e...)
			}
		}
		return all
	}
	said := func(words string) core.OrderReceived { return core.OrderReceived{Order: core.OrderSay, Words: words} }
	pause := core.OrderReceived{Order: core.OrderPause}
	superseded := core.RunSuperseded{By: "the next prompt"}
	deferred := core.ActionApplied{Action: core.ActionPause, Pending: true, Limits: looptest.Defaults, Responder: core.RespondedByDetached}
	toQuestion := list(looptest.Begun, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question)
	rests := list(toQuestion, deferred, core.RunPaused{Pending: true})
	toBlocked := list(looptest.Begun, looptest.First, blocked, looptest.Ended1, blockedTrip, looptest.Question, looptest.Answered)
	parts := list(apart(core.ActionApplied{Subtask: &rejection.Task{Title: "one"}, Subtasks: []rejection.Task{{Title: "two"}}}), core.IterationStarted{Iteration: 2}, core.IterationFinished{Iteration: 2, Outcome: core.OutcomeDone})
	for _, c := range []struct {
		name   string
		events []core.Data
		no     []core.Data // refused after the events
		yes    []core.Data // taken after the same events
	}{
		{"superseded while its question waits", rests, list(core.IterationStarted{Iteration: 2}), list(superseded)},
		{"superseded while it asks", list(toQuestion), list(superseded), nil},
		{"superseded after the answer", list(rests, looptest.Answered), list(superseded), nil},
		{"superseded twice", list(rests, superseded), list(superseded), list(core.RunResumed{Reopen: true})},
		{"superseded where nothing is asked", list(looptest.Begun, core.RunPaused{}), list(superseded), nil},
		{"superseded while the command asks", list(looptest.Begun, looptest.First, commandAsks("a"), looptest.Ended1, looptest.Tripped, looptest.Question, deferred, core.RunPaused{}), list(superseded), nil},
		{"superseded before the command has its answer", list(looptest.Begun, looptest.First, commandAsks("a"), yes("a"), looptest.Ended1, looptest.Tripped, looptest.Question, deferred, core.RunPaused{}), list(superseded), nil},
		{"superseded after an interrupt", list(toQuestion, core.InterruptReceived{Code: 130}, core.RunFinished{Ending: core.Ending{Status: core.StatusInterrupted}}), list(superseded), nil},
		{"another iteration is withdrawn", list(looptest.Begun, looptest.First), list(core.IterationWithdrawn{Iteration: 2}), list(core.IterationWithdrawn{Iteration: 1})},
		{"signals that cannot be read", list(looptest.Begun, looptest.First, times(20, malformed)), list(malformed), list(progress)},
		{"of the last iteration", list(looptest.Begun, looptest.First, times(20, malformed), looptest.Ended1, core.IterationStarted{Iteration: 2}), nil, list(malformed)},
		{"one below the bound", list(looptest.Begun, looptest.First, times(19, malformed)), nil, list(malformed)},
		{"signals of a name", list(looptest.Begun, looptest.First, times(64, progress)), list(progress), list(blocked, report, malformed)},
		{"one signal below the bound", list(looptest.Begun, looptest.First, times(63, progress)), nil, list(progress)},
		{"reports of cost", list(looptest.Begun, looptest.First, times(64, report)), nil, list(report)},
		{"an answer to deliver", list(looptest.Begun, commandAsks("a")), list(core.QuestionDelivered{QuestionID: "a"}, core.QuestionDelivered{QuestionID: "b"}, core.QuestionDelivered{}), nil},
		{"an answer that is there", list(looptest.Begun, commandAsks("a"), yes("a")), list(core.QuestionDelivered{QuestionID: "b"}), list(core.QuestionDelivered{QuestionID: "a"})},
		{"an answer twice", list(looptest.Begun, commandAsks("a"), yes("a"), core.QuestionDelivered{QuestionID: "a"}), list(core.QuestionDelivered{QuestionID: "a"}), nil},
		{"an earlier answer", list(looptest.Begun, commandAsks("a"), yes("a"), core.QuestionDelivered{QuestionID: "a"}), list(core.QuestionDelivered{QuestionID: "b", Earlier: true}), list(core.QuestionDelivered{QuestionID: "a", Earlier: true})},
		{"the answer to a signal", list(toBlocked, toldIt), list(core.QuestionDelivered{QuestionID: "p"}), list(core.QuestionDelivered{QuestionID: "q"})},
		{"the answer to a signal twice", list(toBlocked, toldIt, core.QuestionDelivered{QuestionID: "q"}), list(core.QuestionDelivered{QuestionID: "q"}), nil},
		{"the answer to a signal as one to an earlier question", list(toBlocked, toldIt, core.QuestionDelivered{QuestionID: "q"}), list(core.QuestionDelivered{QuestionID: "q", Earlier: true}), nil},
		{"a second rejection", list(looptest.Begun, looptest.First, rejected), list(rejected, core.RejectionSubmitted{RejectionID: "other"}), nil},
		{"a decision on none", list(looptest.Begun, looptest.First), list(decided, core.RejectionDecided{}), list(rejected)},
		{"a decision on another", list(looptest.Begun, looptest.First, rejected), list(core.RejectionDecided{RejectionID: "other"}), list(decided)},
		{"a second decision", list(looptest.Begun, looptest.First, rejected, decided), list(decided), nil},
		{"a fresh start that nobody answered", list(looptest.Begun), list(core.CountersReset{Task: "task"}), nil},
		{"a fresh start", toBlocked, nil, list(core.CountersReset{Task: "task"})},
		{"a second fresh start", list(toBlocked, core.CountersReset{Task: "task"}), list(core.CountersReset{Task: "task"}), nil},
		{"a fresh start after the answer is carried out", list(toBlocked, toldIt), list(core.CountersReset{Task: "task"}), nil},
		{"no iteration to weigh", list(climbing, looptest.First), list(attempt), nil},
		{"no ladder to weigh on", list(looptest.Begun, looptest.First, looptest.Ended1), list(core.AttemptRecorded{Iteration: 1}), nil},
		{"an attempt", list(climbing, looptest.First, looptest.Ended1), list(second), list(attempt, core.AttemptRecorded{Iteration: 1})},
		{"an iteration weighed twice", list(climbing, looptest.First, looptest.Ended1, attempt), list(second, core.AttemptRecorded{Iteration: 1}), nil},
		{"an expert who is not due", list(climbing), list(core.ExpertFinished{Task: "task", Expert: "crypto"}, core.ExpertFinished{Task: "task"}), nil},
		{"an expert out of turn", list(climbing, looptest.First, looptest.Ended1, attempt), list(core.ExpertFinished{Task: "task", Expert: "law"}), list(core.ExpertFinished{Task: "task", Expert: "crypto"})},
		{
			"a cost", list(looptest.Begun),
			list(
				core.CostReported{USD: -0.01}, core.CostReported{USD: math.NaN()}, core.CostReported{USD: math.Inf(1)}, core.CostReported{Tokens: -1},
			), list(core.CostReported{}, core.CostReported{USD: 0.01, Tokens: 1}),
		},
		{"the end of no part", list(looptest.Begun, looptest.First, looptest.Ended1), list(core.SubtaskFinished{}), nil},
		{"the end of a part", parts, list(core.IterationStarted{Iteration: 3}), list(core.SubtaskFinished{Title: "one"})},
		{"the end of a part twice", list(parts, core.SubtaskFinished{}), list(core.SubtaskFinished{}), list(core.IterationStarted{Iteration: 3})},
		{"the end of no wait", list(looptest.Begun), list(core.WaitFinished{}), list(core.WaitStarted{Until: time.Unix(1, 0)})},
		{"the end of a wait", list(looptest.Begun, core.WaitStarted{Until: time.Unix(1, 0)}), nil, list(core.WaitFinished{})},
		{"the end of a wait twice", list(looptest.Begun, core.WaitStarted{Until: time.Unix(1, 0)}, core.WaitFinished{}), list(core.WaitFinished{}), nil},
		{"a pointer to an event", list(looptest.Begun), list(&core.RunAlive{}, &core.InterruptReceived{}), list(core.RunAlive{})},
		{"a question of the command twice", list(looptest.Begun, commandAsks("a")), list(commandAsks("a")), list(commandAsks("b"))},
		{"an answer to the command twice", list(looptest.Begun, commandAsks("a"), yes("a")), list(yes("a")), nil},
		{"an answer while the run rests", list(looptest.Begun, commandAsks("a"), looptest.Finished(core.StatusPaused)), list(progress, core.RunAlive{}), list(yes("a"))},
		{"an answer after the end", list(looptest.Begun, commandAsks("a"), looptest.Finished(core.StatusDone)), list(yes("a")), nil},
		{"words that are none", list(looptest.Begun), list(said("\n"), core.OrderReceived{Order: "look"}), list(said("words"))},
		{"words while the run ends", list(looptest.Begun, core.InterruptReceived{Signal: "SIGINT", Code: 130}), list(said("words"), pause), list(core.OrderReceived{Order: core.OrderStop})},
		{"a second pause", list(looptest.Begun, looptest.First, pause), list(pause), list(said("words"))},
		{"a trip while the run ends", list(looptest.Begun, core.InterruptReceived{Signal: "SIGINT", Code: 130}), list(looptest.Tripped), nil},
		{
			"a question kept for later", list(looptest.Begun, looptest.First, commandAsks("a")),
			list(core.ActionApplied{Action: core.ActionPause, Pending: true}, core.ActionApplied{Action: core.ActionContinue}), nil,
		},
		{
			"a question left for later", list(looptest.Begun, commandAsks("a")),
			list(core.ActionApplied{Action: core.ActionContinue, Limits: looptest.Defaults}), list(core.ActionApplied{Action: core.ActionPause, Pending: true}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, d := range c.no {
				s := looptest.Folded(t, c.events...)
				before := looptest.Encode(t, s)
				if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); !errors.Is(err, core.ErrEvent) {
					t.Errorf("%+v: got %v, want ErrEvent", d, err)
				} else if !bytes.Equal(before, looptest.Encode(t, s)) {
					t.Errorf("%+v was refused and changed the state", d)
				}
			}
			for _, d := range c.yes {
				s := looptest.Folded(t, c.events...)
				if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
					t.Errorf("%+v: %v", d, err)
				}
			}
		})
	}
}

// No more than 64 questions of the command are kept.
func TestQuestionsOfTheCommandAreBounded(t *testing.T) {
	s := looptest.Folded(t, looptest.Begun)
	ask := func(i int) error {
		return s.Apply(core.Event{Seq: s.Seq + 1, Data: commandAsks(string(rune('A' + i)))})
	}
	for i := range 64 {
		if err := ask(i); err != nil {
			t.Fatalf("question %d: %v", i+1, err)
		}
	}
	if err := ask(64); !errors.Is(err, core.ErrEvent) {
		t.Errorf("the 65th question: %v", err)
	}
}
