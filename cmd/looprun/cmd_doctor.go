package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// doctorCmd says what is wrong with a run's files and puts a journal right.
type doctorCmd struct {
	ID       string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	Repair   bool   `help:"Make a journal of all that can be recovered. The damaged one is kept beside it." env:"-"`
	Format   string `enum:"text,json" default:"text" help:"${enum}." env:"-"`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (doctorCmd) Help() string {
	return `Without --repair nothing is changed. Exit codes: 0 when nothing is wrong (any
more), 1 when something is, 125 when the run cannot be looked at or repaired.

Example:
  looprun doctor && looprun resume
  looprun doctor --repair 3f9a`
}

// diagnosis is what doctor prints in JSON.
type diagnosis struct {
	Schema string `json:"schema"`
	scratchpad.Findings
	// Repaired is what was done; the findings are those after it.
	Repaired *scratchpad.Salvaged `json:"repaired,omitempty"`
}

func (c *doctorCmd) Run(a *app) error {
	dir, err := a.find(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	d := diagnosis{Schema: "looprun.dev/doctor/v1"}
	if d.Findings, err = scratchpad.Examine(dir); err != nil {
		return err
	}
	if c.Repair {
		if err := d.repair(); err != nil {
			return err
		}
	}
	if d.Problems() > 0 {
		a.code = 1
	}
	if c.Format == "json" {
		return a.printJSON("doctor", d)
	}
	return d.text(a.stdout)
}

// repair does what can be done, and looks again.
func (d *diagnosis) repair() error {
	done, err := scratchpad.Salvage(d.Dir)
	if err != nil {
		return err
	}
	if done.Damaged != "" {
		d.Repaired = &done
	}
	d.Findings, err = scratchpad.Examine(d.Dir)
	return err
}

func (d *diagnosis) text(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(termsafe.Line(fmt.Sprintf(format, args...)) + "\n")
	}
	line("run %s in %s: %d events", d.RunID, console.Relative(d.Dir), d.Events)
	if d.Alive {
		line("another looprun has it open: what is being written was not looked at")
	}
	if r := d.Repaired; r != nil {
		line("repaired: %d events are kept; the damaged journal is %s", r.Kept, filepath.Join(console.Relative(d.Dir), r.Damaged))
		if r.Result != "" {
			line("the result that no longer holds is %s", filepath.Join(console.Relative(d.Dir), r.Result))
		}
		lost(line, r.Lost, r.LostCount)
	}
	for _, f := range d.List {
		where := f.File
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		line("%s: %s: %s; %s", f.Level, where, f.Text, f.Remedy)
	}
	lost(line, d.Lost, d.LostCount)
	if d.Problems() == 0 {
		line("nothing is wrong")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lost lists the events that are intact and not used.
func lost(line func(format string, args ...any), events []scratchpad.LostEvent, count int64) {
	for _, e := range events {
		line("lost: event %d (%s) in line %d", e.Seq, e.Type, e.Line)
	}
	if more := count - int64(len(events)); more > 0 {
		line("lost: %d more", more)
	}
}
