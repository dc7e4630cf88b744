package config

import (
	"fmt"

	"github.com/looprun/looprun/internal/agent"
)

// agentSets are the keys that --agent gives a value where nobody else does, a
// looprun.yaml included: they are what an agent needs, and no preset that is to beat
// anything.
var agentSets = []struct {
	key string
	set func(*Options, agent.Agent) bool // false: this agent has none
}{
	{"max_runtime", func(o *Options, _ agent.Agent) bool {
		o.MaxRuntime = new(DurationLimit(agent.MaxRuntime))
		return true
	}},
	{"iteration_timeout", func(o *Options, _ agent.Agent) bool {
		o.IterationTimeout = Duration(agent.IterationTimeout)
		return true
	}},
	{"turn_loop", func(o *Options, _ agent.Agent) bool {
		o.TurnLoop = new(CountLimit(agent.TurnLoop))
		return true
	}},
	{"stdin", func(o *Options, _ agent.Agent) bool {
		o.Stdin = StdinContext
		return true
	}},
	{"cost_from", func(o *Options, a agent.Agent) bool {
		o.CostFrom = a.Cost
		return a.Cost != ""
	}},
	{"wait_on", func(o *Options, a agent.Agent) bool {
		if a.Limits != "" {
			o.WaitOn = []string{a.Limits}
		}
		return a.Limits != ""
	}},
	{"stop_on", func(o *Options, a agent.Agent) bool {
		if a.Limits != "" {
			o.StopOn = []string{a.Limits}
		}
		return a.Limits != ""
	}},
}

// setUpAgent gives what the agent needs and nobody has set.
func (c *Settings) setUpAgent(o *Options) {
	a, ok := agent.Find(o.Agent)
	if !ok {
		return // Wrong says so
	}
	c.byAgent = map[string]bool{}
	for _, s := range agentSets {
		if f := c.flag(flagOf(s.key)); f == nil || c.source(f) != nil || c.given(f) != "" || c.presetOrigin(s.key) != "" {
			continue
		}
		c.byAgent[s.key] = s.set(o, a)
	}
}

// agentOrigin is what named the agent that gives the key its value; empty where none
// does.
func (c *Settings) agentOrigin(key string) string {
	if !c.byAgent[key] {
		return ""
	}
	f := c.flag("agent")
	if l := c.source(f); l != nil {
		return l.at("agent")
	}
	return c.given(f)
}

// wrongAgent says why an agent cannot be set up; nil: it can.
func (o *Options) wrongAgent() error {
	if o.Agent == "" {
		return nil
	}
	if _, ok := agent.Find(o.Agent); !ok {
		return Usagef("%s %q is not an agent that can be set up; %s", Flag("agent"), o.Agent, OrNearest(o.Agent, agent.Names()))
	}
	if o.Shell != "" {
		return Usagef("%s runs the agent's own command, so -c has no place; put the agent's flags behind --", Flag("agent"))
	}
	return nil
}

// AgentNeeded says what an agent lacks that would begin now: a task, and the program.
func (o *Options) AgentNeeded(look func(program string) (string, error)) error {
	a, ok := agent.Find(o.Agent)
	switch {
	case !ok:
		return o.wrongAgent()
	case o.Name == "":
		return Usage(fmt.Sprintf("%s has no task", Flag("agent")), fmt.Sprintf("write it behind the flags: looprun --agent %s 'Make the tests pass'", a.Name))
	}
	if _, err := look(a.Command[0]); err != nil {
		return Usage(fmt.Sprintf("%s %s: the program %s is not found", Flag("agent"), a.Name, a.Command[0]), "install it, or add its folder to PATH")
	}
	return nil
}
