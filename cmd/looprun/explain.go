package main

import (
	"encoding/json"
	"slices"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

// explainCmd says why a run ended as it did.
type explainCmd struct {
	ID       string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	Format   string `enum:"text,json" default:"text" help:"${enum}." env:"-"`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (explainCmd) Help() string {
	return `It shows the iterations that a guard counted, the facts they share, and what of
the first and the last of them was masked as noise.

Example:
  looprun explain`
}

// explanation is what explain knows of a run.
type explanation struct {
	Schema     string            `json:"schema"`
	RunID      string            `json:"run_id"`
	Status     looprun.Status    `json:"status"`
	Ending     *looprun.Ending   `json:"ending,omitempty"`
	Iterations int               `json:"iterations"`
	Subtasks   *looprun.Subtasks `json:"subtasks,omitempty"`
	Blockers   []string          `json:"blockers,omitempty"`
	Warnings   []string          `json:"warnings,omitempty"`
	Trip       *looprun.Trip     `json:"trip,omitempty"`
	Counted    []counted         `json:"counted,omitempty"`
	// Shared are the facts of all iterations that were counted; for a cycle
	// those of each place in it.
	Shared  []string              `json:"shared,omitempty"`
	Compare *signature.Difference `json:"first_and_last,omitempty"`
	// OnlyCounts says that the last two iterations differ in numbers alone.
	OnlyCounts bool `json:"only_counts_changed,omitempty"`

	state       *looprun.State
	dir         string
	first, last *looprun.IterationFinished
	sides       [2]signature.Explanation
}

// counted is an iteration that a guard counted.
type counted struct {
	Iteration int             `json:"iteration"`
	Outcome   looprun.Outcome `json:"outcome"`
	ExitCode  int             `json:"exit_code"`
	Hash      signature.Hash  `json:"hash"`
	Label     string          `json:"label"`
}

func (c *explainCmd) Run(a *app) error {
	dir, err := a.find(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	e, err := explain(dir)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		return a.printJSON(e)
	}
	p := a.printer()
	p.WriteString(e.text())
	return p.page()
}

func explain(dir string) (*explanation, error) {
	s, _, err := scratchpad.Load(dir)
	if err != nil {
		return nil, err
	}
	e := &explanation{
		Schema: "looprun.dev/explanation/v1", RunID: s.RunID, Status: scratchpad.Standing(s, scratchpad.Locked(dir)),
		Ending: s.Ending, Iterations: s.Iterations, Subtasks: s.Decomposed(), Blockers: s.Blockers, Warnings: s.Warnings, Trip: s.LastTrip, state: s, dir: dir,
	}
	e.OnlyCounts = onlyCountsChanged(s.History)
	e.window()
	return e, e.compare()
}

// window finds the iterations that the last trip counted.
func (e *explanation) window() {
	t := e.Trip
	if t == nil || t.Window == 0 {
		return
	}
	skipped := e.skipped()
	var window []looprun.IterationFinished
	for _, d := range slices.Backward(e.state.History) {
		if d.Iteration <= t.Iteration && len(window) < t.Window && !skipped(d.Signature) {
			window = append(window, d)
		}
	}
	if len(window) == 0 {
		return
	}
	slices.Reverse(window)
	for _, d := range window {
		e.Counted = append(e.Counted, counted{d.Iteration, d.Outcome, d.ExitCode, d.Signature.Hash, d.Signature.Label})
	}
	e.Shared = window[0].Signature.Facts
	for _, d := range window[1:] {
		e.Shared = slices.DeleteFunc(slices.Clone(e.Shared), func(f string) bool { return !slices.Contains(d.Signature.Facts, f) })
	}
	e.first, e.last = &window[0], &window[len(window)-1]
	if period := max(1, t.Period); len(window) > period {
		// In a cycle the last one's twin is a whole number of turns before it.
		e.first = &window[(len(window)-1)%period]
	}
}

// skipped reports whether the last trip left a signature out, as an issue that
// an answer before it had skipped.
func (e *explanation) skipped() func(signature.Signature) bool {
	t := e.Trip
	if t.Known || t.Guard != looprun.LoopDetected && t.Guard != looprun.ConsecutiveErrors {
		return func(signature.Signature) bool { return false }
	}
	var known []looprun.KnownIssue
	for _, d := range e.state.Decisions {
		if d.Iteration < t.Iteration {
			known = append(known, d.Known...)
		}
	}
	return func(sig signature.Signature) bool {
		h := e.state.Match(sig)
		return slices.ContainsFunc(known, func(k looprun.KnownIssue) bool { return k.Hash == h })
	}
}

// compare reads the first and the last output once more, to show their noise.
func (e *explanation) compare() error {
	if e.first == nil || e.first.Iteration == e.last.Iteration {
		return nil
	}
	raw, err := configOf(e.dir)
	var r recorded
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return nil //nolint:nilerr // a run of a program has no recorded rules: its outputs are not compared
	}
	for i, d := range []*looprun.IterationFinished{e.first, e.last} {
		f, err := scratchpad.OpenWithin(e.dir, judged(e.dir, d.Iteration, d))
		if err != nil {
			return nil //nolint:nilerr // a silent command has no output to compare
		}
		e.sides[i], err = sign(f, d.ExitCode, r.Options.Signature, true)
		f.Close()
		if err != nil {
			return err
		}
	}
	d := signature.Diff(e.sides[0].Signature, e.sides[1].Signature)
	e.Compare = &d
	return nil
}

// judged is the file of what the judge of an iteration printed, under that number
// of the files. It is not there when the judge was silent.
func judged(dir string, number int, d *looprun.IterationFinished) string {
	if d.Iteration == 0 || d.WorkExitCode != nil {
		return scratchpad.CheckOutputFile(dir, number)
	}
	return scratchpad.OutputFile(dir, number)
}
