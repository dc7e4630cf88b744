package scratchpad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
)

// SyncMode is how the journal is synced to disk. Unless it is off, questions, answers and
// endings are always synced before they take effect.
type SyncMode string

// The sync modes.
const (
	SyncOff   SyncMode = "off"   // when the system gets round to it
	SyncAsync SyncMode = "async" // in the background, within 100 ms: the default
	SyncEach  SyncMode = "each"  // after each iteration
)

// syncDelay is how long after a record the background sync runs. Together with the sync itself
// that stays within 100 ms.
const syncDelay = 75 * time.Millisecond

// reserveSize is how much disk space is reserved for the last record.
const reserveSize = 64 << 10

// Journal writes a run's events. It implements [core.Journal]. After a failed write or sync it
// accepts no more events, with one exception if the disk was full: the record of how the run
// ended.
type Journal struct {
	dir  string
	mode SyncMode
	f    *os.File

	mu     sync.Mutex
	marker marker // behind the last record
	offset int64
	dirty  bool
	busy   bool      // a sync is going on, without mu
	idle   sync.Cond // it has ended
	timer  *time.Timer
	err    error
	full   bool  // err is a full disk, and the reserve is still there, or errMoved
	lost   error // of a failed sync: nobody knows what of it is on the disk
	closed bool
	// verdict is the run's result from before it was reopened. The first event, which
	// invalidates it, removes it.
	verdict string
}

// openJournal opens the journal for writing after its last whole record. If nothing follows
// that record, the file is not touched until there is an event.
func openJournal(dir string, mode SyncMode, offset int64, m marker) (*Journal, error) {
	name, err := filepath.Abs(filepath.Join(dir, journalName)) // it is looked for again
	if err != nil {
		return nil, err
	}
	f, err := openPlain(name, os.O_RDWR|os.O_CREATE|readFlags)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() != offset {
		if err := errors.Join(err, f.Truncate(offset)); err != nil {
			f.Close()
			return nil, err
		}
	}
	j := &Journal{dir: dir, mode: mode, f: f, offset: offset, marker: m}
	j.idle.L = &j.mu
	if err := keepReserve(j.reserve(), reserveSize); err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

func (j *Journal) reserve() string { return filepath.Join(j.dir, "reserve") }

// errMoved ends a run whose directory was renamed or moved. Its journal, which is still open,
// records that event.
var errMoved = errors.New("its folder was moved while the run was open")

// Append writes one event with a single write that does not cross a page boundary.
func (j *Journal) Append(e core.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, last := e.Data.(core.RunFinished)
	switch {
	case j.closed:
		return errors.New("the journal is closed")
	case j.err != nil && !(last && j.full):
		return j.err
	}
	err := j.write(e)
	if last && diskFull(err) {
		_ = os.Remove(j.reserve()) // if that fails the write will
		j.full = false
		err = j.write(e)
	}
	if err != nil {
		return j.fail(err)
	}
	if _, ends := e.Data.(core.IterationFinished); ends && j.mode == SyncEach {
		return j.syncLocked()
	}
	if j.mode == SyncAsync && j.timer == nil {
		j.timer = time.AfterFunc(syncDelay, j.background)
	}
	return nil
}

func (j *Journal) write(e core.Event) error {
	object, detail, err := encode(e)
	if err != nil {
		return err
	}
	next := j.marker.next(digestOf(object[:len(object)-1], detail))
	line := seal(object, next.mark())
	removed, moved, size := extent(j.f)
	_, last := e.Data.(core.RunFinished)
	switch {
	case moved && !removed && !last:
		return j.moved()
	case removed:
		return j.removed()
	case size >= 0 && size < j.offset:
		return fmt.Errorf("%s was shortened while the run was open: what was written to it is lost", j.f.Name())
	}
	if detail != nil {
		if err := j.writeDetail(e.Seq, detail); err != nil {
			return err
		}
	}
	if j.verdict != "" {
		if err := os.Remove(j.verdict); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		j.verdict = ""
	}
	used := int(j.offset % pageSize)
	if used+len(line) > pageSize {
		line = append(padding(pageSize-used), line...)
	}
	if _, err := j.f.WriteAt(line, j.offset); err != nil {
		// Part of the record may have been written. If it remains, readers drop it.
		return errors.Join(err, j.f.Truncate(j.offset))
	}
	j.offset += int64(len(line))
	j.marker, j.dirty = next, true
	return nil
}

func (j *Journal) removed() error {
	return fmt.Errorf("%s was removed while the run was open: what is written to it is lost", j.f.Name())
}

// moved returns an error that tells how to resume a run whose directory was moved.
func (j *Journal) moved() error {
	return fmt.Errorf("%s: %w: nothing else can be written there; continue it there with looprun resume --dir DIR", j.f.Name(), errMoved)
}

// writeDetail writes the detail file that the line refers to. It must be written before the
// line.
func (j *Journal) writeDetail(seq int64, detail []byte) error {
	dir := filepath.Join(j.dir, detailDir)
	durable := j.mode != SyncOff
	made, err := ensureDir(dir)
	if err == nil && made && durable {
		err = atomicfile.SyncDir(j.dir)
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(detailName(j.dir, seq), detail, durable)
}

// padding returns empty lines, which readers skip.
func padding(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = '\n'
	}
	return b
}

func (j *Journal) fail(err error) error {
	j.full = j.err == nil && (diskFull(err) || errors.Is(err, errMoved))
	j.err = err
	return err
}

// background syncs everything written since the last sync. It does not hold the lock
// meanwhile: an iteration never waits for the disk.
func (j *Journal) background() {
	if j.unsynced() {
		j.synced(datasync(j.f))
	}
}

// unsynced reports whether there is something to sync now; if so, the caller must do it.
func (j *Journal) unsynced() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.timer = nil
	switch {
	case j.closed || j.lost != nil || !j.dirty:
		return false
	case j.busy: // with what was written before
		j.timer = time.AfterFunc(syncDelay, j.background)
		return false
	}
	j.dirty, j.busy = false, true
	return true
}

// lose remembers that a sync failed, since the next one would report success.
func (j *Journal) lose(err error) {
	j.err, j.lost, j.full = err, err, false
}

// Sync returns once everything appended so far would survive a power loss.
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.mode == SyncOff || j.closed || !j.dirty && !j.busy && j.lost == nil {
		return nil
	}
	return j.syncLocked()
}

// syncDirs makes the journal's name survive a power loss: immediately if every iteration must,
// otherwise in the background.
func (j *Journal) syncDirs(dirs ...string) error {
	all := func() error {
		var err error
		for _, dir := range dirs {
			err = errors.Join(err, atomicfile.SyncDir(dir))
		}
		return err
	}
	if j.mode == SyncEach {
		return all()
	}
	j.mu.Lock()
	j.busy = true
	j.mu.Unlock()
	go func() { j.synced(all()) }()
	return nil
}

// synced records the result of a background sync.
func (j *Journal) synced(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.busy = false
	j.idle.Broadcast()
	if errors.Is(err, fs.ErrNotExist) { // no name is left to hold
		switch removed, moved, _ := extent(j.f); {
		case removed:
			err = j.removed()
		case moved:
			return // the next Append says so
		}
	}
	if err != nil {
		j.lose(err) // the next Append or Sync says so
	}
}

func (j *Journal) syncLocked() error {
	// The system reports a failure to only one sync, so only one may run at a time: a second
	// one would report success.
	for j.busy {
		j.idle.Wait()
	}
	if j.lost != nil {
		return j.lost
	}
	j.dirty = false
	if err := datasync(j.f); err != nil {
		j.lose(err)
		return err
	}
	return nil
}

// Close syncs and closes the journal.
func (j *Journal) Close() error {
	err := j.Sync()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	if j.timer != nil {
		j.timer.Stop()
	}
	_ = os.Remove(j.reserve())
	return errors.Join(err, j.f.Close())
}
