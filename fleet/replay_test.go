package fleet

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/loops"
)

func histories(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no history is recorded: %v", err)
	}
	return files
}

// replay replays the history of a file.
func replay(t *testing.T, file string, run any) error {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.RegisterWorkflowWithOptions(run, workflow.RegisterOptions{Name: "Run"})
	return r.ReplayWorkflowHistoryFromJSONFile(nil, file)
}

// Loops that an older looprun-fleet began go on under this one: their recorded histories
// lead the workflow the same way. make fleet-test with FLEET_RECORD=DIR records others.
func TestOlderHistoriesAreReplayed(t *testing.T) {
	for _, file := range histories(t) {
		if err := replay(t, file, Run); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A loop goes on from its state where its history is cut: with the same events as one that
// is not cut.
func TestAHistoryIsCut(t *testing.T) {
	line := `echo "failure $LOOPRUN_ITERATION of many"; test "$LOOPRUN_ITERATION" = 4`
	l := submitted(t, line, func(l *loops.Loop) { l.Options["loop_values"], l.Repo = "off", repo(t) })
	whole := newBench(t, nil)
	want := whole.run(l)

	var parts int
	for in := l; ; parts++ {
		b := newBench(t, nil)
		b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(_ context.Context, in Iterate) (Iterated, error) {
			b.SetContinueAsNewSuggested(true)
			outcome := core.OutcomeNotDone
			if in.Iteration.Number == 4 {
				outcome = core.OutcomeDone
			}
			return Iterated{Result: core.IterationResult{IterationFinished: core.IterationFinished{Iteration: in.Iteration.Number, Outcome: outcome, DurationMS: 1000}}, Commit: in.Commit}, nil
		})
		b.ExecuteWorkflow(Run, in)
		var next *workflow.ContinueAsNewError
		if err := b.GetWorkflowError(); !errors.As(err, &next) {
			if err != nil {
				t.Fatal(err)
			}
			var r core.Result
			if err := b.GetWorkflowResult(&r); err != nil {
				t.Fatal(err)
			}
			if r.Status != want.Status || r.Iterations != want.Iterations || r.Runtime != 0 && r.RuntimeSeconds != 4 {
				t.Errorf("%+v, and uncut %+v", r, want)
			}
			break
		}
		in = Loop{}
		if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil {
			t.Fatal(err)
		}
		if in.State == nil || in.State.Iterations != parts+1 || in.Place.Commit == "" || in.State.Elapsed != time.Duration(parts+1)*time.Second {
			t.Fatalf("part %d goes on from %+v", parts, in)
		}
	}
	if parts != 3 {
		t.Errorf("it was cut %d times", parts)
	}
}

// eager is a rule that trips at once.
type eager struct{ guards.Errors }

func (eager) Check(*core.State) *core.Trip { return &core.Trip{Reason: "another rule"} }

// A history has its decisions, so it is replayed also by a version with other rules.
func TestHistoriesAreReplayedUnderOtherRules(t *testing.T) {
	for _, file := range histories(t) {
		err := replay(t, file, func(ctx workflow.Context, in Loop) (core.Result, error) {
			return runUnder(ctx, in, append(guards.Default(), eager{}))
		})
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
