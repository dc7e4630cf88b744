package main

import (
	"fmt"
	"os"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/tasks"
	"github.com/looprun/looprun/scratchpad"
)

// contextCmd prints what the next attempt should know.
type contextCmd struct {
	ID       string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the one that this is inside of, else the latest)."`
	MaxBytes int    `default:"16384" placeholder:"N" help:"Cut it to N bytes, at the end of a line (${default})."`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *contextCmd) Run(a *app) error {
	if c.MaxBytes < 1 {
		return config.Usage(fmt.Sprintf("--max-bytes %d", c.MaxBytes), "use 1 or more")
	}
	dir := os.Getenv("LOOPRUN_DIR")
	if c.ID != "" || dir == "" {
		var err error
		if dir, err = a.find(c.StateDir, c.ID); err != nil {
			return err
		}
	}
	state, _, err := scratchpad.Load(dir)
	if err != nil {
		return err
	}
	o := scratchpad.ContextOptions{Notes: scratchpad.Notes(dir), MaxBytes: c.MaxBytes}
	if r, err := session.RecordedOf(dir); err == nil {
		o.Text = r.Options.Signals == "text"
		o.Next = tasks.Next(state.Dir, r.Options.Tasks)
	}
	return a.print(string(scratchpad.Context(state, o)))
}
