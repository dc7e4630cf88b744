package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// listCmd lists the runs of a directory.
type listCmd struct {
	Number   int    `short:"n" default:"20" help:"How many of the latest runs to list; 0 for all (${default})." env:"-"`
	Format   string `enum:"text,json" default:"text" help:"${enum}." env:"-"`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (listCmd) Help() string {
	return `Example:
  looprun list -n 5`
}

func (c *listCmd) Run(a *app) error {
	dir, err := stateDir(c.StateDir)
	if err != nil {
		return err
	}
	ids, err := scratchpad.IDs(dir)
	if err != nil {
		return err
	}
	all := len(ids)
	if c.Number > 0 {
		ids = ids[:min(c.Number, len(ids))]
	}
	runs := make([]scratchpad.Summary, len(ids))
	for i, id := range ids {
		runs[i] = scratchpad.Summarize(filepath.Join(dir, id))
	}
	if c.Format == "json" {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(runs)
	}
	if all == 0 {
		a.say.news("there are no runs in %s", dir)
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTARTED\tSTATUS\tITERATIONS\tRUNTIME\tCOMMAND\tLAST")
	for _, r := range runs {
		if r.Problem != "" {
			fmt.Fprintf(w, "%s\t\tunreadable\t\t\t\t%s\n", r.ID, termsafe.Line(r.Problem))
			continue
		}
		status := string(r.Status)
		if r.Guard != "" {
			status += " (" + r.Guard + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.ID, ago(r.Started), status, r.Iterations,
			roundTime(time.Duration(r.Runtime*float64(time.Second))), short(commandLine(r.Command), 40), short(r.Signature, 40))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if all > len(ids) {
		a.say.news("%d of %d runs; -n 0 lists all", len(ids), all)
	}
	return nil
}

// ago is a time as a person says it.
func ago(t time.Time) string {
	switch d := time.Since(t); {
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return t.Local().Format("2006-01-02")
}

// short is text on one line of at most n characters.
func short(text string, n int) string {
	r := []rune(termsafe.Line(text))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}
