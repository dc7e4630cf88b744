package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/templates"
)

// policyCmd is for authors of policies.
type policyCmd struct {
	Check  policyCheckCmd  `cmd:"" help:"Validate a policy, and run its own tests."`
	Test   policyTestCmd   `cmd:"" help:"Show what a policy would answer, rule by rule. No verify command is run."`
	Schema policySchemaCmd `cmd:"" help:"Print the JSON Schema, or the facts that conditions can mention."`
}

func loadPolicy(file string, packs []string) (*policy.Policy, *templates.Set, error) {
	set, err := templates.Load(packs...)
	if err != nil {
		return nil, nil, err
	}
	p, err := policy.Load(file, set.Options())
	if err != nil {
		return nil, nil, err
	}
	for _, t := range set.Templates() {
		if t.Exclusive {
			p.Exclusive = append(p.Exclusive, t.Guard)
		}
	}
	return p, set, nil
}

type policyCheckCmd struct {
	File string `arg:"" help:"The policy file."`
	packFlag
}

func (policyCheckCmd) Help() string {
	return `Example:
  looprun policy check ci/policy.yaml`
}

func (c *policyCheckCmd) Run(a *app) error {
	p, _, err := loadPolicy(c.File, c.Templates)
	if err != nil {
		return err
	}
	if _, err := p.RunTests(); err != nil {
		return err
	}
	tests := "it has no tests of its own"
	if n := len(p.Tests); n > 0 {
		tests = plural.Count(n, "test") + " passed"
	}
	a.say.News("%s is correct: %s, %s", c.File, plural.Count(len(p.Rules), "rule"), tests)
	return nil
}

type policySchemaCmd struct {
	Of string `arg:"" optional:"" enum:"policy,facts" default:"policy" help:"What to print: ${enum} (${default})."`
}

func (policySchemaCmd) Help() string {
	return `Example:
  looprun policy schema facts`
}

func (c *policySchemaCmd) Run(a *app) error {
	if c.Of == "facts" {
		return policy.WriteFacts(a.stdout)
	}
	_, err := a.stdout.Write(policy.Schema())
	return err
}

type policyTestCmd struct {
	File   string `arg:"" help:"The policy file."`
	Guard  string `required:"" xor:"what" placeholder:"ID" help:"The guard that trips, or rejection, blocked, clarification, ladder_exhausted, in a made-up run that has improved."`
	ID     string `name:"run" required:"" xor:"what" placeholder:"RUN" help:"Ask about the last trip of this run."`
	State  string `required:"" xor:"what" placeholder:"FILE" help:"Ask about the last trip of this state of a run, in JSON."`
	Format string `enum:"text,json" default:"text" help:"${enum}."`
	packFlag
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (policyTestCmd) Help() string {
	return `Example:
  looprun policy test ci.yaml --guard loop_detected`
}

func (c *policyTestCmd) Run(a *app) error {
	p, set, err := loadPolicy(c.File, c.Templates)
	if err != nil {
		return err
	}
	state, trip, err := c.situation(a)
	if err != nil {
		return err
	}
	q, err := set.Question(state, trip)
	if err != nil {
		return err
	}
	q.Mandatory = trip.Mandatory
	ctx, stop := session.WatchSignals(context.Background(), func() {})
	defer stop()
	here, _ := os.Getwd() // without one, fewer facts are known
	e, err := p.Evaluate(ctx, q, state, policy.Options{CI: session.CIFacts(here), Verifying: policy.VerifyFail})
	if err != nil {
		return err
	}
	if c.Format == "json" {
		return a.printJSON("policy-test", e)
	}
	return e.Write(a.stdout)
}

// situation is the run and the trip that the policy is asked about.
func (c *policyTestCmd) situation(a *app) (*core.State, core.Trip, error) {
	switch {
	case c.State != "":
		state, err := readState(c.State)
		if err != nil {
			return nil, core.Trip{}, config.Usage("--state: "+err.Error(), "give the state of a run as JSON, with the keys of looprun.State")
		}
		return c.lastTrip(state, "in the state "+c.State)
	case c.ID != "":
		dir, err := a.find(c.StateDir, c.ID)
		if err != nil {
			return nil, core.Trip{}, err
		}
		state, _, err := scratchpad.Load(dir)
		if err != nil {
			return nil, core.Trip{}, err
		}
		return c.lastTrip(state, "in run "+state.RunID)
	}
	guard := core.GuardID(c.Guard)
	if err := templates.KnownGuard(guard); err != nil {
		return nil, core.Trip{}, err
	}
	state, trip := templates.Sample(guard)
	// The end of the ladder is always for a person.
	trip.Mandatory = trip.Mandatory || guard == core.LadderExhausted
	return state, trip, nil
}

// lastTrip is the trip that is being settled, or the last that was.
func (c *policyTestCmd) lastTrip(s *core.State, where string) (*core.State, core.Trip, error) {
	switch {
	case s.Trip != nil:
		return s, *s.Trip, nil
	case s.LastTrip != nil:
		return s, *s.LastTrip, nil
	}
	return nil, core.Trip{}, config.Usage(where+" no guard tripped", "ask about a guard with --guard ID")
}

// stateLimit bounds a state that is read from a file. It keeps the last 50
// iterations and 1,000 known issues, which is far less.
const stateLimit = 16 << 20

// readState reads one state in JSON and nothing else: a key that means nothing
// is a mistake that would change the answer without anybody noticing.
func readState(file string) (*core.State, error) {
	text, err := inputfile.Read(file, stateLimit)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var s *core.State
	if err := dec.Decode(&s); err != nil {
		return nil, config.Usage(fmt.Sprintf("%s: %v", file, err), "give a state as looprun show --format state prints it")
	}
	if s == nil {
		return nil, fmt.Errorf("%s holds null", file)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s goes on after the state", file)
	}
	if key := strictjson.Repeated(text); key != "" {
		return nil, fmt.Errorf("%s: the key %s is there twice", file, key)
	}
	return s, nil
}
