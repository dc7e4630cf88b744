package main

import (
	"bytes"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/report"
)

// reportCmd writes a report of a run for people and other programs.
type reportCmd struct {
	ID       string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	Format   string `enum:"md,html,json,junit" default:"md" help:"${enum} (${default})."`
	Output   string `short:"o" placeholder:"FILE" help:"Write the report to FILE (default: standard output)."`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *reportCmd) Run(a *app) error {
	dir, err := a.find(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	r, err := report.Load(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	switch c.Format {
	case "html":
		err = r.HTML(&b)
	case "json":
		err = r.JSON(&b)
	case "junit":
		err = r.JUnit(&b)
	default:
		err = r.Markdown(&b, 0)
	}
	if err != nil {
		return err
	}
	if c.Output != "" {
		return atomicfile.Export(c.Output, b.Bytes())
	}
	return a.print(b.String())
}
