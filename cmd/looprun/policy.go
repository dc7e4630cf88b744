package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/templates"
)

// policyCmd is for authors of policies.
type policyCmd struct {
	Check  policyCheckCmd  `cmd:"" help:"Say everything that is wrong with a policy, and run its own tests."`
	Test   policyTestCmd   `cmd:"" help:"Show what a policy would answer, rule by rule. No verify command is run."`
	Schema policySchemaCmd `cmd:"" help:"Print the JSON Schema, or the facts that conditions can mention."`
}

// knownOptions are the options of each question, which rules name.
func knownOptions(set *templates.Set) policy.Known {
	known := policy.Known{}
	for _, t := range set.Templates() {
		for _, o := range t.Options {
			known[t.Guard] = append(known[t.Guard], o.Option)
		}
	}
	return known
}

func loadPolicy(file string, packs []string) (*policy.Policy, *templates.Set, error) {
	set, err := templates.Load(packs...)
	if err != nil {
		return nil, nil, err
	}
	p, err := policy.Load(file, knownOptions(set))
	return p, set, err
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
	a.say.news("%s is correct: %d rules, %d tests passed", c.File, len(p.Rules), len(p.Tests))
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
	Guard  string `required:"" xor:"what" placeholder:"ID" help:"The guard that trips, in a made-up run that has improved."`
	ID     string `name:"run" required:"" xor:"what" placeholder:"RUN" help:"Ask about the last trip of this run."`
	Format string `enum:"text,json" default:"text" help:"${enum}." env:"-"`
	packFlag
	StateDir string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
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
	state, trip, err := c.situation()
	if err != nil {
		return err
	}
	q, err := set.Question(state, trip)
	if err != nil {
		return err
	}
	ctx, stop := watchSignals(context.Background(), func() {})
	defer stop()
	e, err := p.Evaluate(ctx, q, state, policy.Options{CI: ciFacts(workingDir()), Verifying: policy.VerifyFail})
	if err != nil {
		return err
	}
	if c.Format == "json" {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	return e.Write(a.stdout)
}

// situation is the run and the trip that the policy is asked about.
func (c *policyTestCmd) situation() (*looprun.State, looprun.Trip, error) {
	if c.ID == "" {
		guard := looprun.GuardID(c.Guard)
		if err := templates.KnownGuard(guard); err != nil {
			return nil, looprun.Trip{}, err
		}
		state, trip := templates.Sample(guard)
		return state, trip, nil
	}
	dir, err := find(c.StateDir, c.ID)
	if err != nil {
		return nil, looprun.Trip{}, err
	}
	state, _, err := scratchpad.Load(dir)
	if err != nil {
		return nil, looprun.Trip{}, err
	}
	if state.LastTrip == nil {
		return nil, looprun.Trip{}, &usageError{fmt.Sprintf("in run %s no guard tripped", state.RunID), "ask about a guard with --guard ID"}
	}
	return state, *state.LastTrip, nil
}

// explainRules says why the policy did not answer.
func (s *session) explainRules(e policy.Evaluation) {
	if e.Answer != nil {
		return
	}
	s.app.say.news("the policy does not answer %s", e.Guard)
	for _, v := range e.Rules {
		s.app.say.news("  %s (%s): %s", v.Rule, v.Answer, v.Why)
	}
}
