package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/looprun/looprun/core"
)

// Budget is what loops with the same label may spend together.
type Budget struct {
	// Limit is in US dollars; nil means that none was set, and spending is only counted.
	Limit *float64 `json:"limit,omitempty"`
	// Spent is what iterations reported, and Reserved what running ones may still cost.
	Spent    float64            `json:"spent"`
	Reserved map[string]float64 `json:"reserved,omitempty"`
	// Done lists the most recently committed iterations, so that each counts once.
	Done []string `json:"done,omitempty"`
}

// Spend is a reservation, or its outcome: Key identifies the iteration.
type Spend struct {
	Label string  `json:"label"`
	Key   string  `json:"key"`
	USD   float64 `json:"usd"`
	// Silent means that the iteration reported no cost.
	Silent bool `json:"silent,omitempty"`
}

// Granted reports whether enough was left.
type Granted struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

// The updates of a ledger.
const (
	updateReserve = "reserve"
	updateCommit  = "commit"
	updateLimit   = "limit"
	queryBudget   = "budget"
)

// ledgerID returns the id of the workflow that keeps a label's budget.
func ledgerID(label string) string { return "budget/" + label }

// doneKept is how many committed iterations a ledger remembers.
const doneKept = 1000

func (b *Budget) done(key string) bool {
	for _, k := range b.Done {
		if k == key {
			return true
		}
	}
	return false
}

// Open returns the amount reserved.
func (b *Budget) Open() float64 {
	sum := 0.0
	for key := range b.Reserved { // a sum of few: its order changes no decision but by rounding
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
		return Granted{Reason: fmt.Sprintf("the budget of %q is $%.2f: $%.2f are spent and $%.2f reserved, and an iteration reserves $%.2f", s.Label, *b.Limit, b.Spent, open, s.USD)}
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

// Ledger is the workflow that keeps the budget of one label.
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

// reserve reserves what the next iteration may cost. It returns nil if not enough is left,
// which is a trip of max_cost; if the run must end; or if the ledger did not answer, which is
// asked again after a wait.
func (l *loop) reserve(n int) (*Spend, error) {
	if l.in.Work.Label == "" {
		return new(Spend), nil
	}
	usd := l.in.Work.Reserve
	if usd <= 0 {
		if usd = l.dear; usd == 0 {
			usd = 1
		}
	}
	s := Spend{Label: l.in.Work.Label, Key: fmt.Sprintf("%s/%d/%d", l.in.Started.RunID, n, l.state.Seq), USD: usd}
	granted, err := l.ledger((*Worker).Reserve, s, 5)
	if l.interrupted() {
		return nil, l.stop()
	}
	if err != nil { // it is asked again: nothing starts that was not granted
		l.release()
		return nil, l.later(fmt.Sprintf("waiting for the budget of %q: %s", s.Label, cause(err)))
	}
	if granted.OK {
		return &s, nil
	}
	return nil, l.driver.Record(core.GuardTripped{Trip: core.Trip{Guard: core.MaxCost, Iteration: l.state.Iterations, Reason: granted.Reason}})
}

// commit replaces the reservation with the cost of the iteration.
func (l *loop) commit(s Spend, usd float64) error {
	if s.Label == "" {
		return nil
	}
	s.USD, s.Silent = usd, usd == 0 && l.state.Iterations > 0
	_, err := l.ledger((*Worker).Commit, s, 0)
	return err
}

// ledger calls the ledger. most is the maximum number of attempts; zero retries until the call
// succeeds.
func (l *loop) ledger(do any, s Spend, most int32) (Granted, error) {
	ctx, _ := workflow.NewDisconnectedContext(l.ctx) // a loop that is cancelled has spent it all the same
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: most, MaximumInterval: time.Minute},
	})
	var g Granted
	err := workflow.ExecuteActivity(ctx, do, s).Get(ctx, &g)
	return g, err
}

// Reserve asks the ledger of a label, which starts with the first request.
func (w *Worker) Reserve(ctx context.Context, s Spend) (Granted, error) {
	var g Granted
	err := spend(ctx, w.client, w.Queue, updateReserve, s, &g)
	return g, err
}

// Commit reports to the ledger of a label what was spent.
func (w *Worker) Commit(ctx context.Context, s Spend) (Granted, error) {
	return Granted{OK: true}, spend(ctx, w.client, w.Queue, updateCommit, s, nil)
}

func spend(ctx context.Context, c client.Client, queue, update string, s Spend, to any) error {
	return ledger(ctx, c, queue, s.Label, client.UpdateWorkflowOptions{UpdateName: update, UpdateID: update + "/" + s.Key, Args: []any{s}}, to)
}

// ledger updates the ledger of a label, and starts it if it does not exist.
func ledger(ctx context.Context, c client.Client, queue, label string, o client.UpdateWorkflowOptions, to any) error {
	o.WorkflowID, o.WaitForStage = ledgerID(label), client.WorkflowUpdateStageCompleted
	h, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: ledgerID(label), TaskQueue: queue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, Ledger, Budget{}),
		UpdateOptions: o,
	})
	if err != nil {
		return err
	}
	return h.Get(ctx, to)
}

// SetBudget limits what loops with a label may spend together, in US dollars.
func (f *Fleet) SetBudget(ctx context.Context, label string, usd float64) (Budget, error) {
	var b Budget
	err := ledger(ctx, f.client, f.server.Queue, label, client.UpdateWorkflowOptions{UpdateName: updateLimit, Args: []any{usd}}, &b)
	return b, err
}

// Budget returns what a label may spend, and has spent.
func (f *Fleet) Budget(ctx context.Context, label string) (Budget, error) {
	var b Budget
	v, err := f.client.QueryWorkflow(ctx, ledgerID(label), "", queryBudget)
	if err == nil {
		err = v.Get(&b)
	}
	return b, err
}
