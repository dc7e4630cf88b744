package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// helpCmd shows the help of a command.
type helpCmd struct {
	Words []string `arg:"" optional:"" name:"command" help:"The command, such as policy test, or exit."`
}

// Help shows an example below the flags.
func (helpCmd) Help() string {
	return `Example:
  looprun help policy test
  looprun help exit           what the exit codes mean`
}

func (c *helpCmd) Run(a *app) error {
	if len(c.Words) == 1 && slices.Contains([]string{"exit", "exit-codes", "exit-code"}, c.Words[0]) {
		for _, e := range exitStatuses() {
			fmt.Fprintf(a.stdout, "%-8s%s\n", e.Term, e.Text)
		}
		return nil
	}
	if grammar, _ := part(strings.Join(c.Words, " "), false); grammar != nil { // none, or one that there is
		_, err := a.parse(append(c.Words, "--help"))
		return err
	}
	model, err := modelFor(c.Words)
	if err != nil {
		return err
	}
	node := model.Node
	for i, word := range c.Words {
		at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word && !n.Hidden })
		if at < 0 && i > 0 {
			return noCommand(word, node)
		}
		if at < 0 {
			return misplaced(c.Words[i:], visibleNames(node))
		}
		node = node.Children[at]
	}
	_, err = a.parse(append(strings.Fields(node.Path()), "--help"))
	return err
}
