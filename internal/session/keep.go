package session

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/scratchpad"
)

// tidy removes old runs beside the one that has just ended, as --keep-runs says. What is
// going on, has paused, can be resumed or cannot be read is left, and so is what this user
// did not write.
func (s *Session) tidy(keep config.Keep) {
	if keep == (config.Keep{}) {
		return
	}
	state := filepath.Dir(s.run.Dir)
	ids, err := scratchpad.IDs(state)
	if err != nil {
		return
	}
	removed, count, size := 0, 0, int64(0)
	for _, id := range ids { // the latest first
		dir := filepath.Join(state, id)
		count++
		bytes, last := scratchpad.Weigh(dir)
		size += bytes
		tooMany := keep.Runs > 0 && count > keep.Runs
		tooOld := keep.Days > 0 && time.Since(last) > time.Duration(keep.Days)*24*time.Hour
		tooLarge := keep.Megabytes > 0 && size > int64(keep.Megabytes)<<20
		if id == s.run.ID || !tooMany && !tooOld && !tooLarge || !removable(dir) {
			continue
		}
		if Doom(dir) == nil {
			removed++
		}
	}
	if removed == 0 {
		return
	}
	if _, err := scratchpad.Sweep(state); err != nil {
		s.app.Say.Warn("old runs were not removed whole: %v", err)
	}
	s.app.Say.Detail("removed %s, as keep says", plural.Count(removed, "old run"))
}

// removable reports whether nobody can go on with the run.
func removable(dir string) bool {
	if scratchpad.Locked(dir) || scratchpad.Mine(dir) != nil {
		return false
	}
	r := scratchpad.Summarize(dir)
	switch r.Status {
	case core.StatusPaused, core.StatusInterrupted, core.StatusCrashed, core.StatusRunning, core.StatusAwaiting:
		return false
	}
	return r.Problem == ""
}

// Doom takes a run away as [scratchpad.Doom] does, and its checkpoints with it; those of
// one that was not written by this user are left alone.
func Doom(dir string) error {
	first, _ := scratchpad.First(dir)
	started, ok := first.Data.(core.RunStarted)
	forget := ok && started.Checkpoint != "" && scratchpad.Mine(dir) == nil
	if err := scratchpad.Doom(dir); err != nil {
		return err
	}
	if forget {
		_ = checkpoint.Forget(context.Background(), cmp.Or(started.Repository, started.Dir), filepath.Base(dir))
	}
	return nil
}
