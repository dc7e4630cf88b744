package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
)

// helpCmd shows the help of a command, of a key or of a topic.
type helpCmd struct {
	Words []string `arg:"" optional:"" name:"command" complete:"topics" help:"The command, such as policy test; or a topic: see looprun help topics."`
}

func (c *helpCmd) Run(a *app) error {
	if len(c.Words) > 0 {
		if t, ok := topic(c.Words[0]); ok && len(c.Words) == 1 {
			return a.print(t.text(helpWidth(a.files.stdout)))
		}
		if c.Words[0] == "keys" && len(c.Words) == 2 {
			text, err := keyHelp(c.Words[1], helpWidth(a.files.stdout))
			if err != nil {
				return err
			}
			return a.print(text)
		}
	}
	node := root(a.line.node)
	for i, word := range c.Words {
		below := (&line{node: node}).below(word)
		switch {
		case below != nil && !below.Hidden:
			node = below
		case i > 0:
			return noCommand(word, node)
		default:
			return noHelp(word)
		}
	}
	return a.help(node, len(c.Words) > 0)
}

// noHelp returns the error for a word that is neither a command nor a topic.
func noHelp(word string) error {
	known := append(visibleCommands(), convert.Each(topics(), func(t aTopic) string { return t.name })...)
	remedy := "looprun help topics lists the topics, looprun help the commands"
	if near := cmp.Or(otherNames[word], nearest.Word(word, known)); near != "" {
		remedy = "did you mean looprun help " + near + "?"
	} else if k, _, ok := config.Spelled(word); ok {
		remedy = "did you mean looprun help keys " + k.Name + "?"
	}
	return config.Usage(fmt.Sprintf("there is no help for %q", word), remedy)
}

// aTopic is a help page that does not belong to a command.
type aTopic struct {
	name, about string
	other       []string // names that it has too
	text        func(width int) string
}

func topic(name string) (aTopic, bool) {
	all := topics()
	i := slices.IndexFunc(all, func(t aTopic) bool { return t.name == name || slices.Contains(t.other, name) })
	if i < 0 {
		return aTopic{}, false
	}
	return all[i], true
}

func topics() []aTopic {
	return []aTopic{
		{name: "keys", about: "all keys of looprun.yaml, for -o KEY=VALUE too", other: []string{"key", "options"}, text: keysHelp},
		{name: "exit", about: "what the exit codes mean", other: []string{"exit-codes", "exit-code"}, text: exitHelp},
		{name: "environment", about: "the variables that the command finds", other: []string{"env"}, text: environmentHelp},
		{name: "ladder", about: "who tries when the command is stuck: the escalation ladder", text: constant(ladderTopic)},
		{name: "rejections", about: "how the command rejects its task", other: []string{"rejection"}, text: constant(rejectionsTopic)},
		{name: "signals", about: "how the command reports on its work", other: []string{"signal-protocol"}, text: constant(signalsTopic)},
		{name: "topics", about: "this list", text: topicsHelp},
	}
}

// topicsHelp lists the topics, and the commands that the first screen leaves out.
func topicsHelp(width int) (text string) {
	row := func(name, about string) { text += wrapped(fmt.Sprintf("looprun help %-12s  ", name), about, width) }
	for _, t := range topics() {
		if t.name != "topics" {
			row(t.name, t.about)
		}
	}
	for name, f := range commands() {
		if f.Tag.Get("in") == "rare" {
			row(name, f.Tag.Get("help"))
		}
	}
	return text
}

// constant returns a page that is the same at any width.
func constant(text string) func(int) string { return func(int) string { return text } }

func exitHelp(width int) (text string) {
	for _, e := range exitStatuses() {
		text += wrapped(fmt.Sprintf("%-8s", e[0]), e[1], width)
	}
	return text
}

func environmentHelp(width int) string {
	text := wrapped("", "What the command finds in its environment (more: docs/running.md):", width)
	for _, e := range commandEnvironment() {
		text += wrapped("  ", e[0], width) + wrapped("      ", e[1], width)
	}
	return text
}

// wrapped returns the lines of a text after lead; those after the first are indented by its width.
func wrapped(lead, text string, width int) (lines string) {
	for _, line := range cells.Wrap(text, width-len(lead), "") {
		lines += strings.TrimRight(lead+line, " ") + "\n"
		lead = strings.Repeat(" ", len(lead))
	}
	return lines
}

// keysHelp lists all keys.
func keysHelp(width int) string {
	text := "Keys of looprun.yaml. Give one with -o KEY=VALUE, as a flag (done_codes as\n--done-codes) or as a variable (LOOPRUN_DONE_CODES). looprun help keys KEY\nexplains one.\n\n"
	for _, k := range config.Keys() {
		text += wrapped(fmt.Sprintf("%-24s", k.Name), shortHelp(k), width)
	}
	text += "\nOnly in looprun.yaml:\n\n"
	for _, b := range config.Blocks() {
		text += wrapped(fmt.Sprintf("%-24s", b.Name), b.About, width)
	}
	return text
}

// keyHelp explains one key.
func keyHelp(word string, width int) (string, error) {
	for _, b := range config.Blocks() {
		if b.Name == word {
			return wrapped("", word+" is written in looprun.yaml alone. "+b.About+" See docs/configuration.md.", width), nil
		}
	}
	k, _, ok := config.Spelled(word)
	if !ok {
		return "", config.Usage(fmt.Sprintf("%q is not a key of looprun.yaml", word), cmp.Or(config.NearestKey(word), "looprun help keys lists them"))
	}
	text := k.Name + "\n\n" + wrapped("  ", k.Help(), width) + "\n"
	row := func(title, value string) {
		if value != "" {
			text += wrapped(fmt.Sprintf("  %-16s", title), value, width)
		}
	}
	row("Values", k.Takes())
	row("Default", k.Default())
	flag := "--" + k.Flag()
	if !k.IsBool() {
		flag += " " + k.Placeholder()
	}
	if k.Short() != 0 {
		flag = "-" + string(k.Short()) + ", " + flag
	}
	row("As a flag", flag)
	row("As a variable", k.Variable())
	row("When found", k.Trust())
	value := k.Example()
	return text + fmt.Sprintf("\nExample in looprun.yaml:\n  %s\nOn a command line:\n  %s\n", k.YAML(value), "-o "+k.Name+"="+shellWord(value)), nil
}
