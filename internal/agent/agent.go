// Package agent is what is known of coding agents as commands: how each is started so
// that it works without a person and reports what it does, and what a loop around it
// needs. What their transcripts look like is [carrier]'s.
package agent

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Agent is one of them.
type Agent struct {
	Name string // of its command, too, where Command has no other
	// Command starts it without a person: it reads the task from its standard input,
	// and writes a transcript. It has no flag that lifts the agent's own permissions.
	// The user's own flags stand behind it.
	Command []string
	// Cost is what reads its cost, as for --cost-from; empty: it reports none that is
	// read.
	Cost string
	// Limits is the ready pattern of its limits, as for --wait-on; empty: none is known.
	Limits string
	// Permit are its flags that let it edit files and run commands unasked. They are
	// shown to people and never used.
	Permit string
	// Login says how it is logged in.
	Login string
	// Version is the one that was tried; empty: it was written from its documentation.
	Version string
}

// What a loop around any of them has, where nobody says otherwise: a turn takes many
// minutes, and limits of others last for hours.
const (
	MaxRuntime       = 8 * time.Hour
	IterationTimeout = 30 * time.Minute
	TurnLoop         = 8 // times the same within a turn
)

// all are the agents that can be set up. A call is not needed to list them.
var all = []Agent{
	{
		Name: "claude", Command: []string{"claude", "-p", "--output-format", "stream-json", "--verbose"}, Cost: "claude", Limits: "@claude",
		Permit: "--permission-mode acceptEdits --allowedTools Bash", Login: "claude, then /login; or ANTHROPIC_API_KEY", Version: "2.1.330",
	},
	{
		Name: "codex", Command: []string{"codex", "exec", "--json"}, Cost: "codex", Limits: "@codex",
		Permit: "--sandbox workspace-write", Login: "codex login; or OPENAI_API_KEY", Version: "0.169.0",
	},
	{
		Name: "gemini", Command: []string{"gemini", "--output-format", "stream-json", "-p", ""}, Cost: "gemini", Limits: "@gemini",
		Permit: "--yolo", Login: "gemini, then /auth; or GEMINI_API_KEY", Version: "0.61.0",
	},
	{
		Name: "opencode", Command: []string{"opencode", "run", "--format", "json"}, Cost: "opencode",
		Permit: `"permission": "allow" in opencode.json`, Login: "opencode auth login", Version: "1.18.33",
	},
	{
		Name: "cursor", Command: []string{"cursor-agent", "-p", "--output-format", "stream-json"},
		Permit: "--force", Login: "cursor-agent login; or CURSOR_API_KEY",
	},
	{
		Name: "copilot", Command: []string{"copilot", "--output-format", "json"},
		Permit: "--allow-all-tools", Login: "copilot, then /login; or GH_TOKEN",
	},
}

// unsupervised are commands of agents that cannot be set up; they too end with 0
// whatever they achieved.
var unsupervised = []string{"aider", "goose", "amp"}

// All are the agents that can be set up, the ones that were tried first.
func All() []Agent { return slices.Clone(all) }

// Names are their names.
func Names() []string {
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.Name
	}
	return names
}

// Find is the agent of a name.
func Find(name string) (Agent, bool) {
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return all[i], true
}

// Of is the agent that a command starts, by the name of its program. It may be one that
// cannot be set up, which has nothing but a name.
func Of(command []string) (Agent, bool) {
	if len(command) == 0 {
		return Agent{}, false
	}
	program := strings.TrimSuffix(filepath.Base(command[0]), ".exe")
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Command[0] == program })
	switch {
	case i >= 0:
		return all[i], true
	case slices.Contains(unsupervised, program):
		return Agent{Name: program}, true
	}
	return Agent{}, false
}
