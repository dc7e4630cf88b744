package session

import (
	"path/filepath"
	"time"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/scratchpad"
)

// tidy removes old runs beside the one that has just ended, as --keep-runs says and as far as
// [many.Removal] lets it.
func (s *Session) tidy(keep config.Keep) {
	if keep == (config.Keep{}) {
		return
	}
	state := filepath.Dir(s.run.Dir)
	ids, err := scratchpad.IDs(state)
	if err != nil {
		return
	}
	removal := many.Removal{State: state}
	removed, count, size := 0, 0, int64(0)
	for _, id := range ids { // the latest first
		dir := filepath.Join(state, id)
		count++
		size += scratchpad.Weigh(dir)
		tooMany := keep.Runs > 0 && count > keep.Runs
		tooOld := keep.Days > 0 && time.Since(scratchpad.LastEvent(dir)) > time.Duration(keep.Days)*24*time.Hour
		tooLarge := keep.Megabytes > 0 && size > int64(keep.Megabytes)<<20
		if id == s.run.ID || !tooMany && !tooOld && !tooLarge {
			continue
		}
		if removal.Run(dir, many.ByRule) == nil {
			removed++
		}
	}
	if removed == 0 {
		return
	}
	if _, err := removal.Sweep(); err != nil {
		s.app.Say.Warn("old runs were not removed whole: %v", err)
	}
	s.app.Say.Detail("removed %s, as keep says", plural.Count(removed, "old run"))
}
