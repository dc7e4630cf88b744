package session

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/spent"
	"github.com/looprun/looprun/internal/xdg"
	"github.com/looprun/looprun/protocol/signal"
)

// day keeps the daily spending of all of this user's runs below a limit.
type day struct {
	ledger *spent.Ledger // nil: there is no limit
	limit  float64
	named  bool  // the iteration that runs has said what it cost
	lost   error // what was spent could not be written down
}

// affordable opens the ledger. It returns an error if the day's limit is used up or the amount
// spent is unknown.
func (s *Session) affordable() error {
	limit := s.opts.MaxCostPerDay
	if limit == nil || *limit < 0 {
		return nil
	}
	dir := xdg.State()
	if dir != "" {
		dir = filepath.Join(dir, "spent")
	}
	ledger, err := spent.Open(dir)
	if err != nil {
		return config.Usagef("%s: what was spent cannot be kept: %v", config.Flag("max-cost-per-day"), err)
	}
	total, err := ledger.Total(time.Now())
	switch {
	case err != nil:
		return config.Usagef("%s: what was spent is not known: %v", config.Flag("max-cost-per-day"), err)
	case total >= float64(*limit):
		return config.Usagef("all runs of yours spent $%.2f in the last 24 hours, and %s is $%.2f; wait, or raise it", total, config.Flag("max-cost-per-day"), float64(*limit))
	}
	s.day = day{ledger: ledger, limit: float64(*limit)}
	return nil
}

// spend records the costs that an event reports in the ledger.
func (s *Session) spend(e core.Event) {
	if s.day.ledger == nil {
		return
	}
	if _, begins := e.Data.(core.IterationStarted); begins {
		s.day.named = false
	}
	if usd := reported(e.Data); usd > 0 {
		s.day.named = true
		if err := s.day.ledger.Add(e.Time, s.run.ID, usd); err != nil {
			s.day.lost = err
			s.app.Say.Warn("the cost could not be recorded for %s: %v", config.Flag("max-cost-per-day"), err)
		}
	}
}

// reported returns the amount spent according to d, in US dollars.
func reported(d core.Data) float64 {
	switch d := d.(type) {
	case core.CostReported:
		return d.USD
	case core.SignalReceived:
		if d.Name == signal.Cost && d.Problem == "" {
			return d.USD
		}
	}
	return 0
}

// hearDay ends the run after an iteration that is not done if the day's limit is exceeded, or
// if nobody knows whether it is: no answer can extend a day.
func (h *outputFacts) hearDay(d *core.IterationResult) {
	s := h.s
	if s.day.ledger == nil || d.Outcome != core.OutcomeNotDone && d.Outcome != core.OutcomeError || d.RunsAgain() || d.Fatal != 0 {
		return
	}
	total, err := s.day.ledger.Total(time.Now())
	named := s.day.named
	for _, say := range d.Said {
		usd := reported(say)
		total, named = total+usd, named || usd > 0
	}
	flag, why := config.Flag("max-cost-per-day"), ""
	switch {
	case err != nil || s.day.lost != nil:
		why = fmt.Sprintf("%s cannot be kept: what was spent is not known", flag)
	case !named:
		why = fmt.Sprintf("%s cannot be kept: the iteration reported no dollars; report them with looprun signal cost, or %s", flag, config.Flag("cost-from"))
	case total > s.day.limit:
		why = fmt.Sprintf("all runs of yours spent $%.2f in the last 24 hours, and %s is $%.2f", total, flag, s.day.limit)
	default:
		return
	}
	d.Fatal, d.Detail = core.MaxCost.ExitCode(), why
}
