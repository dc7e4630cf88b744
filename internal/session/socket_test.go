package session

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/socket"
)

// working is a command that is done when it returns.
type working func(context.Context)

func (w working) Run(ctx context.Context, _ core.Iteration) (core.IterationResult, error) {
	w(ctx)
	return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}}, nil
}

// Equal questions of several clients are asked once; one that the answer does not
// fit is asked by itself.
func TestAnEqualQuestionThatTheAnswerDoesNotFit(t *testing.T) {
	const (
		several = `{"questions":[{"question":"Which?","multi_select":true,"options":[{"id":"a","label":"A"},{"id":"b","label":"B"}]}]}`
		one     = `{"questions":[{"question":"Which?","options":[{"id":"x","label":"A"},{"id":"y","label":"B"}]}]}`
	)
	for _, c := range []struct {
		name        string
		first, next string
		answer      core.Answer  // to the first
		want        ask.Selected // what the second gets
		asked       int
	}{
		{"one of several is one", several, one, core.Answer{Options: []string{"b"}}, ask.One("y"), 1},
		{"one is one of several", one, several, core.Answer{Option: "y"}, ask.Several("b"), 1},
		{"two are not one", several, one, core.Answer{Options: []string{"a", "b"}}, ask.One("x"), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, release := 0, make(chan struct{})
				var l *engine.Loop
				heard := make(chan any, 1)
				work := working(func(ctx context.Context) {
					to := &talk{s: &Session{loop: l}}
					go func() { _, _ = to.ask(ctx, socket.Peer{}, json.RawMessage(c.first)) }()
					time.Sleep(time.Second) // of simulated time: it is asked
					go func() {
						second, err := to.ask(ctx, socket.Peer{}, json.RawMessage(c.next))
						if err != nil {
							t.Error(err)
						}
						heard <- second
					}()
					synctest.Wait() // it waits for the same answer
					close(release)
					time.Sleep(time.Second)
				})
				l = &engine.Loop{Guards: guards.Default(), Runner: work, Responders: []core.Responder{core.ResponderFunc(
					func(context.Context, core.Question, *core.State) (core.Answer, error) {
						<-release
						a := c.answer
						if asked++; asked == 2 {
							a = core.Answer{Option: "x"}
						}
						a.Responder, a.Person = core.RespondedByUser, true
						return a, nil
					})}}
				if err := l.Start(core.RunStarted{RunID: "r", Limits: core.Limits{Iterations: 1, Runtime: core.Off, Loop: core.Off, Errors: core.Off}}); err != nil {
					t.Fatal(err)
				}
				if _, err := l.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				second := <-heard
				r, ok := second.(ask.Response)
				if !ok || len(r.Answers) != 1 || !reflect.DeepEqual(r.Answers[0].Selected, c.want) || asked != c.asked {
					t.Errorf("got %+v after %d questions, want %+v after %d", second, asked, c.want, c.asked)
				}
			})
		})
	}
}

// An answer to a loop that has ended is refused as closed: whoever gave it records it then.
func TestAnAnswerToALoopThatHasEnded(t *testing.T) {
	l := &engine.Loop{Guards: guards.Default(), Runner: working(func(context.Context) {})}
	if err := l.Start(core.RunStarted{RunID: "r", Limits: core.Limits{Iterations: 1, Runtime: core.Off, Loop: core.Off, Errors: core.Off}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	to := &talk{s: &Session{loop: l}}
	_, err := to.answer(t.Context(), socket.Peer{PID: os.Getppid()}, Answered{QuestionID: "q"})
	if e, ok := errors.AsType[*socket.Error](err); !ok || e.Code != socket.CodeClosed {
		t.Errorf("%v", err)
	}
}
