package looprun

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/looprun/looprun/signature"
)

// Config is what [Run] needs. Work, Limits and Guards are required.
type Config struct {
	Name   string
	Work   Step
	Check  Step // nil: the work's own exit judges
	Limits Limits
	Guards []Guard // guards.Default() for all that looprun has
	Caps   Caps    // zero: [DefaultCaps]

	// Promise is a text that the work prints alone on a line when it is done.
	Promise string
	// NoPrecheck leaves out the check before the first iteration.
	NoPrecheck bool
	// Passes is how often in a row the check must pass; zero is once.
	Passes int
	// Judge decides what exit codes mean; nil: [DefaultJudge].
	Judge *Judge

	IterationTimeout time.Duration // 0: none
	IdleTimeout      time.Duration // 0: none
	KillAfter        time.Duration // 0: 10s
	Backoff          Backoff

	Dir            string
	Stdout, Stderr io.Writer // nil: output is not shown
	Signature      signature.Options

	// Questions, Responders and Debug say what happens when a guard trips;
	// without them the run ends as tripped.
	Questions  Questions
	Responders []Responder
	Debug      Debugger
	// Journal keeps the events; nil: nothing does, and memory does not grow with
	// the run. [MemoryJournal] and scratchpad.Journal keep all of them.
	Journal Journal
	// Observe is told of every event; nil: nobody is.
	Observe Observer
}

// Run runs the work until it is done or a guard stops it. A trip is a [Result];
// an error means that looprun itself failed, or that the configuration is wrong
// ([ErrNoGuards] when nothing could stop the loop). When ctx ends the run ends
// as interrupted. Run installs no signal handler and prints nothing itself.
func Run(ctx context.Context, c Config) (Result, error) {
	if c.Work == nil {
		return Result{}, errors.New("Config.Work is nil: there is nothing to run")
	}
	judge := DefaultJudge()
	if c.Judge != nil {
		judge = *c.Judge
	}
	if c.Promise != "" {
		if err := CheckPromise(c.Promise); err != nil {
			return Result{}, err
		}
		judge.Promise = true
	}
	if c.Caps == (Caps{}) {
		c.Caps = DefaultCaps(c.Limits)
	}
	loop := &Loop{
		Guards: c.Guards, Journal: c.Journal, Questions: c.Questions,
		Responders: c.Responders, Debug: c.Debug, Backoff: c.Backoff, Observe: c.Observe,
		Runner: &Executor{
			Work: c.Work, Check: c.Check, Passes: c.Passes, Judge: judge, Promise: c.Promise,
			IterationTimeout: c.IterationTimeout, IdleTimeout: c.IdleTimeout, KillAfter: c.KillAfter,
			Dir: c.Dir, Stdout: c.Stdout, Stderr: c.Stderr, Signature: c.Signature,
		},
	}
	started := RunStarted{
		Name: c.Name, Command: c.Work.Argv(), Promise: c.Promise, Dir: c.Dir,
		Limits: c.Limits, Caps: c.Caps,
	}
	if c.Check != nil {
		started.Check = c.Check.Argv()
		started.Precheck = !c.NoPrecheck && c.Promise == ""
	}
	if err := loop.Start(started); err != nil {
		return Result{}, err
	}
	return loop.Run(ctx)
}
