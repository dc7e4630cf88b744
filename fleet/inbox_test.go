package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/eventually"
)

// known is a server that lists these loops, one on each page.
func known(t *testing.T, list ...*workflowpb.WorkflowExecutionInfo) (*mocks.Client, *Fleet) {
	t.Helper()
	c := new(mocks.Client)
	c.On("DescribeTaskQueue", mock.Anything, "", mock.Anything).Return(nil, errors.New("not told"))
	for i, e := range list {
		page := &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{e}}
		if i+1 < len(list) {
			page.NextPageToken = fmt.Append(nil, i+1)
		}
		c.On("ListWorkflow", mock.Anything, mock.MatchedBy(func(r *workflowservice.ListWorkflowExecutionsRequest) bool {
			return string(r.NextPageToken) == strings.TrimPrefix(fmt.Sprint(i), "0")
		})).Return(page, nil)
	}
	return c, &Fleet{client: c, converter: converter.GetDefaultDataConverter()}
}

// execution is a loop in the server's list; one that has not ended if ended is zero.
func execution(t *testing.T, id, name string, ended time.Time) *workflowpb.WorkflowExecutionInfo {
	t.Helper()
	p, err := converter.GetDefaultDataConverter().ToPayload(name)
	if err != nil {
		t.Fatal(err)
	}
	e := &workflowpb.WorkflowExecutionInfo{
		Execution:        &commonpb.WorkflowExecution{WorkflowId: id, RunId: "part"},
		SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{AttrName: p}},
	}
	if !ended.IsZero() {
		e.CloseTime = timestamppb.New(ended)
	}
	return e
}

func TestWhatAListAsksFor(t *testing.T) {
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "WorkflowType = 'Run' AND ExecutionStatus = 'Running'"},
		{Filter{All: true}, "WorkflowType = 'Run' AND ExecutionStatus != 'ContinuedAsNew'"},
		{Filter{All: true, Asking: true}, "WorkflowType = 'Run' AND ExecutionStatus = 'Running' AND LoopStatus = 'asking'"},
		{Filter{All: true, Name: "it's"}, "WorkflowType = 'Run' AND ExecutionStatus != 'ContinuedAsNew' AND LoopName = 'it''s'"},
		{Filter{Group: "a' OR '1' = '1"}, "WorkflowType = 'Run' AND ExecutionStatus = 'Running' AND LoopLabel = 'a'' OR ''1'' = ''1'"},
	} {
		if got := c.filter.query(); got != c.want {
			t.Errorf("%+v: %s; want %s", c.filter, got, c.want)
		}
	}
}

func TestAListIsReadToItsEnd(t *testing.T) {
	_, f := known(t, execution(t, "l1", "", time.Time{}), execution(t, "l2", "", time.Time{}), execution(t, "l3", "", time.Time{}))
	for limit, want := range map[int]string{0: "l1 l2 l3", 2: "l1 l2", 3: "l1 l2 l3"} {
		var got []string
		err := f.List(t.Context(), Filter{Limit: limit}, func(e Entry) error {
			if got = append(got, e.ID); len(got) > 9 {
				return errors.New("it begins again")
			}
			return nil
		})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("limit %d: %v, %v", limit, got, err)
		}
	}
}

// A prune takes what ended before its time: no loop that runs, and nothing where it is dry.
func TestAPruneTakesWhatEndedBefore(t *testing.T) {
	before := time.Now().Add(-time.Hour)
	for _, dry := range []bool{true, false} {
		c, f := known(t, execution(t, "runs", "", time.Time{}), execution(t, "young", "", before.Add(time.Minute)), execution(t, "old", "", before.Add(-time.Minute)), execution(t, "older", "", before.Add(-time.Hour)))
		c.On("DescribeWorkflowExecution", mock.Anything, mock.Anything, "").Return(nil, errors.New("no server"))
		var got []string
		n, err := f.Prune(t.Context(), before, dry, func(e Entry) { got = append(got, e.ID) })
		want := map[bool]int{true: 2, false: 0}[dry] // one that stays keeps no other
		if n != want || strings.Join(got, " ") != "old older" || (err == nil) != dry || !dry && strings.Count(err.Error(), "no server") != 2 {
			t.Errorf("dry %v: %d, %v, %v", dry, n, got, err)
		}
	}
}

// The history of a loop is what says where its checkpoint is: it goes after that.
func TestAHistoryStaysWithItsCheckpoint(t *testing.T) {
	for repo, want := range map[string]string{"/no/such/repository": "and so does its history", "--exec=x": "is not a repository"} {
		c, f := known(t)
		c.On("DescribeWorkflowExecution", mock.Anything, "l1", "").Return(&workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: execution(t, "l1", "", time.Now())}, nil)
		in, err := f.converter.ToPayloads(Loop{Work: Work{Repo: repo}})
		if err != nil {
			t.Fatal(err)
		}
		begun := &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: in},
		}}
		history := new(mocks.HistoryEventIterator)
		history.On("HasNext").Return(true)
		history.On("Next").Return(begun, nil)
		c.On("GetWorkflowHistory", mock.Anything, "l1", "part", false, mock.Anything).Return(history)
		if err := f.forget(t.Context(), "l1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", repo, err)
		}
	}
}

// What was submitted under an id is not submitted again: only what is missing is started, and other
// loops are refused. Without an id a loop whose own id is taken gets another one.
func TestOnlyWhatIsMissingIsSubmitted(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		loops   []Loop
		refused bool
	}{
		"again":           {"night", make([]Loop, 2), false},
		"another looprun": {"night", []Loop{{Started: core.RunStarted{Version: "9"}}, {}}, false},
		"more loops":      {"night", make([]Loop, 3), true},
		"other loops":     {"night", []Loop{{}, {Started: core.RunStarted{Command: []string{"true"}}}}, true},
		"another setup":   {"night", []Loop{{Work: Work{Setup: "true"}}, {}}, true},
		"no id":           {"", make([]Loop, 2), false},
	} {
		cl, f := known(t)
		f.server.Address = "127.0.0.1:1"
		var before, started []string
		var mu sync.Mutex
		take := func(_ context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
			mu.Lock()
			defer mu.Unlock()
			started = append(started, o.ID)
			switch {
			case before != nil && (o.ID == "submit/night" || o.ID == before[0] || c.request == "" && len(started) == 1):
				return nil, &serviceerror.WorkflowExecutionAlreadyStarted{}
			case o.ID == "submit/night":
				in, err := f.converter.ToPayloads(args...)
				if err != nil {
					t.Error(err)
				}
				cl.On("GetWorkflowHistory", mock.Anything, o.ID, "", false, mock.Anything).Return(&pages{{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
					WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: in},
				}}})
			}
			return new(mocks.WorkflowRun), nil
		}
		cl.On("ExecuteWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(take)
		cl.On("ExecuteWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(take)
		ids, err := f.Submit(t.Context(), make([]Loop, 2), c.request, func(string, string) {})
		if err != nil {
			t.Fatal(err)
		}
		before, started = slices.Clone(ids), nil
		ids, err = f.Submit(t.Context(), c.loops, c.request, func(string, string) {})
		switch {
		case c.refused:
			if err == nil || !strings.Contains(err.Error(), "night is the id of other loops") || len(started) != 1 {
				t.Errorf("%s: %v are started: %v", name, started, err)
			}
		case err != nil || len(started) != 3 || c.request != "" != slices.Equal(ids, before):
			t.Errorf("%s: %v of %v, %v", name, ids, started, err)
		}
	}
}

func TestACancelByForce(t *testing.T) {
	c, f := known(t)
	c.On("TerminateWorkflow", mock.Anything, "l1", "", mock.Anything).Return(errors.New("by force")).Once()
	if err := f.Cancel(t.Context(), "l1", true); err == nil || err.Error() != "by force" {
		t.Error(err)
	}
	c.On("CancelWorkflow", mock.Anything, "l1", "").Return(nil).Once()
	if err := f.Cancel(t.Context(), "l1", false); err != nil {
		t.Error(err)
	}
}

// Of two answers one counts, and who gave the other is told.
func TestOneAnswerCounts(t *testing.T) {
	cancel := core.Answer{Option: "cancel"}
	for name, c := range map[string]struct {
		counts core.Answer
		err    error
		want   string
	}{
		"it":        {cancel, nil, ""},
		"another":   {core.Answer{Option: "continue"}, nil, "before, and that counts"},
		"ended":     {cancel, serviceerror.NewNotFound("gone"), "has ended, or is not known"},
		"refused":   {cancel, temporal.NewApplicationError("no such option", ""), "no such option"},
		"no server": {cancel, serviceerror.NewDeadlineExceeded("late"), "no worker of queue"},
	} {
		client, f := known(t)
		handle := new(mocks.WorkflowUpdateHandle)
		client.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(handle, nil)
		handle.On("Get", mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
			*args.Get(1).(*Taken) = Taken{Seq: 7, Answer: c.counts}
		}).Return(c.err)
		taken, err := f.Answer(t.Context(), "l1", "q1", "somebody", cancel)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && taken.Seq != 7 {
			t.Errorf("%s: %+v, %v", name, taken, err)
		}
	}
}

// A wait ends with the loop, with its caller, and when the loop can no longer go on by itself.
func TestAWaitEnds(t *testing.T) {
	late := serviceerror.NewDeadlineExceeded("context deadline exceeded")
	stuck := execution(t, "l1", "", time.Time{})
	problems, err := converter.GetDefaultDataConverter().ToPayload([]string{"category=WorkflowTaskFailed"})
	if err != nil {
		t.Fatal(err)
	}
	stuck.SearchAttributes.IndexedFields["TemporalReportedProblems"] = problems
	for name, c := range map[string]struct {
		err  error
		info *workflowpb.WorkflowExecutionInfo
		want string
	}{
		"done":   {nil, nil, ""},
		"forced": {temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, new(temporal.TerminatedError)), nil, "was ended by force"},
		"failed": {errors.New("it failed"), nil, "it failed"},
		"stuck":  {late, stuck, "no worker can continue it"},
	} {
		client, f := known(t)
		run := new(mocks.WorkflowRun)
		client.On("GetWorkflow", mock.Anything, "l1", "").Return(run)
		client.On("DescribeWorkflowExecution", mock.Anything, "l1", "").Return(&workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: c.info}, nil)
		run.On("Get", mock.Anything, mock.Anything).Return(c.err)
		over := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := f.Wait(ctx, "l1", func(string) {})
			over <- err
		}()
		err := eventually.Receive(t, name, over)
		cancel()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client, f := known(t)
	run := new(mocks.WorkflowRun)
	client.On("GetWorkflow", mock.Anything, "l1", "").Return(run)
	run.On("Get", mock.Anything, mock.Anything).Return(late)
	if _, err := f.Wait(ctx, "l1", func(string) {}); err == nil {
		t.Error("nobody waits any more, and it has ended well")
	}
}

// A wait says each reason once.
func TestAWaitSaysWhy(t *testing.T) {
	client, f := known(t)
	info := execution(t, "l1", "", time.Time{})
	run := new(mocks.WorkflowRun)
	client.On("GetWorkflow", mock.Anything, "l1", "").Return(run)
	var said []string
	for _, reason := range []string{"", "no disk", "no disk", "no git"} {
		p, err := f.converter.ToPayload(Note{Reason: reason})
		if err != nil {
			t.Fatal(err)
		}
		at := &workflowpb.WorkflowExecutionInfo{Execution: info.Execution, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{memoNote: p}}}
		client.On("DescribeWorkflowExecution", mock.Anything, "l1", "").Return(&workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: at}, nil).Once()
		run.On("Get", mock.Anything, mock.Anything).Return(serviceerror.NewDeadlineExceeded("late")).Once()
	}
	run.On("Get", mock.Anything, mock.Anything).Return(nil)
	if _, err := f.Wait(t.Context(), "l1", func(reason string) { said = append(said, reason) }); err != nil || strings.Join(said, ", ") != "no disk, no git" {
		t.Errorf("%v, %v", said, err)
	}
}

// A list says which queues have no worker, where the server tells it. It asks once for each queue.
func TestAListSaysWhereNoWorkerIs(t *testing.T) {
	var list []*workflowpb.WorkflowExecutionInfo
	for i, queue := range []string{"empty", "busy", "empty", "untold", "of an ended one"} {
		e := execution(t, fmt.Sprint("l", i), "", time.Time{})
		e.TaskQueue, e.Execution.RunId = queue, queue
		list = append(list, e)
	}
	list[4].CloseTime = timestamppb.New(time.Now())
	client, f := known(t, list...)
	for queue, pollers := range map[string][]*taskqueuepb.PollerInfo{"empty": nil, "busy": {{Identity: "w"}}} {
		client.On("DescribeTaskQueue", mock.Anything, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW).Return(&workflowservice.DescribeTaskQueueResponse{Pollers: pollers}, nil).Once()
	}
	client.On("DescribeTaskQueue", mock.Anything, "untold", mock.Anything).Return(nil, errors.New("not told"))
	var reasons []string
	err := f.List(t.Context(), Filter{All: true}, func(e Entry) error {
		reasons = append(reasons, e.Reason)
		return nil
	})
	const why = `no worker runs on queue "empty" (looprun-fleet worker)`
	if want := []string{why, "", why, "", ""}; err != nil || !slices.Equal(reasons, want) {
		t.Errorf("%q, %v", reasons, err)
	}
}

// A loop is meant by its id, then by its name, then by a part that fits no other.
func TestWhichLoopIsMeant(t *testing.T) {
	c, f := known(t,
		execution(t, "20260102-0001", "night", time.Time{}), execution(t, "20260102-0003", "night", time.Time{}),
		execution(t, "20260102-0002", "nightly", time.Time{}), execution(t, "20260103-0001", "day", time.Time{}))
	c.On("DescribeWorkflowExecution", mock.Anything, "whole", "").Return(nil, nil)
	c.On("DescribeWorkflowExecution", mock.Anything, "broken", "").Return(nil, errors.New("no server"))
	c.On("DescribeWorkflowExecution", mock.Anything, mock.Anything, "").Return(nil, serviceerror.NewNotFound("none"))
	for text, want := range map[string]string{
		"whole": "whole", "night": "20260102-0003", "nightl": "20260102-0002", "0103": "20260103-0001",
	} {
		if got, err := f.Find(t.Context(), text); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	named := Filter{All: true, Name: "night"}
	c.AssertCalled(t, "ListWorkflow", mock.Anything, mock.MatchedBy(func(r *workflowservice.ListWorkflowExecutionsRequest) bool { return r.GetQuery() == named.query() }))
	for text, want := range map[string]string{"broken": "no server", "ight": "fits 3 loops", "nothing": "there is no loop"} {
		if got, err := f.Find(t.Context(), text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
}

// A label whose ledger somebody ended has a budget all the same, and so has one that cannot be
// asked for.
func TestABudgetThatIsAway(t *testing.T) {
	gone, broken := serviceerror.NewNotFound("none"), errors.New("no server")
	for name, c := range map[string]struct {
		update, describe error
		none             bool
		want             string
	}{
		"never set":   {gone, gone, true, ""},
		"ended":       {gone, nil, false, "somebody ended its ledger"},
		"unknown":     {gone, broken, false, "no server"},
		"not reached": {broken, gone, false, "no server"},
	} {
		client, _ := known(t)
		client.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(nil, c.update)
		client.On("DescribeWorkflowExecution", mock.Anything, ledgerID("team"), "").Return(nil, c.describe)
		w := &Worker{client: client}
		g, err := w.Reserve(t.Context(), Spend{Group: "team", Key: "a"})
		if g.None != c.none || g.OK || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
		if _, err := w.Commit(t.Context(), Spend{Group: "team", Key: "a"}); (err == nil) != (c.update == gone) {
			t.Errorf("%s: what was spent is told to a ledger that is there, and to no other: %v", name, err)
		}
	}
}
