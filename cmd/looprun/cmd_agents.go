package main

import (
	"cmp"
	"fmt"
	"os/exec"
	"text/tabwriter"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/console"
)

// agentsCmd lists the coding agents that can be set up.
type agentsCmd struct {
	Format string `enum:"text,json" default:"text" help:"${enum}." env:"-"`
}

// Help shows an example below the flags.
func (agentsCmd) Help() string {
	return `PERMIT are the agent's own flags that let it edit files and run commands unasked. looprun
never adds them: pass them on behind --.

Example:
  looprun --agent claude --check 'go test ./...' 'Make the tests pass' -- --permission-mode acceptEdits --allowedTools Bash`
}

// shownAgent is an agent as it is printed.
type shownAgent struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	Found   string   `json:"found,omitempty"` // where its program is
	Cost    string   `json:"cost_from,omitempty"`
	Limits  string   `json:"wait_on,omitempty"`
	Permit  string   `json:"permit"`
	Login   string   `json:"login"`
	Version string   `json:"version,omitempty"` // that was tried; without one: written from its documentation
}

func (c *agentsCmd) Run(a *app) error {
	var rows []shownAgent
	for _, of := range agent.All() {
		r := shownAgent{
			Name: of.Name, Command: of.Command, Cost: of.Cost, Limits: of.Limits, Permit: of.Permit, Login: of.Login, Version: of.Version,
		}
		if at, err := exec.LookPath(of.Command[0]); err == nil {
			r.Found = at
		}
		rows = append(rows, r)
	}
	if c.Format == "json" {
		return a.printJSON(rows)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tRUNS\tCOST\tLIMITS\tPERMIT\tTRIED\tHERE")
	for _, r := range rows {
		here := "no"
		if r.Found != "" {
			here = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, console.CommandLine(r.Command), cmp.Or(r.Cost, "-"), cmp.Or(r.Limits, "-"), r.Permit, cmp.Or(r.Version, "-"), here)
	}
	return w.Flush()
}
