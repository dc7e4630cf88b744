package main

import (
	"cmp"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/proc"
)

// runOnly is the part of [cli] that looprun run needs. Reading the description
// of all commands and their flags takes several times as long as parsing does,
// and a loop is started far more often than anything else.
type runOnly struct {
	Run runCmd `cmd:"" default:"withargs" help:"Run a command in a loop until it is done (the default command)."`
	commonFlags
}

// agentOnly is runOnly where --agent is given: the words behind the flags are the
// task then, and no command of looprun.
type agentOnly struct {
	Run agentRunCmd `cmd:"" default:"withargs" help:"Run a command in a loop until it is done (the default command)."`
	commonFlags
}

// names reports whether one of the arguments is the flag, with its value or before it.
func names(args []string, flag string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") })
}

// parsed is what became of looprun's own arguments.
type parsed struct {
	ctx    *kong.Context
	model  *kong.Application
	flags  *commonFlags
	exited int   // exit code of --help and --version; -1: it was neither
	err    error // what is wrong with the arguments
}

// part is [cli] with one command whole; of the others it has the name and what it is
// for; without a name, none is whole. Of a word that is no command it is nil.
func part(command string) (grammar any, flags *commonFlags) {
	whole := reflect.TypeFor[cli]()
	fields := make([]reflect.StructField, whole.NumField())
	found := command == ""
	for i := range fields {
		f := whole.Field(i)
		switch {
		case f.Anonymous:
			fields[i] = reflect.StructField{Name: "Common", Type: f.Type, Tag: `embed:""`}
			continue
		case commandName(f) == command:
			found = true
		default:
			f.Type = reflect.TypeFor[struct{}]()
		}
		fields[i] = reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag}
	}
	if !found {
		return nil, nil
	}
	v := reflect.New(reflect.StructOf(fields))
	flags, _ = v.Elem().FieldByName("Common").Addr().Interface().(*commonFlags) // it is one
	return v.Interface(), flags
}

// commandName is what the command is called.
func commandName(f reflect.StructField) string {
	return cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name))
}

// first is the command that the arguments begin with.
func first(args []string) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return "run"
	}
	return args[0]
}

// commandIn is the command that the arguments are for; empty: the help of all. Known says
// that they are for no other: behind a flag there may be one.
func commandIn(args []string) (command string, known bool) {
	switch command = first(args); {
	case helps(args) && len(args) == 1:
		return "", true
	case command == "run":
		return command, helps(args) && args[0] == "run"
	}
	return command, true
}

func helps(args []string) bool { return slices.Contains(args, "--help") || slices.Contains(args, "-h") }

// parse reads looprun's own arguments, and the configuration for the command
// that they name. Its error is not the user's.
func (a *app) parse(own []string) (parsed, error) {
	command, known := commandIn(own)
	if !known {
		if !helps(own) {
			proc.Prepare() // most of these are runs
		}
		p, helped, err := a.parseRun(own)
		if err != nil || !helped && (p.err == nil || a.config != nil) {
			return p, err
		}
	}
	// Help names the other commands, and what is wrong with words that are none may
	// name their flags. Nothing has been read by then.
	if grammar, flags := part(command); grammar != nil && known {
		p, _, err := a.parseWith(grammar, flags, own)
		if err != nil || p.exited >= 0 || p.err == nil || a.config != nil {
			return p, err
		}
	}
	var c cli
	p, _, err := a.parseWith(&c, &c.commonFlags, own)
	return p, err
}

func (a *app) parseRun(own []string) (parsed, bool, error) {
	if names(own, "--agent") {
		var c agentOnly
		return a.parseWith(&c, &c.commonFlags, own)
	}
	var c runOnly
	return a.parseWith(&c, &c.commonFlags, own)
}

// parseWith parses by a grammar; helped reports that help was asked for, which
// is not printed by those of run alone.
func (a *app) parseWith(grammar any, flags *commonFlags, own []string) (p parsed, helped bool, err error) {
	p = parsed{flags: flags, exited: -1}
	_, ofRun := grammar.(*runOnly)
	_, ofAgent := grammar.(*agentOnly)
	parser, err := newParser(grammar,
		kong.Writers(a.stdout, a.stderr), kong.Exit(func(code int) { p.exited = code }),
		kong.Help(func(o kong.HelpOptions, ctx *kong.Context) error {
			if helped = true; ofRun || ofAgent {
				return nil
			}
			return help(o, ctx)
		}),
		kong.WithBeforeResolve(func(ctx *kong.Context) error {
			if p.exited >= 0 || a.config != nil { // it is called for every flag
				return nil
			}
			var err error
			a.config, err = config.Read(ctx, config.Call{
				Args: a.args, HasCommand: a.hasCommand, Stdin: a.stdin, Stderr: a.files.stderr, Say: &a.say.Messages,
				Whole: wholeModel, Inside: commandVariables,
			})
			return err
		}),
	)
	if err != nil {
		return p, helped, err
	}
	p.model = parser.Model
	p.ctx, p.err = parser.Parse(own)
	return p, helped, nil
}

func newParser(grammar any, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(grammar, append([]kong.Option{
		kong.Name("looprun"), kong.Description(description), kong.UsageOnError(),
		kong.DefaultEnvars("LOOPRUN"), kong.KindMapper(reflect.String, kong.MapperFunc(config.AsGiven)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}), kong.ExplicitGroups(groups),
	}, options...)...)
}

// modelFor describes what can follow the words: all commands, and the flags of the one
// that they begin with.
func modelFor(words []string) (*kong.Application, error) {
	grammar, _ := part(first(words))
	if grammar == nil { // the first word is not whole yet
		grammar, _ = part("run")
	}
	parser, err := newParser(grammar, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return nil, err
	}
	return parser.Model, nil
}

// wholeModel describes all commands. There is a fault in the program when it
// cannot be made, which every test of help sees.
func wholeModel() (*kong.Application, error) {
	parser, err := newParser(new(cli), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return nil, err
	}
	return parser.Model, nil
}
