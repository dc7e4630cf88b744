package main

import (
	"errors"
	"io"
	"reflect"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/config"
)

// newParser describes all commands with their flags, once.
func newParser(grammar any, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(grammar, append([]kong.Option{
		kong.Name("looprun"), kong.Description(description), kong.FlagNamer(config.FlagName),
		kong.KindMapper(reflect.String, kong.MapperFunc(config.AsGiven)), kong.ExplicitGroups(groups),
	}, options...)...)
}

// model describes all commands. There is a fault in the program when it cannot be made,
// which every test sees.
func model() (*kong.Application, error) {
	parser, err := newParser(new(cli), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return nil, err
	}
	return parser.Model, nil
}

// errHelped ends what asked for help.
var errHelped = errors.New("help was asked for")

// parse reads looprun's own arguments and the configuration for the command that they name,
// and fills its fields. The context is nil where they ask for help or for the version, which
// is printed.
func (a *app) parse(own []string) (*kong.Context, error) {
	var c cli
	parser, err := newParser(&c, kong.Writers(a.stdout, a.stderr))
	if err != nil {
		return nil, err
	}
	var command []string
	if a.hasCommand {
		command = append([]string{}, a.command...)
	}
	l, err := readLine(parser.Model, own, command)
	a.line = l
	switch {
	case l.version:
		a.printVersion()
		return nil, nil
	case l.helps:
		return nil, a.help(l.node, len(own) > 1)
	case err != nil:
		return nil, err
	case len(l.node.Children) > 0 && l.node.Parent != nil:
		return nil, a.help(l.node, true)
	case a.hasCommand && l.node.Parent != nil && !takesCommand(l.node):
		return nil, config.Usage(l.node.Path()+" takes no command after --", "give a command to looprun run")
	}
	ctx, err := parser.Parse(l.words())
	if err != nil {
		return nil, config.Usage(err.Error(), "see looprun "+l.node.Path()+" --help")
	}
	node := ctx.Selected()
	a.config, err = config.Read(config.Call{
		Command: node.Path(), Holds: l.held, Given: l.given, Files: c.FileFlags, Args: a.args, HasCommand: a.hasCommand,
		Stdin: a.stdin, Stderr: a.files.stderr, Say: &a.say.Messages,
		Variables: func() []string { return variablesOf(parser.Model.Node) }, Inside: commandVariables,
	})
	if err != nil {
		return nil, err
	}
	a.config.Fill(&c.commonFlags.Flags)
	a.config.Fill(node.Target.Addr().Interface())
	a.flags = c.commonFlags.Flags
	return ctx, nil
}

// variablesOf are the variables of the flags that are no keys.
func variablesOf(n *kong.Node) []string {
	var names []string
	for _, f := range n.Flags {
		names = append(names, f.Envs...)
	}
	for _, child := range n.Children {
		names = append(names, variablesOf(child)...)
	}
	return names
}
