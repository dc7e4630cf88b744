package looprun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/signature"
)

// Config is what [Run] needs. Work, Limits and Guards are required; every other
// field can be left out.
type Config struct {
	Name   string // the task, for logs and pages
	RunID  string // names the run in its journal, its logs and its result
	Work   Step
	Check  Step    // nil: the work's own exit judges
	Limits Limits  // each has a guard that watches it, or the configuration is wrong
	Guards []Guard // guards.Default() for all that looprun has; add your own
	Caps   Caps    // zero: [core.DefaultCaps]

	// Promise is a text that the work prints alone on a line when it is done.
	Promise string
	// NoPrecheck leaves out the check before the first iteration.
	NoPrecheck bool
	// Passes is how often in a row the check must pass; zero is once.
	Passes int
	// Judge decides what exit codes mean; nil: [engine.DefaultJudge]. With its zero value
	// nothing is ever done.
	Judge *engine.Judge

	IterationTimeout time.Duration // 0: none
	IdleTimeout      time.Duration // 0: none
	KillAfter        time.Duration // 0: 10s
	Backoff          Backoff
	CallsPerHour     int // how many iterations may start within an hour; 0: any number

	// Measure adds what is known of an iteration that has ended, before it is on record:
	// the fingerprints of the work tree (Tree, Content), and in Said a [CostReported].
	// Limits.Cost, Tokens, IdleIterations and WorkspaceCycles need it. Nil: nothing is.
	Measure func(Iteration, *IterationResult)

	Dir            string
	Stdout, Stderr io.Writer // nil: output is not shown
	Signature      signature.Options

	// Questions, Responders and Debug say what happens when a guard trips;
	// without them the run ends as tripped. templates.Load gives the questions
	// that looprun itself asks.
	Questions  core.Questions
	Responders []Responder
	Debug      engine.Debugger
	// Journal keeps the events; nil: nothing does, and memory does not grow with
	// the run. [MemoryJournal] and scratchpad.Journal keep all of them.
	Journal Journal
	// Resume is the state of a run to go on with, as scratchpad.Open gives it;
	// nil: the run is new. It stays as it is, and the caller's. Limits that are not zero take the place of those it
	// had, as do Caps, and Journal has to be the one that it was read from.
	Resume *State
	// Observe is told of every event; nil: nobody is.
	Observe Observer
	// Log is where [engine.LogObserver] logs every event; nil: nothing is logged.
	Log *slog.Logger
}

// Run runs the work until it is done or a guard stops it. A trip is a [Result], whose Err
// makes an error of it; an error of Run means that looprun itself failed, or that the
// configuration is wrong ([ErrNoGuards] when nothing could stop the loop). When ctx ends
// the run ends as interrupted. Run installs no signal handler and prints nothing itself.
// It is [Start] and [engine.Handle.Wait].
//
// A panic of the work, a guard, a responder or any other part comes out of Run, or of
// Wait, as a [*Panic] once the iteration has ended. Nothing of it is on record: a run that
// is resumed counts a crash. A runtime.Goexit of the work, as FailNow of a test is, ends the
// goroutine of whoever waits.
//
// Several runs can go on at once: they share nothing but the process.
func Run(ctx context.Context, c Config) (Result, error) {
	h, err := Start(ctx, c)
	if err != nil {
		return Result{}, err
	}
	return h.Wait()
}

// Start starts a run and returns while it goes on, in goroutines of its own. Its errors are
// those of a configuration that is wrong, as [Run] returns them; nothing has run then.
//
// A program that answers questions itself, as they come, has [Await] as its last
// responder, and calls NextQuestion and Answer of the handle.
func Start(ctx context.Context, c Config) (*Handle, error) {
	loop, err := c.loop(ctx)
	if err != nil {
		return nil, err
	}
	return engine.Go(ctx, loop), nil
}

// loop is the run, started or resumed.
func (c *Config) loop(ctx context.Context) (*engine.Loop, error) {
	judge, err := c.judge()
	if err != nil {
		return nil, err
	}
	loop := &engine.Loop{
		Guards: c.Guards, Journal: c.Journal, Questions: c.Questions,
		Debug: c.Debug, Backoff: c.Backoff, Observe: c.observer(ctx),
		Runner: &engine.Executor{
			Work: c.Work, Check: c.Check, Passes: c.Passes, Judge: &judge, Promise: c.Promise,
			IterationTimeout: c.IterationTimeout, IdleTimeout: c.IdleTimeout, KillAfter: c.KillAfter,
			Dir: c.Dir, Stdout: c.Stdout, Stderr: c.Stderr, Signature: c.Signature, Heard: c.Measure,
		},
	}
	for _, r := range c.Responders {
		loop.Responders = append(loop.Responders, core.OfProgram(r))
	}
	return loop, c.begin(loop)
}

// judge checks what only Run can check, and is what judges the exits.
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
	case slices.Contains(c.Responders, nil):
		return judge, errors.New("one of Config.Responders is nil")
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

// measurable reports limits that nothing here could measure: they would be inert.
func (c *Config) measurable() error {
	l := c.Limits
	if c.Resume != nil && l == (Limits{}) {
		l = c.Resume.Limits
	}
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

// observer is all that is told of events; nil when nobody is.
func (c *Config) observer(ctx context.Context) Observer {
	if c.Log == nil {
		return c.Observe
	}
	log := engine.LogObserver(ctx, c.Log)
	if c.Observe == nil {
		return log
	}
	return func(e Event, s *State) {
		log(e, s)
		c.Observe(e, s)
	}
}

// begin starts the run, or goes on with it.
func (c *Config) begin(loop *engine.Loop) error {
	caps := c.Caps
	if caps == (Caps{}) {
		caps = core.DefaultCaps(c.Limits)
	}
	if c.Resume != nil {
		d := core.RunResumed{}
		if c.Limits != (Limits{}) {
			if err := c.Limits.Validate(); err != nil {
				return err
			}
			d.Limits, d.Caps = &c.Limits, &caps
		} else if c.Caps != (Caps{}) {
			d.Caps = &c.Caps
		}
		return loop.Resume(*c.Resume, d)
	}
	started := core.RunStarted{
		RunID: c.RunID, Name: c.Name, Command: c.Work.Argv(), Promise: c.Promise, Dir: c.Dir,
		Limits: c.Limits, Caps: caps, CallsPerHour: max(0, c.CallsPerHour),
	}
	if c.Check != nil {
		started.Check = c.Check.Argv()
		started.Precheck = !c.NoPrecheck && c.Promise == ""
	}
	return loop.Start(started)
}

// Await is a responder that waits for [engine.Handle.Answer].
func Await() Responder {
	return ResponderFunc(func(ctx context.Context, _ Question, _ *State) (Answer, error) {
		<-ctx.Done()
		return Answer{}, ErrNoAnswer
	})
}

// Vouch is the responder as one whose answers say themselves who gave them; see
// [core.Vouch]. Those of every other responder of a [Config] are a program's, so that what
// comes over a wire cannot claim to be a person's. The responders in escalate need no Vouch.
func Vouch(r Responder) Responder { return core.Vouch(r) }
