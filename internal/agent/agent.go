// Package agent holds what is known about coding agents as commands: how to start each one so
// that it works without a person and reports what it does, and what a loop around it needs.
// Package [carrier] describes their transcripts.
package agent

import (
	_ "embed"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/strictjson"
)

// Agent is one coding agent: a row of the table, and of the key agents in looprun.yaml.
type Agent struct {
	Name string `yaml:"-" json:"name"` // of its command, too, where Command has no other
	// Command starts the agent without a person: it reads the task from its standard input and
	// writes a transcript. It has no flag that lifts the agent's own permissions. The user's
	// own flags are appended.
	Command []string `yaml:"command,required" json:"command" doc:"How it is started without a person: it reads the task from its standard input. Words after -- are added."`
	// CostFrom, WaitOn and StopOn are the values that --agent sets for the options of the same
	// names; empty sets nothing.
	CostFrom string   `yaml:"cost_from" json:"cost_from,omitempty" doc:"As the option; without it, what usd and tokens of its transcript say."`
	WaitOn   []string `yaml:"wait_on" json:"wait_on,omitempty" doc:"As the option."`
	StopOn   []string `yaml:"stop_on" json:"stop_on,omitempty" doc:"As the option."`
	// Resume holds the arguments that continue a session of the agent's, with ID for its id.
	// They come after the user's own flags. Empty means that it cannot.
	Resume []string `yaml:"resume" json:"resume,omitempty" doc:"The arguments that continue a session of its own, with ID for the id that conversation in its transcript names, for session: keep."`
	// Asks is the tool with which the agent asks its person; empty if it has none.
	Asks string `yaml:"asks" json:"asks,omitempty" doc:"The tool with which it asks a person, for agent_questions."`
	// ReadOnly are the flags for a turn in which it may only read; empty if it has none that
	// hold without a person. Without flags of the user's own it asks before it writes, and so
	// does not.
	ReadOnly []string `yaml:"-" json:"read_only,omitempty" doc:"Its flags for a turn in which it may only read."`
	// Permit holds the flags that let the agent edit files and run commands without asking.
	// They are shown to people and never used.
	Permit string `yaml:"permit" json:"permit,omitempty" doc:"Its flags that let it edit files and run commands unasked: they are shown, and never added."`
	Login  string `yaml:"login" json:"login,omitempty" doc:"How it is logged in, for people."`
	// Version is the version that was tested; empty means the entry was written from the
	// agent's documentation.
	Version string `yaml:"-" json:"version,omitempty"`
	// Transcript describes the JSON that the agent prints.
	Transcript []carrier.Shape `yaml:"transcript" json:"transcript,omitempty" doc:"How the JSON objects look that it prints, and what they carry; the first that matches counts. Objects that looprun knows by itself come before."`
}

// HasTranscript reports whether the agent's output is known to be a transcript.
func (a Agent) HasTranscript() bool {
	return len(a.Transcript) > 0 || slices.ContainsFunc(all(), func(b Agent) bool { return b.Name == a.Name })
}

// ReadsCost reports whether the agent's transcript contains its cost.
func (a Agent) ReadsCost() bool {
	return slices.ContainsFunc(a.Transcript, func(s carrier.Shape) bool {
		return slices.ContainsFunc(s.Read, func(r carrier.Reading) bool { return r.USD != "" || r.Tokens != "" })
	})
}

//go:embed agents.jsonl
var agentLines []byte

// all returns the built-in agents.
var all = sync.OnceValue(func() []Agent { return strictjson.Lines[Agent](agentLines) })

// Resuming returns the agent's command with the user's own flags, which continues the session
// with that id.
func (a Agent) Resuming(flags []string, id string) []string {
	command := slices.Concat(a.Command, flags)
	for _, arg := range a.Resume {
		command = append(command, strings.ReplaceAll(arg, "ID", id))
	}
	return command
}

// unsupervised lists the commands of agents that cannot be set up; like the others, they exit
// with 0 whatever they achieved.
var unsupervised = []string{"aider", "goose", "amp"}

// Agents holds the user's own agents, by name. Its methods include the built-in ones; the zero
// value has no others.
type Agents map[string]Agent

// All returns the agents that can be set up: the built-in ones, tested ones first, then the
// user's own.
func (own Agents) All() []Agent {
	list := slices.Clone(all())
	for _, name := range slices.Sorted(maps.Keys(own)) {
		list = append(list, own[name])
	}
	return list
}

// Names returns the names of those agents.
func (own Agents) Names() []string {
	return convert.Each(own.All(), func(a Agent) string { return a.Name })
}

// Find returns the agent with that name.
func (own Agents) Find(name string) (Agent, bool) {
	for _, a := range own.All() {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}

// Of returns the agent that a command starts, by the name of its program. It may be one that
// cannot be set up, of which only the name is set.
func (own Agents) Of(command []string) (Agent, bool) {
	if len(command) == 0 {
		return Agent{}, false
	}
	program := programOf(command)
	for _, a := range own.All() {
		if programOf(a.Command) == program {
			return a, true
		}
	}
	return Agent{Name: program}, slices.Contains(unsupervised, program)
}

func programOf(command []string) string {
	return strings.TrimSuffix(filepath.Base(command[0]), ".exe")
}

// Carriers returns the formats that output may be wrapped in; nil means only the known ones.
func (own Agents) Carriers() *carrier.Table {
	if len(own) == 0 {
		return nil
	}
	shapes := slices.Clone(carrier.KnownShapes())
	for _, name := range slices.Sorted(maps.Keys(own)) {
		for _, s := range own[name].Transcript {
			s.Agent = name
			shapes = append(shapes, s)
		}
	}
	return carrier.NewTable(shapes...)
}
