package looprun_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// decisions is the question about a rejection, and any other with a way on.
type decisions struct{}

func (decisions) Question(*looprun.State, looprun.Trip) (looprun.Question, error) {
	return looprun.Question{Options: []looprun.Option{
		{ID: "override", Action: looprun.ActionContinue},
		{ID: "accept", Action: looprun.ActionReject},
		{ID: "defer", Action: looprun.ActionPause},
		{ID: "decompose", Action: looprun.ActionDecompose},
		{ID: "reformulate", Action: looprun.ActionReformulate},
		{ID: "cancel", Action: looprun.ActionCancel},
	}}, nil
}

// said runs iterations that fail, each in its own way, and say that.
func said(n int, data ...looprun.Data) reports {
	return func(_ context.Context, it looprun.Iteration) looprun.IterationResult {
		if it.Number > n {
			return looprun.IterationResult{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeDone}}
		}
		return looprun.IterationResult{Said: data, IterationFinished: looprun.IterationFinished{
			Outcome:   looprun.OutcomeNotDone,
			Signature: signature.Signature{Hash: signature.Hash(it.Number), Label: fmt.Sprint("output:", it.Number), Failing: -1, Passed: -1, Total: -1},
		}}
	}
}

func answers(option, guidance string) looprun.Responder {
	return looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
		a := chosen(option)
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
		status   looprun.Status
		code     int
		task     string
		created  int
		guidance string
	}{
		{"override", looprun.StatusDone, 0, "the big one", 0, "do it all the same"},
		{"accept", looprun.StatusRejected, 103, "the big one", 0, ""},
		{"defer", looprun.StatusPaused, 102, "the big one", 1, ""},
		{"decompose", looprun.StatusDone, 0, "second", 2, "do it all the same"},
		{"reformulate", looprun.StatusDone, 0, r.Suggested, 1, "do it all the same"},
		{"cancel", looprun.StatusCancelled, 101, "the big one", 0, ""},
	} {
		t.Run(c.option, func(t *testing.T) {
			run := &testRun{}
			run.Loop = &looprun.Loop{
				Guards: start(t, defaults, said(1)).Guards, Journal: &run.journal, Questions: decisions{},
				Runner: said(1, looprun.RejectionSubmitted{Rejection: r}), Responders: []looprun.Responder{answers(c.option, "do it all the same")},
			}
			if err := run.Start(looprun.RunStarted{RunID: "test", Name: "the big one", Limits: defaults}); err != nil {
				t.Fatal(err)
			}
			var guidance string
			run.Observe = func(e looprun.Event, s *looprun.State) {
				if d, ok := e.Data.(looprun.IterationStarted); ok && d.Iteration == 2 {
					guidance = s.Guidance
				}
			}
			res := run.run(t)
			s := run.State()
			if res.Status != c.status || res.ExitCode != c.code || s.Task != c.task || guidance != c.guidance {
				t.Errorf("got %+v, task %q, guidance %q", res, s.Task, guidance)
			}
			var decided []looprun.RejectionDecided
			for _, e := range run.journal.Events {
				if d, ok := e.Data.(looprun.RejectionDecided); ok {
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
	var seen []looprun.Question
	run := start(t, defaults, said(1, looprun.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker}}), watched(&seen, says("cancel")))
	run.Questions = decisions{}
	run.run(t)
	if got := strings.Join(seen[0].OptionIDs(), " "); got != "override accept defer cancel" {
		t.Errorf("offered: %s", got)
	}
	run = start(t, defaults, said(1, looprun.RejectionSubmitted{}))
	run.Questions = decisions{}
	if res := run.run(t); res.ExitCode != 115 || res.Guard != looprun.Rejection {
		t.Errorf("nobody answered, and got %+v", res)
	}
}

// The signal's answer reads Task, Agent, Question, Guidance.
func TestTheAnswerToASignal(t *testing.T) {
	clarify := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Clarify, Task: "T-1", Agent: "fixer", Question: "Which of the two?"}}
	var guidance []string
	run := start(t, defaults, said(1, clarify), answers("override", "the first"))
	run.Questions = decisions{}
	run.Observe = func(e looprun.Event, s *looprun.State) {
		if _, ok := e.Data.(looprun.IterationStarted); ok {
			guidance = append(guidance, s.Guidance)
		}
	}
	if res := run.run(t); res.Status != looprun.StatusDone || res.Trips != 1 {
		t.Fatalf("got %+v", res)
	}
	if !strings.Contains(run.story(), "question.answered action.applied iteration.started iteration.finished question.delivered") {
		t.Errorf("the journal reads %s", run.story())
	}
	if want := "Task: T-1\nAgent: fixer\nQuestion: Which of the two?\nGuidance: the first"; guidance[1] != want {
		t.Errorf("the next iteration reads %q", guidance[1])
	}
}

// However much the command says, what matters gets through.
func TestManySignals(t *testing.T) {
	send := func(sig signal.Signal) looprun.Data { return looprun.SignalReceived{Signal: sig} }
	var all []looprun.Data
	for range 100 {
		all = append(all, send(signal.Signal{Name: signal.Progress, Text: "on"}), send(signal.Signal{Name: signal.Cost, USD: 0.01}))
	}
	all = append(all, send(signal.Signal{Name: signal.Blocked, Text: "no key"}))
	run := start(t, defaults, said(1, all...))
	if res := run.run(t); res.Guard != looprun.Blocked || run.State().Cost < 0.99 {
		t.Errorf("got %+v with $%.2f, want blocked with $1.00", res, run.State().Cost)
	}
	n := 0
	for _, e := range run.journal.Events {
		if d, ok := e.Data.(looprun.SignalReceived); ok && d.Name == signal.Progress {
			n++
		}
	}
	if n != 64 {
		t.Errorf("%d reports of progress are on record, want 64", n)
	}
}

// A malformed signal is told to the command; the third in a row is an error.
func TestMalformedSignals(t *testing.T) {
	bad := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Cost}, Problem: "usd is not a number"}
	var guidance []string
	run := start(t, defaults, said(3, bad))
	run.Observe = func(e looprun.Event, s *looprun.State) {
		if _, ok := e.Data.(looprun.IterationStarted); ok {
			guidance = append(guidance, s.Guidance)
		}
	}
	run.run(t)
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
	good := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: "half"}}
	run = start(t, defaults, said(2, bad, bad, good, bad))
	run.run(t)
	if h := run.State().History; h[0].Outcome != looprun.OutcomeNotDone || h[1].Outcome != looprun.OutcomeNotDone {
		t.Errorf("a good signal in between did not count: %+v", h)
	}
}

// experts runs experts by a function.
type experts func(ladder.Expert) (looprun.ExpertFinished, error)

func (f experts) Expert(_ context.Context, _ *looprun.State, e ladder.Expert) (looprun.ExpertFinished, error) {
	return f(e)
}

var rungs = ladder.Config{
	{Rung: ladder.SelfSolve, Attempts: 3},
	{Rung: ladder.Experts, Attempts: 3, Experts: []ladder.Expert{{Name: "crypto"}, {Name: "protocol"}, {Name: "law"}}},
	{Rung: ladder.Human},
}

func climb(t *testing.T, r looprun.Runner, limits looprun.Limits, responders ...looprun.Responder) *testRun {
	t.Helper()
	run := &testRun{}
	run.Loop = &looprun.Loop{Guards: start(t, defaults, r).Guards, Journal: &run.journal, Questions: asks{}, Runner: r, Responders: responders}
	if err := run.Start(looprun.RunStarted{RunID: "test", Name: "climb", Limits: limits, Ladder: rungs}); err != nil {
		t.Fatal(err)
	}
	return run
}

// From the bottom to the top: three attempts, three experts whose guidance does
// not help, and a person, before the seventh attempt.
func TestTheLadder(t *testing.T) {
	limits := defaults
	limits.Iterations = 30
	var asked []string
	run := climb(t, said(20), limits, looprun.ResponderFunc(func(_ context.Context, q looprun.Question, s *looprun.State) (looprun.Answer, error) {
		if !q.Mandatory || q.Guard != looprun.LadderExhausted || s.Iterations%6 != 0 {
			t.Errorf("after %d iterations: %+v", s.Iterations, q)
		}
		if s.Trips > 1 {
			return looprun.Answer{}, looprun.ErrNoAnswer
		}
		return chosen("continue"), nil
	}))
	run.Experts = experts(func(e ladder.Expert) (looprun.ExpertFinished, error) {
		asked = append(asked, e.Name)
		return looprun.ExpertFinished{Guidance: "ask " + e.Name}, nil
	})
	var guidance []string
	run.Observe = func(e looprun.Event, s *looprun.State) {
		if d, ok := e.Data.(looprun.IterationStarted); ok && (d.Iteration == 4 || d.Iteration == 1) {
			guidance = append(guidance, s.Guidance)
		}
	}
	res := run.run(t)
	if res.ExitCode != 115 || res.Guard != looprun.LadderExhausted || res.Iterations != 12 {
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
	if !strings.Contains(run.story(), "counters.reset action.applied") {
		t.Errorf("the journal reads %s", run.story())
	}
}

// The command can name the expert that it wants.
func TestANamedExpert(t *testing.T) {
	for name, want := range map[string]string{"law": "law", "": "crypto", "nobody": "crypto"} {
		wants := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Expert, Expert: name}}
		var asked []string
		run := climb(t, said(1, wants), defaults)
		run.Experts = experts(func(e ladder.Expert) (looprun.ExpertFinished, error) {
			asked = append(asked, e.Name)
			return looprun.ExpertFinished{Guidance: "so"}, nil
		})
		if res := run.run(t); res.Status != looprun.StatusDone || len(asked) != 1 || asked[0] != want {
			t.Errorf("%q: asked %q, %+v", name, asked, res)
		}
	}
}

// A rule or an assistant cannot stand in for the person.
func TestAMandatoryQuestionIsAPersons(t *testing.T) {
	for name, a := range map[string]looprun.Answer{
		"a policy":     {Option: "continue", Responder: looprun.RespondedByPolicy, Reason: "rule"},
		"an assistant": {Option: "continue", Responder: looprun.RespondedByAssistant, Reason: "sure"},
		"detached":     {Option: "continue", Responder: looprun.RespondedByDetached},
	} {
		t.Run(name, func(t *testing.T) {
			run := climb(t, said(20), defaults, looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
				return a, nil
			}))
			if res := run.run(t); res.ExitCode != 115 || res.Iterations != 3 {
				t.Errorf("got %+v; experts that fail are attempts too: want 115 after 3 iterations", res)
			}
		})
	}
}

// Improvement is no failed attempt.
func TestAnImprovementIsNoAttempt(t *testing.T) {
	failing := 40
	run := climb(t, works(func(_ context.Context, it looprun.Iteration) looprun.IterationFinished {
		failing--
		return looprun.IterationFinished{Outcome: looprun.OutcomeNotDone, Signature: signature.Signature{
			Hash: signature.Hash(failing), Label: "test-fail", Failing: failing, Passed: 0, Total: 40,
		}}
	}), defaults)
	if res := run.run(t); res.Guard != looprun.MaxIterations || run.State().Ladder.Task("climb").Total != 1 {
		t.Errorf("got %+v with %+v; only the first iteration improves nothing", res, run.State().Ladder.Task("climb"))
	}
}

// The third signal in a row that cannot be read makes one iteration an error, and
// none of those that follow and say nothing, or were cut off.
func TestSignalsThatCannotBeRead(t *testing.T) {
	bad := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Progress}, Problem: "nonsense"}
	good := looprun.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: "half"}}
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
		var plays [][]looprun.Data
		for part := range strings.SplitSeq(strings.TrimSuffix(c.says, "|"), "|") {
			var before []looprun.Data
			for _, b := range part {
				before = append(before, map[rune]looprun.Data{'b': bad, 'g': good}[b])
			}
			plays = append(plays, before)
		}
		l := defaults
		l.Iterations, l.Errors = len(plays), looprun.Off
		run := start(t, l, reports(func(_ context.Context, it looprun.Iteration) looprun.IterationResult {
			return looprun.IterationResult{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeNotDone}, Said: plays[it.Number-1]}
		}))
		run.run(t)
		got := ""
		for _, h := range run.State().History {
			got += map[looprun.Outcome]string{looprun.OutcomeNotDone: ".", looprun.OutcomeError: "e"}[h.Outcome]
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	cut := looprun.IterationFinished{Iteration: 1, Outcome: looprun.OutcomeInterrupted}
	for name, end := range map[string][]looprun.Data{"interrupted": {cut, finished(looprun.StatusInterrupted), looprun.RunResumed{}}, "crashed": {looprun.RunResumed{}}} {
		if s := folded(t, append([]looprun.Data{begun, first, bad, bad}, end...)...); s.Malformed != 0 {
			t.Errorf("%s: %d count, and the iteration runs again", name, s.Malformed)
		}
	}
}
