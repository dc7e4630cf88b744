package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/remote"
	"github.com/looprun/looprun/scratchpad"
)

// Events calls each for every event of a loop, from its first; for none if no worker has begun it.
// They are in its history, so no worker is needed.
func (f *Fleet) Events(ctx context.Context, id string, each func(core.Event) error) error {
	parts, err := f.parts(ctx, id)
	if err != nil {
		return err
	}
	last := int64(0)
	for _, part := range parts {
		err = errors.Join(err, f.decided(ctx, id, part, func(e core.Event) error {
			if e.Seq > last+1 {
				return fmt.Errorf("events %d to %d of loop %s are gone: the server keeps histories for as long as its namespace says", last+1, e.Seq-1, id)
			}
			last = e.Seq
			return each(e)
		}))
	}
	return err
}

// unbegun returns an error for a loop that has no event.
func (f *Fleet) unbegun(id string, s *core.State) error {
	if s.Seq > 0 {
		return nil
	}
	return fmt.Errorf("%s: no worker has begun the loop yet; is one running on queue %q? (looprun-fleet worker)", id, f.server.Queue)
}

// decided calls each for the events in a part of a loop's history.
func (f *Fleet) decided(ctx context.Context, id, part string, each func(core.Event) error) error {
	return f.history(ctx, id, part, func(h *historypb.HistoryEvent) error {
		m := h.GetMarkerRecordedEventAttributes()
		if m.GetMarkerName() != "SideEffect" { // all side effects are decisions
			return nil
		}
		var made decision
		err := f.of(id).FromPayloads(m.GetDetails()["data"], &made)
		for _, raw := range made.Events {
			var e core.Event
			if err == nil {
				err = json.Unmarshal(raw, &e)
			}
			if err == nil {
				err = each(e)
			}
		}
		return err
	})
}

// history calls each for what happened in a part of a loop's history.
func (f *Fleet) history(ctx context.Context, id, part string, each func(*historypb.HistoryEvent) error) error {
	it := f.client.GetWorkflowHistory(ctx, id, part, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		if err == nil {
			err = each(e)
		}
		if err != nil {
			return f.explained(err)
		}
	}
	return nil
}

// parts returns the workflows in which a loop continued, first one first.
func (f *Fleet) parts(ctx context.Context, id string) ([]string, error) {
	d, err := f.client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return nil, f.explained(err)
	}
	var parts []string
	for run := d.GetWorkflowExecutionInfo().GetExecution().GetRunId(); run != ""; {
		parts = append(parts, run)
		begun, err := f.begun(ctx, id, run, new(Loop))
		if err != nil {
			break // older ones are gone: whoever needs their events says so
		}
		run = begun.GetContinuedExecutionRunId()
	}
	slices.Reverse(parts)
	return parts, nil
}

// begun reads what a part of a workflow's history began with into in.
func (f *Fleet) begun(ctx context.Context, id, run string, in ...any) (*historypb.WorkflowExecutionStartedEventAttributes, error) {
	it := f.client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !it.HasNext() {
		return nil, errors.New("the history is empty")
	}
	e, err := it.Next()
	begun := e.GetWorkflowExecutionStartedEventAttributes()
	if err == nil {
		err = f.of(id).FromPayloads(begun.GetInput(), in...)
	}
	return begun, f.explained(err)
}

// Export writes a loop into a state directory, as a run that the CLI can read, and returns its
// folder; with outputs, also the end of what iterations printed.
func (f *Fleet) Export(ctx context.Context, id, stateDir string, outputs bool) (string, error) {
	c, err := remote.Create(stateDir, id)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already; remove it, or name another folder", filepath.Join(stateDir, id))
	}
	if err != nil {
		return "", err
	}
	if err = f.Events(ctx, id, c.Add); err == nil {
		err = f.unbegun(id, &c.State)
	}
	if err == nil && outputs {
		err = f.Outputs(ctx, id, func(out Iterated) error {
			name := scratchpad.OutputFile(c.Dir, out.Result.Iteration)
			return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, out.Printed, 0o600))
		})
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return "", errors.Join(err, os.RemoveAll(c.Dir))
	}
	return c.Dir, nil
}

// Outputs calls each for every iteration of a loop that has ended, in order. They are in its
// history, so they survive their workers.
func (f *Fleet) Outputs(ctx context.Context, id string, each func(Iterated) error) error {
	parts, err := f.parts(ctx, id)
	for _, part := range parts {
		err = errors.Join(err, f.history(ctx, id, part, func(h *historypb.HistoryEvent) error {
			var out Iterated
			a := h.GetActivityTaskCompletedEventAttributes()
			if a == nil || f.of(id).FromPayloads(a.GetResult(), &out) != nil || out.Result.Outcome == "" { // of another activity
				return nil
			}
			return each(out)
		}))
	}
	return err
}

// Tail returns the end of the running iteration's output, and where it runs; empty if none is
// running.
func (f *Fleet) Tail(ctx context.Context, id string) (text, host string, err error) {
	d, err := f.client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return "", "", f.explained(err)
	}
	for _, a := range d.GetPendingActivities() {
		if a.GetActivityType().GetName() == "Iterate" {
			err = f.of(id).FromPayloads(a.GetHeartbeatDetails(), &text) // there are none at first
			return text, a.GetLastWorkerIdentity(), err
		}
	}
	return "", "", nil
}
