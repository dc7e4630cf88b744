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
	"github.com/looprun/looprun/scratchpad"
)

// Events calls each for every event of a loop, from its first.
func (f *Fleet) Events(ctx context.Context, id string, each func(core.Event) error) error {
	parts, err := f.parts(ctx, id)
	if err != nil {
		return err
	}
	after := int64(0)
	for _, part := range parts {
		for more := true; more; {
			v, err := f.client.QueryWorkflow(ctx, id, part, queryEvents, after)
			if err != nil {
				return f.explained(err)
			}
			var p Page
			if err := v.Get(&p); err != nil {
				return err
			}
			if p.From > after+1 {
				return fmt.Errorf("events %d to %d of loop %s are gone: the server keeps histories for as long as its namespace says", after+1, p.From-1, id)
			}
			for _, raw := range p.Events {
				var e core.Event
				if err := json.Unmarshal(raw, &e); err != nil {
					return err
				}
				if e.Seq <= after {
					continue
				}
				if err := each(e); err != nil {
					return err
				}
				after = e.Seq
			}
			more = p.More
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
		begun, err := f.begun(ctx, id, run)
		if err != nil {
			break // older ones are gone: whoever needs their events says so
		}
		run = begun.GetContinuedExecutionRunId()
	}
	slices.Reverse(parts)
	return parts, nil
}

func (f *Fleet) begun(ctx context.Context, id, run string) (*historypb.WorkflowExecutionStartedEventAttributes, error) {
	it := f.client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !it.HasNext() {
		return nil, errors.New("the history is empty")
	}
	e, err := it.Next()
	return e.GetWorkflowExecutionStartedEventAttributes(), err
}

// Export writes a loop into a state directory, as a run that the CLI can read, and returns its
// folder. With outputs, it fetches the iterations' outputs from their workers, and passes
// errors for unavailable ones to missed.
func (f *Fleet) Export(ctx context.Context, id, stateDir string, outputs bool, missed func(error)) (string, error) {
	run, err := scratchpad.CreateAs(stateDir, id, scratchpad.SyncOff)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already; remove it, or name another folder", filepath.Join(stateDir, id))
	}
	if err != nil {
		return "", err
	}
	defer run.Close()
	state := new(core.State)
	var ran []int
	err = f.Events(ctx, id, func(e core.Event) error {
		if d, ok := e.Data.(core.IterationFinished); ok {
			ran = append(ran, d.Iteration)
		}
		if err := state.Apply(e); err != nil {
			return err
		}
		return run.Journal.Append(e)
	})
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(run.Dir))
	}
	err = run.Refresh(state, true)
	if state.Ended {
		err = errors.Join(err, run.WriteResult(state.Result(), ""))
	}
	if !outputs {
		return run.Dir, err
	}
	for _, n := range slices.Compact(ran) {
		if err := f.exportOutput(ctx, id, n, scratchpad.OutputFile(run.Dir, n)); err != nil {
			missed(fmt.Errorf("what iteration %d printed: %w", n, err))
			break
		}
	}
	return run.Dir, err
}

func (f *Fleet) exportOutput(ctx context.Context, id string, n int, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
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
		out, err := f.read(ctx, Fetched{host, Piece{id, n, offset}})
		if err != nil {
			return fmt.Errorf("worker %s does not give it: %s", host, cause(err))
		}
		if _, err := to.Write(out.Text); err != nil {
			return err
		}
		if offset += int64(len(out.Text)); len(out.Text) == 0 || offset >= out.Size {
			return nil
		}
	}
}

func (f *Fleet) read(ctx context.Context, in Fetched) (Output, error) {
	var out Output
	w, err := f.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: "fetch/" + rand.Text(), TaskQueue: f.server.Queue, WorkflowExecutionTimeout: time.Minute,
	}, Fetch, in)
	if err == nil {
		err = w.Get(ctx, &out)
	}
	return out, err
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
		it := f.client.GetWorkflowHistory(ctx, id, part, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for it.HasNext() {
			e, err := it.Next()
			if err != nil {
				return "", err
			}
			if a := e.GetActivityTaskScheduledEventAttributes(); a.GetActivityType().GetName() == "Iterate" {
				var in Iterate
				if err := f.converter.FromPayloads(a.GetInput(), &in); err != nil {
					return "", err
				}
				names[e.GetEventId()] = in.Iteration.Number == n
			}
			if a := e.GetActivityTaskStartedEventAttributes(); names[a.GetScheduledEventId()] {
				host = a.GetIdentity()
			}
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
