package main

import (
	"cmp"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/tty"
)

// cli is the command line. The tag in is the section of the help that lists a command; without
// it, the section is More.
type cli struct {
	Run       runCmd       `cmd:"" default:"withargs" in:"run" help:"Run a command in a loop until it is done (the default command)."`
	Many      manyCmd      `cmd:"" in:"run" help:"Run many loops, each in its own git work tree."`
	Resume    resumeCmd    `cmd:"" in:"run" help:"Resume a run that was paused or interrupted, that tripped, or that crashed."`
	Answer    answerCmd    `cmd:"" in:"answer" help:"Answer the question that a run waits with."`
	Say       sayCmd       `cmd:"" in:"answer" help:"Give the next iteration of an active run some words."`
	Pause     pauseCmd     `cmd:"" in:"answer" help:"Pause a run after this iteration."`
	Stop      stopCmd      `cmd:"" in:"answer" help:"Stop a run now: it ends as cancelled."`
	List      listCmd      `cmd:"" in:"look" help:"List the runs of this directory."`
	Show      showCmd      `cmd:"" in:"look" help:"Show what happened in a run."`
	Context   contextCmd   `cmd:"" in:"look" help:"Print what the next attempt should know, for a prompt."`
	Ask       askCmd       `cmd:"" in:"answer" help:"Ask a question from inside a run and wait for the answer."`
	Signal    signalCmd    `cmd:"" in:"rare" help:"Report progress from inside a run."`
	Reject    rejectCmd    `cmd:"" in:"rare" help:"Reject the task from inside a run."`
	Stats     statsCmd     `cmd:"" in:"rare" help:"Count over all runs."`
	Doctor    doctorCmd    `cmd:"" in:"check" help:"Check the files of a run."`
	Diff      diffCmd      `cmd:"" in:"look" help:"Show what an iteration changed in the files."`
	Take      takeCmd      `cmd:"" in:"run" help:"Take what loops of looprun many made onto a new branch."`
	Restore   restoreCmd   `cmd:"" help:"Bring back the files of an iteration."`
	Prune     pruneCmd     `cmd:"" help:"Remove old runs."`
	Signature signatureCmd `cmd:"" in:"check" help:"Print the signature of recorded output."`
	Replay    replayCmd    `cmd:"" in:"check" help:"Replay recorded outputs, or an earlier run, through the guards; nothing is run."`
	Report    reportCmd    `cmd:"" in:"look" help:"Write a report of a run: Markdown, a web page, JSON or JUnit."`
	Explain   explainCmd   `cmd:"" in:"look" help:"Explain why a run ended, and what its iterations had in common."`
	Hook      hookCmd      `cmd:"" help:"Put the loop inside a coding agent's own session, as its stop hook."`
	Serve     serveCmd     `cmd:"" in:"look" help:"Show the runs in a browser, and take answers there."`
	Fleet     fleetCmd     `cmd:"" in:"run" help:"Run loops on many machines."`
	Policy    policyCmd    `cmd:"" in:"write" help:"Check and try out policy files."`
	Template  templateCmd  `cmd:"" in:"write" help:"Write, check and preview the questions."`
	Schema    schemaCmd    `cmd:"" in:"rare" help:"Print the JSON Schemas of documents and files."`
	Agents    agentsCmd    `cmd:"" in:"run" help:"List the coding agents that --agent can set up."`
	Config    configCmd    `cmd:"" in:"write" help:"Show, check and describe the configuration."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
	Help      helpCmd      `cmd:"" help:"Show the help of a command, or what the exit codes mean."`

	Init       initCmd       `cmd:"" in:"write" help:"Write a looprun.yaml and a policy for this project."`
	Completion completionCmd `cmd:"" help:"Print the script that makes a shell complete looprun."`
	Man        manCmd        `cmd:"" in:"rare" help:"Write the manual pages."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:""`
	Courier    courierCmd    `cmd:"" name:"__courier" hidden:""`

	commonFlags
}

// commonFlags are the flags of every command.
type commonFlags struct {
	Version bool     `hidden:"" help:"Print the version."`
	Set     []string `short:"o" placeholder:"KEY=VALUE" sep:"none" help:"Set a key of looprun.yaml (looprun help keys)." group:"everywhere"`
	console.Flags
	config.FileFlags
}

// app is passed to every command.
type app struct {
	stdin          *os.File
	stdout, stderr io.Writer
	files          struct{ stdout, stderr *os.File } // nil when not a file
	say            *console.Observer
	command        []string // what stands after --
	hasCommand     bool
	args           []string // all of them
	line           *line    // how they were read; nil: not yet
	flags          console.Flags
	config         *config.Settings
	code           int           // exit code
	raise          session.Raise // signal to end by
}

// program returns the process, for a run.
func (a *app) program() *session.Program {
	return &session.Program{Stdin: a.stdin, Stdout: a.files.stdout, Stderr: a.files.stderr, Say: a.say, Command: a.command, Config: a.config, Version: version()}
}

// end records how a run has ended.
func (a *app) end(e session.Ended, err error) error {
	a.code, a.raise = e.Code, e.Raise
	return err
}

// printer returns a printer for standard output. Call its Page or Flush at the end.
func (a *app) printer() *console.Printer {
	return console.NewPrinter(a.stdout, a.files.stdout, a.say.Flags.Color)
}

// print prints a text on standard output.
func (a *app) print(text string) error {
	_, err := io.WriteString(a.stdout, text)
	return err
}

// printJSON prints a value, or a list of values, on standard output, as JSON documents in the
// form of the schema with this name.
func (a *app) printJSON(name string, v any) error { return console.PrintJSON(a.stdout, form(name), v) }

// execute runs looprun and returns its exit code.
func execute(args []string, stdin *os.File, stdout, stderr *os.File) (int, session.Raise) {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, args: args}
	a.files.stdout, a.files.stderr = stdout, stderr
	a.say = &console.Observer{Messages: console.Messages{W: stderr}}
	if console.IsTerminal(stderr) {
		a.say.Columns = func() int { columns, _ := tty.Size(stderr.Fd()); return columns }
	}
	a.say.Configure(console.Flags{LogFormat: os.Getenv("LOOPRUN_LOG_FORMAT"), Color: "auto"}, console.IsTerminal(stderr), os.Getenv)
	own := args
	if i := slices.Index(args, "--"); i >= 0 {
		own, a.command, a.hasCommand = args[:i], args[i+1:], true
	}
	if len(own) == 1 && own[0] == "--version" {
		return a.printVersion(), 0
	}
	defer proc.CloseGuardians()
	ctx, err := a.parse(own)
	switch {
	case err != nil:
		return a.problem(err)
	case ctx == nil:
		return a.code, 0
	}
	a.say.Configure(a.flags, console.IsTerminal(stderr), os.Getenv)
	a.config.SayFiles()
	if node := ctx.Selected(); !loops(node) && !takesCommand(node) {
		// Commands that look back read much, keep little and end soon.
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	if err := ctx.Run(a); err != nil {
		return a.problem(err)
	}
	return a.code, a.raise
}

// problem reports an error, to the CI system too. It returns the exit code for it.
func (a *app) problem(err error) (int, session.Raise) {
	var given config.Given
	command := "run"
	if a.line != nil {
		given = a.line.given
		command = cmp.Or(a.line.node.Path(), command)
	}
	if given.Text("log_format") == "json" {
		a.say.Flags.LogFormat = "json"
	}
	a.say.Problem(err)
	session.TellCIOfProblem(a.stderr, given.Text("ci"), command == "run" || command == "resume" || command == "many", err)
	return core.ExitFailed, 0
}
