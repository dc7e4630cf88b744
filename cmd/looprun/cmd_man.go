package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/config"
)

// manCmd writes the manual pages. They are generated from the flags, as the help is.
type manCmd struct {
	Dir string `arg:"" optional:"" help:"The folder to write looprun.1 and a page for each command to; it is made if needed. Without it looprun.1 is printed."`
}

func (c *manCmd) Run(a *app) error {
	date, err := sourceDate(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	app := model()
	if c.Dir == "" {
		return a.print(string(manPage(app.Node, date)))
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("the folder for the pages cannot be made: %w; name another", err)
	}
	pages := 0
	err = kong.Visit(app.Node, func(n kong.Visitable, next kong.Next) error {
		node, ok := n.(*kong.Node)
		if !ok || node.Hidden {
			return nil
		}
		pages++
		if err := writePage(filepath.Join(c.Dir, manTitle(node)+".1"), manPage(node, date)); err != nil {
			return err
		}
		return next(nil)
	})
	if err != nil {
		return err
	}
	a.say.News("%d pages are in %s", pages, c.Dir)
	return nil
}

func writePage(name string, text []byte) error {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there and is not a file; move it away, or name another folder", name)
	}
	if err := atomicfile.Export(name, text); err != nil {
		return fmt.Errorf("a page cannot be written: %w; name a folder that you can write to", err)
	}
	return nil
}

// sourceDate returns the date for the pages of a reproducible build; empty if there is none.
func sourceDate(epoch string) (string, error) {
	if epoch == "" {
		return "", nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 {
		return "", config.Usage(fmt.Sprintf("SOURCE_DATE_EPOCH is %q", epoch), "give seconds since 1970, or leave it unset")
	}
	return time.Unix(seconds, 0).UTC().Format(time.DateOnly), nil
}

// loops reports whether the command runs a loop, or is the program itself.
func loops(n *kong.Node) bool {
	return n.Type == kong.ApplicationNode || n.Path() == "run" || n.Path() == "resume"
}

// manWidth leaves room for the indentation of man on a screen of 80 columns.
const manWidth = 72

// manTitle returns the name of a command's page: its words joined by hyphens.
func manTitle(n *kong.Node) string {
	if n.Parent == nil {
		return "looprun"
	}
	return "looprun-" + strings.ReplaceAll(n.Path(), " ", "-")
}

// manPage returns the manual page of a command in the language of man(7). It is the command's
// help, with more about what runs a loop. The same command line and date give the same bytes.
func manPage(n *kong.Node, date string) []byte {
	short, _, _ := strings.Cut(n.Help, "\n")
	short = strings.TrimSuffix(strings.TrimPrefix(short, "looprun "), ".")
	synopsis := usage(n)
	if n.Parent == nil { // which kong would show with a command only
		synopsis = "looprun [flags] -- COMMAND [ARG…]\nlooprun <command> [flags]"
	}
	list := []section{
		{"NAME", manTitle(n) + " - " + short},
		{"SYNOPSIS", synopsis},
		{"DESCRIPTION", strings.ReplaceAll(about(n, manWidth), "\n    ", "\n")}, // some examples are 72 wide
	}
	list = append(list, sections(n, manWidth)...)
	if n.Path() == "run" {
		list = append(list, section{"KEYS", manKeys()})
	}
	if loops(n) {
		list = append(list, section{"EXIT STATUS", columns(manWidth, exitStatuses())},
			section{"ENVIRONMENT", columns(manWidth, manEnvironment())}, section{"FILES", columns(manWidth, manFiles())})
	}
	if n.Parent != nil {
		list = append(list, section{"SEE ALSO", "looprun(1), looprun help topics"})
	}
	var b bytes.Buffer
	// mandoc does not recognise a date whose hyphens are escaped.
	fmt.Fprintf(&b, ".TH \"%s\" \"1\" \"%s\" \"%s\" \"looprun manual\"\n", roff(strings.ToUpper(manTitle(n))), date, roff("looprun "+version()))
	for _, s := range list {
		fmt.Fprintf(&b, ".SH \"%s\"\n", strings.ToUpper(strings.TrimSuffix(s.title, ":")))
		if s.title == "NAME" { // whatis and apropos read it
			fmt.Fprintln(&b, roff(s.text))
			continue
		}
		b.WriteString(".nf\n")
		for line := range strings.SplitSeq(strings.Trim(s.text, "\n"), "\n") {
			if strings.HasPrefix(line, ".") {
				b.WriteString(`\&`) // no request
			}
			b.WriteString(roff(line) + "\n")
		}
		b.WriteString(".fi\n")
	}
	return b.Bytes()
}

// special maps the characters that roff interprets, or typesets as a similar character that
// cannot be pasted into a shell.
var special = map[rune]string{
	'\\': `\e`, '-': `\-`, '\'': `\(aq`, '"': `\(dq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`,
}

// roff escapes one line of text. Characters outside of ASCII are written as numbers, which all
// formatters understand.
func roff(line string) string {
	var b strings.Builder
	for _, r := range line {
		switch esc, ok := special[r]; {
		case ok:
			b.WriteString(esc)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// manKeys returns all that is said about all keys, including the flags of run.
func manKeys() string {
	rows := [][2]string{{"-o KEY=VALUE", "Each of these can also be a key of looprun.yaml, and a flag: done_codes is --done-codes. One that is true or false can be denied: --no-checkpoint."}}
	for _, k := range config.Keys() {
		text := k.Help() + " Values: " + k.Takes() + "."
		if k.Default() != "" {
			text += " Default: " + k.Default() + "."
		}
		if k.Variable() != "" {
			text += " Variable: " + k.Variable() + "."
		}
		rows = append(rows, [2]string{k.Name, text})
	}
	return columns(manWidth, rows)
}

// exitStatuses returns the exit codes of runs.
func exitStatuses() [][2]string {
	var list [][2]string
	add := func(code int, text string) { list = append(list, [2]string{strconv.Itoa(code), text}) }
	for _, of := range []struct {
		status core.Status
		text   string
	}{
		{core.StatusDone, "The command is done."},
		{core.StatusAccepted, "A partial result was accepted."},
		{core.StatusCancelled, "An answer cancelled the run."},
		{core.StatusPaused, "The run is paused, or a question waits for an answer; looprun resume continues it."},
		{core.StatusRejected, "The work rejected the task with a valid reason, and that was accepted."},
	} {
		add(of.status.ExitCode(), of.text)
	}
	texts := map[int]string{core.StatusTripped.ExitCode(): "Another question was not answered: the ladder is exhausted, a clarification, a rejection."}
	ids := map[int][]string{}
	for _, g := range core.Specs() {
		ids[g.ExitCode] = append(ids[g.ExitCode], string(g.ID))
		texts[g.ExitCode] = "The guard " + strings.Join(ids[g.ExitCode], " or ") + " tripped, and nobody answered."
	}
	for _, code := range slices.Sorted(maps.Keys(texts)) {
		add(code, texts[code])
	}
	add(core.ExitFailed, "looprun itself failed: wrong usage, wrong configuration, or an unusable state directory.")
	add(126, "The command is not executable.")
	add(127, "The command was not found.")
	add(129, "SIGHUP ended the run; looprun ends itself by the same signal.")
	add(core.StatusInterrupted.ExitCode(), "SIGINT ended the run.")
	add(131, "SIGQUIT ended the run.")
	add(141, "Standard output was closed.")
	add(143, "SIGTERM ended the run.")
	return append(list, [2]string{
		"others",
		"With --passthrough it is the code of the command; --exit-code, or exit_codes in looprun.yaml or a policy, changes the code of a status.",
	})
}

// manEnvironment returns the variables that looprun reads, and those that it gives to the command.
func manEnvironment() [][2]string {
	list := [][2]string{
		{"LOOPRUN_MAX_ITERATIONS, …", "Nearly every option of run has a variable: this one is --max-iterations. Flags beat variables, and variables beat looprun.yaml. None of them reaches the command."},
		{config.TrustVariable, "Consent to a looprun.yaml that was found: sha256: and the hash of its content."},
		{"NO_COLOR, FORCE_COLOR, CLICOLOR", "Whether looprun's own messages have colours."},
		{"CI", "A CI job: looprun asks nobody."},
		{"XDG_CONFIG_HOME, XDG_STATE_HOME", "Where your own looprun.yaml is, and where consent is kept."},
		{"SHELL", "The shell that the answer debug opens without --debug."},
	}
	for _, e := range commandEnvironment() {
		list = append(list, [2]string{e[0], "Given to the command: " + e[1]})
	}
	return list
}

func manFiles() [][2]string {
	return [][2]string{
		{config.Name, "Defaults for the options of run: the nearest one upwards, to the git root."},
		{"~/.config/looprun/" + config.Name, "Your own defaults, which the nearest one beats."},
		{"/etc/looprun/looprun.yaml", "The system's settings; nothing overrides keys under enforce."},
		{".looprun/RUN/journal.jsonl", "All that happened to a run, one event a line."},
		{".looprun/RUN/scratchpad.md", "The page of a run, for people and agents."},
		{".looprun/RUN/output/0001.log", "What iteration 1 printed."},
		{".looprun/RUN/result.json", "How the run ended."},
		{"~/.local/state/looprun/dirs", "The folders that looprun list --all looks into."},
		{"~/.local/state/looprun/trust", "The configurations that you have agreed to."},
	}
}
