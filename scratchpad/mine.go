package scratchpad

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/xdg"
)

// ErrNotMine is returned by [Open] for a run that this user is not known to have
// written: it came with a clone, an archive or a cache, or was changed since. A
// run that is resumed runs the commands of its journal. [OpenTrusted] is for one
// that the user has looked at.
var ErrNotMine = errors.New("it is not known to be yours")

// Mine is nil when all of a run was written by this user, or agreed to; else an
// [ErrNotMine] that says why not. Neither the owner of its files nor their modes
// say so, which a clone and an archive have as well, but marks in the journal
// that nobody can make without the key in the user's state folder.
func Mine(dir string) error {
	_, err := whose(dir)
	return err
}

// whose reads the marks of a run.
func whose(dir string) (proven, error) {
	key, kerr := ownKey(false)
	p, err := prove(dir, key)
	if err != nil || p.mine {
		return p, err
	}
	return p, fmt.Errorf("%w: %s", ErrNotMine, p.refusal(kerr))
}

// refusal says why the marks do not make the run this user's.
func (p proven) refusal(key error) string {
	switch {
	case !p.marked:
		return "nothing in its journal says that it began here; it may have come with a clone, an archive or a cache, or have begun where there was no place for your key"
	case errors.Is(key, fs.ErrNotExist):
		return "it began elsewhere, or as somebody else: you have no key yet"
	case key != nil:
		return key.Error()
	case p.begun:
		return "something other than your looprun has written to its journal"
	}
	return "it began elsewhere, or as somebody else, or your key is another one now"
}

// skew is how far in the future the start of a run may lie, for clocks that are
// set back a little.
const skew = time.Minute

// genuine reports whether the first event is of the run that the directory is
// named after, and not from the future.
func genuine(dir string, first core.Event) bool {
	started, _ := first.Data.(core.RunStarted)
	return started.RunID == filepath.Base(dir) && !first.Time.After(time.Now().Add(skew))
}

// Genuine reports whether a run may be taken for the latest: it is the one that
// its directory is named after, and has not begun in the future. What cannot be
// read speaks for itself by its name alone.
func Genuine(dir string) bool {
	id := filepath.Base(dir)
	if !isID(id) || id[:len(idTime)] > time.Now().Add(skew).UTC().Format(idTime) {
		return false
	}
	first, err := First(dir)
	return err != nil || genuine(dir, first)
}

// Latest is the directory of the latest run that fits: of this user's, else of
// the others, as mine says. One that is not [Genuine] is not taken. It is empty
// when none fits.
func Latest(stateDir string, fits func(dir string) bool) (dir string, mine bool, err error) {
	ids, err := IDs(stateDir)
	if err != nil {
		return "", false, err
	}
	for _, id := range ids {
		run := filepath.Join(stateDir, id)
		if !HasEvents(run) || !Genuine(run) || !fits(run) {
			continue
		}
		if Mine(run) == nil {
			return run, true, nil
		}
		if dir == "" {
			dir = run
		}
	}
	return dir, false, nil
}

// StateNotes is the folder that has a file for each state directory in which this
// user keeps runs, for looprun list --all; empty where there is no place for it.
func StateNotes() string {
	if dir := xdg.State(); dir != "" {
		return filepath.Join(dir, "dirs")
	}
	return ""
}

// StateNote is the file for one state directory; empty where there is no place.
func StateNote(stateDir string) string {
	notes := StateNotes()
	if notes == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(stateDir); err == nil {
		stateDir = real
	}
	sum := sha256.Sum256([]byte(stateDir))
	return filepath.Join(notes, hex.EncodeToString(sum[:8]))
}

// StateDirs are dir and every other folder that was noted as one with this user's runs,
// as far as they can be read.
func StateDirs(dir string) ([]string, error) {
	dirs, err := notedStateDirs()
	if real, failed := filepath.EvalSymlinks(dir); failed == nil {
		dir = real
	}
	if !slices.Contains(dirs, dir) {
		dirs = append(dirs, dir)
	}
	return dirs, err
}

// notedStateDirs are the folders that were noted and are still there. The note of
// one that is gone is removed.
func notedStateDirs() ([]string, error) {
	notes := StateNotes()
	entries, err := os.ReadDir(notes)
	if notes == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the folders with your runs cannot be read: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		name := filepath.Join(notes, e.Name())
		text, err := os.ReadFile(name)
		dir := strings.TrimSuffix(string(text), "\n")
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(name) // the next list tries again
			continue
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}
