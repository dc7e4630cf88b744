package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	loopfile "github.com/looprun/looprun/internal/loops"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/session"
)

// manyCmd runs many loops, each in a separate work tree.
type manyCmd struct {
	File           string             `arg:"" optional:"" name:"file" blank:"no" help:"A loops.yaml; with --resume, the batch to continue: its id or a part of it (the latest)."`
	For            config.ShellLine   `placeholder:"LINE" help:"A loop for each line that this shell line prints; {} in the command is replaced by it."`
	Matrix         []string           `placeholder:"KEY=A,B" sep:"none" help:"A loop for each value; {KEY} in the command is replaced by it. Repeatable: all combinations."`
	Jobs           *int               `short:"j" placeholder:"N" help:"How many loops run at the same time (the number of processors, at most 4)."`
	Setup          config.ShellLine   `placeholder:"LINE" help:"Shell line that sets up each new work tree."`
	Copy           []string           `placeholder:"FILE" sep:"none" help:"A file that git does not have and each work tree gets; repeatable."`
	Ref            string             `placeholder:"COMMIT" help:"Where work starts from (HEAD)."`
	Trees          string             `placeholder:"DIR" help:"Where work trees are made (~/.local/state/looprun/trees)." env:"LOOPRUN_TREES"`
	Cost           *config.MoneyLimit `name:"total-cost" placeholder:"USD" help:"What all loops together may cost (off)."`
	Tokens         *config.TokenLimit `name:"total-tokens" placeholder:"N" help:"How many tokens all loops together may use (off)."`
	Free           *loopfile.Size     `name:"min-free" placeholder:"SIZE" help:"How much of the disk has to stay free, or no loop is started (1GiB)."`
	Keep           *config.Duration   `name:"keep-trees" placeholder:"D" help:"How long to keep the work tree of a loop that is not done (168h)."`
	Resume         bool               `help:"Continue loops that were interrupted or killed, or that have answers now."`
	JUnit          string             `name:"junit" placeholder:"FILE" help:"Write a JUnit file of all loops there."`
	Report         string             `placeholder:"FILE" help:"Write a Markdown table of all loops there."`
	config.Options `kong:"-"`
}

func (c *manyCmd) Run(a *app) error {
	state, err := config.StateDir(c.StateDir)
	if err != nil {
		return err
	}
	if c.Jobs != nil && *c.Jobs < 1 {
		return config.Usage(fmt.Sprintf("--jobs %d is too few", *c.Jobs), "use 1 or more")
	}
	if c.Resume {
		return c.resume(a, state)
	}
	order, err := c.order(a, state)
	if err != nil {
		return err
	}
	ctx := context.Background()
	plan, left, err := many.Make(ctx, order)
	if err != nil {
		return err
	}
	b, err := c.batch(a, plan)
	if err != nil {
		return err
	}
	if err := b.Try(ctx, a.config.Files().Trust); err != nil {
		return err
	}
	for _, top := range slices.Sorted(maps.Keys(left)) {
		if files := left[top]; len(files) > 0 {
			a.say.News("%s of %s not committed, so no loop sees %s: %s", plural.Count(len(files), "change"), top, map[bool]string{true: "it", false: "them"}[len(files) == 1], console.Short(strings.Join(files, ", "), 200))
		}
	}
	if len(plan.Missing) > 0 {
		a.say.Warn("the loops do not have the files of these submodules: %s; git submodule update --init gets them", console.Short(strings.Join(plan.Missing, ", "), 200))
	}
	masker, err := c.Redactor(os.Environ())
	if err != nil {
		return err
	}
	var mask func(string) string
	if masker != nil {
		mask = masker.Text
	}
	release, err := plan.Begin(mask)
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	return c.carryOut(a, b)
}

// resume resumes a plan.
func (c *manyCmd) resume(a *app, state string) error {
	if a.hasCommand || c.For != "" || len(c.Matrix) > 0 {
		return config.Usage("--resume continues the planned loops", "leave the command, --for and --matrix out")
	}
	plan, err := many.Find(state, c.File)
	if err != nil {
		return err
	}
	if plan.Masked {
		return config.Usage(plan.ID+" held a secret, which is not kept, so it cannot continue", "resume its runs one by one, or let the command read the secret from its variable")
	}
	release, err := plan.Take()
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	b, err := c.batch(a, plan)
	if err != nil {
		return err
	}
	b.Resume = a.line.given.Only("detached")
	return c.carryOut(a, b)
}

func (c *manyCmd) batch(a *app, plan *many.Plan) (*many.Batch, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &many.Batch{Plan: plan, Self: self, Say: &a.say.Messages}
	plan.Over(c.bounds())
	plan.Wait = time.Duration(c.WaitAnswer)
	if console.IsTerminal(a.files.stderr) && a.say.Flags.LogFormat == "text" && !a.say.Flags.Quiet && !console.InCI() {
		b.Screen = a.files.stderr
		if c.WaitAnswer == 0 && !c.NonInteractive {
			plan.Wait = 24 * time.Hour // somebody is there
		}
	}
	return b, nil
}

// bounds returns the limits that were given, in the form of a file.
func (c *manyCmd) bounds() *loopfile.File {
	f := &loopfile.File{MaxCost: c.Cost, MaxTokens: c.Tokens, MinFree: c.Free, Keep: c.Keep}
	if c.Jobs != nil {
		f.Jobs = *c.Jobs
	}
	return f
}

// carryOut runs the loops, and prints the outcome of all of them.
func (c *manyCmd) carryOut(a *app, b *many.Batch) error {
	_, release := session.StartCourier(c.Notify, a.say)
	defer release()
	if err := proc.Ready(); err != nil {
		return err
	}
	var carried sync.WaitGroup
	if c.Notify.Answers() { // without a courier they are sent
		b.Asks = func(name, dir string, env []string) {
			carried.Go(func() {
				session.CarryQuestions(c.Notify, dir, env, func(text string) { a.say.Warn("%s: %s", name, text) })
			})
		}
	}
	ctx, stop := session.WatchSignals(context.Background(), b.Kill)
	defer stop()
	removal := many.Removal{State: b.State}
	removal.Expire(time.Now())
	a.say.News("%s, %d at a time; runs in %s, work trees in %s", plural.Count(len(b.Loops), "loop"), b.Jobs, b.State, b.Trees)
	v, err := b.Run(ctx)
	carried.Wait()
	if err != nil {
		return err
	}
	err = v.Write(b.Plan, c.Result, c.JUnit, c.Report)
	a.code = v.ExitCode
	if i, ok := errors.AsType[*engine.Interrupt](context.Cause(ctx)); ok {
		a.code, a.raise = i.Code, session.Raise(syscall.Signal(i.Code-128))
	}
	for _, line := range b.Morning(v) {
		a.say.News("%s", line)
	}
	next := ""
	if a.code != 0 {
		next = "; continue with looprun many --resume " + b.ID
	}
	a.say.News("%s: %s; exit %d%s", plural.Count(len(v.Loops), "loop"), v.Counts(), a.code, next)
	mentionUntaken(a, b.State)
	return err
}

// mentionUntaken prints how much space the untaken results take.
func mentionUntaken(a *app, states ...string) {
	results, bytes := 0, int64(0)
	for _, state := range states {
		n, more := (&many.Removal{State: state}).Room()
		results, bytes = results+n, bytes+more
	}
	if results > 0 {
		a.say.News("%s of looprun many that nobody took: %s; looprun take takes them", plural.Count(results, "result"), plural.Bytes(bytes))
	}
}

// order returns what the command line requests.
func (c *manyCmd) order(a *app, state string) (many.Order, error) {
	o := many.Order{State: state, Trees: c.Trees, Version: version(), Limits: many.Limits{Jobs: min(4, runtime.NumCPU()), MinFree: 1 << 30, Keep: 7 * 24 * time.Hour}}
	if err := c.contrary(); err != nil {
		return o, a.config.Locate(err)
	}
	for _, name := range []string{"interactive", "once"} {
		if a.config.Has(name) {
			return o, config.Usage("--"+name+" is for one loop", "leave it out")
		}
	}
	if c.Stdin == "-" {
		return o, config.Usage("--stdin - can be read by one loop only", "name a file")
	}
	var err error
	if o.Here, err = config.CurrentDir(); err != nil {
		return o, err
	}
	if c.File != "" {
		err = c.fromFile(a, &o)
	} else {
		err = c.fromLine(a, &o)
	}
	if err != nil {
		return o, err
	}
	o.Over(c.bounds())
	o.Given = a.line.given
	return o, nil
}

// contrary reports flags of the runs that conflict. The settings of a file's loops are not
// known here.
func (c *manyCmd) contrary() error {
	given := c.Options
	if c.File != "" && given.Check == "" {
		given.Check = "true"
	}
	return given.Wrong()
}

// fromFile adds the loops of a named file.
func (c *manyCmd) fromFile(a *app, o *many.Order) error {
	switch {
	case a.hasCommand || c.Shell != "" || c.For != "" || len(c.Matrix) > 0:
		return config.Usage("loops come from "+c.File+" or from the command line, not from both", "leave one of them out")
	case c.Check != "" || c.Setup != "" || len(c.Copy) > 0 || c.Ref != "" || c.Name != "":
		return config.Usage("--check, --setup, --copy, --ref and --name are for loops of the command line", "write them in "+c.File)
	}
	return o.FromFile(c.File)
}

// fromLine adds the loops of --for and --matrix.
func (c *manyCmd) fromLine(a *app, o *many.Order) error {
	if c.For == "" && len(c.Matrix) == 0 {
		return config.Usage("no loops given", "name a loops.yaml, or give --for 'go list ./...' or --matrix KEY=A,B and a command")
	}
	one := loopfile.Loop{Name: c.Name, Check: c.Check, Setup: c.Setup, Copy: c.Copy, Ref: c.Ref}
	switch {
	case c.Shell != "":
		one.Command.Shell = c.Shell
	case len(a.command) > 0 && a.command[0] != "":
		one.Command.Words = a.command
	case c.Agent != "" && c.Name == "":
		return config.Usage("--agent has no task", "write it with --name: looprun many --agent "+c.Agent+" --for LINE --name 'Fix {}'")
	case c.Agent == "":
		return config.Usage("no command was given", "write looprun many --for LINE -- COMMAND {}")
	}
	return o.FromLine(one, c.For, c.Matrix)
}
