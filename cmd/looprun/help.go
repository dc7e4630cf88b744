package main

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/man"
)

const description = `looprun runs a command in a loop until it is done, and stops it when it is stuck.

Examples:
  looprun --check 'go test ./...' -- ./fix.sh    run fix.sh until the tests pass
  looprun --promise ALL-DONE -- my-agent         run until it prints ALL-DONE
  looprun --policy ci.yaml -- make test          in CI, a policy answers questions`

// groups are the headings of the flags.
var groups = []kong.Group{
	{Key: "done", Title: "When it is done:"},
	{Key: "guard", Title: "What stops it:"},
	{Key: "time", Title: "Time:"},
	{Key: "preset", Title: "Presets:"},
	{Key: "answer", Title: "Who answers questions:"},
	{Key: "hooks", Title: "Who is told:"},
	{Key: "run", Title: "How the command runs:"},
	{Key: "state", Title: "State and exit code:"},
}

// help prints kong's help, with the command after -- in the usage of run, which
// kong does not see.
func help(o kong.HelpOptions, ctx *kong.Context) error {
	out := ctx.Stdout
	var b bytes.Buffer
	ctx.Stdout = &b
	err := kong.DefaultHelpPrinter(o, ctx)
	ctx.Stdout = out
	text := strings.NewReplacer(
		"Usage: looprun run [flags]", "Usage: looprun [run] [flags] -- COMMAND [ARG…]",
		"Usage: looprun <command> [flags]", "Usage: looprun [flags] -- COMMAND [ARG…]\n       looprun <command> [flags]",
		`Run "looprun <command> --help" for more information on a command.`, "looprun run --help shows the flags of a run, and looprun <command> --help those of a command.",
	).Replace(b.String())
	if n := ctx.Selected(); n != nil && n.Path() == "run" {
		text += environmentHelp()
	}
	_, werr := io.WriteString(out, text)
	return errors.Join(err, werr)
}

// flagNames are the names of all flags of the command and those below it.
func flagNames(n *kong.Node) []string {
	var names []string
	for _, f := range n.Flags {
		names = append(names, f.Name)
	}
	for _, child := range n.Children {
		names = append(names, flagNames(child)...)
	}
	return names
}

// commandEnvironment are the variables that the command in the loop gets, for the
// manual and the help of run.
func commandEnvironment() []man.Entry {
	return []man.Entry{
		{Term: "LOOPRUN, LOOPRUN_RUN_ID, LOOPRUN_ITERATION, LOOPRUN_ITERATION_LIMIT", Text: "1, the id of the run, the number of the iteration from 1, and how many there may be."},
		{Term: "LOOPRUN_TASK, LOOPRUN_SUBTASK", Text: "the task, and which of the sub-tasks it is, as 2/3."},
		{Term: "LOOPRUN_LAST_EXIT_CODE, LOOPRUN_LAST_OUTPUT, LOOPRUN_LAST_SIGNATURE", Text: "how the iteration before ended, the file of what it printed, and its signature; with a check, those of the check."},
		{Term: "LOOPRUN_GUIDANCE, LOOPRUN_GUIDANCE_FILE", Text: "what an answer told it, at most 16 KiB of it, and a file with all of it."},
		{Term: "LOOPRUN_FAILING", Text: "a file with the names of the checks that failed last, one a line; empty where not all are known."},
		{Term: "LOOPRUN_SCRATCHPAD, LOOPRUN_CONTEXT, LOOPRUN_ANSWERS", Text: "files with the page of the run, with what looprun context prints, and with the answers to what it asked."},
		{Term: "LOOPRUN_DIR, LOOPRUN_SOCKET", Text: "the folder of the run, and where it listens to looprun ask and looprun signal."},
		{Term: "LOOPRUN_ROLE", Text: "in a check, verify, debug or expert command, which have no LOOPRUN_SOCKET: which of them it is."},
	}
}

// commandVariables are their names.
func commandVariables() []string {
	var names []string
	for _, e := range commandEnvironment() {
		names = append(names, strings.Split(e.Term, ", ")...)
	}
	return names
}

// environmentHelp is the part of the help of run about the command's variables.
func environmentHelp() string {
	const indent, most = "      ", 80
	var b strings.Builder
	b.WriteString("\nWhat the command finds in its environment (docs/running.md says more):\n")
	for _, e := range commandEnvironment() {
		b.WriteString("  " + e.Term + "\n")
		line := indent
		for word := range strings.FieldsSeq(e.Text) {
			if cells.Width(line+word) > most {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = indent
			}
			line += word + " "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
