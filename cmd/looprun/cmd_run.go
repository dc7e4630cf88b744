package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/proc"
)

// runCmd runs a command in a loop.
type runCmd struct {
	options
	DryRun bool `help:"Print what would run and with which configuration, and run nothing." env:"-" key:"-"`
}

// Help shows an example below the flags.
func (runCmd) Help() string {
	return `Example:
  looprun --check 'go test ./...' --max-iterations 5 -- ./fix.sh`
}

func (c *runCmd) Run(a *app) error {
	if err := c.command(a); err != nil {
		return err
	}
	a.config.apply(&c.options)
	if err := c.check(); err != nil {
		return a.config.locate(err)
	}
	s, err := newSession(a, &c.options)
	if err != nil {
		return a.config.locate(err)
	}
	if c.DryRun {
		return s.dryRun(a.stdout)
	}
	return s.start()
}

// command finds what is to be run: the words after --, or the line of -c.
func (c *runCmd) command(a *app) error {
	switch {
	case c.Shell != "" && a.hasCommand:
		return &usageError{"-c and a command after -- exclude each other", "use one of them"}
	case c.Shell != "" || len(a.command) > 0 && a.command[0] != "":
		return nil
	case a.hasCommand:
		return &usageError{"there is no command after --", "write looprun [flags] -- COMMAND [ARG…]"}
	}
	return &usageError{"no command was given", "write looprun [flags] -- COMMAND [ARG…], or -c 'SHELL LINE'; see looprun --help"}
}

// misplaced says what is wrong with words that stand before --.
func misplaced(words []string, commands []string) error {
	remedy := "write looprun -- " + console.CommandLine(words)
	if near := nearest.Word(words[0], commands); near != "" {
		remedy = fmt.Sprintf("did you mean looprun %s? To run it as a command write looprun -- %s", near, console.CommandLine(words))
	}
	return &usageError{fmt.Sprintf("%q is no command of looprun", words[0]), remedy}
}

// work is the step to run, and check the one that judges it.
func (o *options) work(command []string) looprun.Step {
	if o.Shell != "" {
		return looprun.Shell(string(o.Shell))
	}
	return looprun.Argv(command...)
}

func (o *options) checkStep() looprun.Step {
	if o.Check == "" {
		return nil
	}
	return looprun.Shell(string(o.Check))
}

// needShell refuses shell lines where there is no shell to run them.
func (o *options) needShell() error {
	lines := []struct {
		flag string
		line shellLine
	}{
		{"-c", o.Shell},
		{"--check", o.Check},
		{"--debug", o.Debug},
		{"--assistant", o.Assistant},
		{"--hook-on-question", o.HookOnQuestion},
		{"--hook-on-trip", o.HookOnTrip},
		{"--hook-on-end", o.HookOnEnd},
	}
	for _, l := range lines {
		if l.line != "" {
			if err := proc.FindShell(); err != nil {
				return fmt.Errorf("%s: %w", l.flag, err)
			}
			break
		}
	}
	return nil
}

// agents are commands that end with 0 whatever they achieved.
var agents = []string{"claude", "codex", "gemini", "aider", "opencode", "goose", "amp", "cursor-agent", "copilot"}

// hints are warnings about a configuration that is allowed and rarely meant.
func (o *options) hints(command []string) []string {
	var hints []string
	if o.Check == "" && o.Promise == nil && len(command) > 0 {
		name := command[0][strings.LastIndexByte(command[0], '/')+1:]
		if slices.Contains(agents, name) {
			hints = append(hints, fmt.Sprintf("%s ends with exit code 0 also when the work is not done, and that will count as done; give --check LINE or --promise TEXT", name))
		}
	}
	return hints
}

// dryRun prints what would run.
func (s *session) dryRun(w io.Writer) error {
	dir, err := s.stateDir()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "would run: %s\n", console.CommandLine(s.opts.work(s.command).Argv()))
	if s.opts.Check != "" {
		fmt.Fprintf(w, "check: %s\n", s.opts.Check)
	}
	fmt.Fprintf(w, "in: %s\nstate: %s\n", s.dir, dir)
	config, err := json.MarshalIndent(struct {
		Limits  looprun.Limits `json:"limits"`
		Caps    looprun.Caps   `json:"caps"`
		Options *options       `json:"options"`
	}{s.limits, s.caps, s.opts}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "configuration: %s\n", config)
	return err
}
