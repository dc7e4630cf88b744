package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/session"
)

// cli is the command line. The tag in says where a command stands in the help; one
// without stands under More.
type cli struct {
	Run       runCmd       `cmd:"" default:"withargs" in:"run" help:"Run a command in a loop until it is done (the default command)."`
	Many      manyCmd      `cmd:"" in:"run" help:"Run many loops, each in a git work tree of its own."`
	Resume    resumeCmd    `cmd:"" in:"run" help:"Resume a run that was paused or interrupted, that tripped, or that crashed."`
	Answer    answerCmd    `cmd:"" in:"answer" help:"Answer the question that a run waits with."`
	List      listCmd      `cmd:"" in:"look" help:"List the runs of this directory."`
	Show      showCmd      `cmd:"" in:"look" help:"Show what happened in a run."`
	Context   contextCmd   `cmd:"" in:"look" help:"Print what the next attempt should know, for a prompt."`
	Ask       askCmd       `cmd:"" in:"answer" help:"Ask a question from inside a run and wait for the answer."`
	Signal    signalCmd    `cmd:"" in:"answer" help:"Say from inside a run where the work stands."`
	Reject    rejectCmd    `cmd:"" in:"answer" help:"Say from inside a run that the task cannot be done as given."`
	Stats     statsCmd     `cmd:"" in:"look" help:"Count over all runs."`
	Doctor    doctorCmd    `cmd:"" in:"check" help:"Check the files of a run."`
	Diff      diffCmd      `cmd:"" in:"look" help:"Show what an iteration changed in the files."`
	Take      takeCmd      `cmd:"" in:"run" help:"Take what loops of looprun many made onto a new branch."`
	Restore   restoreCmd   `cmd:"" help:"Bring back the files of an iteration."`
	Prune     pruneCmd     `cmd:"" help:"Remove old runs."`
	Signature signatureCmd `cmd:"" in:"check" help:"Print the signature of recorded output."`
	Replay    replayCmd    `cmd:"" in:"check" help:"Replay recorded outputs, or an earlier run, through the guards; nothing is run."`
	Report    reportCmd    `cmd:"" in:"look" help:"Write a report of a run: Markdown, a web page, JSON or JUnit."`
	Explain   explainCmd   `cmd:"" in:"look" help:"Say why a run ended as it did, and what its iterations had in common."`
	Hook      hookCmd      `cmd:"" help:"Put the loop inside a coding agent's own session, as its stop hook."`
	Serve     serveCmd     `cmd:"" in:"look" help:"Show the runs in a browser, and take answers there."`
	Fleet     fleetCmd     `cmd:"" in:"run" help:"Run loops on many machines."`
	Policy    policyCmd    `cmd:"" in:"write" help:"Check and try out policy files."`
	Template  templateCmd  `cmd:"" in:"write" help:"Write, check and preview the questions."`
	Schema    schemaCmd    `cmd:"" help:"Print the JSON Schemas of documents and files."`
	Agents    agentsCmd    `cmd:"" in:"run" help:"List the coding agents that --agent can set up."`
	Config    configCmd    `cmd:"" in:"write" help:"Show, check and describe the configuration."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
	Help      helpCmd      `cmd:"" help:"Show the help of a command, or what the exit codes mean."`

	Init       initCmd       `cmd:"" in:"write" help:"Write a looprun.yaml and a policy for this project."`
	Completion completionCmd `cmd:"" help:"Print the script that makes a shell complete looprun."`
	Man        manCmd        `cmd:"" help:"Write the manual pages."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:""`

	commonFlags
}

// commonFlags are the flags of every command.
type commonFlags struct {
	ShowVersion versionFlag `name:"version" help:"Print the version." env:"-" key:"-"`
	console.Flags
	config.FileFlags
}

// app is what every command gets.
type app struct {
	stdin          *os.File
	stdout, stderr io.Writer
	files          struct{ stdout, stderr *os.File } // nil when not a file
	say            *console.Observer
	command        []string // what stands after --
	hasCommand     bool
	args           []string // all of them
	config         *config.Settings
	code           int           // exit code
	raise          session.Raise // signal to end by
}

// program is the process, for a run.
func (a *app) program() *session.Program {
	return &session.Program{Stdin: a.stdin, Stdout: a.files.stdout, Stderr: a.files.stderr, Say: a.say, Command: a.command, Config: a.config, Version: version()}
}

// end takes how a run has ended.
func (a *app) end(e session.Ended, err error) error {
	a.code, a.raise = e.Code, e.Raise
	return err
}

// printer prints on standard output. Its page or flush comes last.
func (a *app) printer() *console.Printer {
	return console.NewPrinter(a.stdout, a.files.stdout, a.say.Flags.Color)
}

// printJSON prints a value, or a list of them, on standard output, as JSON documents that
// the schema of this name describes.
func (a *app) printJSON(name string, v any) error { return console.PrintJSON(a.stdout, form(name), v) }

// execute runs looprun and returns its exit code.
func execute(args []string, stdin *os.File, stdout, stderr *os.File) (int, session.Raise) {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, args: args}
	a.files.stdout, a.files.stderr = stdout, stderr
	a.say = &console.Observer{Messages: console.Messages{W: stderr}}
	a.say.Configure(console.Flags{LogFormat: early(args, "--log-format", "LOOPRUN_LOG_FORMAT"), Color: "auto"}, console.IsTerminal(stderr), os.Getenv)
	own := args
	if i := slices.Index(args, "--"); i >= 0 {
		own, a.command, a.hasCommand = args[:i], args[i+1:], true
	}
	if len(own) == 1 && own[0] == "--version" {
		return a.printVersion(), 0
	}
	defer proc.CloseGuardians()
	p, err := a.parse(own)
	if err != nil {
		return a.problem(err)
	}
	if p.exited >= 0 { // --help and --version
		return p.exited, 0
	}
	ctx, err := p.ctx, p.err
	if err == nil {
		a.say.Configure(p.flags.Flags, console.IsTerminal(stderr), os.Getenv)
		if a.config != nil {
			a.config.SayFiles()
		}
		err = a.checkCommand(ctx)
	}
	if err == nil {
		if node := ctx.Selected(); node != nil && !loops(node) && !takesCommand(node) {
			// What looks back reads much, keeps little and is soon over.
			defer debug.SetGCPercent(debug.SetGCPercent(400))
		}
		err = p.run(a)
	} else {
		err = a.parseError(err, p.model, own)
	}
	if err != nil {
		return a.problem(err)
	}
	return a.code, a.raise
}

// early is the value of a flag before the command line was read, and where it is wrong.
func early(args []string, flag, variable string) string {
	value := os.Getenv(variable)
	for i, a := range args {
		if a == "--" {
			break
		}
		if a == flag && i+1 < len(args) {
			value = args[i+1]
		}
		if text, ok := strings.CutPrefix(a, flag+"="); ok {
			value = text
		}
	}
	return value
}

// problem says what is wrong, to the CI system too. Its exit code is that of all that
// did not work.
func (a *app) problem(err error) (int, session.Raise) {
	a.say.Problem(err)
	command := first(a.args)
	session.TellCIOfProblem(a.stderr, early(a.args, "--ci", "LOOPRUN_CI"), command == "run" || command == "resume" || command == "many", err)
	return core.ExitFailed, 0
}

// checkCommand refuses a command after -- where none is taken.
func (a *app) checkCommand(ctx *kong.Context) error {
	if name := ctx.Selected(); a.hasCommand && name != nil && !takesCommand(name) {
		return config.Usage(fmt.Sprintf("%s takes no command after --", name.Path()), "give a command to looprun run")
	}
	return nil
}

// parseError names the nearest known flag or command.
func (a *app) parseError(err error, model *kong.Application, args []string) error {
	if of, ok := errors.AsType[*config.FileError](err); ok {
		return of.Unwrap()
	}
	if of := mistaken(err); of != nil {
		if a.config != nil { // a variable may hold the value
			return a.config.Locate(of)
		}
		return of
	}
	text := err.Error()
	if rest, ok := strings.CutPrefix(text, "unexpected argument "); ok {
		word, _, _ := strings.Cut(rest, ",")
		names := visibleNames(model.Node)
		i := slices.Index(args, word)
		if i >= 0 && !slices.ContainsFunc(args[:i], func(a string) bool { return a != "run" && slices.Contains(names, a) }) {
			return misplaced(args[i:], names)
		}
	}
	node, after := model.Node, " A flag of the command itself goes after --."
	if of, ok := errors.AsType[*kong.ParseError](err); ok && of.Context != nil && of.Context.Selected() != nil {
		node = of.Context.Selected()
	}
	rest, unknown := strings.CutPrefix(text, "unknown flag ")
	if !unknown {
		text = strings.Replace(text, "(from envar ", "(from the variable ", 1)
		if argument, ok := strings.CutPrefix(strings.TrimPrefix(text, "["), "<"); ok { // <run> or [<run>]
			name, rest, _ := strings.Cut(argument, ">")
			text = name + strings.TrimPrefix(rest, "]")
		}
		if line, ok := strings.CutPrefix(text, "--shell: "); ok && !names(args, "--shell") {
			text = "-c: " + line
		}
		return config.Usage(text, "see "+node.FullPath()+" --help")
	}
	flag, _, _ := strings.Cut(rest, ",")
	if node != model.Node && !takesCommand(node) {
		after = ""
	}
	known := flagNames(node)
	if node == model.Node { // which has the names alone of other commands
		known = append([]string{"help"}, flagsOf(reflect.TypeFor[cli]())...)
	}
	for n := node.Parent; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			known = append(known, f.Name)
		}
	}
	remedy := node.FullPath() + " --help lists the flags."
	if near := nearest.Word(strings.TrimLeft(flag, "-"), known); near != "" {
		remedy = "did you mean --" + near + "?"
	}
	return config.Usage("unknown flag "+flag, remedy+after)
}
