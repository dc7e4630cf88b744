package review

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

// Replay feeds recorded iterations to the guards, and reports when each first trips. Nobody
// answers: the state develops as if every guard had been ignored. Of an iteration it keeps what
// the state keeps, and the line to print.
type Replay struct {
	Over     func(*core.RunStarted) error // puts what was given over what the run had
	Rules    *config.Signature
	Promise  *string // a recorded output with exit code 0 is done only where it has this text
	Anywhere bool    // and not alone on a line

	own     agent.Agents // of the run
	started core.RunStarted
	before  int // iterations of runs that were done
	state   core.State
	guards  []core.Guard
	trips   []replayedTrip
	most    int // steps that are kept; 0: all
	steps   []replayedStep
	more    int // that are not kept
}

// NewReplay returns a replay of nothing so far. It lists all iterations, or only as many as
// people read: then its memory does not grow with the run.
func NewReplay(all bool) *Replay {
	r := &Replay{most: replayLines, Over: func(*core.RunStarted) error { return nil }, guards: guards.Default()}
	if all {
		r.most = 0
	}
	r.trips = convert.Each(r.guards, func(g core.Guard) replayedTrip { return replayedTrip{Guard: g.ID()} })
	return r
}

// begin starts a run with these limits and the given ones replacing them.
func (r *Replay) begin(as core.RunStarted) error {
	r.started = core.RunStarted{RunID: "replay", Limits: as.Limits, Loose: as.Loose, AnyValue: as.AnyValue, Often: as.Often}
	if err := r.Over(&r.started); err != nil {
		return err
	}
	return r.apply(r.started)
}

// Outputs replays recorded outputs: files, each with its exit code as FILE=CODE (1 without).
func (r *Replay) Outputs(args []string) error {
	judge := engine.DefaultJudge()
	if judge.Promise = r.Promise != nil; judge.Promise {
		if err := engine.CheckPromise(*r.Promise); err != nil {
			return config.Usage("--promise: "+err.Error(), "leave it out where exit code 0 is done")
		}
	}
	if err := r.begin(core.RunStarted{Limits: core.DefaultLimits()}); err != nil {
		return err
	}
	for _, arg := range args {
		name, code, err := fileAndCode(arg)
		if err != nil {
			return err
		}
		open, err := recorded(name)
		if err != nil {
			return err
		}
		exits := engine.Exits{Work: &engine.Exit{Code: code}}
		if exits.Promised, err = r.promised(open); err != nil {
			return err
		}
		d := core.IterationFinished{ExitCode: code, Outcome: judge.Outcome(exits), Promised: exits.Promised}
		if d.Signature, err = r.sign(name, open, code); err != nil {
			return err
		}
		if err := r.add(name, d); err != nil {
			return err
		}
	}
	return nil
}

// mostPiped is how much is read from a pipe, whose output is needed twice, in bytes.
const mostPiped = 256 << 20

// recorded returns a function that opens a recorded output, as often as it is read.
func recorded(name string) (open func() (io.ReadCloser, error), err error) {
	if !inputfile.Piped(name) {
		return func() (io.ReadCloser, error) {
			f, err := inputfile.Open(name)
			if err != nil {
				err = config.Unreadable(err)
			}
			return f, err
		}, nil
	}
	text, err := inputfile.Read(name, mostPiped)
	if err != nil {
		return nil, err
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }, nil
}

func (r *Replay) promised(open func() (io.ReadCloser, error)) (bool, error) {
	if r.Promise == nil {
		return false, nil
	}
	f, err := open()
	if err != nil {
		return false, err
	}
	defer f.Close()
	return engine.Promised(f, *r.Promise, r.Anywhere)
}

// sign returns the signature of a recorded output; with a promise, a passing one is signed by
// its content.
func (r *Replay) sign(name string, open func() (io.ReadCloser, error), code int) (signature.Signature, error) {
	f, err := open()
	if err != nil {
		return signature.Signature{}, err
	}
	defer f.Close()
	s, err := read(f, r.Rules, r.own, false)
	switch {
	case err != nil:
		return signature.Signature{}, fmt.Errorf("%s: %w", name, err)
	case r.Promise != nil && code == 0:
		return s.SumContent(code), nil
	}
	return s.Sum(code), nil
}

// fileAndCode splits FILE=CODE. If the argument itself names an existing file, as one ending
// in =N may, it is not split.
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

// Run replays an earlier run. If anew is set, it signs the run's outputs again by the rules.
func (r *Replay) Run(dir string, anew bool, warn func(string, ...any)) error {
	if anew {
		was, err := session.RecordedOf(dir) // a program's run has no options
		r.own = was.Options.Agents
		if err == nil && was.Options.Wait {
			warn("run %s kept the output of its last iteration alone (--wait), so the signatures are those that were recorded", filepath.Base(dir))
			anew = false
		}
	}
	_, err := scratchpad.Replay(dir, func(e core.Event) (err error) {
		switch d := e.Data.(type) {
		case core.RunStarted:
			return r.begin(d)
		case core.RunResumed:
			if d.Limits == nil {
				return nil
			}
			as := core.RunStarted{Limits: *d.Limits}
			err = r.Over(&as)
			r.state.Limits, r.started.Limits = as.Limits, as.Limits
			return err
		case core.IterationFinished:
			if d.Iteration == 0 || d.RunsAgain() {
				return nil
			}
			file := ""
			if anew {
				if file, err = r.resign(dir, &d, warn); err != nil {
					return err
				}
			}
			return r.add(file, d)
		}
		return nil
	})
	return err
}

// resign recomputes the signature of a recorded iteration from its output file, and notes if
// the file holds less than was printed.
func (r *Replay) resign(dir string, d *core.IterationFinished, warn func(string, ...any)) (string, error) {
	file := session.Judged(dir, d.Iteration, d)
	if d.Cause != core.CauseExited || d.Outcome == core.OutcomeDone {
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
	s, err := read(f, r.Rules, r.own, false)
	if err != nil {
		return "", err
	}
	if scratchpad.Capped(file) {
		warn("iteration %d: only the head and the tail of its output were kept, so its signature is an approximation", d.Iteration)
	}
	d.Signature = s.Sum(d.ExitCode)
	return console.Relative(file), nil
}

func (r *Replay) apply(d core.Data) error {
	elapsed := r.state.Elapsed
	if d, ok := d.(core.IterationFinished); ok {
		elapsed += console.Milliseconds(d.DurationMS)
	}
	return r.state.Apply(core.Event{Seq: r.state.Seq + 1, Elapsed: elapsed, Data: d})
}

func (r *Replay) add(file string, d core.IterationFinished) error {
	step := replayedStep{File: file, ExitCode: d.ExitCode, Outcome: d.Outcome, Hash: d.Signature.Hash, Label: d.Signature.Label}
	d.Iteration, d.Fatal = r.state.NextIteration(), 0
	step.Iteration = r.before + d.Iteration
	if r.most == 0 || len(r.steps) < r.most {
		r.steps = append(r.steps, step)
	} else {
		r.more++
	}
	if d.Outcome == core.OutcomeDone {
		// The run would end here: no guard is asked, and the following iterations are another
		// run.
		r.before, r.state = step.Iteration, core.State{}
		return r.apply(r.started)
	}
	if err := r.apply(core.IterationStarted{Iteration: d.Iteration}); err != nil {
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

// replayedStep is one iteration.
type replayedStep struct {
	Iteration int            `json:"iteration"`
	File      string         `json:"file,omitempty"`
	ExitCode  int            `json:"exit_code"`
	Outcome   core.Outcome   `json:"outcome"`
	Hash      signature.Hash `json:"hash"`
	Label     string         `json:"label"`
}

// replayedTrip is where a guard first trips.
type replayedTrip struct {
	Guard core.GuardID `json:"guard"`
	// At is the iteration after which it first trips; 0 means never.
	At     int    `json:"at"`
	Period int    `json:"period,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Replayed is the result of a replay; in JSON it has the form that looprun replay prints.
type Replayed struct {
	Iterations []replayedStep `json:"iterations"`
	Trips      []replayedTrip `json:"trips"`
}

// Result returns the iterations that were replayed, and where the guards trip.
func (r *Replay) Result() Replayed {
	return Replayed{append([]replayedStep{}, r.steps...), r.trips}
}

// replayLines is how many iterations are listed for people.
const replayLines = 200

// Steps writes the iterations for a person.
func (r *Replay) Steps(w io.Writer) error {
	out := bufio.NewWriter(w) // remembers the first error
	for _, s := range r.steps {
		fmt.Fprintf(out, "%4d  %-16s  exit %-3d  %s  %s\n", s.Iteration, s.Hash, s.ExitCode, console.Short(s.Label, 60), s.File)
	}
	if r.more > 0 {
		fmt.Fprintf(out, "and %d more\n", r.more)
	}
	return out.Flush()
}

// Text writes the iterations, and where the guards trip, for a person.
func (r *Replay) Text(w io.Writer) error {
	if err := r.Steps(w); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, g := range r.trips {
		switch {
		case g.At == 0:
			fmt.Fprintf(out, "%s: does not trip\n", g.Guard)
		case g.Period > 1:
			fmt.Fprintf(out, "%s: trips after iteration %d, period %d: %s\n", g.Guard, g.At, g.Period, g.Reason)
		default:
			fmt.Fprintf(out, "%s: trips after iteration %d: %s\n", g.Guard, g.At, g.Reason)
		}
	}
	return out.Flush()
}
