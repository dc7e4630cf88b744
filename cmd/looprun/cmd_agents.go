package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"text/tabwriter"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/termsafe"
)

// agentsCmd lists the coding agents that can be set up.
type agentsCmd struct {
	Format string `enum:"text,json" default:"text" help:"${enum}."`
}

// shownAgent is an agent in the form that is printed.
type shownAgent struct {
	agent.Agent
	Found string `json:"found,omitempty"` // where its program is
}

func (c *agentsCmd) Run(a *app) error {
	var rows []shownAgent
	for _, of := range a.config.Agents().All() {
		for _, s := range carrier.KnownShapes() {
			if s.Agent == cmp.Or(of.CostFrom, of.Name) { // qwen prints what claude does
				s.Agent = "" // as a looprun.yaml has it
				of.Transcript = append(of.Transcript, s)
			}
		}
		r := shownAgent{Agent: of}
		if at, err := exec.LookPath(of.Command[0]); err == nil {
			r.Found = at
		}
		rows = append(rows, r)
	}
	if c.Format == "json" {
		return a.printJSON("agent", rows)
	}
	p := a.printer()
	w := tabwriter.NewWriter(p, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tRUNS\tCOST\tLIMITS\tPERMIT\tTRIED\tHERE")
	for _, r := range rows {
		here := "no"
		if r.Found != "" {
			here = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, termsafe.Line(core.CommandLine(r.Command)), shortOr(r.CostFrom),
			shortOr(strings.Join(r.WaitOn, " ")), shortOr(r.Permit), shortOr(r.Version), here)
	}
	return errors.Join(w.Flush(), p.Flush())
}

// shortOr shortens a table cell, since a regular expression can be long.
func shortOr(text string) string { return cmp.Or(termsafe.Short(text, 60), "-") }
