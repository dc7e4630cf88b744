package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/scratchpad"
)

// NoteStateDir records that runs are kept in dir. Failing to do so deserves no warning: only
// list --all is incomplete. A run in CI records nothing, since nobody lists it there.
func NoteStateDir(say *console.Observer, dir string) {
	note := scratchpad.StateNote(dir)
	if note == "" || console.InCI() || inputfile.IsFile(note) {
		return
	}
	err := os.MkdirAll(filepath.Dir(note), 0o700)
	if err == nil {
		err = atomicfile.Write(note, []byte(realDir(dir)+"\n"), false)
	}
	if err != nil {
		say.Detail("looprun list --all will not show this run elsewhere: %v", err)
	}
}

// realDir returns the folder's path with all links resolved.
func realDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// AllRuns returns the directories of all of this user's runs, latest first: those in dir and
// in every other recorded folder.
func AllRuns(say *console.Observer, dir string) ([]string, error) {
	dirs, err := scratchpad.StateDirs(dir)
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, dir := range dirs {
		ids, err := scratchpad.IDs(dir)
		if err != nil {
			say.Warn("%v", err)
		}
		runs = append(runs, Within(dir, ids)...)
	}
	slices.SortStableFunc(runs, func(a, b string) int { return strings.Compare(filepath.Base(b), filepath.Base(a)) })
	return runs, nil
}

// Within returns the run directories for the given ids.
func Within(dir string, ids []string) []string {
	before := strings.TrimSuffix(filepath.Join(dir, "x"), "x")
	return convert.Each(ids, func(id string) string { return before + id })
}

// recentRuns is how many runs are examined to find one in progress: each takes some
// microseconds, and the user starting a run waits for it.
const recentRuns = 100

// mentionOther names another run in progress in the same state directory, and so in the same
// work tree: two runs that change the same files undo each other's work. It ignores the runs
// that this one was started in, which are meant to be there.
func (s *Session) mentionOther() {
	if s.app.Say.Flags.Quiet {
		return
	}
	stateDir := filepath.Dir(s.run.Dir)
	ids, err := scratchpad.IDs(stateDir)
	if err != nil {
		return
	}
	outer := map[string]bool{s.run.ID: true}
	for id := os.Getenv("LOOPRUN_RUN_ID"); id != "" && !outer[id]; {
		outer[id] = true
		id = scratchpad.Summarize(filepath.Join(stateDir, id)).Parent
	}
	var others []scratchpad.Summary
	for _, dir := range Within(stateDir, ids[:min(recentRuns, len(ids))]) {
		if !outer[filepath.Base(dir)] && scratchpad.Locked(dir) {
			others = append(others, scratchpad.Summarize(dir))
		}
	}
	if len(others) == 0 {
		return
	}
	more := ""
	if n := len(others) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	other := others[0]
	s.app.Say.News("another run is active here: %s (%s)%s; both may change the same files", other.ID, console.Short(core.CommandLine(other.Command), 60), more)
}
