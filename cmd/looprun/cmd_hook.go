package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/hook"
	"github.com/looprun/looprun/internal/termsafe"
)

// hookCmd runs the loop inside the sessions of coding agents.
type hookCmd struct {
	Stop    hookStopCmd    `cmd:"" help:"Decide whether a coding agent may stop: for its stop hook."`
	Install hookInstallCmd `cmd:"" help:"Put looprun hook stop among an agent's hooks."`
	Status  hookStatusCmd  `cmd:"" help:"Show which agents have the hook, and what it runs."`
	Remove  hookRemoveCmd  `cmd:"" help:"Remove the hook."`
	Off     hookOffCmd     `cmd:"" help:"Judge no stop in this project until looprun hook on."`
	On      hookOnCmd      `cmd:"" help:"Judge stops in this project again."`
}

type hookStopCmd struct {
	As      string        `enum:",claude,codex,gemini,copilot,cursor,opencode" default:"" placeholder:"AGENT" help:"The agent that runs the hook (default: detected from its request)."`
	Timeout time.Duration `default:"9m30s" placeholder:"D" help:"How long the check may take (${default})."`
	Args    []string      `arg:"" optional:"" passthrough:"" name:"flags" help:"Flags of run, such as --check LINE."`
}

func (c *hookStopCmd) Run(a *app) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	self, _ := os.Executable() // without it nothing can be judged
	text, err := hook.Judge{Looprun: self, Flags: c.Args, Show: shownIn, Timeout: c.Timeout}.Answer(ctx, a.stdin, c.As)
	if err != nil {
		a.say.Warn("the stop is allowed and was not judged: %s", termsafe.Line(err.Error()))
	}
	return a.print(string(text))
}

// hookPlace selects the agent and the location of its hooks.
type hookPlace struct {
	Agent   string `arg:"" enum:"claude,codex,gemini,copilot,cursor,opencode" help:"${enum}."`
	User    bool   `help:"For all your projects." excludes:"--project"`
	Project bool   `help:"For this project (the default)."`
	Local   bool   `help:"For you in this project: a file that is not shared."`
}

// file returns the agent's hook file.
func (p hookPlace) file() (hook.Agent, string, error) {
	agent := hook.Find(p.Agent)
	if p.User && (p.Project || p.Local) || p.Project && p.Local {
		return agent, "", config.Usage("--user, --project and --local exclude each other", "use one of them")
	}
	place := hook.OfProject
	switch {
	case p.User:
		place = hook.OfUser
	case p.Local:
		place = hook.OfLocal
	}
	file, err := agent.File(place)
	if err == nil && file == "" {
		err = config.Usage(agent.Name+" has no file in a project that is not shared", "leave out --local")
	}
	return agent, file, err
}

type hookInstallCmd struct {
	hookPlace
	Check string `placeholder:"LINE" help:"The check, for a looprun.yaml where there is none."`
	Print bool   `help:"Print the agent's file as it would be, and write nothing."`
}

func (c *hookInstallCmd) Run(a *app) error {
	agent, file, err := c.file()
	if err != nil {
		return err
	}
	before, after, err := hook.Change(file, agent.With)
	if err != nil {
		return err
	}
	if c.Print {
		return a.print(string(after))
	}
	has, _ := checkHere() // without one, a file that exists is in the way
	if written, err := hook.WriteCheck(c.Check, has); err != nil {
		return err
	} else if written != "" {
		a.say.Printf("%s was written", written)
	}
	run, err := asRun("--trust")
	if err != nil {
		return err
	}
	if bytes.Equal(before, after) {
		a.say.Printf("%s has the hook already", file)
	} else if err := hook.Write(file, after); err != nil {
		return err
	} else {
		a.say.Printf("%s now runs %s when %s is about to stop", file, hook.Command, agent.Name)
	}
	if run.Check == "" {
		a.say.Warn("there is no check, so every stop would be allowed; write check: COMMAND into looprun.yaml, or use --check")
	} else {
		a.say.Printf("it runs the check: %s", run.Check)
	}
	if _, err := exec.LookPath("looprun"); err != nil {
		a.say.Warn("looprun is not on the PATH, where %s will look for it", agent.Name)
	}
	if agent.Wants != "" {
		a.say.Printf("%s", agent.Wants)
	}
	return nil
}

// checkHere returns the check of a run in this folder, whoever has agreed to it.
func checkHere() (string, error) {
	rows, err := shownIn("", nil)
	i := slices.IndexFunc(rows, func(r config.Shown) bool { return r.Key == "check" })
	if i < 0 {
		return "", err
	}
	return rows[i].Value, nil
}

type hookRemoveCmd struct {
	hookPlace
	Print bool `help:"Print the agent's file as it would be, and write nothing."`
}

func (c *hookRemoveCmd) Run(a *app) error {
	agent, file, err := c.file()
	if err != nil {
		return err
	}
	has, err := agent.Installed(file)
	if err != nil {
		return err
	}
	if !has {
		a.say.Printf("%s has no hook of looprun", file)
		return nil
	}
	_, after, err := hook.Change(file, agent.Without)
	if err != nil {
		return err
	}
	if c.Print {
		return a.print(string(after))
	}
	if err := hook.Write(file, after); err != nil {
		return err
	}
	a.say.Printf("the hook is out of %s", file)
	return nil
}

type (
	hookOffCmd struct{}
	hookOnCmd  struct{}
)

func (hookOffCmd) Run(a *app) error { return switchHook(a, false) }

func (hookOnCmd) Run(a *app) error { return switchHook(a, true) }

func switchHook(a *app, on bool) error {
	project, err := hook.Project()
	if err != nil {
		return err
	}
	if err := hook.Switch(project, on); err != nil {
		return err
	}
	if on {
		a.say.Printf("stops in %s are judged", project)
	} else {
		a.say.Printf("no stop in %s is judged; looprun hook on ends that", project)
	}
	return nil
}

type hookStatusCmd struct{}

func (hookStatusCmd) Run(a *app) error {
	p, installed := a.printer(), false
	for _, agent := range hook.Agents() {
		for place := hook.OfProject; place <= hook.OfUser; place++ {
			file, err := agent.File(place)
			switch {
			case err != nil:
				return err
			case file == "":
				continue
			}
			switch has, err := agent.Installed(file); {
			case err != nil:
				fmt.Fprintf(p, "%-9s %v\n", agent.Name, err)
			case has:
				installed = true
				fmt.Fprintf(p, "%-9s %s\n", agent.Name, file)
				if agent.Wants != "" {
					fmt.Fprintf(p, "%-9s %s\n", "", agent.Wants)
				}
			}
		}
	}
	if project, err := hook.Project(); err == nil {
		if off, _ := hook.Off(project); off {
			fmt.Fprintln(p, "off       no stop is judged here; looprun hook on ends that")
		}
	}
	if !installed {
		fmt.Fprintln(p, "no agent has the hook here; looprun hook install AGENT puts it in")
	}
	var check string
	var err error
	o, refused := asRun()
	if refused == nil {
		check = string(o.Check)
	} else {
		check, err = checkHere()
	}
	switch {
	case err != nil:
		fmt.Fprintln(p, "check     the configuration cannot be read; see looprun config check")
	case check == "":
		fmt.Fprintln(p, "check     none: every stop is allowed")
	default:
		fmt.Fprintf(p, "check     %s\n", termsafe.Line(check))
	}
	if refused != nil {
		fmt.Fprintf(p, "consent   missing: %s\n", termsafe.Short(refused.Error(), 400))
	}
	if t, ok := hook.LastTrouble(time.Now().Add(-7 * 24 * time.Hour)); ok {
		fmt.Fprintf(p, "trouble   %s, in %s: %s\n", console.Ago(time.Now(), t.Time), t.Dir, t.Why)
	}
	return p.Page()
}
