package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/scratchpad"
)

// noteStateDir notes that runs are kept there. A list that is not whole is no
// reason to warn of: a run in CI notes nothing either, since nobody lists it there.
func noteStateDir(say *console.Observer, dir string) {
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

// realDir is the folder under the one name that it has without links.
func realDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// AllRuns are the directories of all runs of this user, the latest first: of those
// in dir, and in every other folder that was noted.
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

// Within are the directories of runs, by their ids.
func Within(dir string, ids []string) []string {
	before := strings.TrimSuffix(filepath.Join(dir, "x"), "x")
	runs := make([]string, len(ids))
	for i, id := range ids {
		runs[i] = before + id
	}
	return runs
}

// recentRuns is how many runs are looked at for one that is going on: looking at
// each takes some microseconds, and whoever starts a run waits for it.
const recentRuns = 100

// mentionOther names a run that is going on in the same state directory, which is
// that of the work tree: two that change the same files undo what the other does.
// Those that this run was started in are meant to be there.
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
	s.app.Say.News("another run is going on here: %s (%s)%s; both may change the same files", other.ID, console.Short(console.CommandLine(other.Command), 60), more)
}
