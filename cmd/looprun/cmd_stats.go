package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/scratchpad"
)

// statsCmd computes statistics over all runs.
type statsCmd struct {
	Rejections statsRejectionsCmd `cmd:"" help:"Count the rejections of all runs and what became of them."`
}

type statsRejectionsCmd struct {
	Since    string   `placeholder:"DATE" help:"Only from this day on, as 2006-01-02 or 7d, or from this moment."`
	ID       string   `arg:"" optional:"" name:"run" help:"Only those of this run: its id or a part of it."`
	Format   string   `enum:"text,list,json,dot,graph" default:"text" help:"${enum}: list has each rejection whole; dot and graph are the graph of tasks, rejections, blockers and decisions, for Graphviz and as JSON."`
	StateDir []string `placeholder:"DIR" help:"Where runs are kept; repeatable, for several work trees." sep:"none"`
	Dir      string   `kong:"-" key:"state_dir"`
}

func (c *statsRejectionsCmd) Run(a *app) error {
	since, err := parseSince(c.Since)
	if err != nil {
		return err
	}
	records, err := c.records(a)
	if err != nil {
		return err
	}
	stats := rejection.Collect(records, since)
	switch c.Format {
	case "json":
		return a.printJSON("rejection-stats", stats)
	case "list":
		p := a.printer()
		for _, r := range rejection.Since(records, since) {
			fmt.Fprintln(p, r.Text())
		}
		return p.Page()
	case "dot":
		return a.print(string(rejection.BuildGraph(rejection.Since(records, since)).DOT()))
	case "graph":
		return a.printJSON("rejection-graph", rejection.BuildGraph(rejection.Since(records, since)))
	}
	return a.print(stats.Text())
}

// records returns the rejections of all selected runs.
func (c *statsRejectionsCmd) records(a *app) ([]rejection.Record, error) {
	dirs, err := c.dirs()
	if err != nil {
		return nil, err
	}
	found, problems := make([][]rejection.Record, len(dirs)), make([]error, len(dirs))
	parallel.Each(len(dirs), func(i int) { found[i], problems[i] = rejectionsOf(dirs[i]) })
	for i, err := range problems {
		if err != nil {
			a.say.Warn("run %s cannot be read and is left out: %v", filepath.Base(dirs[i]), err)
			found[i] = nil
		}
	}
	return slices.Concat(found...), nil
}

// dirs returns the directories of those runs.
func (c *statsRejectionsCmd) dirs() ([]string, error) {
	states := c.StateDir
	if len(states) == 0 && c.Dir != "" {
		states = []string{c.Dir}
	}
	if len(states) == 0 {
		states = []string{""}
	}
	var dirs []string
	var missing error
	for _, flag := range states {
		if c.ID != "" {
			dir, err := session.Find(flag, c.ID)
			if missing = err; err == nil {
				return []string{dir}, nil
			}
			continue
		}
		state, err := config.StateDir(flag)
		if err != nil {
			return nil, err
		}
		ids, err := scratchpad.IDs(state)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, session.Within(state, ids)...)
	}
	return dirs, missing
}

// parseSince parses a day in local time, a point in time, or a duration before now. An empty
// text means the beginning.
func parseSince(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	var ago config.Age
	if ago.UnmarshalText([]byte(text)) == nil && ago > 0 {
		return time.Now().Add(-time.Duration(ago)), nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 { // 1.5h
		return time.Now().Add(-ago), nil
	}
	return time.Time{}, config.Usage(fmt.Sprintf("--since %q is not a date", text), "write it as 7d, 12h, 2006-01-02 or 2006-01-02T15:04:05Z")
}

// rejectionsOf returns the rejections of a run with their outcomes.
func rejectionsOf(dir string) ([]rejection.Record, error) {
	var records []rejection.Record
	run, at := "", map[string]int{}
	_, err := scratchpad.Replay(dir, func(e core.Event) error {
		r := rejection.Record{RunID: run, Dir: dir, Time: e.Time}
		switch d := e.Data.(type) {
		case core.RunStarted:
			run = d.RunID
		case core.RejectionSubmitted:
			r.ID, r.Rejection, r.Valid = run+"/"+d.RejectionID, d.Rejection, true
			at[d.RejectionID] = len(records)
			records = append(records, r)
		case core.RejectionInvalid:
			r.ID, r.Rejection, r.Issues = run+"/"+d.RejectionID, d.Rejection, d.Issues
			records = append(records, r)
		case core.RejectionDecided:
			if i, ok := at[d.RejectionID]; ok {
				records[i].Decision, records[i].DecidedBy, records[i].DecidedReason = d.Decision, d.Who(), d.Reason
				records[i].DecidedAt, records[i].Created = e.Time, d.Created
			}
		}
		return nil
	})
	return records, err
}
