package main

import (
	"cmp"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"

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

// someOnly is a command with the flags of run that the arguments and the environment may
// name, and those that have a default: most runs name few, and to describe a flag takes far
// longer than to parse it. What a file says, and the help, need all of them.
type someOnly struct {
	grammar any
	flags   *commonFlags
	given   reflect.Value // what the grammar parses into
	fields  [][]int       // where its fields stand in the command
}

// someOf is for the command whose field, and those of the commands above it, are called so. It
// is nil where all flags are needed: --agent sets others, and --dry-run shows them.
func someOf(own, environ []string, path ...string) *someOnly {
	named := mentioned(own, environ)
	if helps(own) || named["agent"] || named["dryrun"] {
		return nil
	}
	s := &someOnly{}
	above := make([]reflect.StructField, len(path))
	command := reflect.TypeFor[cli]()
	for i, name := range path {
		above[i], _ = command.FieldByName(name) // it has one
		command = above[i].Type
	}
	var of []reflect.StructField
	config.EachField(command, func(f reflect.StructField) {
		_, short := f.Tag.Lookup("short")
		_, has := f.Tag.Lookup("default")
		if f.Tag.Get("kong") != "-" && (short || has || named[plain(cmp.Or(f.Tag.Get("name"), f.Name))]) {
			of = append(of, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
			s.fields = append(s.fields, f.Index)
		}
	})
	for _, f := range slices.Backward(above) {
		of = []reflect.StructField{{Name: f.Name, Type: reflect.StructOf(of), Tag: f.Tag}}
	}
	v := reflect.New(reflect.StructOf(append(of, reflect.StructField{Name: "Common", Type: reflect.TypeFor[commonFlags](), Tag: `embed:""`})))
	s.grammar, s.given = v.Interface(), v.Elem()
	for range path {
		s.given = s.given.Field(0)
	}
	s.flags, _ = v.Elem().Field(1).Addr().Interface().(*commonFlags) // it is one
	return s
}

// fill sets the fields of the command that were given.
func (s *someOnly) fill(command any) {
	to := reflect.ValueOf(command).Elem()
	for i, index := range s.fields {
		to.FieldByIndex(index).Set(s.given.Field(i))
	}
}

// run is looprun run with them.
func (s *someOnly) run() *runCmd {
	var c runCmd
	s.fill(&c)
	return &c
}

// mentioned are the flags that arguments and variables may name.
func mentioned(args, environ []string) map[string]bool {
	named := map[string]bool{}
	note := func(text string, ok bool) {
		if name, _, _ := strings.Cut(text, "="); ok {
			named[plain(name)] = true
		}
	}
	for _, a := range args {
		note(strings.CutPrefix(a, "--"))
	}
	for _, v := range environ {
		note(strings.CutPrefix(strings.ToUpper(v), "LOOPRUN_"))
	}
	return named
}

// plain is what the names of a field, of its flag and of its variable have in common.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// names reports whether one of the arguments is the flag, with its value or before it.
func names(args []string, flag string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") })
}

// errHelped ends the parsing of arguments that ask for help.
var errHelped = errors.New("help was asked for")

// parsed is what became of looprun's own arguments.
type parsed struct {
	ctx    *kong.Context
	model  *kong.Application
	flags  *commonFlags
	exited int   // exit code of --help and --version; -1: it was neither
	err    error // what is wrong with the arguments
	run    func(*app) error
	loop   func() *runCmd // of a run without --agent
}

// part is [cli] with one command whole; of the others it has the name and what it is
// for, or nothing; without a name, none is whole. Where words follow and the first is a
// command below it, that is its only one. Of a word that is no command it is nil.
func part(command string, others bool, words ...string) (grammar any, flags *commonFlags) {
	all := reflect.TypeFor[cli]()
	var fields []reflect.StructField
	found := command == ""
	for i := range all.NumField() {
		f := all.Field(i)
		switch {
		case f.Anonymous:
			f = reflect.StructField{Name: "Common", Type: f.Type, Tag: `embed:""`}
		case commandName(f) == command:
			f.Type, found = only(f.Type, words), true
		case !others:
			continue
		default:
			f.Type = reflect.TypeFor[struct{}]()
		}
		fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
	}
	if !found {
		return nil, nil
	}
	v := reflect.New(reflect.StructOf(fields))
	flags, _ = v.Elem().FieldByName("Common").Addr().Interface().(*commonFlags) // it is one
	return v.Interface(), flags
}

// only is the command with no other one below it than the word says, unless it has
// methods, which would be lost.
func only(command reflect.Type, words []string) reflect.Type {
	for i := range command.NumField() {
		f := command.Field(i)
		if _, is := f.Tag.Lookup("cmd"); is && len(words) > 0 && commandName(f) == words[0] && reflect.PointerTo(command).NumMethod() == 0 {
			return reflect.StructOf([]reflect.StructField{{Name: f.Name, Type: f.Type, Tag: f.Tag}})
		}
	}
	return command
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
		if !helps(own) && !names(own, "--dry-run") {
			proc.Prepare() // most of these are runs
		}
		p, helped, err := a.parseRun(own)
		if err != nil || !helped && (p.err == nil || a.config != nil) {
			return p, err
		}
	}
	if command == "config" && len(own) > 1 && own[1] == "show" {
		if some := someOf(own, os.Environ(), "Config", "Show"); some != nil {
			p, _, err := a.parseWith(some.grammar, some.flags, own, someOfRun)
			p.run = func(a *app) error {
				var c configShowCmd
				some.fill(&c)
				return c.Run(a)
			}
			if err != nil || p.err == nil || a.config != nil {
				return p, err
			}
		}
	}
	grammar, flags := part(command, command == "", own[min(1, len(own)):]...)
	if grammar != nil && known {
		p, _, err := a.parseWith(grammar, flags, own, whole)
		if err != nil || p.exited >= 0 || p.err == nil || a.config != nil {
			return p, err
		}
	}
	// What is wrong with the words names the other commands, of which one may stand behind
	// flags. Nothing has been read by then.
	if grammar == nil {
		command = "run"
	}
	if grammar, flags = part(command, true); !known && slices.Index(own, "run") != 0 && slices.ContainsFunc(own, isCommand) {
		var c cli
		grammar, flags = &c, &c.commonFlags
	}
	p, _, err := a.parseWith(grammar, flags, own, whole)
	return p, err
}

func isCommand(word string) bool {
	grammar, _ := part(word, false)
	return word != "" && grammar != nil
}

func (a *app) parseRun(own []string) (parsed, bool, error) {
	if names(own, "--agent") {
		var c agentOnly
		return a.parseWith(&c, &c.commonFlags, own, ofRun)
	}
	if some := someOf(own, os.Environ(), "Run"); some != nil {
		p, helped, err := a.parseWith(some.grammar, some.flags, own, someOfRun)
		if p.loop, p.run = some.run, func(a *app) error { return some.run().Run(a) }; !errors.Is(p.err, config.ErrPart) {
			return p, helped, err
		}
	}
	var c runOnly
	p, helped, err := a.parseWith(&c, &c.commonFlags, own, ofRun)
	p.loop = func() *runCmd { return &c.Run }
	return p, helped, err
}

// extent is how much a grammar describes.
type extent int

const (
	whole     extent = iota // the other commands too
	ofRun                   // looprun run with its flags
	someOfRun               // not even all of these
)

// parseWith parses by a grammar; helped reports that help was asked for, which
// is not printed by those of run alone.
func (a *app) parseWith(grammar any, flags *commonFlags, own []string, by extent) (p parsed, helped bool, err error) {
	p = parsed{flags: flags, exited: -1, run: func(a *app) error { return p.ctx.Run(a) }}
	parser, err := newParser(grammar,
		kong.Writers(a.stdout, a.stderr), kong.Exit(func(code int) { p.exited = code }),
		kong.Help(func(_ kong.HelpOptions, ctx *kong.Context) error {
			if helped = true; by == whole {
				if err := help(ctx, helpWidth(a.files.stdout)); err != nil {
					return err
				}
				p.exited = 0
			}
			return errHelped
		}),
		kong.WithBeforeResolve(func(ctx *kong.Context) error {
			if p.exited >= 0 || a.config != nil { // it is called for every flag
				return nil
			}
			var err error
			a.config, err = config.Read(ctx, config.Call{
				Args: a.args, HasCommand: a.hasCommand, Stdin: a.stdin, Stderr: a.files.stderr, Say: &a.say.Messages,
				Whole: wholeModel, Inside: commandVariables, Part: by == someOfRun,
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
	var putBack func()
	parser, err := kong.New(grammar, append([]kong.Option{
		kong.Name("looprun"), kong.Description(description), kong.UsageOnError(), kong.FlagNamer(config.FlagName),
		kong.PostBuild(func(k *kong.Kong) error { putBack = setAside(k.Model.Node); return nil }), kong.KindMapper(reflect.String, kong.MapperFunc(config.AsGiven)),
		kong.ExplicitGroups(groups),
	}, options...)...)
	if err == nil {
		putBack()
	}
	return parser, err
}

// setAside takes the flags and arguments away, in all of whose texts kong would look for
// variables, by a regular expression. It is put back with its variable, and
// with its default and its words in its help.
func setAside(n *kong.Node) (putBack func()) {
	flags, args := n.Flags, n.Positional
	n.Flags, n.Positional = nil, nil
	below := make([]func(), len(n.Children))
	for i, child := range n.Children {
		below[i] = setAside(child)
	}
	return func() {
		n.Flags, n.Positional = flags, args
		for _, f := range flags {
			nameVariable(f)
			fillIn(f.Value)
		}
		for _, arg := range args {
			fillIn(arg)
		}
		for _, putBack := range below {
			putBack()
		}
	}
}

// fillIn sets the default and the words in a help text.
func fillIn(v *kong.Value) {
	if strings.Contains(v.Help, "${") {
		v.Help = strings.ReplaceAll(strings.ReplaceAll(v.Help, "${default}", v.Default), "${enum}", v.Enum)
	}
	v.OrigHelp = "" // it would be looked into once more
}

// nameVariable gives a flag its variable, unless its tag says that it has none.
func nameVariable(f *kong.Flag) {
	switch {
	case f.Name == "help":
	case len(f.Envs) == 0:
		f.Envs = []string{config.Variable(f.Name)}
	case f.Envs[0] == "-":
		f.Envs = nil
	}
	f.Tag.Envs = f.Envs
}

// modelFor describes what can follow the words: all commands, and the flags of the one
// that they begin with.
func modelFor(words []string) (*kong.Application, error) {
	command := first(words)
	if grammar, _ := part(command, false); grammar == nil { // the first word is not whole yet
		command = "run"
	}
	return modelOf(command, len(words) < 2 || words[0] != command)
}

// modelOf describes a command with its flags, and the names of the others; empty: of all.
func modelOf(command string, others bool) (*kong.Application, error) {
	grammar, _ := part(command, others)
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
