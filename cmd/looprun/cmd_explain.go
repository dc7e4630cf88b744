package main

import "github.com/looprun/looprun/internal/review"

// explainCmd explains why a run ended as it did.
type explainCmd struct {
	ID       string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	Format   string `enum:"text,json" default:"text" help:"${enum}."`
	Suggest  bool   `help:"Find a rule that distinguishes the counted iterations, and try it on their outputs."`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *explainCmd) Run(a *app) error {
	dir, err := a.find(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	e, err := review.Explain(dir)
	if err != nil {
		return err
	}
	if c.Suggest {
		if err := e.Suggest(); err != nil {
			return err
		}
	}
	if c.Format == "json" {
		return a.printJSON("explanation", e)
	}
	p := a.printer()
	p.Prose(e.Text())
	return p.Page()
}
