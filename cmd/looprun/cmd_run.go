package main

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/session"
)

// runCmd runs a command in a loop.
type runCmd struct {
	config.Options
	RunID      string `hidden:"" help:"The id of the run, given by what starts it."`
	Repository string `hidden:"" help:"The repository that the work tree was made of."`
	DryRun     bool   `help:"Print what would run, and run nothing." group:"what"`

	Task []string `arg:"" optional:"" help:"With --agent: what the agent is to do."`
}

func (c *runCmd) Run(a *app) error {
	if len(a.args) == 0 && c.Shell == "" && c.Agent == "" {
		return a.help(a.line.node, false)
	}
	if len(c.Task) > 0 {
		if a.config.Has("name") {
			return config.Usage("the task is given twice, by --name and after the flags", "leave one of them out")
		}
		c.Name = strings.Join(c.Task, " ")
	}
	s, err := c.session(a)
	switch {
	case err != nil:
		return err
	case c.DryRun:
		return s.DryRun(a.stdout)
	}
	ended, err := s.Start()
	return a.end(ended, a.config.Locate(err))
}

// session returns a run that could start now; its error reports all errors in the options.
func (c *runCmd) session(a *app) (*session.Session, error) {
	a.config.Apply(&c.Options)
	err := c.command(a)
	if err == nil {
		err = c.Wrong()
	}
	if err != nil {
		return nil, a.config.Locate(err)
	}
	p := a.program()
	p.As, p.Repository = c.RunID, c.Repository
	s, err := session.New(p, &c.Options)
	return s, a.config.Locate(err)
}

// asRun returns the options of a run with these flags in this folder, where nobody is asked, or
// the error why there could be none.
func asRun(flags ...string) (*config.Options, error) {
	a, c, err := quietly[runCmd](append([]string{"run", "--non-interactive"}, flags...), "true")
	if err != nil {
		return nil, err
	}
	_, err = c.session(a)
	return &c.Options, err
}

// quietly parses looprun's own arguments, and the command after them, for a command whose messages
// nobody needs. It returns that command.
func quietly[C any](own []string, command ...string) (*app, *C, error) {
	a := &app{stdout: io.Discard, stderr: io.Discard, args: own, command: command, hasCommand: command != nil}
	a.say = &console.Observer{Messages: console.Messages{W: io.Discard}}
	ctx, err := a.parse(own)
	if err == nil && ctx == nil {
		err = config.Usage("the flags ask for the help or the version", "leave those out")
	}
	if err != nil {
		return nil, nil, err
	}
	c, _ := ctx.Selected().Target.Addr().Interface().(*C) // it is one
	return a, c, nil
}

// command determines what to run: the words after --, the line of -c, or an agent.
func (c *runCmd) command(a *app) error {
	switch {
	case c.Agent != "":
		return c.AgentNeeded(exec.LookPath)
	case c.Shell != "" && a.hasCommand:
		return config.Usagef("%s and a command after -- exclude each other; use one of them", config.Flag("shell"))
	case len(a.command) > 0 && a.command[0] != "":
		return c.shellMeant(a)
	case c.Shell != "":
		return nil
	case a.hasCommand:
		return config.Usage("there is no command after --", "write looprun [flags] -- COMMAND [ARG…]")
	}
	return config.Usage("no command was given", "write looprun [flags] -- COMMAND [ARG…], or -c 'SHELL LINE'; see looprun --help")
}

// shellMeant returns an error for a command that is not a program but that a shell would run.
// It warns if a program receives words that a shell would interpret.
func (c *runCmd) shellMeant(a *app) error {
	shell := shellLine(a.command)
	if shell == "" {
		return nil
	}
	advice := a.line.whole(append(slices.Clone(a.line.own), "-c", shell), nil)
	if _, err := exec.LookPath(a.command[0]); err != nil {
		return config.Usage(fmt.Sprintf("%q is not a program, but a shell can run it", a.command[0]), "write "+advice)
	}
	if slices.ContainsFunc(a.command, isOperator) {
		a.say.Warn("%s gets %s as a plain word; for a shell line write %s", a.command[0], a.command[slices.IndexFunc(a.command, isOperator)], advice)
	}
	return nil
}
