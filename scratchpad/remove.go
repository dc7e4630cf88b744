package scratchpad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/atomicfile"
)

// discardPrefix begins the name of a run that is being removed; its id follows. No
// reader takes it for a run.
const discardPrefix = ".removing-"

// starting is how long a directory without events may belong to a run that is
// just being made and has not locked it yet.
const starting = time.Minute

// Discard takes a run out of its state directory. That is one rename: a
// kill leaves the run whole, or gone. Its files are removed by [Sweep]. A run
// that is alive is refused with [ErrLocked], one that is gone with
// [fs.ErrNotExist].
func Discard(dir string) error {
	stateDir, id := filepath.Split(dir)
	if !isID(id) {
		return fmt.Errorf("%s is not the directory of a run", dir)
	}
	if err := refuseLink(filepath.Clean(stateDir)); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not the directory of a run", dir)
	case !HasEvents(dir) && time.Since(info.ModTime()) < starting:
		return fmt.Errorf("%s may just be starting: %w", dir, ErrLocked)
	}
	// Until the new name is there nobody can resume the run.
	lock, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		// An open file keeps its folder from being renamed there. That holds for
		// somebody who resumes the run in this moment too.
		if err := lock.Close(); err != nil {
			return err
		}
	} else {
		defer lock.Close()
	}
	to := filepath.Join(stateDir, discardPrefix+id)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.Rename(dir, to); err != nil {
		return fmt.Errorf("the run cannot be removed: %w", err)
	}
	return nil
}

// Sweep removes what [Discard] has taken away, also what an earlier process did not
// come to, and returns how many runs that were. A directory that is not there has
// none. Before the files of a run go, forget removes what it has elsewhere; nil: nothing.
// Its dir is where they are now. After an error of it they stay for the next call.
func Sweep(stateDir string, forget func(id, dir string) error) (int, error) {
	names, err := discardedIn(stateDir)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	// A run must not come back with half of its files after a power loss.
	if err := atomicfile.SyncDir(stateDir); err != nil {
		return 0, err
	}
	removed := 0
	var errs []error
	for _, name := range names {
		dir := filepath.Join(stateDir, name)
		if forget != nil {
			if err := forget(strings.TrimPrefix(name, discardPrefix), dir); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}

// Discarded counts the runs that [Sweep] would remove, and their bytes.
func Discarded(stateDir string) (runs int, bytes int64, err error) {
	names, err := discardedIn(stateDir)
	for _, name := range names {
		bytes += Weigh(filepath.Join(stateDir, name))
	}
	return len(names), bytes, err
}

func discardedIn(stateDir string) ([]string, error) {
	if err := refuseLink(stateDir); err != nil {
		return nil, err
	}
	var all []string
	f, err := os.Open(stateDir)
	if err == nil {
		defer f.Close()
		all, err = f.Readdirnames(-1)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the state directory cannot be read: %w", err)
	}
	names := slices.DeleteFunc(all, func(name string) bool {
		id, ok := strings.CutPrefix(name, discardPrefix)
		if !ok || !isID(id) {
			return true
		}
		info, err := os.Lstat(filepath.Join(stateDir, name))
		return err != nil || !info.IsDir()
	})
	slices.Sort(names)
	return names, nil
}

// RemoveEmpty removes a state directory of the usual name that holds no run and nothing else of
// anybody's. It reports whether it did. A run that begins meanwhile makes the directory again.
func RemoveEmpty(stateDir string) bool {
	entries, err := os.ReadDir(stateDir)
	if err != nil || filepath.Base(stateDir) != StateDirName || len(entries) != 1 || entries[0].Name() != ignoreName {
		return false
	}
	name := filepath.Join(stateDir, ignoreName)
	if text, err := os.ReadFile(name); err != nil || string(text) != ignoreText || os.Remove(name) != nil {
		return false
	}
	if os.Remove(stateDir) == nil {
		return true
	}
	_ = ignore(stateDir) // somebody was faster
	return false
}

// Weigh is how many bytes the files of a run hold. Links are not followed, and what cannot be
// read counts nothing.
func Weigh(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// LastEvent is when the last event of a run was written: when something happened
// in it. It is zero where there is no journal.
func LastEvent(dir string) time.Time {
	info, err := os.Lstat(filepath.Join(dir, journalName))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
