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

// discardPrefix is the prefix in the name of a run that is being removed; the run's id
// follows. Readers do not treat it as a run.
const discardPrefix = ".removing-"

// starting is how long a directory without events may belong to a run that is just being
// created and has not locked it yet.
const starting = time.Minute

// Discard takes a run out of its state directory. It is a single rename: if killed, it leaves
// the run either whole or gone. [Sweep] removes the files. Discard fails with [ErrLocked] if
// the run is alive, and with [fs.ErrNotExist] if it is gone.
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
	// Until the rename, nobody can resume the run.
	lock, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		// There an open file prevents its folder from being renamed. That also applies to
		// somebody who resumes the run at this moment.
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

// Sweep removes the runs that [Discard] has taken away, including those left by an earlier
// process, and returns how many it removed. A directory that does not exist has none. Before
// the files of a run are removed, forget removes what the run has elsewhere; nil means
// nothing. Its dir is where the files are now. If forget fails, the files stay for the next
// call.
func Sweep(stateDir string, forget func(id, dir string) error) (int, error) {
	names, err := discardedIn(stateDir)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	// A run must not reappear with half of its files after a power loss.
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

// Discarded returns the number of runs that [Sweep] would remove, and their size in bytes.
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

// RemoveEmpty removes a state directory that has the usual name and contains neither a run nor
// anything else that somebody put there. It reports whether it did. A run that begins
// meanwhile creates the directory again.
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

// Weigh returns the total size of a run's files, in bytes. It follows no links, and ignores
// what it cannot read.
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

// LastEvent returns when the last event of a run was written. It is zero if there is no
// journal.
func LastEvent(dir string) time.Time {
	info, err := os.Lstat(filepath.Join(dir, journalName))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
