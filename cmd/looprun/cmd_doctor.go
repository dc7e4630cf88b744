package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// doctorCmd reports problems with a run's files.
type doctorCmd struct {
	ID       string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	Format   string `enum:"text,json" default:"text" help:"${enum}."`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *doctorCmd) Run(a *app) error {
	dir, err := a.find(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	d, err := scratchpad.Examine(dir)
	if err != nil {
		return err
	}
	if d.Problems() > 0 {
		a.code = 1
	}
	if c.Format == "json" {
		return a.printJSON("doctor", d)
	}
	return writeFindings(a.stdout, d)
}

func writeFindings(w io.Writer, d scratchpad.Findings) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(termsafe.Line(fmt.Sprintf(format, args...)) + "\n")
	}
	line("run %s in %s: %d events", d.RunID, console.Relative(d.Dir), d.Events)
	if d.Alive {
		line("another looprun has it open; records that it is writing were not checked")
	}
	for _, f := range d.List {
		where := f.File
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		line("%s: %s: %s; %s", f.Level, where, f.Text, f.Remedy)
	}
	if d.Problems() == 0 {
		line("nothing is wrong")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
