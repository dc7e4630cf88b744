package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/review"
	"github.com/looprun/looprun/internal/tty"
)

// pruneCmd removes old runs.
type pruneCmd struct {
	Runs      []string    `arg:"" optional:"" name:"run" help:"The runs to remove, by their ids or parts of them, whatever became of them."`
	OlderThan *config.Age `placeholder:"AGE" help:"Remove runs without events for this long: 30d, 2w, 12h." excludes:"<run>"`
	Keep      *int        `placeholder:"N" help:"Keep the latest N runs, whatever their status." excludes:"<run>"`
	Status    []string    `placeholder:"STATUS" enum:"done,accepted,cancelled,superseded,rejected,tripped,failed,interrupted,crashed" help:"Remove only runs with this status: ${enum}." excludes:"<run>"`
	Untaken   bool        `help:"Remove results of looprun many that nobody took, too: each is named first."`
	DryRun    bool        `short:"n" help:"Only list what would be removed."`
	Yes       bool        `short:"y" help:"Do not ask."`
	Format    string      `enum:"text,json" default:"text" help:"${enum}."`
	StateDir  string      `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *pruneCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	state, err := config.StateDir(c.StateDir)
	if err != nil {
		return err
	}
	s := review.Selection{Names: c.Runs, OlderThan: (*time.Duration)(c.OlderThan), Status: c.Status, Untaken: c.Untaken}
	if c.Keep != nil {
		s.Keep = *c.Keep
	}
	p, err := review.Prune(state, s)
	if err != nil {
		return err
	}
	p.DryRun = c.DryRun
	for _, r := range p.Removed {
		if r.Untaken != "" {
			a.say.Printf("run %s: %s", r.ID, r.Untaken)
		}
	}
	if c.DryRun || p.Empty() {
		return c.report(a, p, state)
	}
	if yes, err := c.agreed(a, p); err != nil {
		return err
	} else if !yes {
		a.say.News("nothing was removed")
		a.code = core.StatusCancelled.ExitCode()
		return nil
	}
	err = p.Remove()
	return errors.Join(err, c.report(a, p, state))
}

// check returns an error unless it is clear what to remove.
func (c *pruneCmd) check() error {
	chosen := c.OlderThan != nil || c.Keep != nil || len(c.Status) > 0
	switch {
	case slices.ContainsFunc(c.Runs, func(name string) bool { return strings.TrimSpace(name) == "" }):
		return config.Usage("an empty word names no run", "a variable may be unset: write the ids of runs")
	case len(c.Runs) > 0 && chosen:
		return config.Usage("the ids of runs exclude --older-than, --keep and --status", "use one of the two")
	case len(c.Runs) == 0 && !chosen:
		return config.Usage("no runs given", "give --older-than 30d, --keep 20, --status done or the ids of runs; --dry-run shows what would be removed")
	case c.Keep != nil && *c.Keep < 0:
		return config.Usage(fmt.Sprintf("--keep is %d", *c.Keep), "give a number from 0")
	}
	return nil
}

// agreed reports whether the person, or --yes, consents.
func (c *pruneCmd) agreed(a *app, p *review.Pruned) (bool, error) {
	if c.Yes {
		return true, nil
	}
	if c.Format == "json" || !a.config.CanAsk() {
		return false, config.Usage(fmt.Sprintf("nobody was asked whether to remove %s", p.Count()), "use --yes to remove them, or --dry-run to see them first")
	}
	yes, err := tty.Confirm(fmt.Sprintf("remove %s (%s)?", p.Count(), plural.Bytes(p.Bytes)), func() { _ = p.Table(console.NewPrinter(a.stderr, a.files.stderr, a.say.Flags.Color)) })
	if err != nil {
		return false, fmt.Errorf("nobody was asked, and nothing was removed: %w; use --yes", err)
	}
	return yes, nil
}

func (c *pruneCmd) report(a *app, p *review.Pruned, state string) error {
	if c.Format == "json" {
		return a.printJSON("prune", p)
	}
	if err := p.Table(a.printer()); err != nil {
		return err
	}
	for _, k := range p.Kept {
		a.say.News("run %s was kept: %s", k.ID, k.Why)
	}
	did, free := "removed", "freed"
	if c.DryRun {
		did, free = "would remove", "would be freed"
	}
	if p.Empty() {
		a.say.News("there is nothing to remove in %s", state)
		return nil
	}
	a.say.News("%s %s, %s %s", did, p.Count(), plural.Bytes(p.Bytes), free)
	return nil
}
