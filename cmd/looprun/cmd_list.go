package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// listCmd lists the runs of a directory.
type listCmd struct {
	Number   *int   `short:"n" placeholder:"N" help:"How many of the latest runs to list; 0 for all (20; with --all, all)." env:"-"`
	All      bool   `help:"List all your runs, in whatever folder they are, with the folder." env:"-"`
	Format   string `enum:"text,json" default:"text" help:"${enum}." env:"-"`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (listCmd) Help() string {
	return `Columns are cut to the width of the terminal, and not in a pipe; -v shows them
whole, with the moments at which the runs were started.

Example:
  looprun list -n 5
  looprun list --all`
}

func (c *listCmd) Run(a *app) error {
	dir, err := stateDir(c.StateDir)
	if err != nil {
		return err
	}
	runs, err := c.dirs(a, dir)
	if err != nil {
		return err
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
		return a.printJSON(list)
	}
	if all == 0 && c.All {
		a.say.news("you have no runs yet")
		return nil
	}
	if all == 0 {
		a.say.news("there are no runs in %s", dir)
		return nil
	}
	p := a.printer()
	listed(list, time.Now(), a.say.flags.Verbose, c.All).print(p)
	if err := p.page(); err != nil {
		return err
	}
	if all > len(runs) {
		a.say.news("%d of %d runs; -n 0 lists all", len(runs), all)
	}
	return nil
}

// dirs are the directories of the runs to list, the latest first.
func (c *listCmd) dirs(a *app, dir string) ([]string, error) {
	if c.All {
		return a.allRuns(dir)
	}
	ids, err := scratchpad.IDs(dir)
	return within(dir, ids), err
}

// listed is the table of the runs. With exact, times are moments and not how long
// ago they were, and texts are whole; with places each run has its folder.
func listed(runs []scratchpad.Summary, now time.Time, exact, places bool) *table {
	t := &table{columns: []column{
		{title: "RUN"},
		{title: "STARTED", drop: 3},
		{title: "STATUS", least: 7},
		{title: "ITERATIONS", right: true, least: 4, drop: 2},
		{title: "RUNTIME", right: true, drop: 1},
		{title: "COMMAND", least: 8},
		{title: "LAST", least: 8},
	}}
	named := slices.ContainsFunc(runs, func(r scratchpad.Summary) bool { return r.Name != "" })
	if named { // behind the id: that is what a person looks for
		t.columns = slices.Insert(t.columns, 1, column{title: "NAME", least: 8})
	}
	if places {
		t.columns = append(t.columns, column{title: "FOLDER", least: 12})
	}
	add := func(r scratchpad.Summary, name string, row ...entry) {
		if places {
			row = append(row, entry{text: keptFor(filepath.Dir(r.Dir))})
		}
		if named {
			row = slices.Insert(row, 0, entry{text: name})
		}
		t.add(slices.Insert(row, 0, entry{text: r.ID})...)
	}
	const most = 40
	cut := func(text string) string {
		if exact {
			return text
		}
		return short(text, most)
	}
	for _, r := range runs {
		if r.Problem != "" {
			add(r, "", entry{}, entry{"unreadable", red}, entry{}, entry{}, entry{}, entry{text: r.Problem})
			continue
		}
		status := string(r.Status)
		if r.Guard != "" {
			status += " (" + r.Guard + ")"
		}
		started := ago(now, r.Started)
		if exact {
			started = r.Started.Local().Format(time.DateTime)
		}
		add(r, cut(r.Name), entry{started, dim}, entry{status, statusColour(r.Status)}, entry{text: fmt.Sprint(r.Iterations)},
			entry{text: roundTime(time.Duration(r.Runtime * float64(time.Second)))}, entry{text: cut(commandLine(r.Command))}, entry{text: cut(r.Signature)})
	}
	return t
}

// summaries reads what a list shows of the runs, some at a time: most of it is
// waiting for the disk.
func summaries(dirs []string) []scratchpad.Summary {
	runs := make([]scratchpad.Summary, len(dirs))
	concurrently(len(dirs), func(i int) { runs[i] = scratchpad.Summarize(dirs[i]) })
	return runs
}

// concurrently calls read with every number below n: reading many runs mostly waits.
func concurrently(n int, read func(i int)) {
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(n, 2*runtime.GOMAXPROCS(0)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				read(int(i))
			}
		})
	}
	readers.Wait()
}

// ago is a moment as a person says it.
func ago(now, t time.Time) string {
	switch d := now.Sub(t); {
	case d < 0: // a clock was set back
		return t.Local().Format(time.DateTime)
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
	return t.Local().Format(time.DateOnly)
}

// short is text on one line of at most n columns.
func short(text string, n int) string { return cells.Cut(termsafe.Line(text), n) }
