package looprun_test

import (
	"context"
	"errors"
	"testing"

	"github.com/looprun/looprun"
)

// Who answers a question of the command with what it does not take is asked once
// more; who fails has tried again by itself, and a guard asks once.
func TestHowOftenAResponderIsAsked(t *testing.T) {
	for _, c := range []struct {
		name    string
		command bool
		err     error
		want    int
	}{
		{"a wrong answer to the command", true, nil, 2},
		{"a failure at the command's question", true, errors.New("it crashed"), 1},
		{"a wrong answer to a guard", false, nil, 1},
		{"a failure at a guard's question", false, errors.New("it crashed"), 1},
	} {
		asked, answered := 0, error(nil)
		var run *testRun
		runner := looprun.Runner(&script{steps: []play{{outcome: looprun.OutcomeNotDone, same: 1}}})
		if c.command {
			runner = once(func(ctx context.Context) { _, answered = run.Ask(ctx, "key", database()) })
		}
		run = start(t, defaults, runner, looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
			asked++
			return chosen("nonsense"), c.err
		}))
		res := run.run(t)
		if asked != c.want || c.command != errors.Is(answered, looprun.ErrNoAnswer) || c.command == (res.ExitCode == 111) {
			t.Errorf("%s: asked %d times, want %d; %+v, %v", c.name, asked, c.want, res, answered)
		}
	}
}
