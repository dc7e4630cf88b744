package engine_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/signal"
)

func TestTheCommandAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var run *looptest.Run
		var got core.Answer
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
			asked, _ := run.Ask(ctx, "key", looptest.Database())
			got = *asked.Answer
		}), core.ResponderFunc(func(_ context.Context, q core.Question, s *core.State) (core.Answer, error) {
			time.Sleep(20 * time.Minute) // longer than max_runtime: a question costs no time
			if q.From != core.FromCommand || len(s.Pending()) != 1 {
				t.Errorf("asked %+v with %d pending", q, len(s.Pending()))
			}
			return looptest.Chosen("my"), nil
		}))
		res := run.ToEnd(t)
		if res.Status != core.StatusDone || got.Option != "my" || got.Reason != "because" || res.Runtime > time.Minute {
			t.Errorf("got %+v, answer %+v", res, got)
		}
		want := "iteration.started question.asked question.answered question.delivered iteration.finished iteration.started iteration.finished run.finished"
		if run.Story() != want {
			t.Errorf("the journal reads %s", run.Story())
		}
	})
}

func TestEqualQuestionsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		release := make(chan struct{})
		var run *looptest.Run
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
			var all sync.WaitGroup
			for _, key := range []string{"same", "same", "other", "same", "third", "other"} {
				all.Go(func() {
					a, err := run.Ask(ctx, key, core.Question{Kind: core.KindText, Text: key})
					if err != nil || a.Answer.Text == nil || *a.Answer.Text != "to "+key {
						t.Errorf("%s: %+v, %v", key, a.Answer, err)
					}
				})
				all.Go(func() { // it waits beside the questions
					if err := run.Tell(ctx, core.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: key}}); err != nil {
						t.Error(err)
					}
				})
				time.Sleep(time.Second) // of simulated time: the loop has heard it
			}
			close(release)
			all.Wait()
		}), core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			asked++
			<-release
			if waiting := len(run.State().Pending()); waiting != 4-asked {
				t.Errorf("at question %d there are %d on record", asked, waiting)
			}
			return core.Answer{Text: new("to " + q.Text), Person: true}, nil
		}))
		if res := run.ToEnd(t); res.Status != core.StatusDone || asked != 3 {
			t.Errorf("got %+v after %d questions, want 3", res, asked)
		}
	})
}

// A question that comes while another is asked is on record at once: it is asked when the run
// is resumed, in its turn. Who asked it and left has withdrawn it.
func TestASecondQuestionIsKeptWhenItIsAsked(t *testing.T) {
	second := looptest.Database()
	second.AskID, second.Text = "cache", "Which cache?"
	for _, c := range []struct {
		name    string
		answers bool // else the run is interrupted while the first question waits
		leaves  bool // whoever asks the second
		story   string
	}{
		{"in its turn", true, false, "iteration.started question.asked question.asked question.answered question.delivered question.answered question.delivered iteration.finished"},
		{"withdrawn", true, true, "iteration.started question.asked question.asked question.answered question.delivered question.closed iteration.finished"},
		{"interrupted", false, false, "iteration.started question.asked question.asked interrupt.received iteration.finished"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancelCause(t.Context())
				leave := func() {}
				var run *looptest.Run
				run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
					client, gone := context.WithCancel(ctx)
					leave = gone
					var all sync.WaitGroup
					all.Go(func() { _, _ = run.Ask(ctx, "db", looptest.Database()) })
					time.Sleep(time.Second) // of simulated time: it is asked
					for range 2 {           // the same twice is one question
						all.Go(func() { _, _ = run.Ask(client, "cache", second) })
						time.Sleep(time.Second)
					}
					all.Wait()
				}), core.ResponderFunc(func(ctx context.Context, _ core.Question, s *core.State) (core.Answer, error) {
					pending := len(s.Pending())
					time.Sleep(time.Minute)
					if len(s.Pending()) != pending {
						t.Errorf("who answers saw the state change: %+v", s.Pending())
					}
					switch {
					case c.leaves:
						leave()
					case !c.answers:
						interrupt(errors.New("the machine goes down"))
						<-ctx.Done()
						return core.Answer{}, context.Cause(ctx)
					}
					return looptest.Chosen("pg"), nil
				}))
				_, err := run.Run(ctx)
				if err != nil || !strings.HasPrefix(run.Story(), c.story) {
					t.Errorf("the journal reads %s, %v", run.Story(), err)
				}
				var kept []string
				for _, q := range run.State().Pending() {
					kept = append(kept, q.AskID)
				}
				if want := []string{"db", "cache"}; !c.answers && !slices.Equal(kept, want) || c.answers && kept != nil {
					t.Errorf("%v wait for an answer", kept)
				}
			})
		})
	}
}

// A question that waits for its turn can be answered before it, and everybody who asked it has
// that answer.
func TestAnAnswerBeforeTheTurnOfItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := core.Question{Kind: core.KindConfirm, Header: "Cache", Text: "Drop the cache?"}
		var run *looptest.Run
		var got []string
		asked := 0
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
			var all sync.WaitGroup
			all.Go(func() { _, _ = run.Ask(ctx, "db", looptest.Database()) })
			time.Sleep(time.Second) // of simulated time: it is asked
			for range 2 {
				all.Go(func() {
					a, err := run.Ask(ctx, "cache", second)
					if err != nil || a.Answer.Option != core.No || a.Question.Text != second.Text {
						t.Errorf("who asked got %+v, %v", a, err)
					}
				})
				time.Sleep(time.Second)
			}
			all.Wait()
		}), core.ResponderFunc(func(ctx context.Context, _ core.Question, s *core.State) (core.Answer, error) {
			if asked++; asked > 1 {
				return core.Answer{}, core.ErrNoAnswer
			}
			time.Sleep(time.Minute)
			id := run.State().Pending()[1].ID
			for _, option := range []string{"perhaps", core.No, core.Yes} {
				if err := run.Answer(ctx, id, core.Answer{Option: option}); (err == nil) != (option == core.No) {
					got = append(got, option)
				}
			}
			return looptest.Chosen("pg"), nil
		}))
		res := run.ToEnd(t)
		if res.Status != core.StatusDone || asked != 1 || got != nil || len(run.State().Asked) != 0 {
			t.Errorf("got %+v with %d asked; %q was told otherwise", res, asked, got)
		}
		if want := "iteration.started question.asked question.asked question.answered question.answered question.delivered question.delivered iteration.finished"; !strings.HasPrefix(run.Story(), want) {
			t.Errorf("the journal reads %s", run.Story())
		}
		if by := run.State().Answered[0].Responder; by != core.RespondedByProgram {
			t.Errorf("%q answered", by)
		}
	})
}

// Who leaves after the answer and before his turn has it when he asks again: nothing is closed.
func TestWhoLeavesAfterTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := asksTwice(t, true, func(run *looptest.Run) {
			if err := run.Answer(t.Context(), run.State().Pending()[1].ID, looptest.Chosen("pg")); err != nil {
				t.Error(err)
			}
		})
		if res, err := run.Run(t.Context()); err != nil || len(run.State().Asked) != 1 || run.State().Asked[0].Answer == nil {
			t.Errorf("%+v, %v: %+v", res, err, run.State().Asked)
		}
	})
}

// What waits from before, or cannot be asked, is not recorded beside another question.
func TestWhatIsNotRecordedBesideAQuestion(t *testing.T) {
	kept := core.Question{Kind: core.KindConfirm, AskID: "kept", Header: "Cache", Text: "Drop the cache?"}
	before := &looptest.Run{}
	before = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) { _, _ = before.Ask(ctx, "kept", kept) }),
		core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			return core.Answer{}, core.ErrDeferred
		}))
	before.ToEnd(t)
	twice := looptest.Database()
	twice.AskID, twice.Text, twice.Options = "twice", "Which of the same?", []core.Option{{ID: "pg", Label: "a"}, {ID: "pg", Label: "b"}}
	synctest.Test(t, func(t *testing.T) {
		run := &looptest.Run{}
		run.Loop = &engine.Loop{
			Guards: before.Guards, Journal: &run.Kept, Questions: looptest.Asks{},
			Responders: []core.Responder{core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
				time.Sleep(time.Minute)
				if q.Kind == core.KindConfirm {
					return looptest.Chosen(core.No), nil
				}
				return looptest.Chosen("pg"), nil
			})},
			Runner: looptest.Once(func(ctx context.Context) {
				var all sync.WaitGroup
				answered := looptest.Database()
				answered.AskID, answered.Text = "answered", "Which one before?"
				_, _ = run.Ask(ctx, "answered", answered)
				all.Go(func() { _, _ = run.Ask(ctx, "db", looptest.Database()) })
				time.Sleep(time.Second) // of simulated time: it is asked
				for _, q := range []core.Question{kept, answered} {
					all.Go(func() {
						if a, err := run.Ask(ctx, q.AskID, q); err != nil || a.Answer == nil {
							t.Errorf("%s: %+v, %v", q.Text, a, err)
						}
					})
				}
				all.Go(func() {
					if _, err := run.Ask(ctx, "twice", twice); !errors.Is(err, core.ErrEvent) {
						t.Errorf("two options with one id: %v", err)
					}
				})
				all.Wait()
			}),
		}
		if err := run.Resume(*before.State(), core.RunResumed{}); err != nil {
			t.Fatal(err)
		}
		if res, err := run.Run(t.Context()); err != nil || res.Status != core.StatusDone || strings.Count(run.Story(), "question.asked") != 2 {
			t.Errorf("%+v, %v: %s", res, err, run.Story())
		}
	})
}

// A process that outlives its iteration asks while a guard's question is asked: it is told that
// nobody answered, and the run goes on as the guard's question was answered.
func TestAQuestionBesideAGuards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var run *looptest.Run
		asker := make(chan error, 1)
		limits := looptest.Defaults
		limits.Iterations = 1
		run = looptest.Start(t, limits, looptest.Once(func(context.Context) {}), core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			if q.From == core.FromCommand {
				return core.Answer{}, core.ErrNoAnswer
			}
			go func() {
				_, err := run.Ask(t.Context(), "db", looptest.Database())
				asker <- err
			}()
			time.Sleep(time.Minute)
			return looptest.Chosen("continue"), nil
		}))
		if res := run.ToEnd(t); res.Status != core.StatusDone || len(run.State().Asked) != 0 {
			t.Errorf("got %+v: %s", res, run.Story())
		}
		if err := <-asker; !errors.Is(err, core.ErrNoAnswer) {
			t.Errorf("who asked was told %v", err)
		}
	})
}

// The same of an iteration that a verify command ends: its question is withdrawn with it.
func TestAQuestionOfAnIterationThatAVerifyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var run *looptest.Run
		begun := 0
		run = looptest.Start(t, looptest.Defaults, looptest.Works(func(ctx context.Context, _ core.Iteration) core.IterationFinished {
			if begun++; begun > 1 {
				return core.IterationFinished{Outcome: core.OutcomeDone}
			}
			time.Sleep(looptest.Defaults.Runtime + time.Minute)
			_, _ = run.Ask(ctx, "db", looptest.Database())
			<-ctx.Done()
			return core.IterationFinished{Outcome: core.OutcomeNotDone}
		}), core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			if q.From == core.FromCommand {
				return core.Answer{}, core.ErrNoAnswer
			}
			time.Sleep(2 * time.Minute)
			run.BeforeVerify()
			if err := run.AfterVerify(core.VerifyFinished{Rule: "p.yaml:3", Command: "make smoke"}); err != nil {
				t.Error(err)
			}
			return looptest.Chosen("continue"), nil
		}))
		if res := run.ToEnd(t); res.Status != core.StatusDone || begun != 2 || !strings.Contains(run.Story(), "question.closed") {
			t.Errorf("got %+v, begun %d times: %s", res, begun, run.Story())
		}
	})
}

// Nobody waits for the answer any more: the prompt goes away, the run goes on.
func TestTheClientThatAskedIsGone(t *testing.T) {
	eventually.Ends(t)
	synctest.Test(t, func(t *testing.T) {
		var run *looptest.Run
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(context.Context) {
			ctx, gone := context.WithCancel(context.Background())
			go func() { _, _ = run.Ask(ctx, "key", looptest.Database()) }()
			time.Sleep(time.Second) // of simulated time: it is asked
			gone()
			synctest.Wait()
		}), core.ResponderFunc(func(ctx context.Context, _ core.Question, _ *core.State) (core.Answer, error) {
			<-ctx.Done()
			return looptest.Chosen("pg"), nil // too late
		}))
		if res := run.ToEnd(t); res.Status != core.StatusDone || len(run.State().Asked) != 0 {
			t.Errorf("got %+v with %+v still asked", res, run.State().Asked)
		}
		if !strings.Contains(run.Story(), "question.asked question.closed iteration.finished") {
			t.Errorf("the journal reads %s", run.Story())
		}
	})
}

func TestNobodyAnswersTheCommand(t *testing.T) {
	var run *looptest.Run
	var err error
	run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) { _, err = run.Ask(ctx, "key", looptest.Database()) }))
	if res := run.ToEnd(t); res.Status != core.StatusDone || !errors.Is(err, core.ErrNoAnswer) {
		t.Errorf("got %+v, %v", res, err)
	}
}

// An answer that the question does not take is asked for once more, then nobody
// has answered.
func TestAnInvalidAnswerIsAskedForOnceMore(t *testing.T) {
	for _, c := range []struct {
		name  string
		bad   core.Answer
		times int // bad answers before a good one
		want  string
	}{
		{"one is forgiven", looptest.Chosen("oracle"), 1, "pg"},
		{"two are not", looptest.Chosen("oracle"), 2, ""},
		{"cancelled", core.Answer{Cancelled: true, Person: true}, 2, ""},
		{"a text", core.Answer{Text: new("sqlite"), Person: true}, 2, ""},
		{"several", core.Answer{Options: []string{"pg", "my"}, Person: true}, 2, ""},
		{"nothing", core.Answer{Person: true}, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			var run *looptest.Run
			var got core.Answer
			run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
				if asked, err := run.Ask(ctx, "key", looptest.Database()); err == nil {
					got = *asked.Answer
				}
			}),
				core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
					if asked++; asked <= c.times {
						return c.bad, nil
					}
					return looptest.Chosen("pg"), nil
				}))
			run.ToEnd(t)
			if got.Option != c.want || asked != 2 {
				t.Errorf("got %+v after %d times, want %q after 2", got, asked, c.want)
			}
		})
	}
}

func TestOnlyAPersonAnswersWhatIsExclusive(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(*core.Question)
		answer    core.Answer
		forbidden bool
	}{
		{"an assistant", func(q *core.Question) {}, core.Answer{Option: "pg", Responder: core.RespondedByAssistant}, false},
		{"an assistant, exclusive", func(q *core.Question) { q.Exclusive = true }, core.Answer{Option: "pg", Responder: core.RespondedByAssistant}, true},
		{"an assistant, mandatory", func(q *core.Question) { q.Mandatory = true }, core.Answer{Option: "pg", Responder: core.RespondedByAssistant}, true},
		{"an assistant that claims a rule", func(q *core.Question) { q.Mandatory = true }, core.Answer{Option: "pg", Responder: core.RespondedByAssistant, Mandatory: true}, true},
		{"a policy, mandatory", func(q *core.Question) { q.Mandatory = true }, core.Answer{Option: "pg", Responder: core.RespondedByPolicy}, true},
		{"a rule that names the ladder", func(q *core.Question) { q.Mandatory = true }, core.Answer{Option: "pg", Responder: core.RespondedByPolicy, Mandatory: true}, false},
		{"that rule, exclusive", func(q *core.Question) { q.Exclusive = true }, core.Answer{Option: "pg", Responder: core.RespondedByPolicy, Mandatory: true}, true},
		{"a person", func(q *core.Question) { q.Mandatory, q.Exclusive = true, true }, looptest.Chosen("pg"), false},
	} {
		q := looptest.Database()
		c.change(&q)
		if err := q.Accepts(c.answer); (err != nil) != c.forbidden {
			t.Errorf("%s, as the command's question: %v", c.name, err)
		}
		if _, err := q.Resolve(c.answer); (err != nil) != c.forbidden {
			t.Errorf("%s, as a trip's question: %v", c.name, err)
		}
	}
}

// The first answer counts, wherever it comes from; the second is told who was
// first.
func TestAnswersFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var run *looptest.Run
		prompted := make(chan struct{}, 10)
		run = looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}},
			core.ResponderFunc(func(ctx context.Context, _ core.Question, _ *core.State) (core.Answer, error) {
				prompted <- struct{}{}
				<-ctx.Done() // a prompt that nobody touches
				return core.Answer{}, context.Cause(ctx)
			}))
		done := make(chan core.Result)
		go func() {
			res, _ := run.Run(t.Context())
			done <- res
		}()
		<-prompted
		// The loop waits for the prompt and for nothing else: its state stands still.
		open := func() string { return run.State().Pending()[0].ID }
		if err := run.Answer(t.Context(), "", looptest.Chosen("continue")); err == nil || !strings.Contains(err.Error(), "another question waits now: "+open()) {
			t.Errorf("an answer for no question: %v", err)
		}
		if err := run.Answer(t.Context(), open(), looptest.Chosen("nonsense")); err == nil {
			t.Error("an option that is not there was taken")
		}
		if err := run.Answer(t.Context(), "other-1", looptest.Chosen("accept")); err == nil {
			t.Error("the answer to another question was taken")
		}
		if err := run.Answer(t.Context(), open(), core.Answer{Option: "continue", Responder: "user"}); err != nil {
			t.Errorf("a valid answer was refused: %v", err)
		}
		<-prompted // the same failure three more times
		first := run.State().Answered[0]
		if err := run.Answer(t.Context(), first.QuestionID, looptest.Chosen("cancel")); !errors.Is(err, core.ErrAnswered) || !strings.Contains(err.Error(), "user answered "+first.QuestionID+` with "continue" at `) || !strings.Contains(err.Error(), "another question waits now: "+open()) {
			t.Errorf("the second answer: %v", err)
		}
		if err := run.Answer(t.Context(), open(), looptest.Chosen("accept")); err != nil {
			t.Error(err)
		}
		if res := <-done; res.Status != core.StatusAccepted || res.Reason != "because" {
			t.Errorf("got %+v", res)
		}
		if err := run.Answer(t.Context(), first.QuestionID, looptest.Chosen("accept")); !errors.Is(err, core.ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// A deferred question pauses the run after the iteration, which does not count. It is asked before any
// work when it goes on, and its answer goes once to whoever asks again.
func TestADeferredQuestion(t *testing.T) {
	defers := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{}, core.ErrDeferred
	})
	var run *looptest.Run
	var err error
	run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
		_, err = run.Ask(ctx, "key", looptest.Database())
		if !errors.Is(err, core.ErrDeferred) {
			t.Errorf("got %v, want deferred", err)
		}
		if _, again := run.Ask(ctx, "key", looptest.Database()); !errors.Is(again, core.ErrDeferred) {
			t.Errorf("asked again: %v", again)
		}
	}), defers)
	res := run.ToEnd(t)
	if res.Status != core.StatusPaused || res.ExitCode != 102 || !res.Pending || res.Iterations != 0 {
		t.Fatalf("got %+v, want paused after an iteration that does not count", res)
	}

	var seen []core.Question
	var answers []core.Asked
	var errs []error
	next := &looptest.Run{Kept: run.Kept}
	next.Loop = &engine.Loop{
		Guards: run.Guards, Journal: &next.Kept, Questions: looptest.Asks{}, Responders: []core.Responder{looptest.Watched(&seen, looptest.Says("my"))},
		Runner: looptest.Works(func(ctx context.Context, it core.Iteration) core.IterationFinished {
			if len(it.Answers) != 1 || it.Answers[0].Answer.Option != "my" {
				t.Errorf("iteration %d gets the answers %+v", it.Number, it.Answers)
			}
			for range 2 {
				a, err := next.Ask(ctx, "key", looptest.Database())
				answers, errs = append(answers, a), append(errs, err)
			}
			return core.IterationFinished{Outcome: core.OutcomeDone}
		}),
	}
	if err := next.Resume(*run.State(), core.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	if res := next.ToEnd(t); res.Status != core.StatusDone || len(seen) != 1 {
		t.Fatalf("got %+v after %d questions", res, len(seen))
	}
	if err := errors.Join(errs...); err != nil || answers[0].Answer.Option != "my" || answers[0].Earlier || answers[1].Answer.Option != "my" || !answers[1].Earlier {
		t.Errorf("the answers were %+v, %v: who asks again has it, and who asks once more has it as the earlier one", answers, err)
	}
	if i := strings.Index(next.Story(), "run.resumed"); !strings.HasPrefix(next.Story()[i:], "run.resumed question.answered iteration.started question.delivered") {
		t.Errorf("the journal reads %s", next.Story()[i:])
	}
}

// Questions that the output ended with are asked before the next iteration, and
// with nobody to answer the run stops.
func TestQuestionsInTheOutput(t *testing.T) {
	ends := looptest.Reports(func(_ context.Context, it core.Iteration) core.IterationResult {
		if it.Number == 2 {
			return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}}
		}
		return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone}, Said: []core.Data{core.QuestionAsked{Question: looptest.Database()}}}
	})
	var seen []core.Question
	run := looptest.Start(t, looptest.Defaults, ends, looptest.Watched(&seen, looptest.Says("pg")))
	if res := run.ToEnd(t); res.Status != core.StatusDone || len(seen) != 1 || seen[0].ID == "" {
		t.Errorf("got %+v after %+v", res, seen)
	}
	run = looptest.Start(t, looptest.Defaults, ends)
	if res := run.ToEnd(t); res.Status != core.StatusTripped || res.ExitCode != 115 || res.Iterations != 1 || len(run.State().Pending()) != 1 {
		t.Errorf("got %+v with %+v pending, want 115 with one", res, run.State().Pending())
	}
}

// What the command says while a question is asked waits; what it says after the
// end is refused.
// foreign is an event that no reader of a journal knows.
type foreign struct{}

func (foreign) Type() core.EventType { return "foreign" }

// Tell puts on record what a run can replay, and refuses the rest without ending it.
func TestTell(t *testing.T) {
	var run *looptest.Run
	var errs []error
	run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
		errs = append(
			errs,
			run.Tell(ctx, core.CostReported{USD: 0.5, Tokens: 100}),
			run.Tell(ctx, core.CostReported{USD: -1}),
			run.Tell(ctx, core.SignalReceived{Signal: signal.Signal{Name: signal.Cost, USD: 0.25, Tokens: 11}}),
			run.Tell(ctx, core.IterationStarted{Iteration: 7}),
			run.Tell(ctx, core.CostReported{USD: math.NaN()}),
			run.Tell(ctx, core.CostReported{USD: math.Inf(1)}),
			run.Tell(ctx, core.CostReported{Tokens: -1}),
			run.Tell(ctx, &core.CostReported{USD: 1}), // on record it would be read as what it points to
			run.Tell(ctx, foreign{}),
			run.Tell(ctx, nil),
		)
	}))
	res := run.ToEnd(t)
	if res.CostUSD != 0.75 || run.State().Tokens != 111 {
		t.Errorf("cost %v and %d tokens, want 0.75 and 111", res.CostUSD, run.State().Tokens)
	}
	bad := []bool{false, true, false, true, true, true, true, true, true, true}
	for i, err := range errs {
		if errors.Is(err, core.ErrEvent) != bad[i] {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := run.Tell(t.Context(), core.CostReported{USD: 1}); !errors.Is(err, core.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := run.Advice(t.Context(), looptest.Database()); !errors.Is(err, core.ErrEnded) {
		t.Errorf("advice after the end: %v", err)
	}
	if _, err := run.Ask(t.Context(), "key", looptest.Database()); !errors.Is(err, core.ErrEnded) {
		t.Errorf("a question after the end: %v", err)
	}
	if slices.ContainsFunc(run.Kept.Events, func(e core.Event) bool {
		d, ok := e.Data.(core.CostReported)
		return !ok && e.Data.Type() == core.TypeCostReported || e.Data.Type() == "foreign" || ok && !(d.USD >= 0)
	}) {
		t.Error("on record is what was refused")
	}
}

// An order is on record, or refused in words, and a refusal ends nothing.
func TestOrder(t *testing.T) {
	var run *looptest.Run
	run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
		if err := run.Order(ctx, core.OrderReceived{Order: core.OrderSay, Words: "mind the disk"}); err != nil {
			t.Error(err)
		}
		if err := run.Order(ctx, core.OrderReceived{Order: core.OrderSay}); !errors.Is(err, core.ErrEvent) || strings.Contains(err.Error(), string(core.OrderReceived{}.Type())) {
			t.Errorf("an order without words: %v", err)
		}
	}))
	if res := run.ToEnd(t); res.Status != core.StatusDone || strings.Count(run.Story(), string(core.OrderReceived{}.Type())) != 1 {
		t.Errorf("%+v: %s", res, run.Story())
	}
}

// impatient is a journal that cannot write a cost; whoever reports it has left before that.
type impatient struct {
	core.MemoryJournal
	leave func()
}

func (j *impatient) Append(e core.Event) error {
	if _, ok := e.Data.(core.CostReported); ok {
		j.leave()
		time.Sleep(time.Second) // of simulated time
		return errors.New("no space left on device")
	}
	return j.MemoryJournal.Append(e)
}

// Who leaves when what he says is being recorded is told whether it was.
func TestWhoLeavesTooLateIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		var run *looptest.Run
		var told error
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(context.Context) { told = run.Tell(ctx, core.CostReported{USD: 1}) }))
		run.Journal = &impatient{leave: leave}
		if res, err := run.Run(t.Context()); res.Status != core.StatusFailed || err == nil || told == nil || !strings.Contains(told.Error(), "no space left") {
			t.Errorf("%+v, %v; who left was told %v", res, err, told)
		}
	})
}

// An answer waits for the loop no longer than whoever gives it.
func TestAnAnswerThatNobodyTakes(t *testing.T) {
	eventually.Ends(t)
	synctest.Test(t, func(t *testing.T) {
		run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}, looptest.Says("debug", "cancel"))
		run.Debug = looptest.Debugs(func(ctx context.Context) (core.DebugFinished, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if err := run.Answer(ctx, "loop_detected-1", looptest.Chosen("cancel")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("who answered was told %v", err)
			}
			return core.DebugFinished{}, nil
		})
		run.ToEnd(t)
	})
}

// A question that the run cannot take is refused, and nobody has an answer that is not on record.
func TestAQuestionThatIsNotRecorded(t *testing.T) {
	var run *looptest.Run
	for left := range 4 {
		var err error
		q := looptest.Database()
		if left == 0 {
			q.Options[1].ID = q.Options[0].ID
		}
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) { _, err = run.Ask(ctx, "key", q) }), looptest.Says("pg"))
		if left > 0 {
			run.Journal = &looptest.BrokenJournal{Left: left}
		}
		res, _ := run.Run(t.Context())
		if err == nil || (left == 0) != errors.Is(err, core.ErrEvent) || (res.Status == core.StatusDone) != (left == 0) {
			t.Errorf("%d: %+v; who asked was told %v", left, res, err)
		}
	}
}

// What is said while somebody is asked waits for the answer, in its order, and is
// withdrawn with whoever said it.
func TestWhatIsSaidWhileSomebodyIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var run *looptest.Run
		told := make(chan error, 3)
		tell := func(ctx context.Context, tokens int64) {
			go func() { told <- run.Tell(ctx, core.CostReported{Tokens: tokens}) }()
			synctest.Wait()
		}
		person := core.ResponderFunc(func(ctx context.Context, _ core.Question, s *core.State) (core.Answer, error) {
			gone, leave := context.WithCancelCause(ctx)
			tell(context.WithoutCancel(ctx), 1)
			tell(gone, 2)
			tell(context.WithoutCancel(ctx), 4)
			leave(errLeft)
			synctest.Wait()
			if err := <-told; len(told) != 0 || !errors.Is(err, errLeft) || s.Tokens != 0 {
				t.Errorf("while it is asked %d tokens are on record, and who left was told %v", s.Tokens, err)
			}
			return looptest.Chosen("pg"), nil
		})
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
			_, _ = run.Ask(ctx, "key", looptest.Database())
			for range 2 {
				if err := <-told; err != nil {
					t.Errorf("who waited was told %v", err)
				}
			}
		}), person)
		run.ToEnd(t)
		var order []int64
		for _, e := range run.Kept.Events {
			if d, ok := e.Data.(core.CostReported); ok {
				order = append(order, d.Tokens)
			}
		}
		if !slices.Equal(order, []int64{1, 4}) {
			t.Errorf("on record are %d, want 1 and 4", order)
		}
	})
}

var errLeft = errors.New("left")
