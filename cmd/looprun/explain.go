package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/scratchpad"
)

// explainCmd says why a run ended as it did.
type explainCmd struct {
	ID       string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (explainCmd) Help() string {
	return `Example:
  looprun explain`
}

func (c *explainCmd) Run(a *app) error {
	dir, err := find(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	s, _, err := scratchpad.Load(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	status := scratchpad.Standing(s, scratchpad.Locked(dir))
	fmt.Fprintf(&b, "run %s is %s after %d iterations and %s.\n", s.RunID, status, s.Iterations, roundTime(s.Elapsed))
	if s.Ending != nil && s.Ending.Reason != "" {
		fmt.Fprintf(&b, "It ended because %s.\n", s.Ending.Reason)
	}
	if t := s.LastTrip; t != nil {
		explainTrip(&b, s, t)
	}
	explainLast(&b, s, dir)
	_, err = io.WriteString(a.stdout, b.String())
	return err
}

// explainTrip shows the evidence of the last trip.
func explainTrip(b *strings.Builder, s *looprun.State, t *looprun.Trip) {
	fmt.Fprintf(b, "\n%s tripped after iteration %d: %s.\n", t.Guard, t.Iteration, t.Reason)
	var window []looprun.IterationFinished
	for _, d := range s.History {
		if t.Window > 0 && d.Iteration <= t.Iteration && d.Iteration > t.Iteration-t.Window {
			window = append(window, d)
		}
	}
	if len(window) == 0 {
		return
	}
	fmt.Fprintln(b, "\nThe iterations that it counted:")
	for _, d := range window {
		fmt.Fprintf(b, "  %4d  %s  exit %-3d  %s\n", d.Iteration, d.Signature.Hash, d.ExitCode, short(d.Signature.Label, 80))
	}
	shared := window[0].Signature.Facts
	for _, d := range window[1:] {
		shared = slices.DeleteFunc(slices.Clone(shared), func(f string) bool { return !slices.Contains(d.Signature.Facts, f) })
	}
	if len(shared) > 0 {
		fmt.Fprintln(b, "\nWhat all of them say:")
		for _, f := range shared {
			fmt.Fprintf(b, "  %s\n", short(f, 120))
		}
	}
}

func explainLast(b *strings.Builder, s *looprun.State, dir string) {
	d := s.Last
	if d == nil {
		return
	}
	if d.Excerpt != "" && d.Outcome != looprun.OutcomeDone {
		fmt.Fprintf(b, "\nThe end of the last output:\n")
		for line := range strings.SplitSeq(d.Excerpt, "\n") {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
	if file := scratchpad.OutputFile(dir, d.Iteration); isFile(file) {
		fmt.Fprintf(b, "\nAll of it: %s\n", relative(file))
	}
}
