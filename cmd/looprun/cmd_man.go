package main

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
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
	"github.com/looprun/looprun/internal/man"
	"github.com/looprun/looprun/internal/parallel"
)

// manCmd writes the manual pages. They are generated from the flags, as the help is.
type manCmd struct {
	Dir string `arg:"" optional:"" help:"The folder to write looprun.1 and a page for each command to; it is made if needed. Without it looprun.1 is printed."`
}

// Help shows an example below the flags.
func (manCmd) Help() string {
	return `The pages are the same whenever they are written, and have no date, unless
SOURCE_DATE_EPOCH gives one in seconds since 1970.

Example:
  looprun man ~/.local/share/man/man1
  looprun man | man -l -`
}

func (c *manCmd) Run(a *app) error {
	date, err := sourceDate(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	app, err := model()
	if err != nil {
		return err
	}
	if c.Dir == "" {
		for p := range manualPages(app, date) {
			_, err = a.stdout.Write(p.Text)
			break
		}
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("the folder for the pages cannot be made: %w; name another", err)
	}
	pages := slices.Collect(manualPages(app, date))
	errs := make([]error, len(pages))
	parallel.Each(len(pages), func(i int) { errs[i] = writePage(filepath.Join(c.Dir, pages[i].Name), pages[i].Text) })
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	a.say.News("%d pages are in %s", len(pages), c.Dir)
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

// sourceDate returns the date for the pages of a reproducible build; zero if there is none.
func sourceDate(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, config.Usage(fmt.Sprintf("SOURCE_DATE_EPOCH is %q", epoch), "give seconds since 1970, or leave it unset")
	}
	return time.Unix(seconds, 0), nil
}

func manualPages(app *kong.Application, date time.Time) iter.Seq[man.Page] {
	return man.Pages(app, man.Manual{
		Version: version(), Date: date,
		Synopsis: manSynopsis, Keys: manKeys, ExitStatus: manExitStatus, Environment: manEnvironment, Files: manFiles,
	})
}

// loops reports whether the command runs a loop, or is the program itself.
func loops(n *kong.Node) bool {
	return n.Type == kong.ApplicationNode || n.Path() == "run" || n.Path() == "resume"
}

func manSynopsis(n *kong.Node) []string {
	switch {
	case n.Type == kong.ApplicationNode:
		return []string{"looprun [OPTION…] -- COMMAND [ARG…]", "looprun COMMAND [OPTION…] [ARG…]"}
	case n.Path() == "run":
		return []string{"looprun [run] [OPTION…] -- COMMAND [ARG…]", "looprun [run] [OPTION…] -c LINE"}
	}
	return nil
}

// manKeys returns all keys, including the flags of run.
func manKeys(n *kong.Node) []man.Entry {
	if n.Path() != "run" {
		return nil
	}
	list := []man.Entry{{Term: "-o KEY=VALUE", Text: "Each of these can also be a key of looprun.yaml, and a flag: done_codes is --done-codes. One that is true or false can be denied: --no-checkpoint."}}
	for _, k := range config.Keys() {
		text := k.Help() + " Values: " + k.Takes() + "."
		if k.Default() != "" {
			text += " Default: " + k.Default() + "."
		}
		if k.Variable() != "" {
			text += " Variable: " + k.Variable() + "."
		}
		list = append(list, man.Entry{Term: k.Name, Text: text})
	}
	return list
}

func manExitStatus(n *kong.Node) []man.Entry {
	if loops(n) {
		return exitStatuses()
	}
	failed := man.Entry{Term: strconv.Itoa(core.ExitFailed), Text: "looprun was called wrongly, or it failed."}
	switch n.Path() {
	case "ask":
		return []man.Entry{
			{Term: "0", Text: "It was answered; with --confirm: yes."},
			{Term: "1", Text: "With --confirm: no."},
			{Term: strconv.Itoa(exitNobody), Text: "Nobody answered."},
			{Term: strconv.Itoa(exitDeferred), Text: "The question is deferred."},
			failed,
			{Term: strconv.Itoa(exitCancelled), Text: "It was cancelled."},
		}
	case "doctor":
		return []man.Entry{{Term: "0", Text: "Nothing is wrong."}, {Term: "1", Text: "Something is wrong."}, failed}
	case "reject":
		return []man.Entry{{Term: "0", Text: "The rejection was taken."}, {Term: "1", Text: "It breaks the rules for rejections."}, failed}
	}
	return []man.Entry{{Term: "0", Text: "It was done."}, failed}
}

// exitStatuses returns the exit codes of runs.
func exitStatuses() []man.Entry {
	var list []man.Entry
	add := func(code int, text string) { list = append(list, man.Entry{Term: strconv.Itoa(code), Text: text}) }
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
	return append(list, man.Entry{
		Term: "others",
		Text: "With --passthrough it is the code of the command; --exit-code, or exit_codes in looprun.yaml or a policy, changes the code of a status.",
	})
}

func manEnvironment(n *kong.Node) []man.Entry {
	switch {
	case n.Path() == "man":
		return []man.Entry{{Term: "SOURCE_DATE_EPOCH", Text: "The date of the pages, in seconds since 1970."}}
	case n.Path() == "list", n.Path() == "show", n.Path() == "explain":
		return []man.Entry{
			{Term: "PAGER, LESS", Text: "What shows a text that is longer than the screen, and the options of less, which are FRX where there are none."},
			{Term: "NO_COLOR, FORCE_COLOR, CLICOLOR", Text: "Whether there are colours."},
		}
	case !loops(n):
		return nil
	}
	list := []man.Entry{
		{Term: "LOOPRUN_…", Text: "Nearly every option of run has a variable: LOOPRUN_MAX_ITERATIONS is --max-iterations. Flags beat variables, and variables beat looprun.yaml. None of them reaches the command."},
		{Term: config.TrustVariable, Text: "Consent to a looprun.yaml that was found: sha256: and the hash of its content."},
		{Term: "NO_COLOR, FORCE_COLOR, CLICOLOR", Text: "Whether looprun's own messages have colours."},
		{Term: "CI", Text: "A CI job: looprun asks nobody."},
		{Term: "XDG_CONFIG_HOME, XDG_STATE_HOME", Text: "Where your own looprun.yaml is, and where consent is kept."},
		{Term: "SHELL", Text: "The shell that the answer debug opens without --debug."},
	}
	for _, e := range commandEnvironment() {
		list = append(list, man.Entry{Term: e.Term, Text: "Given to the command: " + e.Text})
	}
	return list
}

func manFiles(n *kong.Node) []man.Entry {
	if !loops(n) {
		return nil
	}
	return []man.Entry{
		{Term: config.Name, Text: "Defaults for the options of run: the nearest one upwards, to the git root."},
		{Term: "~/.config/looprun/" + config.Name, Text: "Your own defaults, which the nearest one beats."},
		{Term: "/etc/looprun/looprun.yaml", Text: "The system's settings; nothing overrides keys under enforce."},
		{Term: ".looprun/RUN/journal.jsonl", Text: "All that happened to a run, one event a line."},
		{Term: ".looprun/RUN/scratchpad.md", Text: "The page of a run, for people and agents."},
		{Term: ".looprun/RUN/output/0001.log", Text: "What iteration 1 printed."},
		{Term: ".looprun/RUN/result.json", Text: "How the run ended."},
		{Term: "~/.local/state/looprun/dirs", Text: "The folders that looprun list --all looks into."},
		{Term: "~/.local/state/looprun/trust", Text: "The configurations that you have agreed to."},
	}
}
