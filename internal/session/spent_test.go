package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/spent"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/scratchpad"
)

// ledgerOf is a session with a limit of $10 a day, of which that much was spent.
func ledgerOf(t *testing.T, usd float64) (s *Session, dir string) {
	t.Helper()
	dir = t.TempDir()
	ledger, err := spent.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := ledger.Add(time.Now(), "run", usd); err != nil {
		t.Fatal(err)
	}
	s = &Session{
		app: &Program{Say: &console.Observer{Messages: console.Messages{W: t.Output()}}},
		run: &scratchpad.Run{ID: "run"}, day: day{ledger: ledger, limit: 10, named: true},
	}
	return s, dir
}

func TestTheLimitOfADay(t *testing.T) {
	t.Parallel()
	cost := func(usd float64, problem string) core.Data {
		return core.SignalReceived{Signal: signal.Signal{Name: signal.Cost, USD: usd}, Problem: problem}
	}
	type end = core.IterationFinished
	for name, c := range map[string]struct {
		before float64
		end    end
		said   []core.Data
		spoil  func(t *testing.T, s *Session, dir string)
		want   string // empty: the run goes on
	}{
		"below":                         {9, end{Outcome: core.OutcomeNotDone}, nil, nil, ""},
		"at the limit":                  {10, end{Outcome: core.OutcomeNotDone}, nil, nil, ""},
		"above":                         {11, end{Outcome: core.OutcomeNotDone}, nil, nil, "spent $11.00"},
		"an error, above":               {11, end{Outcome: core.OutcomeError}, nil, nil, "spent $11.00"},
		"done, above":                   {11, end{Outcome: core.OutcomeDone}, nil, nil, ""},
		"cut off, above":                {11, end{Outcome: core.OutcomeNotDone, Cause: core.CauseMaxRuntime}, nil, nil, ""},
		"above with what was just said": {9, end{Outcome: core.OutcomeNotDone}, []core.Data{cost(2, "")}, nil, "spent $11.00"},
		"an account of it":              {9, end{Outcome: core.OutcomeNotDone}, []core.Data{core.CostReported{USD: 2}}, nil, "spent $11.00"},
		"a signal that was refused":     {9, end{Outcome: core.OutcomeNotDone}, []core.Data{cost(2, "no")}, nil, ""},
		"another signal":                {9, end{Outcome: core.OutcomeNotDone}, []core.Data{core.SignalReceived{Signal: signal.Signal{Name: signal.Progress, USD: 2}}}, nil, ""},
		"nobody said what it cost":      {1, end{Outcome: core.OutcomeNotDone}, []core.Data{core.CostReported{}}, func(_ *testing.T, s *Session, _ string) { s.day.named = false }, "reported no dollars"},
		"it is said at the end":         {1, end{Outcome: core.OutcomeNotDone}, []core.Data{cost(1, "")}, func(_ *testing.T, s *Session, _ string) { s.day.named = false }, ""},
		"what was spent is lost":        {1, end{Outcome: core.OutcomeNotDone}, nil, func(_ *testing.T, s *Session, _ string) { s.day.lost = errors.New("disk full") }, "is not known"},
		"what was spent is broken": {1, end{Outcome: core.OutcomeNotDone}, nil, func(t *testing.T, _ *Session, dir string) {
			if err := os.WriteFile(filepath.Join(dir, time.Now().UTC().Format("2006-01-02")), []byte("broken\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "is not known"},
		"there is no limit": {11, end{Outcome: core.OutcomeNotDone}, nil, func(_ *testing.T, s *Session, _ string) { s.day = day{} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := ledgerOf(t, c.before)
			if c.spoil != nil {
				c.spoil(t, s, dir)
			}
			d := core.IterationResult{IterationFinished: c.end, Said: c.said}
			(&outputFacts{s: s}).hearDay(&d)
			if (d.Fatal != 0) != (c.want != "") || !strings.Contains(d.Detail, c.want) || d.Fatal != 0 && d.Fatal != core.MaxCost.ExitCode() {
				t.Errorf("exit %d, %q, want %q", d.Fatal, d.Detail, c.want)
			}
		})
	}
	s, _ := ledgerOf(t, 11)
	d := core.IterationResult{IterationFinished: end{Outcome: core.OutcomeNotDone, Fatal: 3, Detail: "the disk is full"}}
	if (&outputFacts{s: s}).hearDay(&d); d.Fatal != 3 {
		t.Errorf("an iteration that ends the run says %d, %q now", d.Fatal, d.Detail)
	}
}

// What an iteration reports is in the ledger, and counts as said until the next begins.
func TestSpending(t *testing.T) {
	t.Parallel()
	s, dir := ledgerOf(t, 1)
	holds := func(what string, usd float64, named bool) {
		t.Helper()
		if total, err := s.day.ledger.Total(time.Now()); total != usd || s.day.named != named || err != nil {
			t.Errorf("%s: $%v, said %v, %v", what, total, s.day.named, err)
		}
	}
	s.spend(core.Event{Time: time.Now(), Data: core.IterationStarted{Iteration: 1}})
	holds("it begins", 1, false)
	s.spend(core.Event{Time: time.Now(), Data: core.CostReported{}})
	holds("tokens without dollars", 1, false)
	s.spend(core.Event{Time: time.Now(), Data: core.CostReported{USD: 2}})
	holds("an account", 3, true)
	s.spend(core.Event{Time: time.Now(), Data: core.CostReported{}})
	holds("tokens after it", 3, true)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if s.spend(core.Event{Time: time.Now(), Data: core.CostReported{USD: 2}}); s.day.lost == nil {
		t.Error("what was spent is lost, and nobody knows")
	}
	(&Session{}).spend(core.Event{Time: time.Now(), Data: core.CostReported{USD: 2}}) // without a limit
}

// A run begins only where something is left of the day's limit, and somebody knows.
func TestNothingLeftOfTheDay(t *testing.T) {
	for name, c := range map[string]struct {
		limit float64
		spent string
		want  string
	}{
		"nothing spent":        {10, "", ""},
		"all spent":            {10, " 10 run\n", "spent $10.00"},
		"less than that":       {10, " 9.99 run\n", ""},
		"off":                  {-1, " 11 run\n", ""},
		"it cannot be read":    {10, " much run\n", "is not known"},
		"less than nothing":    {10, " -100 run\n", "is not known"},
		"a line that is short": {10, "\n", "is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			t.Setenv("XDG_STATE_HOME", state)
			dir := filepath.Join(state, "looprun", "spent")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			now := time.Now().UTC()
			if c.spent != "" {
				if err := os.WriteFile(filepath.Join(dir, now.Format("2006-01-02")), []byte(now.Format(time.RFC3339Nano)+c.spent), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			limit := config.MoneyLimit(c.limit)
			o := &config.Options{}
			o.MaxCostPerDay = &limit
			s := &Session{opts: o}
			err := s.affordable()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if kept := s.day.ledger != nil; kept != (c.want == "" && c.limit > 0) {
				t.Errorf("it is kept: %v", kept)
			}
		})
	}
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if err := os.WriteFile(filepath.Join(state, "looprun"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	limit := config.MoneyLimit(1)
	o := &config.Options{}
	o.MaxCostPerDay = &limit
	if err := (&Session{opts: o}).affordable(); err == nil || !strings.Contains(err.Error(), "cannot be kept") {
		t.Errorf("a file in the place of the folder: %v", err)
	}
	if err := (&Session{opts: &config.Options{}}).affordable(); err != nil {
		t.Errorf("no limit: %v", err)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	if err := (&Session{opts: o}).affordable(); err == nil || !strings.Contains(err.Error(), "neither HOME nor") {
		t.Errorf("no folder: %v", err)
	}
}
