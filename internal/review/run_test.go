package review

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/scratchpad"
)

// An iteration that a worker lost or gave back is shown with when and why.
func TestWithdrawnIterationsAreShown(t *testing.T) {
	run, err := scratchpad.Create(filepath.Join(t.TempDir(), scratchpad.StateDirName), time.Now(), scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	s := new(core.State)
	for _, d := range []core.Data{
		core.RunStarted{RunID: run.ID, Command: []string{"true"}, Limits: looptest.Defaults},
		core.IterationStarted{Iteration: 1},
		core.IterationWithdrawn{Iteration: 1, Reason: "worker w1 was lost: Heartbeat timeout"},
		core.IterationStarted{Iteration: 1},
		core.IterationWithdrawn{Iteration: 1, Reason: "worker w2 was told to stop", HandedBack: true},
	} {
		if _, err := core.Record(s, run.Journal, nil, 0, d); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int]string{
		0: `withdrawn \S+ ago, iteration 1: worker w1 was lost: Heartbeat timeout \S+ ago, iteration 1: worker w2 was told to stop`,
		1: `withdrawn \S+ ago, iteration 1: worker w2 was told to stop`,
	} {
		r, err := Load(run.Dir, number)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		p := console.NewPrinter(&out, nil, "never")
		if err := r.Text(p, time.Now(), false); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(p.String()), " "); !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%d: %s", number, text)
		}
	}
}
