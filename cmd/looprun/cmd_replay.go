package main

import (
	"errors"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/review"
)

// replayCmd replays recordings through the guards.
type replayCmd struct {
	Files []string `arg:"" optional:"" name:"file=code" help:"Recorded outputs, one an iteration, each with its exit code (1 without)."`
	config.LimitFlags
	ID string `name:"run" placeholder:"RUN" help:"Replay an earlier run instead." excludes:"<file=code>"`
	config.RuleFlags
	LoopValues   *string      `enum:"on,off" placeholder:"HOW" help:"Trip when the same checks fail and only values change: ${enum} (the run's; on)."`
	LoopOften    config.Often `placeholder:"K/N" help:"Trip when the same failure came in K of the last N iterations, in a row or not, or off (the run's; 6/10)."`
	LoopMatch    *string      `enum:"strict,loose" placeholder:"HOW" help:"How signatures are compared: ${enum}; loose leaves out all numbers (the run's; strict)."`
	Promise      *string      `placeholder:"TEXT" help:"A recorded output with exit code 0 is done only if it has this text."`
	PromiseMatch string       `enum:"line,anywhere" default:"line" help:"Where the promise counts: ${enum} (${default})."`
	Format       string       `enum:"text,json" default:"text" help:"${enum}."`
	StateDir     string       `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *replayCmd) Run(a *app) (err error) {
	r := review.NewReplay(c.Format == "json")
	r.Over, r.Promise, r.Anywhere = c.over, c.Promise, c.PromiseMatch == "anywhere"
	if r.Rules, err = c.Signature(); err != nil {
		return err
	}
	switch {
	case c.ID != "" && len(c.Files) > 0:
		return config.Usage("--run and files exclude each other", "use one of them")
	case c.ID != "" && c.Promise != nil:
		return config.Usage("--promise is for recorded outputs; a run has already recorded whether it was made", "leave it out")
	case c.ID == "" && len(c.Files) == 0:
		return config.Usage("there is nothing to replay", "name recorded outputs, or --run RUN")
	case c.ID == "":
		err = r.Outputs(c.Files)
	default:
		var dir string
		if dir, err = a.find(c.StateDir, c.ID); err == nil {
			err = r.Run(dir, c.Given(), a.say.Warn)
		}
	}
	switch {
	case err != nil && c.Format == "json": // what was cut off must not look whole
		return err
	case err != nil:
		return errors.Join(err, console.Quietly(r.Steps(a.stdout)))
	case c.Format == "json":
		return a.printJSON("replay", r.Result())
	}
	return console.Quietly(r.Text(a.stdout))
}

// over replaces a run's settings with those that were given.
func (c *replayCmd) over(as *core.RunStarted) error {
	if c.LoopMatch != nil {
		as.Loose = *c.LoopMatch == "loose"
	}
	if c.LoopOften != "" {
		as.Often = c.LoopOften.Limit()
	}
	if c.LoopValues != nil {
		as.AnyValue = *c.LoopValues == "off"
	}
	_, err := c.Over(&as.Limits)
	return err
}
