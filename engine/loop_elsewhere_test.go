package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
)

// Whoever answers from elsewhere in the moment in which the run is interrupted is
// told that the answer does not count.
func TestAnAnswerFromElsewhereThatTheRunDoesNotTake(t *testing.T) {
	eventually.Ends(t)
	failing := &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}
	for _, c := range []struct {
		name   string
		option string
		runner func(*looptest.Run) engine.Runner
	}{
		{"to a trip", "accept", func(*looptest.Run) engine.Runner { return failing }},
		{"to the command", "pg", func(run *looptest.Run) engine.Runner {
			return looptest.Once(func(ctx context.Context) { _, _ = run.Ask(ctx, "key", looptest.Database()) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				prompted := make(chan struct{})
				prompt := sync.OnceFunc(func() { close(prompted) }) // the question may be put once more
				run := looptest.Start(t, looptest.Defaults, failing, core.ResponderFunc(func(ctx context.Context, _ core.Question, _ *core.State) (core.Answer, error) {
					prompt()
					<-ctx.Done() // an answer has come from elsewhere
					interrupt()
					return core.Answer{}, context.Cause(ctx)
				}))
				run.Runner = c.runner(run)
				ended := make(chan core.Result)
				go func() {
					res, _ := run.Run(ctx)
					ended <- res
				}()
				<-prompted
				if err := run.Answer(t.Context(), run.State().Pending()[0].ID, looptest.Chosen(c.option)); !errors.Is(err, core.ErrEnded) {
					t.Errorf("who answered was told %v", err)
				}
				if res := <-ended; res.Status != core.StatusInterrupted || len(run.State().Pending()) != 1 {
					t.Errorf("got %+v with %d questions", res, len(run.State().Pending()))
				}
			})
		})
	}
}

// Whoever answers a question that waits for its turn is told that, and it goes on
// waiting.
func TestAnAnswerBeforeTheQuestionIsAsked(t *testing.T) {
	var run *looptest.Run
	deferring := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		return core.Answer{}, core.ErrDeferred
	})
	run = looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
		_, _ = run.Ask(ctx, "key", looptest.Database())
		id := run.State().Unanswered().ID
		if err := run.Answer(ctx, id, looptest.Chosen("pg")); err == nil || !strings.Contains(err.Error(), "question "+id+" waits, but it is not asked now") {
			t.Errorf("who answered was told %v", err)
		}
	}), deferring)
	if res := run.ToEnd(t); res.Status != core.StatusPaused || len(run.State().Pending()) != 1 {
		t.Errorf("got %+v with %d questions", res, len(run.State().Pending()))
	}
}

// Who is gone while another question is asked is not waited for, and his is never asked.
func TestWhoeverAskedIsGoneBeforeItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var run *looptest.Run
		asked := 0
		run = looptest.Start(t, looptest.Defaults, looptest.Once(func(context.Context) {
			first := make(chan error)
			go func() {
				_, err := run.Ask(t.Context(), "first", core.Question{Kind: core.KindConfirm, Text: "First?"})
				first <- err
			}()
			time.Sleep(time.Minute) // of simulated time: it is asked
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			if _, err := run.Ask(ctx, "second", looptest.Database()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
			if err := <-first; err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
		}), core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			asked++
			time.Sleep(time.Hour)
			return looptest.Chosen(core.Yes), nil
		}))
		run.ToEnd(t)
		if asked != 1 || !strings.Contains(run.Story(), "question.closed") {
			t.Errorf("%d questions were asked: %s", asked, run.Story())
		}
	})
}
