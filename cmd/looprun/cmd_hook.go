package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/hook"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/termsafe"
)

// hookCmd puts the loop inside the sessions of coding agents.
type hookCmd struct {
	Stop    hookStopCmd    `cmd:"" help:"Decide whether a coding agent may stop: for its stop hook."`
	Install hookInstallCmd `cmd:"" help:"Put looprun hook stop among an agent's hooks."`
	Status  hookStatusCmd  `cmd:"" help:"Say which agents have the hook, and what it will run."`
	Remove  hookRemoveCmd  `cmd:"" help:"Take it out again."`
}

type hookStopCmd struct {
	As      string        `enum:",claude,codex,gemini,copilot,cursor,opencode" default:"" placeholder:"AGENT" help:"Whose hook it is (what it says tells)." env:"-"`
	Timeout time.Duration `default:"9m30s" placeholder:"D" help:"How long the check may take (${default})." env:"-"`
	Args    []string      `arg:"" optional:"" passthrough:"" name:"flags" help:"Flags of run, such as --check LINE."`
}

// Help shows an example below the flags.
func (hookStopCmd) Help() string {
	return `Each stop is one iteration, and the check of looprun.yaml judges. Where it passes the
agent may stop; where not, the agent is told what fails and goes on. When a guard trips the
agent may stop, and the question is kept for looprun answer. A hook that cannot judge
allows the stop: exit code 0, and why on standard error.

Example:
  looprun hook stop --check 'go test ./...' < stop.json`
}

func (c *hookStopCmd) Run(a *app) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	stop, err := hook.Read(ctx, a.stdin, c.As)
	var d hook.Decision
	if err == nil {
		var self string
		if self, err = os.Executable(); err == nil {
			d, err = hook.Judge{Looprun: self, Flags: c.Args, Timeout: c.Timeout}.Decide(ctx, stop)
		}
	}
	if err != nil {
		d = hook.Decision{Message: "looprun did not judge this stop: " + termsafe.Line(err.Error())}
		a.say.Warn("the stop is allowed and was not judged: %s", termsafe.Line(err.Error()))
		if stop.Dir == "" {
			stop.Dir, _ = os.Getwd()
		}
		hook.Trouble{Time: time.Now(), Agent: stop.Agent, Dir: stop.Dir, Why: err.Error()}.Keep()
	}
	text, err := d.JSON(stop.Agent)
	if err == nil {
		_, err = a.stdout.Write(text)
	}
	return err
}

// hookPlace is whose hooks, and where.
type hookPlace struct {
	Agent   string `arg:"" enum:"claude,codex,gemini,copilot,cursor,opencode" help:"${enum}."`
	User    bool   `help:"For all your projects." env:"-" excludes:"--project"`
	Project bool   `help:"For this project (the default)." env:"-"`
}

// file is the agent's file of hooks.
func (p hookPlace) file() (hook.Agent, string, error) {
	agent, _ := hook.Find(p.Agent)
	if p.User && p.Project {
		return agent, "", config.Usage("--user and --project exclude each other", "use one of them")
	}
	if p.User {
		home, err := os.UserHomeDir()
		return agent, filepath.Join(home, filepath.FromSlash(agent.User)), err
	}
	dir, err := projectDir()
	return agent, filepath.Join(dir, filepath.FromSlash(agent.Project)), err
}

// projectDir is the work tree's root, else where looprun was started.
func projectDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if filepath.Dir(at) == at {
			return dir, nil
		}
	}
}

type hookInstallCmd struct {
	hookPlace
	Check string `placeholder:"LINE" help:"The check, for a looprun.yaml where there is none." env:"-"`
	Print bool   `help:"Print the agent's file as it would be, and write nothing." env:"-"`
}

// Help shows an example below the flags.
func (hookInstallCmd) Help() string {
	return `Nothing else in the agent's file is changed, and remove takes out what install put in. It
shows the check that will run, and by installing you agree to it.

Example:
  looprun hook install claude --check 'go test ./...'`
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
		_, err := a.stdout.Write(after)
		return err
	}
	if err := c.writeCheck(a); err != nil {
		return err
	}
	check, err := consentToCheck()
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
	if check == "" {
		a.say.Warn("there is no check here, and without one every stop is allowed; write check: COMMAND into looprun.yaml, or give --check")
	} else {
		a.say.Printf("it judges by the check: %s", check)
	}
	if _, err := exec.LookPath("looprun"); err != nil {
		a.say.Warn("looprun is not on the PATH, where %s will look for it", agent.Name)
	}
	if agent.Wants != "" {
		a.say.Printf("%s", agent.Wants)
	}
	return nil
}

// writeCheck writes a looprun.yaml with the check that was given.
func (c *hookInstallCmd) writeCheck(a *app) error {
	if c.Check == "" {
		return nil
	}
	dir, err := projectDir()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, config.Name)
	if inputfile.IsFile(file) {
		if has, err := configured("check"); err == nil && has == c.Check {
			return nil
		}
		return config.Usage(file+" is there, and says another check or none", "write check: "+c.Check+" into it, and leave --check out")
	}
	line := "check: '" + strings.ReplaceAll(c.Check, "'", "''") + "'\n"
	if strings.ContainsAny(c.Check, "\n\r\x00") {
		return config.Usage("--check has more than one line", "write them into a script")
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	a.say.Printf("%s was written", file)
	return nil
}

// configured is the value of a key as it counts here.
func configured(key string) (string, error) {
	out, _, err := ownOutput("config", "show", "--format", "json")
	if err != nil {
		return "", err
	}
	c, err := hook.ReadConfiguration(out)
	return c[key].Value, err
}

// consentToCheck agrees to the configuration that was found, and is its check; empty:
// there is none.
func consentToCheck() (string, error) {
	if _, said, err := ownOutput("--trust", "--dry-run", "--", "true"); err != nil {
		return "", fmt.Errorf("%s", strings.TrimPrefix(said, "looprun: "))
	}
	return configured("check")
}

// ownOutput is what looprun itself prints when it is called so.
func ownOutput(args ...string) (stdout []byte, stderr string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	cmd := exec.Command(self, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	return out, termsafe.Line(strings.TrimSpace(said.String())), err
}

type hookRemoveCmd struct {
	hookPlace
	Print bool `help:"Print the agent's file as it would be, and write nothing." env:"-"`
}

// Help shows an example below the flags.
func (hookRemoveCmd) Help() string {
	return `Example:
  looprun hook remove claude`
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
		a.say.Printf("%s has no hook of looprun's", file)
		return nil
	}
	_, after, err := hook.Change(file, agent.Without)
	if err != nil {
		return err
	}
	if c.Print {
		_, err := a.stdout.Write(after)
		return err
	}
	if err := hook.Write(file, after); err != nil {
		return err
	}
	a.say.Printf("the hook is out of %s", file)
	return nil
}

type hookStatusCmd struct{}

// Help shows an example below the flags.
func (hookStatusCmd) Help() string {
	return `Example:
  looprun hook status`
}

func (hookStatusCmd) Run(a *app) error {
	var said string
	var refused error
	asked := make(chan struct{})
	go func() { // whether there is consent, while the rest is read
		defer close(asked)
		_, said, refused = ownOutput("--non-interactive", "--dry-run", "--", "true")
	}()
	p, installed := a.printer(), false
	for _, agent := range hook.Agents {
		for _, place := range []hookPlace{{Agent: agent.Name}, {Agent: agent.Name, User: true}} {
			_, file, err := place.file()
			if err != nil {
				return err
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
	if !installed {
		fmt.Fprintln(p, "no agent has the hook here; looprun hook install AGENT puts it in")
	}
	check, err := configured("check")
	switch {
	case err != nil:
		fmt.Fprintln(p, "check     the configuration cannot be read; see looprun config check")
	case check == "":
		fmt.Fprintln(p, "check     none: every stop is allowed")
	default:
		fmt.Fprintf(p, "check     %s\n", termsafe.Line(check))
	}
	if <-asked; refused != nil {
		fmt.Fprintf(p, "consent   missing: %s\n", termsafe.Cut(strings.TrimPrefix(said, "looprun: "), 400))
	}
	if t, ok := hook.LastTrouble(time.Now().Add(-7 * 24 * time.Hour)); ok {
		fmt.Fprintf(p, "trouble   %s, in %s: %s\n", console.Ago(time.Now(), t.Time), t.Dir, t.Why)
	}
	return p.Page()
}
