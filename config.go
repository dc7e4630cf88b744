package looprun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/signature"
)

// Config configures [Run]. Work, Limits and Guards are required; every other field is
// optional.
type Config struct {
	Name   string // the task, for logs and pages
	RunID  string // names the run in its journal, its logs and its result
	Work   Step
	Check  Step    // nil: the work's own exit judges
	Limits Limits  // each has a guard that watches it, or the configuration is wrong
	Guards []Guard // guards.Default() for all that looprun has; add your own
	Caps   Caps    // zero: [core.DefaultCaps]

	// Promise is a text that the work prints alone on a line to declare itself done.
	Promise string
	// NoPrecheck skips the check before the first iteration.
	NoPrecheck bool
	// Passes is how many times in a row the check must pass; zero means once.
	Passes int
	// Judge decides what exit codes mean; nil means [engine.DefaultJudge]. With a zero Judge,
	// no iteration ever counts as done.
	Judge *engine.Judge

	IterationTimeout time.Duration // 0: none
	IdleTimeout      time.Duration // 0: none
	KillAfter        time.Duration // 0: 10s; a [Func] is never killed
	Backoff          Backoff
	CallsPerHour     int // how many iterations may start within an hour; 0: any number

	// Measure adds measurements to an iteration that has ended, before it is recorded: the
	// fingerprints of the work tree (Tree, Content), and a [CostReported] in Said.
	// Limits.Cost, Tokens, IdleIterations and WorkspaceCycles need it, and count only what it
	// adds. Nil measures nothing.
	Measure func(Iteration, *IterationResult)

	Dir            string
	Stdout, Stderr io.Writer // nil: output is not shown
	Signature      signature.Options

	// Questions, Responders and Debug control what happens when a guard trips; without them
	// the run ends as tripped. templates.Load returns the questions that looprun itself asks.
	Questions  core.Questions
	Responders []Responder
	Debug      engine.Debugger
	// Journal keeps the events. If it is nil, no events are kept and memory use does not grow
	// with the run. [MemoryJournal] and scratchpad.Journal keep all events.
	Journal Journal
	// Resume is the state of the run to resume, as returned by scratchpad.Open; nil starts a
	// new run. It is not modified. Each nonzero limit, and nonzero Caps, replace the recorded
	// ones, and Journal must be the journal that the state was read from. Resuming a run that
	// has ended is an [ErrEnded], unless a guard stopped it.
	Resume *State
	// Observe receives every event; nil means no observer.
	Observe Observer
}

// Run runs the work until it is done or a guard stops it. A trip is reported in the [Result],
// whose Err method turns it into an error. Run itself returns an error if looprun failed or
// the configuration is invalid ([ErrNoGuards] if nothing could stop the loop). When ctx ends,
// the run ends as interrupted. Run installs no signal handler and prints nothing itself. It is
// [Start] followed by [engine.Handle.Wait].
//
// A panic in the work, a guard, a responder or any other part comes out of Run or Wait as a
// [*Panic] once the iteration has ended, and one at the first event out of Start. The panic is
// not recorded; a resumed run counts it as a crash. If the work calls runtime.Goexit, as
// FailNow does in a test, the goroutine that waits for the run exits.
//
// Several runs may run concurrently: they share nothing but the process.
func Run(ctx context.Context, c Config) (Result, error) {
	h, err := Start(ctx, c)
	if err != nil {
		return Result{}, err
	}
	return h.Wait()
}

// Start starts a run in goroutines of its own and returns without waiting for it. It returns
// an error if the configuration is invalid, as [Run] does; nothing has run then.
//
// A program that answers questions itself, as they arrive, passes [Await] as its last
// responder and calls NextQuestion and Answer on the handle.
func Start(ctx context.Context, c Config) (*Handle, error) {
	loop, err := c.loop(ctx)
	if err != nil {
		return nil, err
	}
	return engine.Go(ctx, loop), nil
}

// loop returns the run, started or resumed.
func (c *Config) loop(ctx context.Context) (*engine.Loop, error) {
	judge, err := c.judge()
	if err != nil {
		return nil, err
	}
	loop := &engine.Loop{
		Guards: c.Guards, Journal: c.Journal, Questions: c.Questions, Responders: c.Responders,
		Debug: c.Debug, Backoff: c.Backoff, Observe: c.Observe,
		Runner: &engine.Executor{
			Work: c.Work, Check: c.Check, Passes: c.Passes, Judge: &judge, Promise: c.Promise,
			IterationTimeout: c.IterationTimeout, IdleTimeout: c.IdleTimeout, KillAfter: c.KillAfter,
			Dir: c.Dir, Stdout: c.Stdout, Stderr: c.Stderr, Signature: c.Signature, Heard: c.Measure,
		},
	}
	err = c.begin(loop) // which refuses a nil among them
	loop.Responders = convert.Each(c.Responders, core.OfProgram)
	return loop, err
}

// judge validates what only Run can check and returns the judge of the exit codes.
func (c *Config) judge() (engine.Judge, error) {
	judge := engine.DefaultJudge()
	if c.Judge != nil {
		judge = *c.Judge
	}
	switch {
	case c.Work == nil:
		return judge, errors.New("Config.Work is nil: there is nothing to run")
	case len(c.Responders) > 0 && c.Questions == nil:
		return judge, errors.New("Config.Responders without Config.Questions would never be asked; templates.Load gives the questions")
	}
	for name, negative := range map[string]bool{
		"IterationTimeout": c.IterationTimeout < 0, "IdleTimeout": c.IdleTimeout < 0, "KillAfter": c.KillAfter < 0,
		"Passes": c.Passes < 0, "CallsPerHour": c.CallsPerHour < 0,
	} {
		if negative {
			return judge, fmt.Errorf("negative %s in the configuration; leave it zero for the default", name)
		}
	}
	if err := c.measurable(); err != nil {
		return judge, err
	}
	if c.Promise != "" {
		judge.Promise = true
		return judge, engine.CheckPromise(c.Promise)
	}
	return judge, nil
}

// limits returns the limits of the run: where c has none, those of the run to resume.
func (c *Config) limits() Limits {
	l := c.Limits
	if c.Resume != nil {
		recorded := reflect.ValueOf(c.Resume.Limits)
		for f, field := range reflect.ValueOf(&l).Elem().Fields() {
			if field.IsZero() {
				field.Set(recorded.FieldByIndex(f.Index))
			}
		}
	}
	return l
}

// measurable returns an error for limits that nothing here can measure: they would have no
// effect.
func (c *Config) measurable() error {
	l := c.limits()
	for _, g := range core.Specs() {
		if g.Measured && g.On(l) && c.Measure == nil {
			return fmt.Errorf("Config.Limits.%s is stated and Config.Measure is nil: nothing would ever count against it", g.Field)
		}
	}
	for name, step := range map[string]Step{"Work": c.Work, "Check": c.Check} {
		if err := engine.CheckStep(step); err != nil {
			return fmt.Errorf("the step Config.%s: %w", name, err)
		}
		f, ok := engine.FuncOf(step)
		switch {
		case !ok:
		case f == nil:
			return fmt.Errorf("the Func of Config.%s is nil", name)
		case c.IdleTimeout > 0:
			return fmt.Errorf("an idle timeout cannot be kept for a Func (Config.IdleTimeout with Config.%s); use IterationTimeout, or end it by its context", name)
		}
	}
	return nil
}

// begin starts or resumes the run.
func (c *Config) begin(loop *engine.Loop) error {
	limits, caps := c.limits(), c.Caps
	if caps == (Caps{}) {
		caps = core.DefaultCaps(limits)
	}
	if c.Resume != nil {
		d := core.RunResumed{}
		if c.Limits != (Limits{}) {
			if err := limits.Validate(); err != nil {
				return err
			}
			d.Limits, d.Caps = &limits, &caps
		} else if c.Caps != (Caps{}) {
			d.Caps = &c.Caps
		}
		err := loop.Resume(*c.Resume, d)
		if err != nil && c.Resume.Ended {
			err = fmt.Errorf("%w: %w", ErrEnded, err)
		}
		return err
	}
	started := core.RunStarted{
		RunID: c.RunID, Name: c.Name, Command: c.Work.Argv(), Promise: c.Promise, Dir: c.Dir,
		Limits: c.Limits, Caps: caps, CallsPerHour: c.CallsPerHour,
	}
	if c.Check != nil {
		started.Check = c.Check.Argv()
		started.Precheck = !c.NoPrecheck && c.Promise == ""
	}
	return loop.Start(started)
}

// Await returns a responder that waits for [engine.Handle.Answer].
func Await() Responder {
	return ResponderFunc(func(ctx context.Context, _ Question, _ *State) (Answer, error) {
		<-ctx.Done()
		return Answer{}, ErrNoAnswer
	})
}

// Vouch marks a responder as trusted to state who gave its answers; see [core.Vouch]. The
// answers of every other responder in a [Config] count as the program's, so that an answer
// received over a wire cannot claim to be a person's. The responders in escalate need no
// Vouch.
func Vouch(r Responder) Responder { return core.Vouch(r) }
