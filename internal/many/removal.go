package many

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/scratchpad"
)

// Asked is how a run was chosen for removal. The zero value is the most careful.
type Asked int

const (
	ByRule   Asked = iota // by its age, or because there are too many: nobody looked
	ByChoice              // a person chose runs by what they have in common
	ByName                // a person named it
)

// Removal decides what may be removed from a state directory, and removes it: runs, the refs
// with their checkpoints, and the work trees of looprun many. Nothing else removes any of
// them.
//
// The result of a loop of looprun many is what it made. An untaken result is removed only with
// Untaken, however old it is and however many there are.
type Removal struct {
	State string
	// Untaken means that a person gave up the untaken results.
	Untaken bool

	mu       sync.Mutex // of what follows
	loops    map[string]planned
	branches branches
}

type planned struct {
	*Plan
	*Loop
}

// HeldError means that a run may not be removed, and why.
type HeldError struct{ Why string }

func (e *HeldError) Error() string { return e.Why }

// Why returns why a run may not be removed; empty if it may be. s is what is known about it.
func (r *Removal) Why(s scratchpad.Summary, asked Asked) string {
	begun := scratchpad.HasEvents(s.Dir)
	switch {
	case s.Alive || scratchpad.Locked(s.Dir): // what is known of one that has ended since is old
		return "it is active"
	case asked == ByRule && scratchpad.Mine(s.Dir) != nil:
		return "it is not known to be yours"
	case asked == ByName: // whoever names a run has looked at it
	case s.Problem != "" && begun:
		return "it cannot be read"
	case s.Answered != "":
		return "it is answered; looprun resume continues it"
	case s.Status == core.StatusPaused:
		return "it is paused"
	case (s.Status == core.StatusCrashed || s.Status == core.StatusInterrupted) && waits(s.Dir):
		return "it waits for an answer"
	case asked == ByRule && s.Status != core.StatusTripped && s.Status != core.StatusFailed && s.Status.Resumable():
		return "it can be resumed"
	}
	if asked == ByRule {
		if why := valued(s.Dir); why != "" {
			return why
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.plan(filepath.Base(s.Dir)); ok && scratchpad.Locked(l.dir()) {
		return "looprun many is running its batch"
	}
	if r.Untaken {
		return ""
	}
	return r.lost(s.Dir)
}

// valued returns why no rule removes a run: it ran with --result, or it holds a
// rejection, which looprun stats rejections needs. Empty means that neither is true.
func valued(dir string) (why string) {
	of := func(config json.RawMessage) {
		var c struct{ Options struct{ Result string } }
		_ = json.Unmarshal(config, &c)
		if c.Options.Result != "" {
			why = "it ran with --result"
		}
	}
	found := errors.New("found") // most often in the first event: the rest is not read
	_, err := scratchpad.Replay(dir, func(e core.Event) error {
		switch d := e.Data.(type) {
		case core.RunStarted:
			of(d.Config)
		case core.RunResumed:
			of(d.Config)
		case core.RejectionSubmitted, core.RejectionInvalid:
			why = "it holds a rejection"
		}
		if why != "" {
			return found
		}
		return nil
	})
	if err != nil && why == "" {
		return "it cannot be read"
	}
	return why
}

// waits reports whether a run has a question that can still be answered.
func waits(dir string) bool {
	state, _, _ := scratchpad.Load(dir)
	return len(state.Answerable()) > 0
}

// Lost describes the untaken work that would be lost with a run; empty if there is none.
func (r *Removal) Lost(dir string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost(dir)
}

func (r *Removal) lost(dir string) string {
	ctx := context.Background()
	m, err := r.result(ctx, dir)
	if err != nil {
		return "what it made is not known: " + err.Error()
	}
	if m == nil {
		return ""
	}
	if err := m.settle(ctx, dir); err != nil {
		return "what it made is not known: " + err.Error()
	}
	// What a stopped taking took is on its branch, which looprun take --abort removes.
	if t, _ := r.Stopped(); t != nil && slices.ContainsFunc(t.Took, func(one Taken) bool { return one.RunID == m.RunID }) {
		return "the looprun take that took its result did not end"
	}
	return m.why(ctx, &r.branches)
}

// Run removes a run from the list at once. [Removal.Sweep] removes its files, its checkpoints
// and its work tree.
func (r *Removal) Run(dir string, asked Asked) error {
	if why := r.Why(scratchpad.Summarize(dir), asked); why != "" {
		return &HeldError{why}
	}
	return scratchpad.Discard(dir)
}

// Sweep deletes what [Removal.Run] removed, including what an earlier process did not get to.
func (r *Removal) Sweep() (int, error) { return scratchpad.Sweep(r.State, r.forget) }

// forget removes what a run has outside its folder. It ignores runs that this user did not
// write: their journal may name any repository.
func (r *Removal) forget(id, dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx := context.Background()
	first, err := scratchpad.First(dir)
	if err == nil && scratchpad.Mine(dir) != nil {
		return nil
	}
	started, _ := first.Data.(core.RunStarted)
	if l, ok := r.plan(id); ok {
		return l.repository().forget(ctx, l.Loop)
	}
	if started.Checkpoint != "" { // it may be no repository any more
		_ = checkpoint.Forget(ctx, cmp.Or(started.Repository, started.Dir), id)
	}
	return nil
}

// plan returns the loop with that run.
func (r *Removal) plan(id string) (planned, bool) {
	if r.loops == nil {
		r.loops = map[string]planned{}
		ids, _ := IDs(r.State)
		for _, of := range ids {
			if p, err := Read(r.State, of); err == nil {
				for i := range p.Loops {
					r.loops[p.Loops[i].RunID] = planned{p, &p.Loops[i]}
				}
			}
		}
	}
	l, ok := r.loops[id]
	return l, ok
}

func (l planned) repository() *repository { return repositoryOf(l.Trees, l.Repository) }

// result returns the result of the run with that folder. It is nil for a run that does not
// belong to looprun many, whose work is in the user's own work tree.
func (r *Removal) result(ctx context.Context, dir string) (*result, error) {
	id := filepath.Base(dir)
	first, _ := scratchpad.First(dir)
	started, _ := first.Data.(core.RunStarted)
	l, known := r.plan(id)
	switch {
	case known:
	case started.Repository == "" || scratchpad.Mine(dir) != nil:
		return nil, nil //nolint:nilnil // there is none
	default: // its plan is gone: what is in its tree cannot be compared with anything
		l.Loop = &Loop{RunID: id, Repository: started.Repository, Base: started.Checkpoint, Tree: started.Dir}
	}
	m := &result{Loop: l.Loop, plan: l.Plan, start: started.Checkpoint, repo: &repository{top: l.Repository}}
	if known {
		m.repo = l.repository()
	}
	return m, m.read(ctx)
}

// settle makes a checkpoint of the tree, unless the last one is already complete.
func (m *result) settle(ctx context.Context, dir string) error {
	if _, err := os.Lstat(m.Tree); err != nil || len(m.commits) == 0 && !scratchpad.HasEvents(dir) {
		return nil // there is no tree, or no run began in it
	}
	if m.plan == nil {
		m.problem = "what it was made of is not known any more"
	} else if _, err := m.repo.whole(ctx, m.Loop, dir); err != nil {
		m.problem = err.Error()
	}
	m.commits = nil
	return m.read(ctx)
}

// read finds the commits of a result.
func (m *result) read(ctx context.Context) error {
	for _, in := range []string{m.repo.mirror, m.repo.top} {
		if _, err := os.Stat(in); errors.Is(err, fs.ErrNotExist) { // or it has no name
			continue
		}
		commit, err := checkpoint.Last(ctx, in, m.RunID)
		if err != nil {
			return err
		}
		if commit != "" && (len(m.commits) == 0 || !checkpoint.Ancestor(ctx, m.repo.mirror, commit, m.commits[0])) {
			m.commits = append(m.commits, commit)
		}
	}
	return nil
}

// Room returns the number of untaken results of looprun many, and how many bytes they hold in
// their work trees and in commits that no branch has.
func (r *Removal) Room() (results int, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx := context.Background()
	r.plan("")
	held := map[string][]string{} // revisions by repository
	for id, l := range r.loops {
		dir := filepath.Join(r.State, id)
		if scratchpad.Locked(dir) {
			continue
		}
		m, _ := r.result(ctx, dir)
		_, err := os.Lstat(l.Tree)
		kept := err == nil && scratchpad.Summarize(dir).Status.MayExitZero() // or it would be gone
		if !kept && m.why(ctx, &r.branches) == "" {
			continue
		}
		results++
		bytes += scratchpad.Weigh(l.Tree)
		for _, commit := range m.commits {
			in := m.where(ctx, commit)
			held[in] = append(held[in], commit, "^"+l.Base)
		}
	}
	for in, revs := range held {
		bytes += git.DiskUsage(ctx, in, revs)
	}
	return results, bytes
}

// Expire removes the work trees of loops that ended longer ago than they are kept, if
// everything in them is in a commit, and the remains of plans whose runs are gone. It skips
// whatever is in progress and whatever cannot be removed; the next call tries again.
func (r *Removal) Expire(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids, _ := IDs(r.State)
	for _, id := range ids {
		dir := filepath.Join(folder(r.State), id)
		if p, err := Read(r.State, id); err == nil {
			r.expire(p, now)
		} else if info, failed := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && failed == nil && now.Sub(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir) // it was killed before it began
		}
	}
}

func (r *Removal) expire(p *Plan, now time.Time) {
	release, err := p.Take()
	if err != nil {
		return
	}
	defer func() { _ = release() }()
	left := false
	for i := range p.Loops {
		left = !r.expired(planned{p, &p.Loops[i]}, now) || left
	}
	if left {
		return
	}
	_ = os.RemoveAll(p.dir())
	for i := range p.Loops {
		planned{p, &p.Loops[i]}.repository().dismiss(context.Background(), p.ID)
	}
}

// expired removes the work tree of a loop if that is allowed, and reports whether nothing is
// left of the loop.
func (r *Removal) expired(l planned, now time.Time) bool {
	ctx, dir, repo := context.Background(), l.runDir(l.Loop), l.repository()
	last, err := checkpoint.Last(ctx, repo.mirror, l.RunID)
	gone := !scratchpad.HasEvents(dir)
	switch {
	case now.Sub(scratchpad.LastEvent(dir)) < l.Keep:
		return false
	case now.Sub(l.Started) < l.Keep && !pruned(l.Plan, dir):
		return false // it is to be started yet, by --resume
	case gone && last == "" && (err == nil || errors.Is(err, fs.ErrNotExist)): // nothing but its setup has run
		return repo.remove(ctx, l.Tree) == nil
	}
	if checkpoint.TreeLeft(l.Tree) {
		if _, err := repo.whole(ctx, l.Loop, dir); err != nil {
			return false
		}
		_ = repo.remove(ctx, l.Tree) // or forget does
	}
	if !gone || r.lost(dir) != "" {
		return false
	}
	return repo.forget(ctx, l.Loop) == nil // somebody removed its folder
}

// pruned reports whether the plan was executed completely: then a missing run was removed.
func pruned(p *Plan, dir string) bool {
	_, err := os.Stat(filepath.Join(p.dir(), resultName))
	_, there := os.Stat(dir)
	return err == nil && errors.Is(there, fs.ErrNotExist)
}

// forget removes everything that belongs to a result.
func (r *repository) forget(ctx context.Context, l *Loop) error {
	if err := r.remove(ctx, l.Tree); err != nil {
		return err
	}
	for _, in := range []string{r.mirror, r.top} {
		if _, err := os.Stat(in); err != nil {
			continue
		}
		if err := checkpoint.Forget(ctx, in, l.RunID); err != nil {
			return err
		}
	}
	return nil
}

// form reports whether the plan's work trees are where looprun creates them: a plan planted by
// somebody else must not cause another folder to be removed.
func (p *Plan) form() bool {
	for i := range p.Loops {
		l := &p.Loops[i]
		if l.Tree != p.treeOf(i) || !filepath.IsAbs(l.Tree) || strings.Contains(l.RunID, "/") {
			return false
		}
	}
	return true
}
