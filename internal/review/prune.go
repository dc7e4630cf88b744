package review

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/scratchpad"
)

// Selection selects the runs to remove: those with Names, ids or parts of them, or, without
// any, those that satisfy all other conditions.
type Selection struct {
	Names     []string
	OlderThan *time.Duration // since the last event; nil: however young
	Keep      int            // how many of the latest are left
	Status    []string       // how they ended; none: however
	Untaken   bool           // results of looprun many that nobody took go, too
}

// Pruned holds the runs to remove, and after removal those that are gone; in JSON it has the
// form that looprun prune prints.
type Pruned struct {
	DryRun  bool      `json:"dry_run"`
	Removed []oldRun  `json:"removed"`
	Kept    []keptRun `json:"kept"` // what was asked for and is left all the same
	// Unfinished is the number of runs that an earlier prune did not finish removing.
	Unfinished int   `json:"unfinished"`
	Bytes      int64 `json:"bytes"`
	removal    many.Removal
	asked      many.Asked
}

// oldRun is a run to remove.
type oldRun struct {
	ID      string      `json:"id"`
	Status  core.Status `json:"status,omitempty"` // empty where it cannot be read
	Last    time.Time   `json:"last_event"`
	Bytes   int64       `json:"bytes"`
	Command []string    `json:"command,omitempty"`
	// Untaken describes the untaken part of its result, which is removed with it.
	Untaken string `json:"untaken,omitempty"`
	dir     string
}

type keptRun struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Prune finds the runs of a state directory that may be removed, and removes none.
func Prune(state string, s Selection) (p *Pruned, err error) {
	p = &Pruned{Removed: []oldRun{}, Kept: []keptRun{}, removal: many.Removal{State: state, Untaken: s.Untaken}}
	var count sync.WaitGroup
	count.Go(func() { p.Unfinished, p.Bytes, err = scratchpad.Discarded(state) })
	chosen := p.choose(s)
	if count.Wait(); chosen != nil {
		return p, chosen
	}
	for _, r := range p.Removed {
		p.Bytes += r.Bytes
	}
	return p, err
}

// choose selects the named runs, whatever their status, or those that satisfy all conditions,
// as far as they may be removed.
func (p *Pruned) choose(s Selection) error {
	var named []string
	for _, name := range s.Names {
		dir, err := scratchpad.Find(p.removal.State, name)
		if err != nil {
			return err
		}
		if scratchpad.Locked(dir) {
			return fmt.Errorf("run %s is active: another looprun has it open; end it first", filepath.Base(dir))
		}
		if why := p.removal.Why(scratchpad.Summarize(dir), many.ByName); why != "" {
			return config.Usage(fmt.Sprintf("run %s was kept: %s", filepath.Base(dir), why), remedy)
		}
		if !slices.Contains(named, dir) {
			named = append(named, dir)
		}
	}
	if len(named) > 0 {
		p.asked = many.ByName
		p.Removed = make([]oldRun, len(named))
		parallel.Each(len(named), func(i int) { p.Removed[i] = p.describe(scratchpad.Summarize(named[i])) })
		return nil
	}
	p.asked = many.ByChoice
	ids, err := scratchpad.IDs(p.removal.State)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		if s.Keep == 0 || !scratchpad.Genuine(filepath.Join(p.removal.State, id)) { // no place for a false name or time
			return false
		}
		s.Keep--
		return true
	})
	slices.Reverse(ids)
	asked, whys := make([]oldRun, len(ids)), make([]string, len(ids))
	parallel.Each(len(ids), func(i int) { asked[i], whys[i] = p.consider(s, filepath.Join(p.removal.State, ids[i])) })
	for i, r := range asked {
		if whys[i] != "" {
			p.Kept = append(p.Kept, keptRun{r.ID, whys[i]})
		} else if r.ID != "" {
			p.Removed = append(p.Removed, r)
		}
	}
	return nil
}

// consider describes a run that was requested, and why it is kept all the same. For a run that
// was not requested, both are empty.
func (p *Pruned) consider(s Selection, dir string) (r oldRun, why string) {
	if s.OlderThan != nil && time.Since(scratchpad.LastEvent(dir)) < *s.OlderThan {
		return r, ""
	}
	is := scratchpad.Summarize(dir)
	if len(s.Status) > 0 && !slices.Contains(s.Status, string(is.Status)) {
		return r, ""
	}
	if why = p.removal.Why(is, p.asked); why != "" {
		return oldRun{ID: is.ID}, why
	}
	return p.describe(is), ""
}

func (p *Pruned) describe(s scratchpad.Summary) oldRun {
	r := oldRun{ID: s.ID, Status: s.Status, Last: scratchpad.LastEvent(s.Dir), Bytes: scratchpad.Weigh(s.Dir), Command: s.Command, dir: s.Dir}
	if p.removal.Untaken {
		r.Untaken = p.removal.Lost(s.Dir)
	}
	return r
}

// remedy is for a named run that is kept.
const remedy = "looprun take takes a result, and prune --untaken removes one that nobody took"

// Remove first removes each run from the list, atomically, and then deletes their files. It
// keeps a run that somebody has resumed since.
func (p *Pruned) Remove() error {
	var errs []error
	gone := p.Removed[:0]
	for _, r := range p.Removed {
		err := p.removal.Run(r.dir, p.asked)
		held, isHeld := errors.AsType[*many.HeldError](err)
		switch {
		case err == nil:
			gone = append(gone, r)
			continue
		case isHeld:
			p.Kept = append(p.Kept, keptRun{r.ID, held.Why})
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
	_, err := p.removal.Sweep()
	p.removal.Expire(time.Now())
	if err != nil {
		errs = append(errs, fmt.Errorf("not all files could be removed: %w; the next looprun prune tries again", err))
	}
	return errors.Join(errs...)
}

// Empty reports whether there is nothing to remove.
func (p *Pruned) Empty() bool { return len(p.Removed)+p.Unfinished == 0 }

// Count returns the number of runs of both kinds, in words.
func (p *Pruned) Count() string {
	text := plural.Count(len(p.Removed), "run")
	if p.Unfinished > 0 {
		text += " and what was left of " + plural.Count(p.Unfinished, "run") + " by an earlier prune"
	}
	return text
}

// Table prints the runs for a person; it prints nothing if there are none.
func (p *Pruned) Table(to *console.Printer) error {
	if len(p.Removed) == 0 {
		return nil
	}
	t, now := &console.Table{Columns: []console.Column{{Title: "RUN"}, {Title: "STATUS"}, {Title: "LAST EVENT"}, {Title: "SIZE"}, {Title: "COMMAND", Least: 8}}}, time.Now()
	t.AddAll(len(p.Removed), func(i int) []console.Entry {
		r, last := p.Removed[i], ""
		if !r.Last.IsZero() {
			last = console.Ago(now, r.Last)
		}
		return []console.Entry{
			{Text: r.ID},
			{Text: string(cmp.Or(r.Status, "unreadable"))},
			{Text: last},
			{Text: plural.Bytes(r.Bytes)},
			{Text: console.Short(core.CommandLine(r.Command), 40)},
		}
	})
	t.Print(to)
	return to.Flush()
}
