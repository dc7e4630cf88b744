package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/nearest"
)

// helpCmd shows the help of a command, of a key or of a topic.
type helpCmd struct {
	Words []string `arg:"" optional:"" name:"command" complete:"topics" help:"The command, such as policy test; or a topic: see looprun help topics."`
}

// Help shows an example below the flags.
func (helpCmd) Help() string {
	return `Example:
  looprun help policy test
  looprun help keys                  all keys of looprun.yaml
  looprun help keys done_codes       one of them, with an example
  looprun help exit                  what the exit codes mean`
}

func (c *helpCmd) Run(a *app) error {
	if len(c.Words) > 0 {
		if t, ok := topic(root(a.line.node), c.Words[0]); ok && len(c.Words) == 1 {
			return t.write(a.stdout, helpWidth(a.files.stdout))
		}
		if c.Words[0] == "keys" && len(c.Words) == 2 {
			return keyHelp(a.stdout, c.Words[1], helpWidth(a.files.stdout))
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
			return noHelp(word, node)
		}
	}
	return a.help(node, len(c.Words) > 0)
}

// noHelp returns the error for a word that is neither a command nor a topic.
func noHelp(word string, root *kong.Node) error {
	known := visibleNames(root)
	for _, t := range topics(root) {
		known = append(known, t.name)
	}
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
	write       func(w io.Writer, width int) error
}

func topic(root *kong.Node, name string) (aTopic, bool) {
	all := topics(root)
	i := slices.IndexFunc(all, func(t aTopic) bool { return t.name == name || slices.Contains(t.other, name) })
	if i < 0 {
		return aTopic{}, false
	}
	return all[i], true
}

func topics(root *kong.Node) []aTopic {
	return []aTopic{
		{name: "keys", about: "all keys of looprun.yaml, for -o KEY=VALUE too", other: []string{"key", "options"}, write: keysHelp},
		{name: "exit", about: "what the exit codes mean", other: []string{"exit-codes", "exit-code"}, write: exitHelp},
		{name: "environment", about: "the variables that the command finds", other: []string{"env"}, write: environmentHelp},
		{name: "ladder", about: "who tries when the command is stuck: the escalation ladder", write: text(ladderTopic)},
		{name: "rejections", about: "how the command rejects its task", other: []string{"rejection"}, write: text(rejectionsTopic)},
		{name: "signals", about: "how the command reports on its work", other: []string{"signal-protocol"}, write: text(signalsTopic)},
		{name: "topics", about: "this list", write: topicsHelp(root)},
	}
}

// topicsHelp lists the topics, and the commands that the first screen leaves out.
func topicsHelp(root *kong.Node) func(io.Writer, int) error {
	return func(w io.Writer, width int) error {
		rows := [][2]string{}
		for _, t := range topics(root) {
			if t.name != "topics" {
				rows = append(rows, [2]string{t.name, t.about})
			}
		}
		for _, n := range root.Children {
			if n.Tag.Get("in") == "rare" {
				rows = append(rows, [2]string{n.Name, n.Help})
			}
		}
		for _, row := range rows {
			if err := wrapped(w, fmt.Sprintf("looprun help %-12s  ", row[0]), row[1], width); err != nil {
				return err
			}
		}
		return nil
	}
}

func text(of string) func(io.Writer, int) error {
	return func(w io.Writer, _ int) error {
		_, err := io.WriteString(w, of)
		return err
	}
}

func exitHelp(w io.Writer, width int) error {
	for _, e := range exitStatuses() {
		if err := wrapped(w, fmt.Sprintf("%-8s", e[0]), e[1], width); err != nil {
			return err
		}
	}
	return nil
}

func environmentHelp(w io.Writer, width int) error {
	if err := wrapped(w, "", "What the command finds in its environment (more: docs/running.md):", width); err != nil {
		return err
	}
	for _, e := range commandEnvironment() {
		if err := wrapped(w, "  ", e[0], width); err != nil {
			return err
		}
		if err := wrapped(w, "      ", e[1], width); err != nil {
			return err
		}
	}
	return nil
}

// wrapped writes a text after lead, indenting the other lines by its width.
func wrapped(w io.Writer, lead, text string, width int) error {
	for _, line := range cells.Wrap(text, width-len(lead), "") {
		if _, err := fmt.Fprintln(w, strings.TrimRight(lead+line, " ")); err != nil {
			return err
		}
		lead = strings.Repeat(" ", len(lead))
	}
	return nil
}

// keysHelp lists all keys.
func keysHelp(w io.Writer, width int) error {
	fmt.Fprint(w, "Keys of looprun.yaml. Give one with -o KEY=VALUE, as a flag (done_codes as\n--done-codes) or as a variable (LOOPRUN_DONE_CODES). looprun help keys KEY\nexplains one.\n\n")
	for _, k := range config.Keys() {
		if err := wrapped(w, fmt.Sprintf("%-24s", k.Name), shortHelp(k), width); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "\nOnly in looprun.yaml:\n\n")
	for _, b := range config.Blocks() {
		if err := wrapped(w, fmt.Sprintf("%-24s", b.Name), b.About, width); err != nil {
			return err
		}
	}
	return nil
}

// keyHelp explains one key.
func keyHelp(w io.Writer, word string, width int) error {
	for _, b := range config.Blocks() {
		if b.Name == word {
			return wrapped(w, "", word+" is written in looprun.yaml alone. "+b.About+" See docs/configuration.md.", width)
		}
	}
	k, _, ok := config.Spelled(word)
	if !ok {
		remedy := config.NearestKey(word)
		if remedy == "" {
			remedy = "looprun help keys lists them"
		}
		return config.Usage(fmt.Sprintf("%q is not a key of looprun.yaml", word), remedy)
	}
	fmt.Fprintf(w, "%s\n\n", k.Name)
	if err := wrapped(w, "  ", k.Help(), width); err != nil {
		return err
	}
	fmt.Fprintln(w)
	row := func(title, text string) {
		if text != "" {
			_ = wrapped(w, fmt.Sprintf("  %-16s", title), text, width)
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
	fmt.Fprintf(w, "\nExample in looprun.yaml:\n  %s\nOn a command line:\n  %s\n", k.YAML(value), "-o "+k.Name+"="+shellWord(value))
	return nil
}
