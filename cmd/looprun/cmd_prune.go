package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/tty"
	"github.com/looprun/looprun/scratchpad"
)

// pruneCmd removes old runs.
type pruneCmd struct {
	Runs      []string `arg:"" optional:"" name:"run" help:"The runs to remove, by their ids or parts of them, whatever became of them."`
	OlderThan *age     `placeholder:"AGE" help:"Remove runs in which nothing has happened for so long: 30d, 2w, 12h." env:"-" excludes:"<run>"`
	Keep      *int     `placeholder:"N" help:"Leave the latest N runs, whatever became of them." env:"-" excludes:"<run>"`
	Status    []string `placeholder:"STATUS" enum:"done,accepted,cancelled,rejected,tripped,failed,interrupted,crashed" help:"Remove only runs that ended so: ${enum}." env:"-" excludes:"<run>"`
	DryRun    bool     `short:"n" help:"Say what would be removed, and remove nothing." env:"-"`
	Yes       bool     `short:"y" help:"Do not ask." env:"-"`
	Format    string   `enum:"text,json" default:"text" help:"${enum}." env:"-"`
	StateDir  string   `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (pruneCmd) Help() string {
	return `What is given is combined: a run is removed when all of it holds. A run that is
going on is never removed. One that is paused, waits for an answer or cannot be read
is removed only when it is named.

Without --yes it asks, and without a terminal to ask at it removes nothing (exit
code 125). Exit code 101: the answer was no.

Example:
  looprun prune --older-than 30d --keep 20 --dry-run
  looprun prune --status done,cancelled --older-than 1w --yes`
}

// pruned is what prune prints in JSON.
type pruned struct {
	Schema  string    `json:"schema"`
	DryRun  bool      `json:"dry_run"`
	Removed []oldRun  `json:"removed"`
	Kept    []keptRun `json:"kept"` // what was asked for and is left all the same
	// Unfinished are runs that an earlier prune did not come to remove.
	Unfinished int   `json:"unfinished"`
	Bytes      int64 `json:"bytes"`
}

// oldRun is a run to be removed.
type oldRun struct {
	ID      string      `json:"id"`
	Status  core.Status `json:"status,omitempty"` // empty where it cannot be read
	Last    time.Time   `json:"last_event"`
	Bytes   int64       `json:"bytes"`
	Command []string    `json:"command,omitempty"`
	dir     string
}

type keptRun struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

func (c *pruneCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	state, err := config.StateDir(c.StateDir)
	if err != nil {
		return err
	}
	p := pruned{Schema: "looprun.dev/prune/v1", DryRun: c.DryRun, Removed: []oldRun{}, Kept: []keptRun{}}
	if err := c.choose(state, &p); err != nil {
		return err
	}
	if p.Unfinished, p.Bytes, err = scratchpad.Doomed(state); err != nil {
		return err
	}
	for _, r := range p.Removed {
		p.Bytes += r.Bytes
	}
	if !c.DryRun && len(p.Removed)+p.Unfinished > 0 {
		yes, err := c.agreed(a, &p)
		if err != nil {
			return err
		}
		if !yes {
			a.say.News("nothing was removed")
			a.code = core.StatusCancelled.ExitCode()
			return nil
		}
		err = p.remove(state)
		return errors.Join(err, c.report(a, &p, state))
	}
	return c.report(a, &p, state)
}

// check refuses to guess what is to be removed.
func (c *pruneCmd) check() error {
	chosen := c.OlderThan != nil || c.Keep != nil || len(c.Status) > 0
	switch {
	case len(c.Runs) > 0 && chosen:
		return config.Usage("runs are named, and --older-than, --keep or --status choose others", "use one of the two")
	case len(c.Runs) == 0 && !chosen:
		return config.Usage("nothing says which runs to remove", "give --older-than 30d, --keep 20, --status done or the ids of runs; --dry-run shows what would be removed")
	case c.Keep != nil && *c.Keep < 0:
		return config.Usage(fmt.Sprintf("--keep is %d", *c.Keep), "give a number from 0")
	}
	return nil
}

// choose finds the runs that were asked for.
func (c *pruneCmd) choose(state string, p *pruned) error {
	for _, name := range c.Runs {
		dir, err := scratchpad.Find(state, name)
		if err != nil {
			return err
		}
		if scratchpad.Locked(dir) {
			return fmt.Errorf("run %s is going on: another looprun has it open; end it first", filepath.Base(dir))
		}
		if !slices.ContainsFunc(p.Removed, func(r oldRun) bool { return r.dir == dir }) {
			p.Removed = append(p.Removed, describe(scratchpad.Summarize(dir)))
		}
	}
	if len(c.Runs) > 0 {
		return nil
	}
	ids, err := scratchpad.IDs(state)
	if err != nil {
		return err
	}
	if c.Keep != nil {
		kept := 0
		ids = slices.DeleteFunc(ids, func(id string) bool {
			if kept >= *c.Keep || !scratchpad.Genuine(filepath.Join(state, id)) { // no place for a false name or time
				return false
			}
			kept++
			return true
		})
	}
	slices.Reverse(ids)
	asked, whys := make([]oldRun, len(ids)), make([]string, len(ids))
	parallel.Each(len(ids), func(i int) { asked[i], whys[i] = c.look(filepath.Join(state, ids[i])) })
	for i, r := range asked {
		switch {
		case r.ID == "":
		case whys[i] != "":
			p.Kept = append(p.Kept, keptRun{r.ID, whys[i]})
		default:
			p.Removed = append(p.Removed, r)
		}
	}
	return nil
}

// look describes a run that was asked for, and says why it is left all the same; of one
// that was not it is empty.
func (c *pruneCmd) look(dir string) (r oldRun, why string) {
	if c.OlderThan != nil && time.Since(scratchpad.LastEvent(dir)) < time.Duration(*c.OlderThan) {
		return r, ""
	}
	s := scratchpad.Summarize(dir)
	if len(c.Status) > 0 && !slices.Contains(c.Status, string(s.Status)) {
		return r, ""
	}
	return describe(s), protected(s)
}

func describe(s scratchpad.Summary) oldRun {
	return oldRun{ID: s.ID, Status: s.Status, Last: scratchpad.LastEvent(s.Dir), Bytes: scratchpad.Size(s.Dir), Command: s.Command, dir: s.Dir}
}

// protected says why a run is removed only when it is named; empty: it is not.
func protected(s scratchpad.Summary) string {
	switch {
	case s.Alive:
		return "it is going on"
	case s.Problem != "" && !scratchpad.HasEvents(s.Dir):
		return "" // it never began
	case s.Problem != "":
		return "it cannot be read"
	case s.Status == core.StatusPaused:
		return "it is paused"
	case s.Status == core.StatusCrashed || s.Status == core.StatusInterrupted:
		if len(session.QuestionsIn(s.Dir)) > 0 {
			return "it waits for an answer"
		}
	}
	return ""
}

// agreed reports whether the person, or --yes, wants it.
func (c *pruneCmd) agreed(a *app, p *pruned) (bool, error) {
	if c.Yes {
		return true, nil
	}
	if c.Format == "json" || !a.config.CanAsk() {
		return false, config.Usage(fmt.Sprintf("nobody was asked whether to remove %s", p.count()), "use --yes to remove them, or --dry-run to see them first")
	}
	yes, err := tty.Confirm(fmt.Sprintf("remove %s (%s)?", p.count(), sizeText(p.Bytes)), func() { _ = p.table(a.stderr) })
	if err != nil {
		return false, fmt.Errorf("nobody was asked, and nothing was removed: %w; use --yes", err)
	}
	return yes, nil
}

// remove takes the runs away first, each at once, and then removes their files.
func (p *pruned) remove(state string) error {
	var errs []error
	gone := p.Removed[:0]
	for _, r := range p.Removed {
		forget := session.CheckpointsOf(r.dir)
		err := scratchpad.Doom(r.dir)
		switch {
		case err == nil:
			forget()
			gone = append(gone, r)
			continue
		case errors.Is(err, scratchpad.ErrLocked):
			why := "somebody has just gone on with it"
			if !scratchpad.HasEvents(r.dir) {
				why = "it may just be starting"
			}
			p.Kept = append(p.Kept, keptRun{r.ID, why})
		case !errors.Is(err, fs.ErrNotExist): // another prune was faster
			errs = append(errs, err)
		}
		p.Bytes -= r.Bytes
	}
	p.Removed = gone
	many.Expire(state, time.Now())
	if _, err := scratchpad.Sweep(state); err != nil {
		errs = append(errs, fmt.Errorf("not all files could be removed: %w; the next looprun prune tries again", err))
	}
	return errors.Join(errs...)
}

func (c *pruneCmd) report(a *app, p *pruned, state string) error {
	if c.Format == "json" {
		return a.printJSON("prune", p)
	}
	if err := p.table(a.stdout); err != nil {
		return err
	}
	for _, k := range p.Kept {
		a.say.News("run %s is left: %s", k.ID, k.Why)
	}
	did, free := "removed", "freed"
	if c.DryRun {
		did, free = "would remove", "would be freed"
	}
	if len(p.Removed)+p.Unfinished == 0 {
		a.say.News("there is nothing to remove in %s", state)
		return nil
	}
	a.say.News("%s %s, %s %s", did, p.count(), sizeText(p.Bytes), free)
	return nil
}

// count names how many runs there are, of both kinds.
func (p *pruned) count() string {
	text := plural.Count(len(p.Removed), "run")
	if p.Unfinished > 0 {
		text += " and what was left of " + plural.Count(p.Unfinished, "run") + " by an earlier prune"
	}
	return text
}

func (p *pruned) table(w io.Writer) error {
	if len(p.Removed) == 0 {
		return nil
	}
	lines := bufio.NewWriter(w) // a tabwriter writes cell by cell
	t := tabwriter.NewWriter(lines, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tSTATUS\tLAST EVENT\tSIZE\tCOMMAND")
	for _, r := range p.Removed {
		status, last := string(r.Status), ""
		if status == "" {
			status = "unreadable"
		}
		if !r.Last.IsZero() {
			last = console.Ago(time.Now(), r.Last)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.ID, status, last, sizeText(r.Bytes), console.Short(console.CommandLine(r.Command), 40))
	}
	return errors.Join(t.Flush(), lines.Flush())
}

// sizeText is a number of bytes as a person reads it.
func sizeText(n int64) string {
	const step = 1024
	if n < step {
		return plural.Count(int(n), "byte")
	}
	value, units := float64(n), []string{"KiB", "MiB", "GiB", "TiB"}
	for i, unit := range units {
		if value /= step; value < step || i == len(units)-1 {
			return fmt.Sprintf("%.1f %s", value, unit)
		}
	}
	return ""
}

// age is how long ago something was: numbers with the units s, m, h, d and w,
// such as 30d or 1w2d. A day has 24 hours.
type age time.Duration

var ageUnits = map[string]time.Duration{
	"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// UnmarshalText reads an age.
func (a *age) UnmarshalText(text []byte) error {
	d, err := parseAge(string(text))
	*a = age(d)
	return err
}

func parseAge(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is not an age such as 30d, 2w, 12h or 90m", text)
	var sum time.Duration
	for rest := text; ; {
		digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 1 {
			return 0, wrong
		}
		n, err := strconv.ParseInt(rest[:digits], 10, 64)
		unit := ageUnits[rest[digits:digits+1]]
		if err != nil || unit == 0 || n > (math.MaxInt64-int64(sum))/int64(unit) {
			return 0, wrong
		}
		sum += time.Duration(n) * unit
		if rest = rest[digits+1:]; rest == "" {
			return sum, nil
		}
	}
}
