package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/remote"
	"github.com/looprun/looprun/scratchpad"
)

// Events calls each for every event of a loop, from its first. They are in its history, so no
// worker is needed.
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
	if err == nil && last == 0 {
		err = f.unbegun(id)
	}
	return err
}

// ErrUnbegun is the error for a loop without events.
var ErrUnbegun = errors.New("no worker has begun the loop yet")

func (f *Fleet) unbegun(id string) error {
	return fmt.Errorf("%s: %w; is one running on queue %q? (looprun-fleet worker)", id, ErrUnbegun, f.server.Queue)
}

// decided calls each for the events in a part of a loop's history.
func (f *Fleet) decided(ctx context.Context, id, part string, each func(core.Event) error) error {
	return f.history(ctx, id, part, func(h *historypb.HistoryEvent) error {
		m := h.GetMarkerRecordedEventAttributes()
		if m.GetMarkerName() != "SideEffect" { // all side effects are decisions
			return nil
		}
		var made decision
		err := f.converter.FromPayloads(m.GetDetails()["data"], &made)
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
		_, begun, err := f.begun(ctx, id, run)
		if err != nil {
			break // older ones are gone: whoever needs their events says so
		}
		run = begun.GetContinuedExecutionRunId()
	}
	slices.Reverse(parts)
	return parts, nil
}

// begun returns how a part of a loop's history began.
func (f *Fleet) begun(ctx context.Context, id, run string) (in Loop, _ *historypb.WorkflowExecutionStartedEventAttributes, _ error) {
	it := f.client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !it.HasNext() {
		return in, nil, errors.New("the history is empty")
	}
	e, err := it.Next()
	begun := e.GetWorkflowExecutionStartedEventAttributes()
	if err == nil {
		err = f.converter.FromPayloads(begun.GetInput(), &in)
	}
	return in, begun, f.explained(err)
}

// Export writes a loop into a state directory, as a run that the CLI can read, and returns its
// folder. With outputs, it fetches the iterations' outputs from their workers, and passes
// errors for unavailable ones to missed.
func (f *Fleet) Export(ctx context.Context, id, stateDir string, outputs bool, missed func(error)) (string, error) {
	c, err := remote.Create(stateDir, id)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already; remove it, or name another folder", filepath.Join(stateDir, id))
	}
	if err != nil {
		return "", err
	}
	var ran []int
	err = f.Events(ctx, id, func(e core.Event) error {
		if d, ok := e.Data.(core.IterationFinished); ok {
			ran = append(ran, d.Iteration)
		}
		return c.Add(e)
	})
	if err = errors.Join(err, c.Close()); err != nil {
		return "", errors.Join(err, os.RemoveAll(c.Dir))
	}
	for _, n := range slices.Compact(ran) {
		if !outputs {
			break
		}
		if err := f.exportOutput(ctx, id, n, scratchpad.OutputFile(c.Dir, n)); err != nil {
			missed(fmt.Errorf("what iteration %d printed: %w", n, err))
			break
		}
	}
	return c.Dir, nil
}

func (f *Fleet) exportOutput(ctx context.Context, id string, n int, name string) error {
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	file, openErr := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err = errors.Join(err, openErr); err != nil {
		return err
	}
	return errors.Join(f.Output(ctx, id, n, file), file.Close())
}

// Output writes an iteration's output. It is read on the worker that ran the iteration.
func (f *Fleet) Output(ctx context.Context, id string, n int, to io.Writer) error {
	host, err := f.host(ctx, id, n)
	if err != nil {
		return err
	}
	for offset := int64(0); ; {
		var out Output
		w, err := f.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: "fetch/" + rand.Text(), TaskQueue: f.server.Queue, WorkflowExecutionTimeout: time.Minute,
		}, Fetch, host, Piece{id, n, offset})
		if err == nil {
			err = w.Get(ctx, &out)
		}
		if err != nil {
			return fmt.Errorf("worker %s does not give it: %s", host, cause(err))
		}
		if _, err := to.Write(out.Text); err != nil {
			return err
		}
		if offset += int64(len(out.Text)); len(out.Text) < chunk {
			return nil
		}
	}
}

// host returns the worker that ran the iteration, according to the history.
func (f *Fleet) host(ctx context.Context, id string, n int) (string, error) {
	parts, err := f.parts(ctx, id)
	if err != nil {
		return "", err
	}
	host := ""
	for _, part := range parts {
		names := map[int64]bool{} // of what was scheduled as an iteration
		err := f.history(ctx, id, part, func(e *historypb.HistoryEvent) (err error) {
			if a := e.GetActivityTaskScheduledEventAttributes(); a.GetActivityType().GetName() == "Iterate" {
				var in Iterate
				err = f.converter.FromPayloads(a.GetInput(), &in)
				names[e.GetEventId()] = in.Iteration.Number == n
			}
			if a := e.GetActivityTaskStartedEventAttributes(); names[a.GetScheduledEventId()] {
				host = a.GetIdentity()
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	if host != "" {
		return host, nil
	}
	return "", fmt.Errorf("no worker has run iteration %d of loop %s", n, id)
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
			if a.GetHeartbeatDetails() != nil {
				err = f.converter.FromPayloads(a.GetHeartbeatDetails(), &text)
			}
			return text, a.GetLastWorkerIdentity(), err
		}
	}
	return "", "", nil
}
