package scratchpad

import (
	"cmp"
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

// ErrNotMine is returned by [Open] for a run that this user is not known to have written: it
// came with a clone, an archive or a cache, or has been changed since. Resuming a run executes
// the commands in its journal. [OpenTrusted] opens a run that the user has inspected.
var ErrNotMine = errors.New("it is not known to be yours")

// Mine returns nil if all of a run was written or consented to by this user; otherwise an
// [ErrNotMine] with the reason. File owners and modes prove nothing, since a clone or an
// archive has the same ones; marks in the journal do, which require the key in the user's
// state folder.
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

// refusal explains why the marks do not make the run this user's.
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

// skew is how far in the future a run may have started, to allow for clocks that were set back
// a little.
const skew = time.Minute

// genuine reports whether the first event belongs to the run that the directory is named
// after, and is not in the future.
func genuine(dir string, first core.Event) bool {
	started, _ := first.Data.(core.RunStarted)
	return started.RunID == filepath.Base(dir) && !first.Time.After(time.Now().Add(skew))
}

// Genuine reports whether a run may be taken for the latest: it is the one that its directory
// is named after, and did not start in the future. If it cannot be read, only its name counts.
func Genuine(dir string) bool {
	id := filepath.Base(dir)
	if !isID(id) || id[:len(idTime)] > time.Now().Add(skew).UTC().Format(idTime) {
		return false
	}
	first, err := First(dir)
	return err != nil || genuine(dir, first)
}

// Above returns the directory of the run whose command started the run in dir. It is empty if
// there is none in the state directory.
func Above(dir string) string {
	first, _ := First(dir)
	started, _ := first.Data.(core.RunStarted)
	if !isID(started.Parent) || started.Parent == filepath.Base(dir) {
		return ""
	}
	if above := filepath.Join(filepath.Dir(dir), started.Parent); HasEvents(above) {
		return above
	}
	return ""
}

// Outermost reports whether no run [Above] started the run in dir. Only such a run is taken for
// the latest where nobody says which.
func Outermost(dir string) bool { return Above(dir) == "" }

// Latest returns the directory of the latest run that fits: one of this user's if there is
// any, otherwise one of others'; mine reports which. It skips runs that are not [Genuine], and
// returns an empty string if none fits.
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
		dir = cmp.Or(dir, run)
	}
	return dir, false, nil
}

// StateNotes returns the folder with one file for each state directory in which this user
// keeps runs, for looprun list --all; empty if there is no place for it.
func StateNotes() string {
	if dir := xdg.State(); dir != "" {
		return filepath.Join(dir, "dirs")
	}
	return ""
}

// StateNote returns the file for one state directory; empty if there is no place for it.
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

// StateDirs returns dir and every other recorded folder with runs of this user, as far as they
// can be read.
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

// notedStateDirs returns the recorded folders that still exist, and removes the notes of those
// that do not.
func notedStateDirs() ([]string, error) {
	notes := StateNotes()
	entries, err := os.ReadDir(notes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the folders with your runs cannot be read: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		name := filepath.Join(notes, e.Name())
		text, _ := os.ReadFile(name)
		dir := strings.TrimSuffix(string(text), "\n")
		if !filepath.IsAbs(dir) {
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
