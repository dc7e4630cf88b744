package main

import (
	"cmp"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/config"
)

// commands returns the fields of [cli] that describe commands, by the commands' names.
func commands() iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for f := range reflect.TypeFor[cli]().Fields() {
			if !f.Anonymous && !yield(cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)), f) {
				return
			}
		}
	}
}

// visibleCommands returns the names of the commands that are not hidden.
func visibleCommands() []string {
	var names []string
	for name, f := range commands() {
		if _, hidden := f.Tag.Lookup("hidden"); !hidden {
			names = append(names, name)
		}
	}
	return names
}

// grammarFor returns [cli] with the commands that the words can mean; the others have just
// their name, or are not in it unless they are asked for. Describing all commands takes longer
// than the rest of a start.
func grammarFor(own []string, others bool) (grammar any, flags *commonFlags) {
	var fields []reflect.StructField
	first := false // whether the first word is a command, so that no flag before it can be run's
	for name, f := range commands() {
		first = first || len(own) > 0 && own[0] == name
		whole := slices.Contains(own, name)
		if !whole && name != "run" {
			f.Type = reflect.TypeFor[struct{}]()
		}
		if whole || others || name == "run" {
			fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		}
	}
	if first && !slices.Contains(own, "run") {
		fields[0].Type = reflect.TypeFor[struct{}]()
	}
	fields = append(fields, reflect.StructField{Name: "Common", Type: reflect.TypeFor[commonFlags](), Tag: `embed:""`})
	v := reflect.New(reflect.StructOf(fields))
	flags, _ = v.Elem().FieldByName("Common").Addr().Interface().(*commonFlags) // it is one
	return v.Interface(), flags
}

// newParser builds a parser from the description of the commands.
func newParser(grammar any, options ...kong.Option) *kong.Kong {
	return kong.Must(grammar, append([]kong.Option{
		kong.Name("looprun"), kong.Description(description), kong.FlagNamer(config.FlagName),
		kong.KindMapper(reflect.String, kong.MapperFunc(config.AsGiven)), kong.ExplicitGroups(groups),
	}, options...)...)
}

// model describes all commands. If it cannot be built, there is a bug in the program, which
// every test detects.
func model() *kong.Application { return modelOf(new(cli)) }

func modelOf(grammar any) *kong.Application {
	return newParser(grammar, kong.Writers(io.Discard, io.Discard)).Model
}

// parse parses looprun's own arguments, reads the configuration for the command that they
// name, and fills its fields. The context is nil if they request help or the version, which
// parse prints.
func (a *app) parse(own []string) (*kong.Context, error) {
	grammar, flags := grammarFor(own, false)
	parser := newParser(grammar, kong.Writers(a.stdout, a.stderr))
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
		Command: node.Path(), Holds: l.held, Given: l.given, Files: flags.FileFlags, Args: a.args, HasCommand: a.hasCommand,
		Stdin: a.stdin, Stderr: a.files.stderr, Say: &a.say.Messages,
		Variables: otherVariables, Inside: commandVariables,
	})
	if err != nil {
		return nil, err
	}
	a.config.Fill(&flags.Flags)
	a.config.Fill(node.Target.Addr().Interface())
	a.flags = flags.Flags
	return ctx, nil
}

// otherVariables returns the variables of all flags that are not keys.
func otherVariables() []string { return variablesOf(model().Node) }

// variablesOf returns the variables of the command's flags that are not keys.
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
