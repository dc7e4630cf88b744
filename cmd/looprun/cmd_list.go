package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/hook"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
)

// listCmd lists the runs of a directory.
type listCmd struct {
	Number   *int   `short:"n" placeholder:"N" help:"How many of the latest runs to list; 0 for all (20; with --all, all)."`
	All      bool   `help:"List all your runs, in any folder, with the folder."`
	Pending  bool   `help:"List only runs that wait for an answer."`
	Format   string `enum:"text,json" default:"text" help:"${enum}."`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *listCmd) Run(a *app) error {
	if c.Format != "json" {
		defer c.trouble(a)
	}
	dir, err := config.StateDir(c.StateDir)
	if err != nil {
		return err
	}
	runs, err := c.dirs(a, dir)
	if err != nil {
		return err
	}
	if c.Pending {
		runs = slices.DeleteFunc(runs, func(dir string) bool { return len(session.QuestionsIn(dir)) == 0 })
	}
	all, number := len(runs), 20
	if c.All {
		number = 0
	}
	if c.Number != nil {
		number = *c.Number
	}
	if number > 0 {
		runs = runs[:min(number, len(runs))]
	}
	list := summaries(runs)
	if c.Format == "json" {
		return a.printJSON("listed-run", list)
	}
	if all == 0 && c.Pending {
		a.say.News("no run waits for an answer")
		return nil
	}
	if all == 0 && c.All {
		a.say.News("you have no runs yet")
		return nil
	}
	if all == 0 {
		a.say.News("there are no runs in %s", dir)
		return nil
	}
	p := a.printer()
	listed(list, time.Now(), a.say.Flags.Verbose, c.All).Print(p)
	if err := p.Page(); err != nil {
		return err
	}
	if all > len(runs) {
		a.say.News("%d of %d runs; -n 0 lists all", len(runs), all)
	}
	states := []string{dir}
	if c.All {
		states, _ = scratchpad.StateDirs(dir) // what cannot be read was said
	}
	mentionUntaken(a, states...)
	return nil
}

// trouble prints why an agent's stop was not judged, since nobody read it there.
func (c *listCmd) trouble(a *app) {
	if t, ok := hook.LastTrouble(time.Now().Add(-24 * time.Hour)); ok {
		a.say.News("%s, in %s, a stop hook could not judge: %s", console.Ago(time.Now(), t.Time), t.Dir, t.Why)
	}
}

// dirs returns the directories of the runs to list, latest first.
func (c *listCmd) dirs(a *app, dir string) ([]string, error) {
	if c.All {
		return session.AllRuns(a.say, dir)
	}
	ids, err := scratchpad.IDs(dir)
	return session.Within(dir, ids), err
}

// listed returns the table of the runs. With exact, times are absolute and texts are not cut;
// with places each run has its folder.
func listed(runs []scratchpad.Summary, now time.Time, exact, places bool) *console.Table {
	t := &console.Table{Columns: []console.Column{
		{Title: "RUN"},
		{Title: "NAME", Least: 8, Optional: true},
		{Title: "STARTED", Drop: 3},
		{Title: "STATUS", Least: 11},
		{Title: "ITERATIONS", Right: true, Least: 4, Drop: 2},
		{Title: "RUNTIME", Right: true, Drop: 1},
		{Title: "COMMAND", Least: 8},
		{Title: "LAST", Least: 20},
		{Title: "FOLDER", Least: 12, Optional: true},
	}}
	const most = 40
	cut := func(text string) string {
		if exact {
			return text
		}
		return console.Short(text, most)
	}
	t.AddAll(len(runs), func(i int) []console.Entry {
		r, folder := runs[i], ""
		if places {
			folder = scratchpad.KeptFor(filepath.Dir(r.Dir))
		}
		if r.Problem != "" {
			return []console.Entry{{Text: r.ID}, {}, {}, {Text: "unreadable", Colour: console.Red}, {}, {}, {}, {Text: r.Problem}, {Text: folder}}
		}
		status := r.Standing()
		if r.Answered != "" {
			status = "answered: " + cut(r.Answered)
		}
		return []console.Entry{
			{Text: r.ID},
			{Text: cut(r.Name)},
			{Text: console.Moment(now, r.Started, exact), Colour: console.Dim},
			{Text: status, Colour: console.StatusColour(r.Status)},
			{Text: fmt.Sprint(r.Iterations)},
			{Text: plural.Seconds(r.Runtime)},
			{Text: cut(core.CommandLine(r.Command))},
			{Text: cut(cmp.Or(r.Says, r.Signature))},
			{Text: folder},
		}
	})
	return t
}

// summaries reads the runs' summaries.
func summaries(dirs []string) []scratchpad.Summary {
	runs := make([]scratchpad.Summary, len(dirs))
	parallel.Each(len(dirs), func(i int) { runs[i] = scratchpad.Summarize(dirs[i]).Placed() })
	return runs
}
