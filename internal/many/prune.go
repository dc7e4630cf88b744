package many

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/scratchpad"
)

// Expire removes the work trees of loops that ended for longer than they are kept, and all
// that is left of plans whose runs are gone. What is going on is left alone, and so is what
// cannot be removed: the next call tries again.
func Expire(state string, now time.Time) {
	ids, err := IDs(state)
	if err != nil {
		return
	}
	for _, id := range ids {
		if p, err := read(state, id); err == nil {
			p.expire(now)
		} else if errors.Is(err, fs.ErrNotExist) && old(folder(state)+"/"+id, now) {
			_ = os.RemoveAll(folder(state) + "/" + id)
		}
	}
}

func old(name string, now time.Time) bool {
	info, err := os.Stat(name)
	return err == nil && now.Sub(info.ModTime()) > time.Hour
}

func (p *Plan) expire(now time.Time) {
	release, err := p.Take()
	if err != nil {
		return
	}
	defer func() { _ = release() }()
	ctx, left := context.Background(), false
	for i := range p.Loops {
		l := &p.Loops[i]
		dir := p.runDir(l)
		gone := !scratchpad.HasEvents(dir)
		if gone && now.Sub(p.Started) < p.Keep && !pruned(p, dir) {
			left = true
			continue // it is to be started yet, by --resume
		}
		left = left || !gone
		if !gone && (scratchpad.Locked(dir) || now.Sub(scratchpad.LastEvent(dir)) < p.Keep) {
			continue
		}
		r := repositoryOf(p.Trees, l.Repository)
		if _, err := os.Lstat(l.Tree); err == nil && r.remove(ctx, l.Tree) != nil {
			left = true
		}
		if gone {
			_ = checkpoint.Forget(ctx, r.mirror, l.RunID)
			_ = checkpoint.Forget(ctx, l.Repository, l.RunID)
		}
	}
	if !left {
		_ = os.RemoveAll(p.dir())
	}
}

// pruned reports whether the plan was carried out to its end: a run that is not there was
// removed, then.
func pruned(p *Plan, dir string) bool {
	_, err := os.Stat(p.dir() + "/" + resultName)
	_, there := os.Stat(dir)
	return err == nil && errors.Is(there, fs.ErrNotExist)
}
