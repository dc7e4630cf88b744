package review

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/scratchpad"
)

// failures fail in the same words, each time.
type failures struct{}

func (failures) Run(context.Context, core.Iteration) (core.IterationResult, error) {
	return core.IterationResult{IterationFinished: core.IterationFinished{
		Outcome: core.OutcomeNotDone, ExitCode: 1, Excerpt: strings.Repeat("it fails. ", 40),
	}}, nil
}

// What is shown of a long run is the same whether a state was kept or not.
func TestALongRunIsShownAsItWas(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	run, err := scratchpad.Create(filepath.Join(t.TempDir(), ".looprun"), time.Now(), scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	const n = 2500
	loop := &engine.Loop{Guards: guards.Default(), Runner: failures{}, Journal: run.Journal, Observe: func(_ core.Event, s *core.State) {
		if s.Iterations%100 == 1 {
			_ = run.Refresh(s, true)
		}
	}}
	limits := core.Limits{Iterations: n, Runtime: core.Off, Loop: core.Off, Errors: core.Off}
	if err := loop.Start(core.RunStarted{RunID: run.ID, Command: []string{"x"}, Limits: limits}); err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(run.Dir, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range []int{1, 50, n - 1, 0} {
		with := loaded(t, run.Dir, number)
		if err := os.Remove(filepath.Join(run.Dir, "state.json")); err != nil {
			t.Fatal(err)
		}
		if without := loaded(t, run.Dir, number); with != without {
			t.Errorf("the last %d: %d and %d bytes", number, len(with), len(without))
		}
		if err := os.WriteFile(filepath.Join(run.Dir, "state.json"), kept, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func loaded(t *testing.T, dir string, number int) string {
	t.Helper()
	r, err := Load(dir, number)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Pending {
		r.Pending[i].Age = 0
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Events that do not say all that is shown are not enough: all are read then.
func TestWhatIsEnoughToShow(t *testing.T) {
	h := history{number: 1, asked: map[string]time.Time{}}
	s := new(core.State)
	h.add(s, core.Event{Seq: 10, Data: core.IterationFinished{Iteration: 5}})
	if h.enough(s) {
		t.Error("an iteration of which the beginning was not seen")
	}
	h.add(s, core.Event{Seq: 12, Data: core.IterationFinished{Iteration: 6}})
	if !h.enough(s) {
		t.Error("the last iteration was seen")
	}
	s.Asked = []core.Asked{{Question: core.Question{ID: "q"}}}
	if h.enough(s) {
		t.Error("when the question was asked was not seen")
	}
	h.add(s, core.Event{Seq: 13, Data: core.QuestionAsked{Question: core.Question{ID: "q"}}})
	if !h.enough(s) {
		t.Error("when the question was asked was seen")
	}
}
