package main

import (
	"bytes"
	"fmt"
	"go/doc/comment"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/tty"
)

const description = `looprun runs a command in a loop until it is done and stops it when it is stuck.

Examples:
  looprun --check 'go test ./...' -- ./fix.sh   until the tests pass
  looprun --promise ALL-DONE -- my-agent        until it prints ALL-DONE
  looprun --policy ci.yaml -- make test         in CI: a policy answers`

// groups holds the headings of the flags.
var groups = []kong.Group{
	{Key: "what", Title: "What runs:"},
	{Key: "done", Title: "When it is done:"},
	{Key: "guard", Title: "What stops it:"},
	{Key: "time", Title: "Time:"},
	{Key: "answer", Title: "Who answers questions:"},
	{Key: "state", Title: "Files and exit code:"},
	everywhere,
}

var everywhere = kong.Group{Key: "everywhere", Title: "With every command:"}

// help prints the help of a command; for the root, all selects the help of run.
func (a *app) help(n *kong.Node, all bool) error {
	if n.Parent == nil && all {
		n = n.DefaultCmd
	}
	text := topHelp()
	if n.Parent != nil && (all || n.Path() != "run") {
		text = helpOf(n, helpWidth(a.files.stdout))
	}
	return a.print(text)
}

// helpOf returns the help of a command. That of run leaves out its example, and fits on two
// screens of 25 lines.
func helpOf(n *kong.Node, width int) string {
	b := bytes.NewBufferString("Usage: " + usage(n))
	run := n.Path() == "run"
	if about := about(n, width); !run && about != "" {
		b.WriteString("\n" + about)
	}
	for _, s := range sections(n, width) {
		if !run {
			b.WriteString("\n")
		}
		b.WriteString(s.title + "\n" + s.text)
	}
	if run {
		b.WriteString(wrapped("", "More keys: looprun help keys. Exit codes: looprun help exit. What the command finds in its environment: looprun help environment.", width))
	}
	return b.String()
}

// about returns what the command is for, with its examples.
func about(n *kong.Node, width int) string {
	var texts []string
	for _, text := range []string{n.Help, details[n.Path()]} {
		if text != "" {
			p := comment.Printer{TextCodePrefix: "    ", TextWidth: width}
			texts = append(texts, string(bytes.TrimSpace(p.Text(new(comment.Parser).Parse(text))))+"\n")
		}
	}
	return strings.Join(texts, "\n")
}

// section is a part of a command's help, and of its manual page.
type section struct{ title, text string }

// sections returns the arguments, the flags and the commands below a command. What is peculiar
// to it comes first.
func sections(n *kong.Node, width int) (list []section) {
	add := func(title string, rows [][2]string) {
		if len(rows) > 0 {
			list = append(list, section{title, columns(width, rows)})
		}
	}
	var args, below [][2]string
	for _, arg := range n.Positional {
		args = append(args, [2]string{named(arg.Summary()), helpText(arg)})
	}
	for _, leaf := range n.Leaves(true) {
		if leaf != n {
			below = append(below, [2]string{leaf.Path(), leaf.Help})
		}
	}
	last := flagRows(n, everywhere.Key)
	if n.Path() == "run" {
		last = append([][2]string{{"-h, --help", "Show this help."}}, last...)
	} else {
		add("Arguments:", args)
		add("Flags:", flagRows(n, ""))
	}
	for _, g := range groups[:len(groups)-1] {
		add(g.Title, flagRows(n, g.Key))
	}
	add("Commands:", below)
	add(everywhere.Title, last)
	return list
}

// usage returns how the command is called. Kong does not know what follows -- for run, nor
// that one of several flags is required although none of them is by itself.
func usage(n *kong.Node) string {
	usage := strings.Replace("looprun "+named(n.Summary()), "looprun run [<task> ...] [flags]", "looprun [run] [flags] -- COMMAND [ARG…] | -c LINE | --agent NAME TASK", 1)
	var lines string
	for _, group := range exclusive(n) {
		most := "At most one: "
		for _, f := range n.Flags {
			if f.Required && slices.Contains(group, "--"+f.Name) {
				most = "One of: "
				usage = strings.Replace(usage, " "+f.Summary(), "", 1)
			}
		}
		lines += "       " + most + strings.Join(group, " | ") + "\n"
	}
	return usage + "\n" + lines
}

// named gives the words of answer, which are one argument to kong, the names of two.
func named(argument string) string {
	return strings.ReplaceAll(argument, "<run option> ...", "RUN] [OPTION")
}

// flagRows returns the flags of a group with their texts: those of the program and those of
// the command. From a key's help it takes the first sentence, and the default unless it is the
// run's.
func flagRows(n *kong.Node, group string) (rows [][2]string) {
	var indent string // of flags without a letter, beside those with one
	for _, flags := range n.AllFlags(true) {
		for _, f := range flags {
			if f.Group == nil && group != "" || f.Group != nil && f.Group.Key != group {
				continue
			}
			text := helpText(f.Value)
			if isKey(f) {
				text = firstSentence(text)
				if k, _, ok := config.Spelled(f.Name); ok && n.Path() != "resume" { // which has those of the run
					text = shortHelp(k)
				}
			}
			rows = append(rows, [2]string{strings.Replace(f.String(), "=", " ", 1), text})
			if f.Short != 0 {
				indent = "    "
			}
		}
	}
	for i, row := range rows {
		if strings.HasPrefix(row[0], "--") {
			rows[i][0] = indent + row[0]
		}
	}
	return rows
}

// helpText returns what is said about a flag or an argument. Kong puts no spaces between the
// values that it takes, so a list of them could not be wrapped.
func helpText(v *kong.Value) string {
	return strings.Replace(v.Help, v.Enum, strings.ReplaceAll(v.Enum, ",", ", "), 1)
}

// shortHelp returns the first sentence about a key, with its default.
func shortHelp(k config.Key) string {
	text := firstSentence(k.Help())
	if normal := k.Default(); normal != "" && normal != "off" && !k.IsBool() {
		text = strings.TrimSuffix(text, ".") + " (" + normal + ")."
	}
	return text
}

func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".") + "."
}

// columns sets out rows. The first column is as wide as necessary, or on a line of its own.
func columns(width int, rows [][2]string) string {
	var b strings.Builder
	most, left := 3*width/8, 0
	for _, row := range rows {
		if n := len(row[0]); n < most {
			left = max(left, n)
		}
	}
	left += 6
	indent := strings.Repeat(" ", left)
	for _, row := range rows {
		line := "  " + row[0]
		if len(row[0]) < most {
			line += indent[len(line):]
		} else {
			b.WriteString(line + "\n")
			line = indent
		}
		b.WriteString(wrapped(line, row[1], width))
	}
	return b.String()
}

// helpWidth returns the width of a help text: that of the terminal, up to a width that is easy
// to read.
func helpWidth(stdout *os.File) int {
	width := 80
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil {
		width = n
	} else if stdout != nil {
		width, _ = tty.Size(stdout.Fd())
	}
	return min(max(width, 40), 100)
}

// topHelp returns the help without a command. It fits on one screen.
func topHelp() string {
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
		for name, f := range commands() {
			if _, hidden := f.Tag.Lookup("hidden"); !hidden && f.Tag.Get("in") == room.key {
				names = append(names, name)
			}
		}
		fmt.Fprintf(&b, "%-8s%s\n", room.title, strings.Join(names, ", "))
	}
	b.WriteString("All flags: looprun run --help. More: looprun help COMMAND, looprun help topics.\n")
	return b.String()
}

// exclusive returns the groups of a command's flags and arguments of which at most one can be
// given.
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

// commandEnvironment returns the variables of the command in the loop, for the manual and the
// help of run.
func commandEnvironment() [][2]string {
	return [][2]string{
		{"LOOPRUN, LOOPRUN_RUN_ID, LOOPRUN_ITERATION, LOOPRUN_ITERATION_LIMIT", "1, the id of the run, the number of the iteration from 1, and how many there may be."},
		{"LOOPRUN_TASK, LOOPRUN_SUBTASK", "the task, and which of the sub-tasks it is, as 2/3."},
		{"LOOPRUN_LAST_EXIT_CODE, LOOPRUN_LAST_OUTPUT, LOOPRUN_LAST_SIGNATURE", "how the iteration before ended, the file of what it printed, and its signature; with a check, those of the check."},
		{"LOOPRUN_GUIDANCE, LOOPRUN_GUIDANCE_FILE", "the words of the last answer (16 KiB), and a file with all of them."},
		{"LOOPRUN_FAILING", "a file with the names of the checks that failed last, one on each line; empty if not all are known."},
		{"LOOPRUN_SCRATCHPAD, LOOPRUN_CONTEXT, LOOPRUN_ANSWERS", "files with the page of the run, with what looprun context prints, and with the answers to what it asked."},
		{"LOOPRUN_DIR, LOOPRUN_SOCKET", "the folder of the run, and the socket for looprun ask and looprun signal."},
		{"LOOPRUN_ROLE", "in a check, verify, debug or expert command, which have no LOOPRUN_SOCKET: which of them it is."},
	}
}

// commandVariables returns their names.
func commandVariables() []string {
	var names []string
	for _, e := range commandEnvironment() {
		names = append(names, strings.Split(e[0], ", ")...)
	}
	return names
}
