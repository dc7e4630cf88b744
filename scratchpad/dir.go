package scratchpad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/provenance"
)

// dirMode is the mode of directories: only their owner has access.
const dirMode = 0o700

// StateDirName is the directory in which runs are kept.
const StateDirName = ".looprun"

// ErrLocked means that another looprun has the run open.
var ErrLocked = errors.New("another looprun has this run open")

// StateDir finds the state directory for runs started in the folder start: next to the nearest
// looprun.yaml up to the git root, else at the git root, else in start itself. It ignores a
// looprun.yaml that somebody else may have put there, and a repository that another user
// planted in a world-writable place.
func StateDir(start string) string {
	dir := provenance.Root(start, func(dir string) bool {
		config := filepath.Join(dir, "looprun.yaml")
		return provenance.Exists(config) && provenance.Doubt(config) == ""
	})
	return filepath.Join(dir, StateDirName)
}

// KeptFor returns the folder to which the runs of a state directory belong, as a list shows
// it.
func KeptFor(stateDir string) string {
	if filepath.Base(stateDir) == StateDirName {
		return filepath.Dir(stateDir)
	}
	return stateDir
}

// Run is the directory of one run, open for writing and locked.
type Run struct {
	ID      string
	Dir     string
	Journal *Journal
	// Unmarked is why the run's events have no mark of this user; nil means they do. Resuming
	// such a run later requires [OpenTrusted].
	Unmarked error

	lock    *os.File
	page    page
	output  Output
	printed int // the last iteration that may have output files
}

// Create creates the directory of a new run, with an id made from the time, and locks it.
func Create(stateDir string, now time.Time, mode SyncMode) (*Run, error) {
	for at := now; ; at = at.Add(idStep) {
		dir := filepath.Join(stateDir, newID(at))
		if isNew, err := makeDir(dir, stateDir); err != nil {
			return nil, err
		} else if !isNew {
			continue
		}
		r, err := create(dir, stateDir, mode)
		if err != nil {
			_ = os.RemoveAll(dir) // err says what went wrong
			return nil, err
		}
		return r, nil
	}
}

// makeDir makes the directory of a run, and the state directory if there is none. isNew is false
// if the run's directory exists already.
func makeDir(dir, stateDir string) (isNew bool, err error) {
	// Another run that ends may be removing the empty directory at this moment. While it does,
	// the directory can be seen, and nothing can be made in it.
	for tries := 0; ; tries++ {
		err, wrong := prepare(stateDir), "the state directory cannot be used: %w; make it writable"
		if err == nil {
			err, wrong = os.Mkdir(dir, dirMode), "the run directory cannot be made: %w; make the state directory writable"
			if errors.Is(err, fs.ErrExist) {
				return false, nil
			}
		} else if errors.Is(err, ErrUnsafe) {
			wrong = "%w"
		}
		switch {
		case err == nil:
			return true, nil
		case !errors.Is(err, fs.ErrNotExist) || tries == 100:
			return false, fmt.Errorf(wrong+", or name another with --state-dir", err)
		}
		time.Sleep(time.Duration(tries+1) * time.Millisecond)
	}
}

func create(dir, stateDir string, mode SyncMode) (*Run, error) {
	lock, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	key, unmarked := ownKey(true)
	r, err := open(dir, mode, 0, lock, marker{key: key})
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	r.Unmarked = unmarked
	if mode == SyncOff {
		return r, nil
	}
	if err := r.Journal.syncDirs(dir, stateDir); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// idStep is the shortest time between two different ids.
const idStep = time.Second/0x10000 + 1

// NewIDs returns ids, in order, for n runs that are started later with [CreateAs]. No run of
// the state directory uses any of them.
func NewIDs(stateDir string, now time.Time, n int) []string {
	var ids []string
	for at := now; len(ids) < n; at = at.Add(idStep) {
		if id := newID(at); !provenance.Exists(filepath.Join(stateDir, id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// CreateAs creates the directory of a new run with an id from [NewIDs], and locks it. If the
// run already exists, the error is [fs.ErrExist].
func CreateAs(stateDir, id string, mode SyncMode) (*Run, error) {
	if !isID(id) {
		return nil, fmt.Errorf("%q is not the id of a run", id)
	}
	dir := filepath.Join(stateDir, id)
	if _, err := makeDir(dir, stateDir); err != nil {
		return nil, err
	}
	if HasEvents(dir) {
		return nil, fmt.Errorf("run %s has begun already: %w", id, fs.ErrExist)
	}
	return create(dir, stateDir, mode)
}

// copyName is the file that says that a run is a copy.
const copyName = "copy"

// IsCopy reports whether a run is a copy of one on another machine; see [CreateCopy].
func IsCopy(dir string) bool { return provenance.Exists(filepath.Join(dir, copyName)) }

// CreateCopy creates the directory of a run as [CreateAs] does, for the events of a run on
// another machine. Once it is closed, nothing opens it again.
func CreateCopy(stateDir, id string) (*Run, error) {
	r, err := CreateAs(stateDir, id, SyncOff)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(r.Dir, copyName), nil, 0o600); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// idTime is the format of the time at the beginning of an id, in UTC.
const idTime = "20060102-150405"

// newID formats the time to the 65,536th of a second: ids sort by the order in which the runs
// were started.
func newID(at time.Time) string {
	return fmt.Sprintf("%s-%04x", at.UTC().Format(idTime), int64(at.Nanosecond())*0x10000/int64(time.Second))
}

// prepare creates the state directory, ignored by git, and rejects one that somebody else
// could change: anyone who can rename a run's directory can replace it. It also rejects a
// .looprun that is a link, which may have come with a repository; users who keep runs
// elsewhere name that place.
func prepare(stateDir string) error {
	if err := refuseLink(stateDir); err != nil {
		return err
	}
	if err := os.MkdirAll(stateDir, dirMode); err != nil {
		return err
	}
	info, err := os.Stat(stateDir)
	if err != nil {
		return err
	}
	opened := modesHold && info.Mode().Perm()&0o022 != 0
	if opened && !foreign(info) && cloned(stateDir) { // git makes it so with umask 002
		if err := os.Chmod(stateDir, info.Mode().Perm()&^0o022); err != nil {
			return err
		}
		opened = !cloned(stateDir) // somebody was faster
	}
	switch {
	case foreign(info):
		return fmt.Errorf("%w: %s belongs to another user; remove it", ErrUnsafe, stateDir)
	case opened:
		return fmt.Errorf("%w: %s can be written by others (mode %04o); run chmod go-w on it", ErrUnsafe, stateDir, info.Mode().Perm())
	}
	return ignore(stateDir)
}

// cloned reports whether a state directory contains exactly the files that looprun init
// commits.
func cloned(stateDir string) bool {
	entries, err := os.ReadDir(stateDir)
	return err == nil && len(entries) == 2 && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() != ignoreName && e.Name() != SchemasName
	})
}

// SchemasName is the folder in a state directory for the schemas that looprun init writes.
const SchemasName = "schemas"

const (
	ignoreName = ".gitignore"
	ignoreText = "*\n"
)

// ignore hides a state directory from git unless it already has an ignore file.
func ignore(stateDir string) error {
	name := filepath.Join(stateDir, ignoreName)
	if provenance.Exists(name) {
		return nil
	}
	return atomicfile.Write(name, []byte(ignoreText), false)
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func refuseLink(stateDir string) error {
	if isLink(stateDir) && filepath.Base(stateDir) == StateDirName {
		return fmt.Errorf("%w: %s is a symbolic link, and a link that was merely found is not followed; remove it", ErrUnsafe, stateDir)
	}
	return nil
}

// Open opens a run to resume it: it locks the run, replays the journal, and cuts off a torn
// last record, whose size the tail reports. For a run that is not known to be this user's the
// error is [ErrNotMine], see [Mine].
func Open(dir string, mode SyncMode) (*Run, *core.State, Tail, error) {
	return reopen(dir, mode, false)
}

// OpenTrusted opens a run as [Open] does, whoever wrote it, because the user has consented.
// From its next event on the run is this user's. A directory that is a link or another user's
// still returns [ErrUnsafe].
func OpenTrusted(dir string, mode SyncMode) (*Run, *core.State, Tail, error) {
	return reopen(dir, mode, true)
}

func reopen(dir string, mode SyncMode, trusted bool) (*Run, *core.State, Tail, error) {
	if err := checkOwner(dir); err != nil {
		return nil, nil, Tail{}, err
	}
	if IsCopy(dir) {
		return nil, nil, Tail{}, fmt.Errorf("run %s is a copy of a run on another machine: it can be shown here, and answered only while somebody follows it", filepath.Base(dir))
	}
	lock, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return nil, nil, Tail{}, err
	}
	// Read the marks only once nobody else can write any more.
	r, s, tail, err := unlocked(dir, mode, trusted, lock)
	if err != nil {
		return nil, nil, tail, errors.Join(err, lock.Close())
	}
	r.Journal.verdict = filepath.Join(dir, resultName)
	r.printed = s.NextIteration()
	if err := errors.Join(atomicfile.Sweep(dir), atomicfile.Sweep(filepath.Join(dir, detailDir))); err != nil {
		return nil, nil, tail, errors.Join(err, r.Close())
	}
	return r, s, tail, nil
}

// unlocked opens a run whose lock the caller already holds.
func unlocked(dir string, mode SyncMode, trusted bool, lock *os.File) (*Run, *core.State, Tail, error) {
	s, tail, err := Load(dir)
	if err != nil {
		return nil, nil, tail, err
	}
	p, err := whose(dir)
	if err == nil && p.records != tail.Events {
		err = fmt.Errorf("%w: its journal changed while it was read", ErrNotMine)
	}
	if err != nil && !(trusted && errors.Is(err, ErrNotMine)) {
		return nil, nil, tail, err
	}
	var unmarked error
	if p.marker.key == nil {
		if p.marker.key, unmarked = ownKey(true); unmarked == nil {
			if p, err = prove(dir, p.marker.key); err != nil {
				return nil, nil, tail, err
			}
		}
	}
	if err := makePrivate(dir); err != nil {
		return nil, nil, tail, err
	}
	r, err := open(dir, mode, tail.Offset, lock, p.marker)
	if err != nil {
		return nil, nil, tail, err
	}
	r.Unmarked = unmarked
	return r, s, tail, nil
}

// open opens the journal of a run whose lock the caller already holds.
func open(dir string, mode SyncMode, offset int64, lock *os.File, m marker) (*Run, error) {
	j, err := openJournal(dir, mode, offset, m)
	if err != nil {
		return nil, fmt.Errorf("the journal cannot be opened: %w", err)
	}
	r := &Run{ID: filepath.Base(dir), Dir: dir, Journal: j, lock: lock, printed: -1}
	r.page.name = r.PageFile()
	return r, nil
}

// Close closes the journal and unlocks the run.
func (r *Run) Close() error {
	return errors.Join(r.Journal.Close(), r.lock.Close())
}

// contextName is the file that holds the output of looprun context.
const contextName = "context.md"

// ContextFile returns the file with the context for the running iteration.
func (r *Run) ContextFile() string { return filepath.Join(r.Dir, contextName) }

// WriteContext writes the context for the iteration about to start. It requires that nobody is
// reading it: the command has not started. The file is made again, since the command may have
// put a link there. It replaces no file: some file systems flush one that does at once, which
// takes as long as a short iteration.
func (r *Run) WriteContext(s *core.State, o ContextOptions) error {
	name := r.ContextFile()
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, atomicfile.Mode)
	if err != nil {
		return err
	}
	o.Notes = r.page.read()
	_, err = f.Write(Context(s, o))
	return errors.Join(err, f.Close())
}

const pageName = "scratchpad.md"

// PageFile returns the path of the page for people and agents.
func (r *Run) PageFile() string { return filepath.Join(r.Dir, pageName) }

// OutputFile returns the file with an iteration's output; the precheck is iteration 0.
func OutputFile(dir string, iteration int) string {
	return filepath.Join(dir, "output", fmt.Sprintf("%04d.log", iteration))
}

// CheckOutputFile returns the file with the output of an iteration's check.
func CheckOutputFile(dir string, iteration int) string {
	return strings.TrimSuffix(OutputFile(dir, iteration), ".log") + ".check.log"
}
