package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/looprun/looprun/core"
)

// Budget is what loops of a group may spend together.
type Budget struct {
	// Limit is in US dollars; nil means that none was set.
	Limit *float64 `json:"limit,omitempty"`
	// Spent is what iterations reported, and Reserved what running ones may still cost.
	Spent    float64            `json:"spent"`
	Reserved map[string]float64 `json:"reserved,omitempty"`
	// Done lists the most recently committed iterations, so that each counts once.
	Done []string `json:"done,omitempty"`
}

// Spend is a reservation, or its outcome: Key identifies the iteration.
type Spend struct {
	Group string  `json:"label"`
	Key   string  `json:"key"`
	USD   float64 `json:"usd"`
	// Silent means that the iteration reported no cost.
	Silent bool `json:"silent,omitempty"`
}

// Granted reports whether enough was left, and why not.
type Granted struct {
	OK     bool   `json:"ok"`
	None   bool   `json:"none,omitempty"` // the group has no budget
	Reason string `json:"reason,omitempty"`
}

// The updates of a ledger.
const (
	updateReserve = "reserve"
	updateCommit  = "commit"
	updateLimit   = "limit"
	queryBudget   = "budget"
)

// ledgerID returns the id of the workflow that keeps a group's budget.
func ledgerID(group string) string { return "budget/" + group }

// doneKept is how many committed iterations a ledger remembers.
const doneKept = 1000

func (b *Budget) done(key string) bool { return slices.Contains(b.Done, key) }

// Open returns the amount reserved.
func (b *Budget) Open() float64 {
	sum := 0.0
	for _, key := range slices.Sorted(maps.Keys(b.Reserved)) { // a replay must round alike
		sum += b.Reserved[key]
	}
	return sum
}

// reserve reserves money, once for each key.
func (b *Budget) reserve(s Spend) Granted {
	if _, has := b.Reserved[s.Key]; has || b.done(s.Key) {
		return Granted{OK: true}
	}
	if open := b.Open(); b.Limit != nil && b.Spent+open+s.USD > *b.Limit {
		return Granted{Reason: fmt.Sprintf("the budget of %q is $%.2f: $%.2f are spent and $%.2f reserved, and an iteration reserves $%.2f", s.Group, *b.Limit, b.Spent, open, s.USD)}
	}
	if b.Reserved == nil {
		b.Reserved = map[string]float64{}
	}
	b.Reserved[s.Key] = s.USD
	return Granted{OK: true}
}

// commit replaces the reservation with what was spent, once for each key. If there is a limit,
// an iteration that reported nothing is charged what it reserved, since nothing better is
// known.
func (b *Budget) commit(s Spend) {
	if b.done(s.Key) {
		return
	}
	if s.Silent && b.Limit != nil {
		s.USD = b.Reserved[s.Key]
	}
	delete(b.Reserved, s.Key)
	b.Spent += s.USD
	b.Done = append(b.Done, s.Key)
	b.Done = b.Done[max(0, len(b.Done)-doneKept):]
}

// Ledger is the workflow that keeps the budget of one group.
func Ledger(ctx workflow.Context, b Budget) error {
	err := errors.Join(
		workflow.SetQueryHandler(ctx, queryBudget, func() (Budget, error) { return b, nil }),
		workflow.SetUpdateHandler(ctx, updateReserve, func(_ workflow.Context, s Spend) (Granted, error) { return b.reserve(s), nil }),
		workflow.SetUpdateHandler(ctx, updateCommit, func(_ workflow.Context, s Spend) error { b.commit(s); return nil }),
		workflow.SetUpdateHandler(ctx, updateLimit, func(_ workflow.Context, usd float64) (Budget, error) { b.Limit = &usd; return b, nil }),
	)
	if err != nil {
		return err
	}
	if err := workflow.Await(ctx, func() bool {
		return workflow.GetInfo(ctx).GetContinueAsNewSuggested() && workflow.AllHandlersFinished(ctx)
	}); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, Ledger, b)
}

// reserve reserves what the next iteration may cost: as much as the most expensive one so far,
// and one dollar before any has reported. It returns nil if not enough is left,
// which is a trip of max_cost; if the run must end; or if the ledger did not answer, which is
// asked again after a wait. Without a budget nothing is reserved.
func (l *loop) reserve(n int) (*Spend, error) {
	if l.in.Work.Group == "" {
		return new(Spend), nil
	}
	s := Spend{Group: l.in.Work.Group, Key: fmt.Sprintf("%s/%d/%d", l.in.Started.RunID, n, l.state.Seq), USD: cmp.Or(l.in.Dear, 1)}
	granted, err := l.ledger("Reserve", s)
	switch {
	case l.interrupted():
		return nil, nil
	case err != nil:
		return nil, l.unledgered(s, err)
	case granted.None:
		return new(Spend), nil
	case granted.OK:
		return &s, nil
	}
	return nil, l.settle(func() error {
		return l.record(core.GuardTripped{Trip: core.Trip{Guard: core.MaxCost, Iteration: l.state.Iterations, Reason: granted.Reason}})
	})
}

// commit replaces the reservation with the cost of the iteration, and retries until the ledger
// has it. A loop that was cancelled does not wait: its reservation stays.
func (l *loop) commit(s Spend) error {
	if s.Group == "" {
		return nil
	}
	for {
		_, err := l.ledger("Commit", s)
		if err == nil || l.interrupted() {
			l.why = ""
			return nil
		}
		if err := l.unledgered(s, err); err != nil {
			return err
		}
	}
}

// unledgered waits, without a slot, after the ledger did not answer.
func (l *loop) unledgered(s Spend, why error) error {
	l.release()
	return l.pause(Waiting, fmt.Sprintf("waiting for the budget of %q: %s", s.Group, cause(why)))
}

// ledger calls the ledger once. The worker of the workflow does, since a worker without a slot
// can, too.
func (l *loop) ledger(call string, s Spend) (Granted, error) {
	ctx, _ := workflow.NewDisconnectedContext(l.ctx) // a loop that is cancelled has spent it all the same
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 10 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	var g Granted
	err := workflow.ExecuteLocalActivity(ctx, call, s).Get(ctx, &g)
	return g, err
}

// Reserve asks the ledger of a group, if it has a budget.
func (w *Worker) Reserve(ctx context.Context, s Spend) (Granted, error) {
	var g Granted
	err := spend(ctx, w.client, updateReserve, s, &g)
	if !is[*serviceerror.NotFound](err) {
		return g, err
	}
	if _, err := w.client.DescribeWorkflowExecution(ctx, ledgerID(s.Group), ""); err == nil {
		return g, fmt.Errorf("somebody ended its ledger; looprun-fleet budget %s --usd N starts another", s.Group)
	} else if !is[*serviceerror.NotFound](err) {
		return g, err
	}
	return Granted{None: true}, nil
}

// Commit reports to the ledger of a group what was spent. One that was ended needs no report.
func (w *Worker) Commit(ctx context.Context, s Spend) (Granted, error) {
	err := spend(ctx, w.client, updateCommit, s, nil)
	if is[*serviceerror.NotFound](err) {
		err = nil
	}
	return Granted{OK: true}, err
}

func spend(ctx context.Context, c client.Client, update string, s Spend, to any) error {
	h, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: ledgerID(s.Group), UpdateName: update, UpdateID: update + "/" + s.Key, Args: []any{s}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return h.Get(ctx, to)
}

// SetBudget limits what loops of a group may spend together, in US dollars. What they have
// spent already, as far as the server still knows them, is in it.
func (f *Fleet) SetBudget(ctx context.Context, group string, usd float64) (Budget, error) {
	var b Budget
	spent, err := f.spent(ctx, group)
	if err != nil {
		return b, err
	}
	h, err := f.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: f.client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: ledgerID(group), TaskQueue: f.server.Queue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, Ledger, Budget{Spent: spent}),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: ledgerID(group), UpdateName: updateLimit, Args: []any{usd}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = h.Get(ctx, &b)
	}
	return b, f.explained(err)
}

// Budget returns what a group may spend, and has spent.
func (f *Fleet) Budget(ctx context.Context, group string) (Budget, error) {
	var b Budget
	v, err := f.client.QueryWorkflow(ctx, ledgerID(group), "", queryBudget)
	if is[*serviceerror.NotFound](err) {
		b.Spent, err = f.spent(ctx, group)
		return b, err
	}
	if err == nil {
		err = v.Get(&b)
	}
	return b, f.explained(err)
}

// spent returns what the loops of a group have cost, according to the server's list.
func (f *Fleet) spent(ctx context.Context, group string) (usd float64, err error) {
	err = f.List(ctx, Filter{All: true, Group: group}, func(e Entry) error {
		usd += e.Cost
		return nil
	})
	return usd, err
}
