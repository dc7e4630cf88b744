package core_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

func answers(option, guidance string) core.Responder {
	return core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		a := looptest.Chosen(option)
		a.Guidance = guidance
		return a, nil
	})
}

func TestRejections(t *testing.T) {
	r := rejection.Rejection{
		Task: "the big one", ReasonType: rejection.ScopeCreep, Summary: "it has grown",
		Suggested:    "do only the first half of it, without the import",
		Alternatives: []rejection.Task{{Title: "second", Dependencies: []string{"first"}}, {Title: "first", Scope: "the parser"}},
	}
	for _, c := range []struct {
		option   string
		status   core.Status
		code     int
		task     string
		created  int
		guidance string
	}{
		{"override", core.StatusDone, 0, "the big one", 0, "do it all the same"},
		{"accept", core.StatusRejected, 103, "the big one", 0, ""},
		{"defer", core.StatusPaused, 102, "the big one", 1, ""},
		{"decompose", core.StatusDone, 0, "second", 2, "do it all the same"},
		{"reformulate", core.StatusDone, 0, r.Suggested, 1, "do it all the same"},
		{"cancel", core.StatusCancelled, 101, "the big one", 0, ""},
	} {
		t.Run(c.option, func(t *testing.T) {
			run := &looptest.Run{}
			run.Loop = &engine.Loop{
				Guards: looptest.Start(t, looptest.Defaults, looptest.Said(1)).Guards, Journal: &run.Kept, Questions: looptest.Decisions{},
				Runner: looptest.Said(1, core.RejectionSubmitted{Rejection: r}), Responders: []core.Responder{answers(c.option, "do it all the same")},
			}
			if err := run.Start(core.RunStarted{RunID: "test", Name: "the big one", Limits: looptest.Defaults}); err != nil {
				t.Fatal(err)
			}
			var guidance string
			run.Observe = func(e core.Event, s *core.State) {
				if d, ok := e.Data.(core.IterationStarted); ok && d.Iteration == 2 {
					guidance = s.Guidance
				}
			}
			res := run.ToEnd(t)
			s := run.State()
			if res.Status != c.status || res.ExitCode != c.code || s.Task != c.task || guidance != c.guidance {
				t.Errorf("got %+v, task %q, guidance %q", res, s.Task, guidance)
			}
			var decided []core.RejectionDecided
			for _, e := range run.Kept.Events {
				if d, ok := e.Data.(core.RejectionDecided); ok {
					decided = append(decided, d)
				}
			}
			if len(decided) != 1 || string(decided[0].Decision) != c.option || len(decided[0].Created) != c.created || decided[0].RejectionID == "" || decided[0].Reason != "because" {
				t.Errorf("the record of the decision is %+v", decided)
			}
			if c.option == "decompose" && s.Decomposed().String() != "2 of 2 done" {
				t.Errorf("the sub-tasks are %s", s.Decomposed())
			}
			if c.option == "defer" && len(s.Blockers) != 1 {
				t.Errorf("the blockers are %q", s.Blockers)
			}
		})
	}
}

// Options that a rejection gives no ground for are not offered.
func TestARejectionWithoutAnotherTask(t *testing.T) {
	var seen []core.Question
	run := looptest.Start(t, looptest.Defaults, looptest.Said(1, core.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker}}), looptest.Watched(&seen, looptest.Says("cancel")))
	run.Questions = looptest.Decisions{}
	run.ToEnd(t)
	if got := strings.Join(seen[0].OptionIDs(), " "); got != "override accept defer cancel" {
		t.Errorf("offered: %s", got)
	}
	run = looptest.Start(t, looptest.Defaults, looptest.Said(1, core.RejectionSubmitted{}))
	run.Questions = looptest.Decisions{}
	if res := run.ToEnd(t); res.ExitCode != 115 || res.Guard != core.Rejection {
		t.Errorf("nobody answered, and got %+v", res)
	}
}

// The signal's answer reads Task, Agent, Question, Guidance.
func TestTheAnswerToASignal(t *testing.T) {
	clarify := core.SignalReceived{Signal: signal.Signal{Name: signal.Clarify, Task: "T-1", Agent: "fixer", Question: "Which of the two?"}}
	var guidance []string
	run := looptest.Start(t, looptest.Defaults, looptest.Said(1, clarify), answers("override", "the first"))
	run.Questions = looptest.Decisions{}
	run.Observe = func(e core.Event, s *core.State) {
		if _, ok := e.Data.(core.IterationStarted); ok {
			guidance = append(guidance, s.Guidance)
		}
	}
	if res := run.ToEnd(t); res.Status != core.StatusDone || res.Trips != 1 {
		t.Fatalf("got %+v", res)
	}
	if !strings.Contains(run.Story(), "question.answered action.applied iteration.started iteration.finished question.delivered") {
		t.Errorf("the journal reads %s", run.Story())
	}
	if want := "Task: T-1\nAgent: fixer\nQuestion: Which of the two?\nGuidance: the first"; guidance[1] != want {
		t.Errorf("the next iteration reads %q", guidance[1])
	}
}

// However much the command says, what matters gets through.
func TestManySignals(t *testing.T) {
	send := func(sig signal.Signal) core.Data { return core.SignalReceived{Signal: sig} }
	var all []core.Data
	for range 100 {
		all = append(all, send(signal.Signal{Name: signal.Progress, Text: "on"}), send(signal.Signal{Name: signal.Cost, USD: 0.01}))
	}
	all = append(all, send(signal.Signal{Name: signal.Blocked, Text: "no key"}))
	run := looptest.Start(t, looptest.Defaults, looptest.Said(1, all...))
	if res := run.ToEnd(t); res.Guard != core.Blocked || run.State().Cost < 0.99 {
		t.Errorf("got %+v with $%.2f, want blocked with $1.00", res, run.State().Cost)
	}
	n := 0
	for _, e := range run.Kept.Events {
		if d, ok := e.Data.(core.SignalReceived); ok && d.Name == signal.Progress {
			n++
		}
	}
	if n != 64 {
		t.Errorf("%d reports of progress are on record, want 64", n)
	}
}

// A malformed signal is told to the command; the third in a row is an error.
func TestMalformedSignals(t *testing.T) {
	bad := core.SignalReceived{Signal: signal.Signal{Name: signal.Cost}, Problem: "usd is not a number"}
	var guidance []string
	run := looptest.Start(t, looptest.Defaults, looptest.Said(3, bad))
	run.Observe = func(e core.Event, s *core.State) {
		if _, ok := e.Data.(core.IterationStarted); ok {
			guidance = append(guidance, s.Guidance)
		}
	}
	run.ToEnd(t)
	var outcomes []string
	for _, d := range run.State().History {
		outcomes = append(outcomes, string(d.Outcome))
	}
	if got := strings.Join(outcomes, " "); got != "not_done not_done error done" {
		t.Errorf("the outcomes are %s", got)
	}
	if !strings.Contains(guidance[1], "usd is not a number") {
		t.Errorf("the next iteration reads %q", guidance[1])
	}
	good := core.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: "half"}}
	run = looptest.Start(t, looptest.Defaults, looptest.Said(2, bad, bad, good, bad))
	run.ToEnd(t)
	if h := run.State().History; h[0].Outcome != core.OutcomeNotDone || h[1].Outcome != core.OutcomeNotDone {
		t.Errorf("a good signal in between did not count: %+v", h)
	}
}

// experts runs experts by a function.
type experts func(ladder.Expert) (core.ExpertFinished, error)

func (f experts) Expert(_ context.Context, _ *core.State, e ladder.Expert) (core.ExpertFinished, error) {
	return f(e)
}

var rungs = ladder.Config{
	{Rung: ladder.SelfSolve, Attempts: 3},
	{Rung: ladder.Experts, Attempts: 3, Experts: []ladder.Expert{{Name: "crypto"}, {Name: "protocol"}, {Name: "law"}}},
	{Rung: ladder.Human},
}

func climb(t *testing.T, r engine.Runner, limits core.Limits, responders ...core.Responder) *looptest.Run {
	t.Helper()
	run := &looptest.Run{}
	run.Loop = &engine.Loop{Guards: looptest.Start(t, looptest.Defaults, r).Guards, Journal: &run.Kept, Questions: looptest.Asks{}, Runner: r, Responders: responders}
	if err := run.Start(core.RunStarted{RunID: "test", Name: "climb", Limits: limits, Ladder: rungs}); err != nil {
		t.Fatal(err)
	}
	return run
}

// From the bottom to the top: three attempts, three experts whose guidance does
// not help, and a person, before the seventh attempt.
func TestTheLadder(t *testing.T) {
	limits := looptest.Defaults
	limits.Iterations = 30
	var asked []string
	run := climb(t, looptest.Said(20), limits, core.ResponderFunc(func(_ context.Context, q core.Question, s *core.State) (core.Answer, error) {
		if !q.Mandatory || q.Guard != core.LadderExhausted || s.Iterations%6 != 0 {
			t.Errorf("after %d iterations: %+v", s.Iterations, q)
		}
		if s.Trips > 1 {
			return core.Answer{}, core.ErrNoAnswer
		}
		return looptest.Chosen("continue"), nil
	}))
	run.Experts = experts(func(e ladder.Expert) (core.ExpertFinished, error) {
		asked = append(asked, e.Name)
		return core.ExpertFinished{Guidance: "ask " + e.Name}, nil
	})
	var guidance []string
	run.Observe = func(e core.Event, s *core.State) {
		if d, ok := e.Data.(core.IterationStarted); ok && (d.Iteration == 4 || d.Iteration == 1) {
			guidance = append(guidance, s.Guidance)
		}
	}
	res := run.ToEnd(t)
	if res.ExitCode != 115 || res.Guard != core.LadderExhausted || res.Iterations != 12 {
		t.Errorf("got %+v, want the ladder's end after 12", res)
	}
	if got := strings.Join(asked, " "); got != "crypto protocol law crypto protocol law" {
		t.Errorf("asked %s", got)
	}
	if got := strings.Join(guidance, "|"); got != "|ask crypto" {
		t.Errorf("guidance %q", got)
	}
	if c := run.State().Ladder.Task("climb").Clarifications; c != 1 {
		t.Errorf("%d clarifications, want 1", c)
	}
	if !strings.Contains(run.Story(), "counters.reset action.applied") {
		t.Errorf("the journal reads %s", run.Story())
	}
}

// The command can name the expert that it wants.
func TestANamedExpert(t *testing.T) {
	for name, want := range map[string]string{"law": "law", "": "crypto", "nobody": "crypto"} {
		wants := core.SignalReceived{Signal: signal.Signal{Name: signal.Expert, Expert: name}}
		var asked []string
		run := climb(t, looptest.Said(1, wants), looptest.Defaults)
		run.Experts = experts(func(e ladder.Expert) (core.ExpertFinished, error) {
			asked = append(asked, e.Name)
			return core.ExpertFinished{Guidance: "so"}, nil
		})
		if res := run.ToEnd(t); res.Status != core.StatusDone || len(asked) != 1 || asked[0] != want {
			t.Errorf("%q: asked %q, %+v", name, asked, res)
		}
	}
}

// A rule or an assistant cannot stand in for the person.
func TestAMandatoryQuestionIsAPersons(t *testing.T) {
	for name, a := range map[string]core.Answer{
		"a policy":     {Option: "continue", Responder: core.RespondedByPolicy, Reason: "rule"},
		"an assistant": {Option: "continue", Responder: core.RespondedByAssistant, Reason: "sure"},
		"detached":     {Option: "continue", Responder: core.RespondedByDetached},
	} {
		t.Run(name, func(t *testing.T) {
			run := climb(t, looptest.Said(20), looptest.Defaults, core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
				return a, nil
			}))
			if res := run.ToEnd(t); res.ExitCode != 115 || res.Iterations != 3 {
				t.Errorf("got %+v; experts that fail are attempts too: want 115 after 3 iterations", res)
			}
		})
	}
}

// Improvement is no failed attempt.
func TestAnImprovementIsNoAttempt(t *testing.T) {
	failing := 40
	run := climb(t, looptest.Works(func(_ context.Context, it core.Iteration) core.IterationFinished {
		failing--
		return core.IterationFinished{Outcome: core.OutcomeNotDone, Signature: signature.Signature{
			Hash: signature.Hash(failing), Label: "test-fail", Failing: failing, Passed: 0, Total: 40,
		}}
	}), looptest.Defaults)
	if res := run.ToEnd(t); res.Guard != core.MaxIterations || run.State().Ladder.Task("climb").Total != 1 {
		t.Errorf("got %+v with %+v; only the first iteration improves nothing", res, run.State().Ladder.Task("climb"))
	}
}

// The third signal in a row that cannot be read makes one iteration an error, and
// none of those that follow and say nothing, or were cut off.
func TestSignalsThatCannotBeRead(t *testing.T) {
	bad := core.SignalReceived{Signal: signal.Signal{Name: signal.Progress}, Problem: "nonsense"}
	good := core.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: "half"}}
	for _, c := range []struct {
		name string
		says string // b: one that cannot be read, g: one that can, |: the iteration ends
		want string // e: it is an error
	}{
		{"three in one", "bbb||||", "e..."},
		{"one in each", "b|b|b|||", "..e.."},
		{"nothing between", "b||b||b||", "....e."},
		{"one that can be read between", "bb|gb|b||", "...."},
		{"six", "bbb|bbb||", "ee."},
		{"five in one", "bbbbb|b|b|b|", "e..e"},
	} {
		var plays [][]core.Data
		for part := range strings.SplitSeq(strings.TrimSuffix(c.says, "|"), "|") {
			var before []core.Data
			for _, b := range part {
				before = append(before, map[rune]core.Data{'b': bad, 'g': good}[b])
			}
			plays = append(plays, before)
		}
		l := looptest.Defaults
		l.Iterations, l.Errors = len(plays), core.Off
		run := looptest.Start(t, l, looptest.Reports(func(_ context.Context, it core.Iteration) core.IterationResult {
			return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone}, Said: plays[it.Number-1]}
		}))
		run.ToEnd(t)
		got := ""
		for _, h := range run.State().History {
			got += map[core.Outcome]string{core.OutcomeNotDone: ".", core.OutcomeError: "e"}[h.Outcome]
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	cut := core.IterationFinished{Iteration: 1, Outcome: core.OutcomeInterrupted}
	for name, end := range map[string][]core.Data{"interrupted": {cut, looptest.Finished(core.StatusInterrupted), core.RunResumed{}}, "crashed": {core.RunResumed{}}} {
		if s := looptest.Folded(t, append([]core.Data{looptest.Begun, looptest.First, bad, bad}, end...)...); s.Malformed != 0 {
			t.Errorf("%s: %d count, and the iteration runs again", name, s.Malformed)
		}
	}
}

// Attempts count by the task that the command names.
func TestAttemptsCountByTask(t *testing.T) {
	s := looptest.Folded(t,
		core.RunStarted{RunID: "r", Name: "run", Limits: looptest.Defaults, Ladder: rungs}, core.IterationStarted{Iteration: 1},
		core.SignalReceived{Signal: signal.Signal{Name: signal.Attempt, Task: "A", Approach: "this way"}},
		core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone},
	)
	if got := s.LadderTask(); got != "A" {
		t.Errorf("it counts for %q", got)
	}
	for _, d := range []core.Data{
		core.AttemptRecorded{Iteration: 1},
		core.IterationStarted{Iteration: 2},
		core.SignalReceived{Signal: signal.Signal{Name: signal.Clarify, Task: "B", Question: "Which?", Cause: string(ladder.SecurityConcern)}},
		core.IterationFinished{Iteration: 2, Outcome: core.OutcomeNotDone},
	} {
		if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	if s.MandatoryReason() == "" {
		t.Error("nobody has to decide, and a cause was named")
	}
}

// What goes on with words, or with another approach, has all its iterations before the
// same failure counts as stuck again. Words alone come without what the option tells.
func TestWordsStartTheStreaksOver(t *testing.T) {
	q := core.Question{Options: []core.Option{
		{ID: "plain", Action: core.ActionContinue, Extend: core.Extend{Iterations: 5}},
		{ID: "new_approach", Action: core.ActionContinue, Extend: core.Extend{Iterations: 5}, Guidance: "try another approach"},
	}}
	for _, c := range []struct {
		answer  core.Answer
		resets  bool
		holds   string
		already string
	}{
		{core.Answer{Option: "plain"}, false, "before", "before"},
		{core.Answer{Option: "plain", Guidance: "use sha256"}, true, "before", "before"},
		{core.Answer{Option: "new_approach"}, true, "try another approach", "before"},
		{core.Answer{Option: "new_approach", Guidance: "use sha256"}, true, "try another approach", ""},
		{core.Answer{Option: "new_approach", Guidance: "use sha256", OwnWords: true}, true, "", "before"},
	} {
		s := &core.State{Iterations: 10, Holds: c.already, Trip: &core.Trip{Guard: core.MaxIterations}, Limits: core.Limits{Iterations: 10}}
		o, _ := q.Option(c.answer.Option)
		d, err := s.Effect(o, c.answer)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []core.GuardID{core.LoopDetected, core.ConsecutiveErrors, core.NoProgress, core.WorkspaceCycle} {
			if slices.Contains(d.Resets, id) != c.resets {
				t.Errorf("%+v resets %v", c.answer, d.Resets)
			}
		}
		if want := c.answer.OwnWords; want && d.Guidance != "use sha256" {
			t.Errorf("words alone became %q", d.Guidance)
		}
		if d.Holds != c.holds && !(d.Holds == "" && c.holds == c.already) {
			t.Errorf("%+v holds %q, want %q", c.answer, d.Holds, c.holds)
		}
	}
}
