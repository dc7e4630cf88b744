package main

import (
	"fmt"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
)

// resumeCmd goes on with a run.
type resumeCmd struct {
	ID string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	session.Anew
	StateDir string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

// Help shows an example below the flags.
func (resumeCmd) Help() string {
	return `Counters, limits, guidance and elapsed time are as they were; limits and a policy
can be given anew. A run that tripped is asked again. A run that came with a clone, an
archive or a cache is refused without --trust-run.

Example:
  looprun resume --max-iterations 20
  looprun resume --dir .                 after the project was moved here`
}

func (c *resumeCmd) Run(a *app) error {
	dir, err := c.find()
	if err != nil {
		return err
	}
	state, tail, err := scratchpad.Load(dir)
	if err != nil {
		return err
	}
	if err := c.Check(dir); err != nil {
		return err
	}
	return a.end(session.Resume(a.program(), dir, state, tail, c.Anew))
}

// find is the run to go on with: without a name the latest that was not started
// by another run's command.
func (c *resumeCmd) find() (string, error) {
	if c.ID != "" {
		return session.Find(c.StateDir, c.ID)
	}
	state, err := config.StateDir(c.StateDir)
	if err != nil {
		return "", err
	}
	dir, err := c.Latest(state, func(dir string) bool { return scratchpad.Summarize(dir).Parent == "" })
	if err == nil && dir == "" {
		err = fmt.Errorf("there are no runs in %s", state)
	}
	return dir, err
}
