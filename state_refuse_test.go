package looprun_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

func times(n int, d looprun.Data) []looprun.Data { return slices.Repeat([]looprun.Data{d}, n) }

func commandAsks(id string) looprun.QuestionAsked {
	return looprun.QuestionAsked{Question: looprun.Question{ID: id, From: looprun.FromCommand, Kind: looprun.KindConfirm}}
}

// What the command causes is checked as every event is: each refusal beside the
// event, or the past, for which there is none.
func TestWhatTheCommandCausesIsRefusedWhereItCannotBe(t *testing.T) {
	yes := func(id string) looprun.QuestionAnswered {
		return looprun.QuestionAnswered{QuestionID: id, Answer: looprun.Answer{Option: looprun.Yes, Responder: looprun.RespondedByUser, Person: true}}
	}
	climbing := begun
	climbing.Name = "task"
	climbing.Ladder = ladder.Config{{Rung: ladder.SelfSolve, Attempts: 1}, {Rung: ladder.Experts, Attempts: 2, Experts: []ladder.Expert{{Name: "crypto"}, {Name: "law"}}}, {Rung: ladder.Human}}
	malformed := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Progress}, Problem: "no text"}
	progress := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: "on"}}
	blocked := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}
	report := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Cost, USD: 0.5}}
	rejected := looprun.RejectionSubmitted{RejectionID: "j"}
	decided := looprun.RejectionDecided{RejectionID: "j"}
	attempt := looprun.AttemptRecorded{Iteration: 1, Counted: true, Attempt: ladder.Attempt{Number: 1, Task: "task", Type: ladder.BySelf, Key: "k", Iteration: 1}}
	second := attempt
	second.Attempt.Number = 2
	blockedTrip := looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.Blocked, Iteration: 1}}
	toldIt := looprun.ActionApplied{Action: looprun.ActionContinue, Option: "continue", Guard: looprun.Blocked, Limits: defaults, Guidance: "ask there"}
	list := func(d ...any) []looprun.Data {
		var all []looprun.Data
		for _, e := range d {
			switch e := e.(type) {
			case looprun.Data:
				all = append(all, e)
			case []looprun.Data:
				all = append(all, e...)
			}
		}
		return all
	}
	toBlocked := list(begun, first, blocked, ended1, blockedTrip, question, answered)
	parts := list(apart(looprun.ActionApplied{Subtasks: []rejection.Task{{Title: "two"}}}), looprun.IterationStarted{Iteration: 2}, looprun.IterationFinished{Iteration: 2, Outcome: looprun.OutcomeDone})
	for _, c := range []struct {
		name   string
		events []looprun.Data
		no     []looprun.Data // refused after the events
		yes    []looprun.Data // taken after the same events
	}{
		{"signals that cannot be read", list(begun, first, times(20, malformed)), list(malformed), list(progress)},
		{"of the last iteration", list(begun, first, times(20, malformed), ended1, looprun.IterationStarted{Iteration: 2}), nil, list(malformed)},
		{"one below the bound", list(begun, first, times(19, malformed)), nil, list(malformed)},
		{"signals of a name", list(begun, first, times(64, progress)), list(progress), list(blocked, report, malformed)},
		{"one signal below the bound", list(begun, first, times(63, progress)), nil, list(progress)},
		{"reports of cost", list(begun, first, times(64, report)), nil, list(report)},
		{"an answer to deliver", list(begun, commandAsks("a")), list(looprun.QuestionDelivered{QuestionID: "a"}, looprun.QuestionDelivered{QuestionID: "b"}, looprun.QuestionDelivered{}), nil},
		{"an answer that is there", list(begun, commandAsks("a"), yes("a")), list(looprun.QuestionDelivered{QuestionID: "b"}), list(looprun.QuestionDelivered{QuestionID: "a"})},
		{"an answer twice", list(begun, commandAsks("a"), yes("a"), looprun.QuestionDelivered{QuestionID: "a"}), list(looprun.QuestionDelivered{QuestionID: "a"}), nil},
		{"an earlier answer", list(begun, commandAsks("a"), yes("a"), looprun.QuestionDelivered{QuestionID: "a"}), list(looprun.QuestionDelivered{QuestionID: "b", Earlier: true}), list(looprun.QuestionDelivered{QuestionID: "a", Earlier: true})},
		{"the answer to a signal", list(toBlocked, toldIt), list(looprun.QuestionDelivered{QuestionID: "p"}), list(looprun.QuestionDelivered{QuestionID: "q"})},
		{"the answer to a signal twice", list(toBlocked, toldIt, looprun.QuestionDelivered{QuestionID: "q"}), list(looprun.QuestionDelivered{QuestionID: "q"}), nil},
		{"a second rejection", list(begun, first, rejected), list(rejected, looprun.RejectionSubmitted{RejectionID: "other"}), nil},
		{"a decision on none", list(begun, first), list(decided, looprun.RejectionDecided{}), list(rejected)},
		{"a decision on another", list(begun, first, rejected), list(looprun.RejectionDecided{RejectionID: "other"}), list(decided)},
		{"a second decision", list(begun, first, rejected, decided), list(decided), nil},
		{"a fresh start that nobody answered", list(begun), list(looprun.CountersReset{Task: "task"}), nil},
		{"a fresh start", toBlocked, nil, list(looprun.CountersReset{Task: "task"})},
		{"a second fresh start", list(toBlocked, looprun.CountersReset{Task: "task"}), list(looprun.CountersReset{Task: "task"}), nil},
		{"a fresh start after the answer is carried out", list(toBlocked, toldIt), list(looprun.CountersReset{Task: "task"}), nil},
		{"no iteration to weigh", list(climbing, first), list(attempt), nil},
		{"no ladder to weigh on", list(begun, first, ended1), list(looprun.AttemptRecorded{Iteration: 1}), nil},
		{"an attempt", list(climbing, first, ended1), list(second), list(attempt, looprun.AttemptRecorded{Iteration: 1})},
		{"an iteration weighed twice", list(climbing, first, ended1, attempt), list(second, looprun.AttemptRecorded{Iteration: 1}), nil},
		{"an expert who is not due", list(climbing), list(looprun.ExpertFinished{Task: "task", Expert: "crypto"}, looprun.ExpertFinished{Task: "task"}), nil},
		{"an expert out of turn", list(climbing, first, ended1, attempt), list(looprun.ExpertFinished{Task: "task", Expert: "law"}), list(looprun.ExpertFinished{Task: "task", Expert: "crypto"})},
		{
			"a cost", list(begun),
			list(
				looprun.CostReported{USD: -0.01}, looprun.CostReported{USD: math.NaN()}, looprun.CostReported{USD: math.Inf(1)}, looprun.CostReported{Tokens: -1},
			), list(looprun.CostReported{}, looprun.CostReported{USD: 0.01, Tokens: 1}),
		},
		{"the end of no part", list(begun, first, ended1), list(looprun.SubtaskFinished{}), nil},
		{"the end of a part", parts, list(looprun.IterationStarted{Iteration: 3}), list(looprun.SubtaskFinished{Title: "one"})},
		{"the end of a part twice", list(parts, looprun.SubtaskFinished{}), list(looprun.SubtaskFinished{}), list(looprun.IterationStarted{Iteration: 3})},
		{"the end of no wait", list(begun), list(looprun.WaitFinished{}), list(looprun.WaitStarted{Until: time.Unix(1, 0)})},
		{"the end of a wait", list(begun, looprun.WaitStarted{Until: time.Unix(1, 0)}), nil, list(looprun.WaitFinished{})},
		{"the end of a wait twice", list(begun, looprun.WaitStarted{Until: time.Unix(1, 0)}, looprun.WaitFinished{}), list(looprun.WaitFinished{}), nil},
		{"a pointer to an event", list(begun), list(&looprun.RunAlive{}, &looprun.InterruptReceived{}), list(looprun.RunAlive{})},
		{"a question of the command twice", list(begun, commandAsks("a")), list(commandAsks("a")), list(commandAsks("b"))},
		{"an answer to the command twice", list(begun, commandAsks("a"), yes("a")), list(yes("a")), nil},
		{"an answer while the run rests", list(begun, commandAsks("a"), finished(looprun.StatusPaused)), list(progress, looprun.RunAlive{}), list(yes("a"))},
		{"an answer after the end", list(begun, commandAsks("a"), finished(looprun.StatusDone)), list(yes("a")), nil},
		{"a trip while the run ends", list(begun, looprun.InterruptReceived{Signal: "SIGINT", Code: 130}), list(tripped), nil},
		{
			"a question kept for later", list(begun, first, commandAsks("a")),
			list(looprun.ActionApplied{Action: looprun.ActionPause, Pending: true}, looprun.ActionApplied{Action: looprun.ActionContinue}), nil,
		},
		{
			"a question left for later", list(begun, commandAsks("a")),
			list(looprun.ActionApplied{Action: looprun.ActionContinue, Limits: defaults}), list(looprun.ActionApplied{Action: looprun.ActionPause, Pending: true}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, d := range c.no {
				s := folded(t, c.events...)
				before := encode(t, s)
				if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: d}); !errors.Is(err, looprun.ErrEvent) {
					t.Errorf("%+v: got %v, want ErrEvent", d, err)
				} else if !bytes.Equal(before, encode(t, s)) {
					t.Errorf("%+v was refused and changed the state", d)
				}
			}
			for _, d := range c.yes {
				s := folded(t, c.events...)
				if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: d}); err != nil {
					t.Errorf("%+v: %v", d, err)
				}
			}
		})
	}
}

// No more than 64 questions of the command are kept.
func TestQuestionsOfTheCommandAreBounded(t *testing.T) {
	s := folded(t, begun)
	ask := func(i int) error {
		return s.Apply(looprun.Event{Seq: s.Seq + 1, Data: commandAsks(string(rune('A' + i)))})
	}
	for i := range 64 {
		if err := ask(i); err != nil {
			t.Fatalf("question %d: %v", i+1, err)
		}
	}
	if err := ask(64); !errors.Is(err, looprun.ErrEvent) {
		t.Errorf("the 65th question: %v", err)
	}
}
