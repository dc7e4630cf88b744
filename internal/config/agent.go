package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/cost"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/waiting"
)

// agentRow in a tag agent stands for the value that the agent's row has under the option's
// key.
const agentRow = "row"

// setUpAgent sets the options with the tag agent to the agent's values, unless they are
// already set, for example by a looprun.yaml.
func (c *Settings) setUpAgent(o *Options) {
	a, ok := o.Agents.Find(o.Agent)
	if !ok {
		return // Wrong says so
	}
	c.byAgent = map[string]bool{}
	of := reflect.ValueOf(o).Elem()
	for _, field := range reflect.VisibleFields(of.Type()) {
		set, ok := field.Tag.Lookup("agent")
		k := c.key(keyName(field))
		if !ok || c.source(k) != nil || c.by(k) != "" || c.presetOrigin(k) != "" {
			continue
		}
		value := reflect.ValueOf(a).FieldByName(field.Name)
		if set != agentRow {
			w, _ := k.parse(set) // a test sees that it can be read
			value = w.value
		}
		if c.byAgent[k.Name] = !value.IsZero(); !c.byAgent[k.Name] {
			continue
		}
		of.FieldByIndex(field.Index).Set(value)
	}
}

// agentOrigin returns what selected the agent that gives the key its value; empty if none
// does.
func (c *Settings) agentOrigin(k Key) string {
	if !c.byAgent[k.Name] {
		return ""
	}
	agent := c.key("agent")
	if l := c.source(agent); l != nil {
		return l.at(agent.Name)
	}
	return c.by(agent)
}

// wrongAgent returns why the agent cannot be set up, or nil.
func (o *Options) wrongAgent() error {
	if o.Agent == "" {
		if o.Session == "keep" {
			return Usagef("%s keep needs an agent; add %s NAME, or leave it out", Flag("session"), Flag("agent"))
		}
		return nil
	}
	a, ok := o.Agents.Find(o.Agent)
	if !ok {
		return Usagef("%s %q is not an agent that looprun knows; describe it under agents in looprun.yaml, or use %s", Flag("agent"), o.Agent, OrNearest(o.Agent, o.Agents.Names()))
	}
	if o.Session == "keep" && a.Resume == nil {
		return Usagef("%s keep: looprun does not know how %s continues a session; describe it with resume under agents in looprun.yaml, or leave it out", Flag("session"), a.Name)
	}
	if o.Shell != "" {
		return Usagef("%s runs the agent's own command, so -c cannot be used; put the agent's flags after --", Flag("agent"))
	}
	return nil
}

// agentStep is the work of a coding agent. It continues the session that the iteration names.
type agentStep struct {
	engine.Step
	agent agent.Agent
	flags []string // the user's own
}

// Run implements [engine.Step].
func (s agentStep) Run(ctx context.Context, in engine.Invocation) engine.Exit {
	if id := in.Iteration.Session; id != "" {
		return engine.Argv(s.agent.Resuming(s.flags, id)...).Run(ctx, in)
	}
	return s.Step.Run(ctx, in)
}

// AgentNeeded returns an error if something is missing to start the agent now: a task, or the
// program.
func (o *Options) AgentNeeded(look func(program string) (string, error)) error {
	a, ok := o.Agents.Find(o.Agent)
	switch {
	case !ok:
		return o.wrongAgent()
	case o.Name == "":
		return Usagef("%s has no task; write it after the flags: looprun --agent %s 'Make the tests pass'", Flag("agent"), a.Name)
	}
	if _, err := look(a.Command[0]); err != nil {
		return Usagef("%s %s: the program %s is not found; install it, or add its folder to PATH", Flag("agent"), a.Name, a.Command[0])
	}
	return nil
}

// agentName matches the allowed names of a user's own agents.
const agentName = `^[a-z0-9][a-z0-9_-]{0,39}$`

// readAgents reads the key agents of a part of the file.
func (l *layer) readAgents(given agent.Agents, problems *problem.List, path func(...any) []any) {
	l.agents = agent.Agents{}
	isName := regexp.MustCompile(agentName)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		wrong := func(text, remedy string, below ...any) {
			*problems = append(*problems, l.file.doc.Problem(fmt.Sprintf("agent %s: %s", name, text), remedy, path(append([]any{"agents", name}, below...)...)...))
		}
		if !isName.MatchString(name) {
			wrong("that is not a name", "use lower-case letters, digits, - and _, at most 40")
		}
		if _, known := agent.Agents(nil).Find(name); known {
			wrong("looprun sets it up by itself", "choose another name")
		}
		a := given[name]
		a.Name = name
		if a.CostFrom == "" && a.ReadsCost() {
			a.CostFrom = name
		}
		if len(a.Command) == 0 || a.Command[0] == "" {
			wrong("command names no program", "write it as a list, such as [mine, --json]", "command")
		}
		if a.Resume != nil && !strings.Contains(strings.Join(a.Resume, " "), "ID") {
			wrong("resume has no ID, where the id of the session goes", "write such as [--resume, ID]", "resume")
		}
		if _, err := costReader(a.CostFrom, agent.Agents{name: a}); err != nil && a.CostFrom != "" {
			wrong("cost_from: "+err.Error(), "", "cost_from")
		}
		if _, err := waiting.Compile(a.WaitOn); err != nil {
			wrong("wait_on: "+err.Error(), "", "wait_on")
		}
		if _, err := waiting.CompileStop(a.StopOn); err != nil {
			wrong("stop_on: "+err.Error(), "", "stop_on")
		}
		for i, s := range a.Transcript {
			if text := s.Wrong(); text != "" {
				wrong(text, "", "transcript", i, "when")
			}
		}
		l.agents[name] = a
	}
}

// Agents returns the user's own agents from the files that were read.
func (c *Settings) Agents() agent.Agents {
	var all agent.Agents
	for _, l := range slices.Backward(c.layers) {
		if all == nil && l.agents != nil {
			all = agent.Agents{}
		}
		maps.Copy(all, l.agents)
	}
	return all
}

// costReader returns the reader for a spec: the name of a user's own agent, or a spec for
// [cost.New].
func costReader(spec string, own agent.Agents) (*cost.Reader, error) {
	if a, ok := own[spec]; ok {
		if !a.ReadsCost() {
			return nil, errors.New("nothing in its transcript has usd or tokens; give their paths there, or give a regular expression")
		}
		return cost.Of(spec), nil
	}
	return cost.New(spec)
}

// shownAgents shows the user's own agents to a person who is asked for consent.
func shownAgents(own agent.Agents, show func(key string, value any)) {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		a := own[name]
		what := core.CommandLine(a.Command)
		for _, more := range []struct {
			key  string
			list []string
		}{{"cost_from", []string{a.CostFrom}}, {"wait_on", a.WaitOn}, {"stop_on", a.StopOn}, {"resume", a.Resume}} {
			if text := strings.Join(more.list, ", "); text != "" && text != name {
				what += "; " + more.key + ": " + text
			}
		}
		if n := len(a.Transcript); n > 0 {
			what += fmt.Sprintf("; transcript: %d kinds of objects", n)
		}
		show("agents: "+name, cmp.Or(what, "nothing"))
	}
}
