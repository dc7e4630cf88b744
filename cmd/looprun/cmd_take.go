package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/plural"
)

// takeCmd takes results of looprun many.
type takeCmd struct {
	Names    []string `arg:"" optional:"" name:"name" blank:"no" help:"The loops whose results to take, by their names or the ids of their runs."`
	Done     bool     `help:"Take the results of all loops that are done." excludes:"<name>"`
	Branch   string   `placeholder:"NAME" blank:"no" help:"The new branch (looprun/ and the id of the batch)."`
	Continue bool     `help:"Continue after you resolved a conflict, or after a take that was cut off."`
	Abort    bool     `help:"Remove the branch of a take that did not end."`
	DryRun   bool     `short:"n" help:"Only list what would be taken, and which results change the same files."`
	StateDir string   `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *takeCmd) Run(a *app) error {
	if begins := len(c.Names) > 0 || c.Done || c.Branch != ""; (c.Continue || c.Abort) && begins || c.Continue && c.Abort {
		return config.Usage("--continue and --abort belong to a looprun take that a conflict stopped", "use one of them alone")
	}
	if len(c.Names) > 0 && c.Done {
		return config.Usage("loop names and --done exclude each other", "use one of the two")
	}
	state, err := config.StateDir(c.StateDir)
	if err != nil {
		return err
	}
	ctx, removal := context.Background(), &many.Removal{State: state}
	t, err := removal.Stopped()
	switch {
	case err != nil:
		return err
	case t == nil && (c.Continue || c.Abort):
		return config.Usage("no conflict stopped a looprun take", "begin with looprun take NAME or looprun take --done")
	case t != nil && c.Abort:
		if err = t.Abort(ctx); err == nil {
			a.say.News("%s is removed; nothing was taken", t.Branch)
		}
		return err
	case t != nil && c.Continue:
		return c.report(a, t, t.Continue(ctx))
	case t != nil && len(t.Files) == 0:
		return config.Usage("the last looprun take did not end", "use --continue, or use --abort")
	case t != nil:
		return config.Usage(fmt.Sprintf("a conflict in the result of %s stopped the last looprun take", t.Left[0].Name), "resolve it in "+t.Tree+" and use --continue, or use --abort")
	case len(c.Names) == 0 && !c.Done:
		return config.Usage("no results given", "name loops, or give --done; looprun list shows the names")
	}
	if t, err = removal.Take(ctx, c.Names, c.Branch); err != nil {
		return err
	}
	if len(t.Left) == 0 {
		a.say.News("there is nothing to take: nothing was made, or it was taken")
		return nil
	}
	for _, line := range t.Overlaps() {
		a.say.Printf("%s", line)
	}
	if c.DryRun {
		for _, one := range t.Left {
			a.say.Printf("would take %s: %s", one.Name, plural.Count(len(one.Files), "file"))
		}
		return nil
	}
	return c.report(a, t, t.Run(ctx))
}

// report prints the outcome of a taking.
func (c *takeCmd) report(a *app, t *many.Taking, err error) error {
	for _, one := range t.Took {
		a.say.News("taken: %s, %s", one.Name, plural.Count(len(one.Files), "file"))
	}
	if conflict, ok := errors.AsType[*many.ConflictError](err); ok {
		a.code = core.StatusPaused.ExitCode()
		a.say.Printf("%v; resolve it in %s, then looprun take --continue, or go back with looprun take --abort", conflict, conflict.Tree)
		return nil
	}
	if err != nil {
		return err
	}
	a.say.Printf("%s on the branch %s: git merge %s", plural.Count(len(t.Took), "result"), t.Branch, t.Branch)
	return nil
}
