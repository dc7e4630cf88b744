package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

// replayCmd drives the guards over recordings.
type replayCmd struct {
	Files []string `arg:"" optional:"" name:"file=code" help:"Recorded outputs, one an iteration, each with its exit code (1 without)."`
	config.LimitFlags
	ID string `name:"run" placeholder:"RUN" help:"Replay an earlier run instead."`
	config.RuleFlags
	LoopValues   *string      `enum:"on,off" placeholder:"HOW" help:"Trip when the same checks fail and only values change: ${enum} (the run's; on)."`
	LoopOften    config.Often `placeholder:"K/N" help:"Trip when the same failure came in K of the last N iterations, in a row or not, or off (the run's; 6/10)."`
	LoopMatch    *string      `enum:"strict,loose" placeholder:"HOW" help:"Compare signatures ${enum}: loose leaves out all numbers (the run's; strict)."`
	Promise      *string      `placeholder:"TEXT" help:"A recorded output with exit code 0 is done only where it has this text."`
	PromiseMatch string       `enum:"line,anywhere" default:"line" help:"Where the promise counts: ${enum} (${default})."`
	Format       string       `enum:"text,json" default:"text" help:"${enum}." env:"-"`
	StateDir     string       `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (replayCmd) Help() string {
	return `Nothing is run. All recordings are read, and for each guard it is said where it
would first trip. An iteration that is done ends a run; what follows it is another one.
An earlier run has the limits that it had, unless others are given. With masks or rules
of your own its outputs are read anew.

Example:
  looprun replay --loop-threshold 3 monday.log tuesday.log=2 wednesday.log`
}

func (c *replayCmd) Run(a *app) error {
	out := newReplayWriter(a.stdout, c.Format)
	r := newReplay(out)
	var err error
	if r.rules, err = c.Signature(); err != nil {
		return err
	}
	switch {
	case c.ID != "" && len(c.Files) > 0:
		return config.Usage("--run and files exclude each other", "use one of them")
	case c.ID != "" && c.Promise != nil:
		return config.Usage("--promise is for recorded outputs: of a run it is on record whether it was made", "leave it out")
	case c.ID != "":
		err = c.fromRun(a, r)
	case len(c.Files) == 0:
		return config.Usage("there is nothing to replay", "name recorded outputs, or --run RUN")
	default:
		err = c.fromFiles(r)
	}
	if err != nil {
		return errors.Join(err, out.cut())
	}
	return out.end(r.trips)
}

// begin lets the replay begin as a run with these limits, and those given over them.
func (c *replayCmd) begin(r *replay, as looprun.RunStarted) error {
	r.started = looprun.RunStarted{RunID: "replay", Limits: as.Limits, Loose: as.Loose, AnyValue: as.AnyValue, Often: as.Often}
	if _, err := c.Over(&r.started.Limits); err != nil {
		return err
	}
	if c.LoopMatch != nil {
		r.started.Loose = *c.LoopMatch == "loose"
	}
	if c.LoopOften != "" {
		r.started.Often = c.LoopOften.Limit()
	}
	if c.LoopValues != nil {
		r.started.AnyValue = *c.LoopValues == "off"
	}
	return r.apply(r.started)
}

func (c *replayCmd) fromFiles(r *replay) error {
	judge := looprun.DefaultJudge()
	if judge.Promise = c.Promise != nil; judge.Promise {
		if err := looprun.CheckPromise(*c.Promise); err != nil {
			return config.Usage("--promise: "+err.Error(), "leave it out where exit code 0 is done")
		}
	}
	if err := c.begin(r, looprun.RunStarted{Limits: looprun.DefaultLimits()}); err != nil {
		return err
	}
	for _, arg := range c.Files {
		name, code, err := fileAndCode(arg)
		if err != nil {
			return err
		}
		exits := looprun.Exits{Work: &looprun.Exit{Code: code}}
		if exits.Promised, err = c.promised(name); err != nil {
			return err
		}
		d := looprun.IterationFinished{ExitCode: code, Outcome: judge.Outcome(exits), Promised: exits.Promised}
		if d.Signature, err = r.sign(name, code, judge.Promise); err != nil {
			return err
		}
		if err := r.add(name, d); err != nil {
			return err
		}
	}
	return nil
}

func (c *replayCmd) promised(name string) (bool, error) {
	if c.Promise == nil {
		return false, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return looprun.Promised(f, *c.Promise, c.PromiseMatch == "anywhere")
}

// sign is the signature of a recorded output; with content also that of one that
// passes is made of what it says.
func (r *replay) sign(name string, code int, content bool) (signature.Signature, error) {
	f, err := os.Open(name)
	if err != nil {
		return signature.Signature{}, err
	}
	defer f.Close()
	if content && code == 0 {
		o, err := r.rules.Options(workingDir())
		if err != nil {
			return signature.Signature{}, err
		}
		s := signature.New(o)
		_, err = io.Copy(s.Stdout(), f)
		return s.SumContent(code), err
	}
	why, err := sign(f, code, r.rules, false)
	if err != nil {
		return signature.Signature{}, fmt.Errorf("%s: %w", name, err)
	}
	return why.Signature, nil
}

// fileAndCode splits FILE=CODE. A file whose name itself ends in =N exists.
func fileAndCode(arg string) (string, int, error) {
	i := strings.LastIndexByte(arg, '=')
	if i < 0 || inputfile.IsFile(arg) {
		return arg, 1, nil
	}
	code, err := strconv.Atoi(arg[i+1:])
	if err != nil || code < 0 || code > 255 {
		return "", 0, config.Usage(fmt.Sprintf("%q: %q is not an exit code", arg, arg[i+1:]), "write FILE=CODE with a code from 0 to 255")
	}
	return arg[:i], code, nil
}

func (c *replayCmd) fromRun(a *app, r *replay) error {
	dir, err := a.find(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	anew := c.Given()
	if anew && onlyLastKept(dir) {
		a.say.Warn("run %s kept the output of its last iteration alone (--wait), so the signatures are those that were recorded", filepath.Base(dir))
		anew = false
	}
	_, err = scratchpad.Replay(dir, func(e looprun.Event) error {
		switch d := e.Data.(type) {
		case looprun.RunStarted:
			return c.begin(r, d)
		case looprun.RunResumed:
			return c.resumed(r, d)
		}
		d, ok := e.Data.(looprun.IterationFinished)
		if !ok || d.Iteration == 0 || d.RunsAgain() {
			return nil
		}
		file := ""
		if anew {
			if file, err = r.resign(dir, &d, a.say.Warn); err != nil {
				return err
			}
		}
		return r.add(file, d)
	})
	return err
}

// resumed lets the run go on with the limits that it was resumed with.
func (c *replayCmd) resumed(r *replay, d looprun.RunResumed) error {
	if d.Limits == nil {
		return nil
	}
	limits := *d.Limits
	_, err := c.Over(&limits)
	r.state.Limits, r.started.Limits = limits, limits
	return err
}

// onlyLastKept reports whether all iterations of the run have one output file.
func onlyLastKept(dir string) bool {
	raw, err := session.ConfigOf(dir)
	var r session.Recorded
	return err == nil && json.Unmarshal(raw, &r) == nil && r.Options.Wait
}

// resign makes the signature of a recorded iteration anew from its output file,
// and says where that holds less than was printed.
func (r *replay) resign(dir string, d *looprun.IterationFinished, warn func(string, ...any)) (string, error) {
	file := session.Judged(dir, d.Iteration, d)
	if d.Cause != looprun.CauseExited || d.Outcome == looprun.OutcomeDone {
		return "", nil
	}
	if !inputfile.IsFile(file) {
		if d.OutputBytes > 0 && !inputfile.IsFile(scratchpad.OutputFile(dir, d.Iteration)) {
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
	return console.Relative(file), nil
}

// replay feeds recorded iterations to the core. Nobody answers: the state is
// what it would be if every guard had been ignored, so that each shows where it
// first trips. It keeps no more of an iteration than the state does: a run of
// any length takes the same memory.
type replay struct {
	started looprun.RunStarted
	before  int // iterations of runs that were done
	state   looprun.State
	guards  []looprun.Guard
	rules   *config.Signature
	steps   replayWriter
	trips   []replayedTrip
}

func newReplay(steps replayWriter) *replay {
	r := &replay{guards: guards.Default(), steps: steps}
	for _, g := range r.guards {
		r.trips = append(r.trips, replayedTrip{Guard: g.ID()})
	}
	return r
}

func (r *replay) apply(d looprun.Data) error {
	elapsed := r.state.Elapsed
	if d, ok := d.(looprun.IterationFinished); ok {
		elapsed += console.Milliseconds(d.DurationMS)
	}
	return r.state.Apply(looprun.Event{Seq: r.state.Seq + 1, Elapsed: elapsed, Data: d})
}

func (r *replay) add(file string, d looprun.IterationFinished) error {
	step := replayedStep{File: file, ExitCode: d.ExitCode, Outcome: d.Outcome, Hash: d.Signature.Hash, Label: d.Signature.Label}
	d.Iteration, d.Fatal = r.state.NextIteration(), 0
	step.Iteration = r.before + d.Iteration
	if err := r.steps.step(step); err != nil {
		return err
	}
	if d.Outcome == looprun.OutcomeDone {
		// The run would end here: no guard is asked, and what follows is another one.
		r.before, r.state = step.Iteration, looprun.State{}
		return r.apply(r.started)
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
			t.At, t.Period, t.Reason = step.Iteration, trip.Period, trip.Reason
		}
	}
	return nil
}

// replaySchema names the form of what replay prints in JSON: one object with
// the schema, the iterations and the trips, in this order.
const replaySchema = "looprun.dev/replay/v1"

// replayedStep is one iteration.
type replayedStep struct {
	Iteration int             `json:"iteration"`
	File      string          `json:"file,omitempty"`
	ExitCode  int             `json:"exit_code"`
	Outcome   looprun.Outcome `json:"outcome"`
	Hash      signature.Hash  `json:"hash"`
	Label     string          `json:"label"`
}

// replayedTrip says where a guard first trips.
type replayedTrip struct {
	Guard looprun.GuardID `json:"guard"`
	// At is the iteration after which it first trips, 0 for never.
	At     int    `json:"at"`
	Period int    `json:"period,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// replayWriter prints a replay while it goes on. It keeps nothing of it.
type replayWriter interface {
	step(replayedStep) error
	// end prints where the guards trip; cut leaves the rest out, since the replay
	// cannot go on.
	end([]replayedTrip) error
	cut() error
}

func newReplayWriter(w io.Writer, format string) replayWriter {
	if format == "json" {
		return &replayJSON{w: bufio.NewWriter(w)}
	}
	return &replayText{w: bufio.NewWriter(w)}
}

// replayText is for people: the first iterations, and where the guards trip.
type replayText struct {
	w     *bufio.Writer
	steps int
}

// replayLines is how many iterations are listed for people.
const replayLines = 200

func (t *replayText) step(s replayedStep) error {
	if t.steps++; t.steps > replayLines {
		return nil
	}
	_, err := fmt.Fprintf(t.w, "%4d  %-16s  exit %-3d  %s  %s\n", s.Iteration, s.Hash, s.ExitCode, console.Short(s.Label, 60), s.File)
	return err
}

func (t *replayText) end(trips []replayedTrip) error {
	if t.steps > replayLines {
		fmt.Fprintf(t.w, "and %d more\n", t.steps-replayLines)
	}
	for _, g := range trips {
		switch {
		case g.At == 0:
			fmt.Fprintf(t.w, "%s: does not trip\n", g.Guard)
		case g.Period > 1:
			fmt.Fprintf(t.w, "%s: trips after iteration %d, period %d: %s\n", g.Guard, g.At, g.Period, g.Reason)
		default:
			fmt.Fprintf(t.w, "%s: trips after iteration %d: %s\n", g.Guard, g.At, g.Reason)
		}
	}
	return t.w.Flush() // it remembers the first error
}

func (t *replayText) cut() error { return t.w.Flush() }

// replayJSON writes the object member by member. When the replay cannot go on
// the object is not closed: nobody takes it for a whole one.
type replayJSON struct {
	w     *bufio.Writer
	steps int
}

func (j *replayJSON) step(s replayedStep) error {
	lead := ",\n    "
	if j.steps++; j.steps == 1 {
		fmt.Fprintf(j.w, "{\n  \"schema\": %q,\n  \"iterations\": [", replaySchema)
		lead = lead[1:]
	}
	line, err := json.MarshalIndent(s, "    ", "  ")
	if err != nil {
		return err
	}
	_, _ = j.w.WriteString(lead) // the next write has its error
	_, err = j.w.Write(line)
	return err
}

func (j *replayJSON) end(trips []replayedTrip) error {
	list, err := json.MarshalIndent(trips, "  ", "  ")
	if err != nil {
		return err
	}
	if j.steps == 0 { // a run without an iteration
		fmt.Fprintf(j.w, "{\n  \"schema\": %q,\n  \"iterations\": []", replaySchema)
	} else {
		fmt.Fprint(j.w, "\n  ]")
	}
	fmt.Fprintf(j.w, ",\n  \"trips\": %s\n}\n", list)
	return j.w.Flush()
}

func (j *replayJSON) cut() error { return j.w.Flush() }
