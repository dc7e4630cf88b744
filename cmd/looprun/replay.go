package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/scratchpad"
)

// replayCmd drives the guards over recordings.
type replayCmd struct {
	Files []string `arg:"" optional:"" name:"file=code" help:"Recorded outputs, one an iteration, each with its exit code (1 without)."`
	limitFlags
	ID string `name:"run" placeholder:"RUN" help:"Replay an earlier run instead."`
	ruleFlags
	LoopMatch string `enum:"strict,loose" default:"strict" help:"Compare signatures ${enum}: loose leaves out all numbers (${default})."`
	Format    string `enum:"text,json" default:"text" help:"${enum}." env:"-"`
	StateDir  string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (replayCmd) Help() string {
	return `Nothing is run. All recordings are read, and for each guard it is said where it
would first trip. With masks or rules of your own the outputs of a run are read anew.

Example:
  looprun replay --loop-threshold 3 monday.log tuesday.log=2 wednesday.log`
}

func (c *replayCmd) Run(a *app) error {
	out := newReplayWriter(a.stdout, c.Format)
	r, err := newReplay(&c.limitFlags, c.LoopMatch == "loose", out)
	if err != nil {
		return err
	}
	if r.rules, err = c.config(); err != nil {
		return err
	}
	switch {
	case c.ID != "" && len(c.Files) > 0:
		return &usageError{"--run and files exclude each other", "use one of them"}
	case c.ID != "":
		err = c.fromRun(a, r)
	case len(c.Files) == 0:
		return &usageError{"there is nothing to replay", "name recorded outputs, or --run RUN"}
	default:
		err = c.fromFiles(r)
	}
	if err != nil {
		return errors.Join(err, out.cut())
	}
	return out.end(r.trips)
}

func (c *replayCmd) fromFiles(r *replay) error {
	judge := looprun.DefaultJudge()
	for _, arg := range c.Files {
		name, code, err := fileAndCode(arg)
		if err != nil {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		why, err := sign(f, code, r.rules, false)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		d := looprun.IterationFinished{ExitCode: code, Signature: why.Signature}
		d.Outcome = judge.Outcome(looprun.Exits{Work: &looprun.Exit{Code: code}})
		if err := r.add(name, d); err != nil {
			return err
		}
	}
	return nil
}

// fileAndCode splits FILE=CODE. A file whose name itself ends in =N exists.
func fileAndCode(arg string) (string, int, error) {
	i := strings.LastIndexByte(arg, '=')
	if i < 0 || isFile(arg) {
		return arg, 1, nil
	}
	code, err := strconv.Atoi(arg[i+1:])
	if err != nil || code < 0 || code > 255 {
		return "", 0, &usageError{fmt.Sprintf("%q: %q is no exit code", arg, arg[i+1:]), "write FILE=CODE with a code from 0 to 255"}
	}
	return arg[:i], code, nil
}

func (c *replayCmd) fromRun(a *app, r *replay) error {
	dir, err := a.find(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	anew := c.given()
	if anew && onlyLastKept(dir) {
		a.say.warn("run %s kept the output of its last iteration alone (--wait), so the signatures are those that were recorded", filepath.Base(dir))
		anew = false
	}
	_, err = scratchpad.Replay(dir, func(e looprun.Event) error {
		d, ok := e.Data.(looprun.IterationFinished)
		if !ok || d.Iteration == 0 || d.RunsAgain() {
			return nil
		}
		file := ""
		if anew {
			if file, err = r.resign(dir, &d, a.say.warn); err != nil {
				return err
			}
		}
		return r.add(file, d)
	})
	return err
}

// onlyLastKept reports whether all iterations of the run have one output file.
func onlyLastKept(dir string) bool {
	raw, err := configOf(dir)
	var r recorded
	return err == nil && json.Unmarshal(raw, &r) == nil && r.Options.Wait
}

// resign makes the signature of a recorded iteration anew from its output file,
// and says where that holds less than was printed.
func (r *replay) resign(dir string, d *looprun.IterationFinished, warn func(string, ...any)) (string, error) {
	file := judged(dir, d.Iteration, d)
	if d.Cause != looprun.CauseExited || d.Outcome == looprun.OutcomeDone {
		return "", nil
	}
	if !isFile(file) {
		if d.OutputBytes > 0 && !isFile(scratchpad.OutputFile(dir, d.Iteration)) {
			warn("iteration %d: its output is not there any more, so its signature is the one that was recorded", d.Iteration)
		}
		return "", nil
	}
	f, err := scratchpad.OpenWithin(dir, file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	why, err := sign(f, d.ExitCode, r.rules, false)
	if err != nil {
		return "", err
	}
	if scratchpad.Capped(file) {
		warn("iteration %d: only the head and the tail of its output were kept, so its signature is an approximation", d.Iteration)
	}
	d.Signature = why.Signature
	return relative(file), nil
}

// replay feeds recorded iterations to the core. Nobody answers: the state is
// what it would be if every guard had been ignored, so that each shows where it
// first trips. It keeps no more of an iteration than the state does: a run of
// any length takes the same memory.
type replay struct {
	state  looprun.State
	guards []looprun.Guard
	rules  *signatureConfig
	steps  replayWriter
	trips  []replayedTrip
}

func newReplay(f *limitFlags, loose bool, steps replayWriter) (*replay, error) {
	limits := looprun.DefaultLimits()
	if _, err := f.over(&limits); err != nil {
		return nil, err
	}
	r := &replay{guards: guards.Default(), steps: steps}
	for _, g := range r.guards {
		r.trips = append(r.trips, replayedTrip{Guard: g.ID()})
	}
	return r, r.apply(looprun.RunStarted{RunID: "replay", Limits: limits, Loose: loose})
}

func (r *replay) apply(d looprun.Data) error {
	elapsed := r.state.Elapsed
	if d, ok := d.(looprun.IterationFinished); ok {
		elapsed += msDuration(d.DurationMS)
	}
	return r.state.Apply(looprun.Event{Seq: r.state.Seq + 1, Elapsed: elapsed, Data: d})
}

func (r *replay) add(file string, d looprun.IterationFinished) error {
	step := replayedStep{File: file, ExitCode: d.ExitCode, Outcome: d.Outcome, Hash: d.Signature.Hash, Label: d.Signature.Label}
	d.Iteration, d.Fatal = r.state.NextIteration(), 0
	step.Iteration = d.Iteration
	if err := r.steps.step(step); err != nil {
		return err
	}
	if d.Outcome == looprun.OutcomeDone {
		// The run would end here; what follows is read all the same.
		d.Outcome = looprun.OutcomeNotDone
	}
	if err := r.apply(looprun.IterationStarted{Iteration: d.Iteration}); err != nil {
		return err
	}
	if err := r.apply(d); err != nil {
		return err
	}
	for i, g := range r.guards {
		t := &r.trips[i]
		if t.At > 0 {
			continue
		}
		if trip := g.Check(&r.state); trip != nil {
			t.At, t.Period, t.Reason = d.Iteration, trip.Period, trip.Reason
		}
	}
	return nil
}
