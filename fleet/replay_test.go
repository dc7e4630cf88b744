package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
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
	later, err := filepath.Glob(filepath.Join("testdata", "histories", "*", "*.json")) // of releases
	if err != nil {
		t.Fatal(err)
	}
	return append(files, later...)
}

// unkeyed reads what is recorded in the histories.
var unkeyed = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), new(codec))

func history(t *testing.T, file string) *historypb.History {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// replay replays the history of a file, after change if that is not nil.
func replay(t *testing.T, file string, run any, change func(*historypb.History)) error {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DataConverter: unkeyed})
	if err != nil {
		t.Fatal(err)
	}
	r.RegisterWorkflowWithOptions(run, workflow.RegisterOptions{Name: "Run"})
	h := history(t, file)
	if change != nil {
		change(h)
	}
	return r.ReplayWorkflowHistory(nil, h)
}

// Loops that an older looprun-fleet began go on under this one: their recorded histories
// lead the workflow the same way. make fleet-record records others.
func TestOlderHistoriesAreReplayed(t *testing.T) {
	for _, file := range histories(t) {
		if err := replay(t, file, Run, nil); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// pages are the events of a history, as a client reads them.
type pages []*historypb.HistoryEvent

func (p *pages) HasNext() bool { return len(*p) > 0 }

func (p *pages) Next() (*historypb.HistoryEvent, error) {
	e := (*p)[0]
	*p = (*p)[1:]
	return e, nil
}

// What happened in a loop is read from its history, without a worker; a part that is missing is
// named.
func TestAHistoryIsRead(t *testing.T) {
	whole := history(t, filepath.Join("testdata", "histories", "asked.json")).Events
	first := slices.IndexFunc(whole, func(e *historypb.HistoryEvent) bool { return e.GetMarkerRecordedEventAttributes() != nil })
	for name, c := range map[string]struct {
		events      []*historypb.HistoryEvent
		times       int    // each event comes
		want, state string // errors
	}{
		"whole":     {whole, 1, "", ""},
		"queued":    {whole[:1], 0, "", "l1: no worker has begun the loop yet"},
		"a piece":   {slices.Delete(slices.Clone(whole), first, first+1), 0, "events 1 to 1 of loop l1 are gone", "out of order"},
		"no events": {nil, 0, "", "the history is empty"},
	} {
		cl, f := known(t)
		f.converter = unkeyed
		cl.On("DescribeWorkflowExecution", mock.Anything, "l1", "").Return(&workflowservice.DescribeWorkflowExecutionResponse{
			WorkflowExecutionInfo: execution(t, "l1", "", time.Time{}),
		}, nil)
		cl.On("GetWorkflowHistory", mock.Anything, "l1", mock.Anything, false, mock.Anything).Return(
			func(context.Context, string, string, bool, enumspb.HistoryEventFilterType) client.HistoryEventIterator {
				p := pages(c.events)
				return &p
			})
		n := map[core.EventType]int{}
		err := f.Events(t.Context(), "l1", func(e core.Event) error {
			n[e.Data.Type()]++
			return nil
		})
		if c.want == "" && (err != nil || n[core.TypeRunStarted] != c.times || n[core.TypeQuestionAnswered] != c.times || n[core.TypeRunFinished] != c.times) ||
			c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, %v", name, n, err)
		}
		outputs := 0
		if err := f.Outputs(t.Context(), "l1", func(out Iterated) error {
			if outputs++; out.Result.Iteration != outputs {
				t.Errorf("%s: the output of iteration %d comes as number %d", name, out.Result.Iteration, outputs)
			}
			return nil
		}); c.want == "" && (err != nil || outputs != n[core.TypeIterationFinished]) {
			t.Errorf("%s: %d outputs, %v", name, outputs, err)
		}
		s, err := f.State(t.Context(), "l1")
		if c.state == "" && (err != nil || !s.Ended || s.Iterations != n[core.TypeIterationFinished]) ||
			c.state != "" && (err == nil || !strings.Contains(err.Error(), c.state)) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// An event that a worker does not know fails its task, and not the loop: another worker may know it.
func TestAnUnknownEventEndsNoLoop(t *testing.T) {
	for want, c := range map[string]struct {
		after int // decisions
		made  decision
	}{
		core.ErrUnknownEvent.Error():     {0, decision{Events: []json.RawMessage{[]byte(`{"seq":1,"time":"2026-01-02T03:04:05Z","type":"run.dreamt","elapsed_ms":0}`)}}},
		`step "dream" is not known here`: {1, decision{Next: "dream"}},
	} {
		err := replay(t, filepath.Join("testdata", "histories", "checked.json"), Run, func(h *historypb.History) {
			for _, e := range h.Events {
				m := e.GetMarkerRecordedEventAttributes()
				if m.GetMarkerName() != "SideEffect" {
					continue
				}
				if c.after--; c.after >= 0 {
					continue
				}
				p, err := unkeyed.ToPayloads(c.made)
				if err != nil {
					t.Fatal(err)
				}
				m.Details["data"] = p
				return
			}
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
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
		}, nil)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
