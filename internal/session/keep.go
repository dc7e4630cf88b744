package session

import (
	"os"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/scratchpad"
)

// keepNotice is the file in a state directory that marks that the user has been told of
// [config.DefaultKeep].
const keepNotice = ".keep"

// tidy removes the older runs that keep does not cover, as far as [many.Removal] allows. If
// nobody has set keep, the first time it only reports how many would be removed.
func (s *Session) tidy() {
	keep, state := s.opts.KeepRuns, filepath.Dir(s.run.Dir)
	notice := ""
	if keep == (config.Keep{}) {
		if keep = config.DefaultKeep; !inputfile.IsFile(filepath.Join(state, keepNotice)) {
			notice = filepath.Join(state, keepNotice)
		}
	}
	if keep.All || notice != "" && s.app.Repository != "" { // nobody reads what a loop of looprun many says
		return
	}
	ids, err := scratchpad.IDs(state)
	if err != nil {
		return
	}
	removal := many.Removal{State: state}
	gone, count, size := 0, 0, int64(0)
	for _, id := range ids { // the latest first
		dir := filepath.Join(state, id)
		count++
		if keep.Megabytes > 0 {
			size += scratchpad.Weigh(dir)
		}
		tooMany := keep.Runs > 0 && count > keep.Runs
		tooOld := keep.Days > 0 && time.Since(scratchpad.LastEvent(dir)) > time.Duration(keep.Days)*24*time.Hour
		tooLarge := keep.Megabytes > 0 && size > int64(keep.Megabytes)<<20
		switch {
		case id == s.run.ID || !tooMany && !tooOld && !tooLarge:
		case notice != "":
			if removal.Why(scratchpad.Summarize(dir), many.ByRule) == "" {
				gone++
			}
		case removal.Run(dir, many.ByRule) == nil:
			gone++
		}
	}
	switch {
	case gone == 0:
	case notice != "":
		if err := os.WriteFile(notice, nil, 0o600); err == nil {
			s.app.Say.Warn("this folder keeps %d runs: the next run removes %s; -o keep=off keeps them, and so does keep: off in looprun.yaml", keep.Runs, plural.Count(gone, "older run"))
		}
	default:
		s.sweep(&removal)
		s.app.Say.Detail("removed %s because of keep", plural.Count(gone, "old run"))
	}
}

func (s *Session) sweep(r *many.Removal) {
	if _, err := r.Sweep(); err != nil {
		s.app.Say.Warn("old runs were only partly removed: %v", err)
	}
}

// needless reports whether nobody needs the run any more: a --wait or --retry that is done,
// for which nobody asked to keep anything, and that has no warning to look into.
func (s *Session) needless(r core.Result) bool {
	o := s.opts
	return r.Status == core.StatusDone && (o.Wait || o.Retry != nil) && len(r.Warnings) == 0 && s.app.As == "" &&
		o.KeepRuns == (config.Keep{}) && o.Result == "" && !o.Checkpoint && !s.app.Say.Sections // a CI system has been told of the folder
}

// discard removes the run if nothing has begun.
func (s *Session) discard() error {
	s.hangUp()
	err := s.run.Close()
	if scratchpad.HasEvents(s.run.Dir) || s.app.Repository != "" {
		return err
	}
	if rerr := os.RemoveAll(s.run.Dir); err == nil {
		err = rerr
	}
	s.leaveEmpty(filepath.Dir(s.run.Dir))
	return err
}

// leaveNothing removes the run that has just ended, and the state directory if nothing else is
// in it. It reports whether the run is gone.
func (s *Session) leaveNothing() bool {
	removal := many.Removal{State: filepath.Dir(s.run.Dir)}
	if removal.Run(s.run.Dir, many.ByRule) != nil {
		return false
	}
	s.sweep(&removal)
	s.leaveEmpty(removal.State)
	return true
}

// leaveEmpty removes a state directory that has no runs, and its note.
func (s *Session) leaveEmpty(state string) {
	note := scratchpad.StateNote(state)
	if !scratchpad.RemoveEmpty(state) {
		return
	}
	_ = os.Remove(note)
	if _, err := os.Stat(state); err == nil { // another run has just begun there
		NoteStateDir(s.app.Say, state)
	}
}
