package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/man"
)

const description = `looprun runs a command in a loop until it is done and stops it when it is stuck.

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
	{Key: "everywhere", Title: everywhere},
}

const everywhere = "With every command:"

// help prints kong's help, with the command after -- in the usage of run, which
// kong does not see.
func help(o kong.HelpOptions, ctx *kong.Context) error {
	out := ctx.Stdout
	if ctx.Selected() == nil {
		_, err := io.WriteString(out, topHelp(ctx.Model))
		return err
	}
	var b bytes.Buffer
	ctx.Stdout = &b
	err := kong.DefaultHelpPrinter(o, ctx)
	ctx.Stdout = out
	text := strings.Replace(b.String(), "Usage: looprun run [flags]", "Usage: looprun [run] [flags] -- COMMAND [ARG…] | -c LINE", 1)
	text = strings.ReplaceAll(text, "<run option> ...", "RUN] [OPTION")
	usage, rest, _ := strings.Cut(text, "\n")
	for _, group := range exclusive(ctx.Selected()) {
		line := "\n       At most one: " + strings.Join(group, " | ")
		if of := ctx.Selected().Flags; slices.ContainsFunc(of, func(f *kong.Flag) bool { return f.Required && "--"+f.Name == group[0] }) {
			line = "\n       One of: " + strings.Join(group, " | ")
			for _, f := range of {
				if slices.Contains(group, "--"+f.Name) {
					usage = strings.Replace(usage, " "+f.Summary(), "", 1)
				}
			}
		}
		usage += line
	}
	text = usage + "\n" + rest
	if before, rest, ok := strings.Cut(text, "\n"+everywhere+"\n"); ok { // what is peculiar comes first
		flags, after, _ := strings.Cut(rest, "\n\n")
		text = strings.TrimRight(before+"\n"+after, "\n") + "\n\n" + everywhere + "\n" + strings.TrimRight(flags, "\n") + "\n"
	}
	if ctx.Selected().Path() == "run" {
		text += environmentHelp()
	}
	_, werr := io.WriteString(out, text)
	return errors.Join(err, werr)
}

// topHelp is the help without a command. It fits a screen.
func topHelp(model *kong.Application) string {
	var b strings.Builder
	b.WriteString(`looprun runs a command in a loop until it is done and stops it when it is stuck.

Usage: looprun [flags] -- COMMAND [ARG…]     or one of looprun's own commands
  looprun --check 'go test ./...' -- ./fix.sh     until the tests pass
  looprun --agent claude --check 'npm test' 'Make the tests pass'
  looprun --policy ci.yaml -- make deploy         in CI: a policy answers

  --check LINE          judges each iteration: exit 0 is done
  --promise TEXT        done when the command prints this alone on a line
  --max-iterations N    (10)       --max-runtime D    (15m)
  --loop-threshold N    (3)        --max-errors N     (3)
  --policy FILE         who answers in CI
  --wait, --retry N     wait for a service, retry a flaky command
  --agent NAME          ` + strings.Join(agent.Agents(nil).Names(), ", ") + "\n\n")
	for _, room := range []struct{ key, title string }{
		{"run", "Run"}, {"answer", "Answer"}, {"look", "Look"}, {"check", "Check"}, {"write", "Write"}, {"", "More"},
	} {
		var names []string
		for _, n := range model.Children {
			if !n.Hidden && n.Tag.Get("in") == room.key {
				names = append(names, n.Name)
			}
		}
		fmt.Fprintf(&b, "%-8s%s\n", room.title, strings.Join(names, ", "))
	}
	b.WriteString("With each: -q, -v, --color, --log-format, --progress, --config FILE, --trust\n")
	b.WriteString("All flags: looprun run --help. More: looprun help COMMAND, looprun help exit.\n")
	return b.String()
}

// exclusive are the groups of flags and arguments of a command of which one at most can
// be given.
func exclusive(n *kong.Node) [][]string {
	var groups [][]string
	among := map[string][]string{}
	for _, f := range n.Flags {
		if other := f.Tag.Get("excludes"); other != "" {
			groups = append(groups, []string{"--" + f.Name, other})
		}
		for _, group := range f.Xor {
			among[group] = append(among[group], "--"+f.Name)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(among)) {
		groups = append(groups, among[group])
	}
	return groups
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

// flagsOf are the same of a struct that describes commands.
func flagsOf(of reflect.Type) []string {
	var names, below []string
	config.EachField(of, func(f reflect.StructField) {
		_, command := f.Tag.Lookup("cmd")
		_, arg := f.Tag.Lookup("arg")
		switch {
		case command:
			below = append(below, flagsOf(f.Type)...)
		case f.IsExported() && !arg && f.Tag.Get("kong") != "-":
			names = append(names, config.FlagOf(f))
		}
	})
	return append(names, below...)
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
