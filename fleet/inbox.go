package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/checkpoint"
)

// otherVersion says what to do about a loop whose history a worker does not understand.
const otherVersion = "it was begun by another version; start a worker of that version, or end it with looprun-fleet cancel --force"

// Entry is a loop in the form that lists show.
type Entry struct {
	ID        string  `json:"id"`
	Name      string  `json:"name,omitempty"`
	Group     string  `json:"group,omitempty"`
	Status    string  `json:"status"`
	Iteration int64   `json:"iteration"`
	Cost      float64 `json:"cost_usd,omitempty"`
	Guard     string  `json:"guard,omitempty"`
	Note
	// Stuck means that no worker can continue it; Reason says why.
	Stuck   bool      `json:"stuck,omitempty"`
	Started time.Time `json:"started"`
	Updated time.Time `json:"ended,omitzero"`
}

// Filter selects which loops are listed.
type Filter struct {
	Asking bool   `help:"Those alone that wait for an answer."`
	All    bool   `help:"Also those that have ended, as long as the server keeps them."`
	Group  string `placeholder:"TEXT" help:"Those alone in this group."`
	Name   string `kong:"-"`
	Limit  int    `default:"200" placeholder:"N" help:"At most N; 0 for all (${default})."`
}

// quoted quotes a text for a query. The server knows no other escape.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (q Filter) query() string {
	terms := []string{"WorkflowType = 'Run'", "ExecutionStatus = 'Running'"}
	if q.All && !q.Asking {
		terms[1] = "ExecutionStatus != 'ContinuedAsNew'"
	}
	if q.Asking {
		terms = append(terms, AttrStatus+" = "+quoted(Asking))
	}
	if q.Group != "" {
		terms = append(terms, AttrGroup+" = "+quoted(q.Group))
	}
	if q.Name != "" {
		terms = append(terms, AttrName+" = "+quoted(q.Name))
	}
	return strings.Join(terms, " AND ")
}

// List calls each for each loop, latest first.
func (f *Fleet) List(ctx context.Context, q Filter, each func(Entry) error) error {
	var next []byte
	served := map[string]bool{}
	for n := 0; ; {
		r, err := f.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: q.query(), PageSize: 500, NextPageToken: next})
		if err != nil {
			return f.explained(err)
		}
		for _, e := range r.GetExecutions() {
			if n++; q.Limit > 0 && n > q.Limit {
				return nil
			}
			if err := each(f.entry(ctx, e, served)); err != nil {
				return err
			}
		}
		if next = r.GetNextPageToken(); len(next) == 0 {
			return nil
		}
	}
}

// Entry returns a loop in the form that lists show.
func (f *Fleet) Entry(ctx context.Context, id string) (Entry, error) {
	d, err := f.client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return Entry{}, f.explained(err)
	}
	return f.entry(ctx, d.GetWorkflowExecutionInfo(), map[string]bool{}), nil
}

// entry returns a loop in the form that lists show. It asks once whether a queue has a worker: the
// server remembers one for some minutes.
func (f *Fleet) entry(ctx context.Context, e *workflowpb.WorkflowExecutionInfo, served map[string]bool) Entry {
	fields := e.GetSearchAttributes().GetIndexedFields()
	out := Entry{
		ID: e.GetExecution().GetWorkflowId(), Name: attr[string](fields, AttrName), Group: attr[string](fields, AttrGroup),
		Status: attr[string](fields, AttrStatus), Iteration: attr[int64](fields, AttrIteration), Cost: attr[float64](fields, AttrCost),
		Guard: attr[string](fields, AttrQuestion), Started: e.GetStartTime().AsTime(),
	}
	if e.GetCloseTime() != nil {
		out.Updated = e.GetCloseTime().AsTime()
	}
	switch e.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
	default: // it did not come to say so itself
		out.Status = strings.ToLower(e.GetStatus().String())
	}
	if p := e.GetMemo().GetFields()[memoNote]; p != nil {
		var note Note
		if f.of(out.ID).FromPayload(p, &note) == nil { // else another key: lists show the rest
			out.Note = note
		}
	}
	queue := e.GetTaskQueue()
	if _, asked := served[queue]; !asked && out.Updated.IsZero() {
		d, err := f.client.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
		served[queue] = err != nil || len(d.GetPollers()) > 0
	}
	if problems := attr[[]string](fields, "TemporalReportedProblems"); len(problems) > 0 {
		out.Stuck = true
		out.Reason = fmt.Sprintf("no worker can continue it (%s): "+otherVersion+" %s", strings.Join(problems, ", "), out.ID)
	} else if out.Updated.IsZero() && !served[queue] {
		out.Reason = fmt.Sprintf("no worker runs on queue %q (looprun-fleet worker)", queue)
	}
	return out
}

// attr returns a search attribute, or zero if there is none.
func attr[T any](fields map[string]*commonpb.Payload, name string) T {
	var v T
	if p := fields[name]; p != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(p, &v) // of another type: zero
	}
	return v
}

// Find returns the id of a loop: the one with that id, else the latest with that name, or
// whose id or name contains the text.
func (f *Fleet) Find(ctx context.Context, text string) (string, error) {
	if _, err := f.client.DescribeWorkflowExecution(ctx, text, ""); err == nil {
		return text, nil
	} else if !is[*serviceerror.NotFound](err) {
		return "", f.explained(err)
	}
	var exact, part []string
	for _, q := range []Filter{{All: true, Name: text}, {All: true}} { // only a part needs the whole list
		err := f.List(ctx, q, func(e Entry) error {
			switch {
			case e.Name == text:
				exact = append(exact, e.ID)
			case q.Name == "" && (strings.Contains(e.ID, text) || strings.Contains(e.Name, text)):
				part = append(part, e.ID)
			}
			return nil
		})
		if err != nil || len(exact) > 0 {
			return slices.Max(append(exact, "")), err
		}
	}
	switch len(part) {
	case 0:
		return "", fmt.Errorf("there is no loop %q; looprun-fleet list --all shows the known loops", text)
	case 1:
		return part[0], nil
	}
	return "", fmt.Errorf("%q fits %d loops: %s; give more of the id", text, len(part), strings.Join(part[:min(4, len(part))], ", "))
}

// State returns what is known about a loop.
func (f *Fleet) State(ctx context.Context, id string) (*core.State, error) {
	var in Loop
	begun, err := f.begun(ctx, id, "", &in)
	if err != nil {
		return nil, err
	}
	s := cmp.Or(in.State, new(core.State))
	return s, cmp.Or(f.decided(ctx, id, begun.GetOriginalExecutionRunId(), s.Apply), f.unbegun(id, s))
}

// Answer answers a question of a loop in the name of a person. The name is only a claim:
// anybody who may connect to the namespace may answer. Of two answers only one counts, and
// repeating an answer has no further effect.
func (f *Fleet) Answer(ctx context.Context, id, questionID, by string, a core.Answer) (Taken, error) {
	a = a.ByPerson()
	if a.Reason = strings.TrimSpace(a.Reason); a.Reason == "" {
		a.Reason = "answered by " + by
	} else {
		a.Reason += " (" + by + ")"
	}
	h, err := f.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{ // its id is not encrypted
		WorkflowID: id, UpdateName: updateAnswer, UpdateID: fmt.Sprintf("%s/%x", questionID, sha256.Sum256([]byte(by))), WaitForStage: client.WorkflowUpdateStageCompleted,
		Args: []any{Given{questionID, a}},
	})
	var t Taken
	if err == nil {
		err = h.Get(ctx, &t)
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return t, errors.New(app.Message())
	}
	if err != nil {
		return t, f.explained(err)
	}
	if t.Answer.String() != a.String() {
		return t, fmt.Errorf("%s answered %q before, and that counts", by, t.Answer.String())
	}
	return t, nil
}

// Cancel ends a loop: the running iteration is ended, with everything that it started. By force
// the server ends it at once, also if no worker can: then nothing is recorded of its end.
func (f *Fleet) Cancel(ctx context.Context, id string, force bool) error {
	if force {
		return f.explained(f.client.TerminateWorkflow(ctx, id, "", "cancelled by force"))
	}
	return f.explained(f.client.CancelWorkflow(ctx, id, ""))
}

// look is how often a wait looks whether the loop can end at all.
const look = 20 * time.Second

// Wait waits until a loop has ended, and returns its result. A loop that no worker can continue
// is an error. It calls say with each new reason why the loop does not run.
func (f *Fleet) Wait(ctx context.Context, id string, say func(reason string)) (core.Result, error) {
	var r core.Result
	for said := ""; ; {
		while, cancel := context.WithTimeout(ctx, look)
		err := f.client.GetWorkflow(while, id, "").Get(while, &r)
		cancel()
		if is[*temporal.TerminatedError](err) {
			return r, fmt.Errorf("loop %s was ended by force", id)
		}
		if !late(err) || ctx.Err() != nil {
			return r, err
		}
		e, err := f.Entry(ctx, id)
		switch {
		case err != nil:
			return r, err
		case e.Stuck:
			return r, errors.New(e.Reason)
		case e.Reason != "" && e.Reason != said:
			said = e.Reason
			say(said)
		}
	}
}

// late reports whether a call took too long: by our clock or by the server's, whichever is first.
func late(err error) bool {
	return is[*serviceerror.DeadlineExceeded](err) || errors.Is(err, context.DeadlineExceeded)
}

// is reports whether an error is of that type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// explained returns what a server error means here.
func (f *Fleet) explained(err error) error {
	switch {
	case is[*serviceerror.NamespaceNotFound](err):
		return fmt.Errorf("the server at %s has no namespace %q; looprun-fleet init makes it", f.server.Address, f.server.Namespace)
	case is[*serviceerror.PermissionDenied](err):
		return fmt.Errorf("the server at %s does not allow it in namespace %q: %w", f.server.Address, f.server.Namespace, err)
	case is[*serviceerror.WorkflowNotReady](err):
		return fmt.Errorf("no worker can continue the loop; looprun-fleet list says why: %w", err)
	case is[*serviceerror.NotFound](err):
		return fmt.Errorf("the loop has ended, or is not known: %w", err)
	case late(err):
		return fmt.Errorf("no worker of queue %q responds; is one running? (looprun-fleet worker): %w", f.server.Queue, err)
	}
	return err
}

// Prune removes loops that ended before that time, and their checkpoints. It returns how many
// are gone; one that cannot be removed keeps no other.
func (f *Fleet) Prune(ctx context.Context, before time.Time, dry bool, each func(Entry)) (int, error) {
	var old []Entry
	err := f.List(ctx, Filter{All: true}, func(e Entry) error {
		if !e.Updated.IsZero() && e.Updated.Before(before) {
			old = append(old, e)
		}
		return nil
	})
	gone := 0
	for _, e := range old {
		each(e)
		var stays error
		if !dry {
			stays = f.forget(ctx, e.ID)
		}
		if err = errors.Join(err, stays); stays == nil {
			gone++
		}
	}
	return gone, err
}

// forget removes the checkpoint of a loop from its repository, and then its history.
func (f *Fleet) forget(ctx context.Context, id string) error {
	parts, err := f.parts(ctx, id)
	if err != nil {
		return err
	}
	var in Loop
	_, err = f.begun(ctx, id, parts[0], &in)
	if err != nil {
		return err
	}
	if in.Work.Repo != "" {
		if err := errors.Join(Prepare{Work: in.Work}.wrong(), run(ctx, ".", nil, "push", "-q", in.Work.Repo, ":"+checkpoint.Ref(id))); err != nil {
			return fmt.Errorf("the checkpoint of loop %s stays, and so does its history: %w", id, err)
		}
	}
	for _, part := range parts {
		_, err := f.client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: f.server.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: part},
		})
		if err != nil {
			return f.explained(err)
		}
	}
	return nil
}
