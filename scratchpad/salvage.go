package scratchpad

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
)

// ErrBeyondRepair is returned by [Salvage] for a journal that it can do nothing
// for: its beginning is lost, or a newer looprun wrote it.
var ErrBeyondRepair = errors.New("the journal cannot be repaired")

// Salvaged says what [Salvage] has done.
type Salvaged struct {
	// Kept is how many events the journal has now.
	Kept int64 `json:"kept"`
	// Damaged is the file with the old journal; empty: nothing was wrong, and
	// nothing was changed. Result is where a result went that says more than the
	// journal does now; empty: it stayed. Both are names in the run's directory.
	Damaged string `json:"damaged,omitempty"`
	Result  string `json:"result,omitempty"`
	// Lost are the intact events that are in the old journal alone, the first
	// 100 of LostCount.
	Lost      []LostEvent `json:"lost,omitempty"`
	LostCount int64       `json:"lost_count"`
}

// Salvage makes a journal of what is intact in a damaged one: all events from the
// first on, as far as none is missing. The old file stays, byte for byte, as
// journal.damaged-N.jsonl, and nothing else is removed either. A kill or a power
// loss leaves the old journal or the new one, never half of one. A run that is
// open is refused with [ErrLocked], and one whose directory is not safe with
// [ErrUnsafe].
func Salvage(dir string) (Salvaged, error) {
	if err := checkRunDir(dir); err != nil {
		return Salvaged{}, err
	}
	lock, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return Salvaged{}, err
	}
	defer lock.Close()
	file, err := openRegular(filepath.Join(dir, journalName))
	if err != nil {
		return Salvaged{}, err
	}
	defer file.Close()
	in, err := inspect(dir, file)
	switch {
	case err != nil:
		return Salvaged{}, err
	case in.newer != "":
		return Salvaged{}, fmt.Errorf("%w: %s", ErrBeyondRepair, in.newer)
	case in.damage == nil && in.tail.Cut == 0:
		return Salvaged{Kept: in.tail.Events}, nil
	case len(in.chain.kept) == 0:
		return Salvaged{}, fmt.Errorf("%w: the first event is lost, and without it no other can be used; start the run again", ErrBeyondRepair)
	}
	return in.chain.write(dir, file)
}

// write puts the chain in the place of the journal, which it keeps.
func (c chain) write(dir string, file *os.File) (Salvaged, error) {
	done := Salvaged{Kept: int64(len(c.kept)), Lost: listLost(c.lost), LostCount: int64(len(c.lost))}
	fresh, err := c.copy(dir, file)
	if err != nil {
		return done, err
	}
	defer os.Remove(fresh) // it is gone when all went well
	file.Close()           // not every system replaces a file that is open
	if done.Damaged, err = keep(dir, journalName, "journal.damaged-%d.jsonl"); err != nil {
		return done, err
	}
	if v, there := lookAt(dir).readResult(); there && (c.state.Ending == nil || !c.state.Ended || v.Status != c.state.Ending.Status) {
		if done.Result, err = keep(dir, resultName, "result.damaged-%d.json"); err != nil {
			return done, err
		}
	}
	// What was kept has to be on the disk before it loses its other name.
	if err := atomicfile.SyncDir(dir); err != nil {
		return done, err
	}
	if err := os.Rename(fresh, filepath.Join(dir, journalName)); err != nil {
		return done, err
	}
	if done.Result != "" {
		if err := os.Remove(filepath.Join(dir, resultName)); err != nil {
			return done, err
		}
	}
	if err := atomicfile.SyncDir(dir); err != nil {
		return done, err
	}
	run := Run{Dir: dir}
	run.page.name = run.PageFile()
	return done, run.Refresh(c.state, true)
}

// copy writes the records into a file beside the journal, makes sure that it
// survives a power loss, and reads it back: a repair must not need another.
func (c chain) copy(dir string, file io.ReaderAt) (name string, err error) {
	f, err := os.CreateTemp(dir, "."+journalName+".*.tmp") // as atomicfile.Sweep knows them
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = os.Remove(f.Name()) // err says what went wrong
		}
	}()
	w := bufio.NewWriterSize(f, 64<<10)
	used := 0
	for _, r := range c.kept {
		line, err := r.text(file)
		if err != nil {
			return "", err
		}
		if used+len(line)+1 > pageSize { // as Journal.write does
			_, _ = w.Write(padding(pageSize - used)) // Flush has the error
			used = 0
		}
		_, _ = w.Write(append(line, '\n'))
		used = (used + len(line) + 1) % pageSize
	}
	if err := errors.Join(w.Flush(), f.Sync()); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	tail, err := replay(dir, f, new(core.State).Apply)
	if err == nil && (tail.Cut > 0 || tail.Events != int64(len(c.kept))) {
		err = fmt.Errorf("the repaired journal gave %d of %d events; the old one is as it was", tail.Events, len(c.kept))
	}
	return f.Name(), err
}

// keep gives a file a second name, the first of that form which is free, and
// returns it. Where the file system has no second names the file is copied.
func keep(dir, name, form string) (string, error) {
	for n := 1; ; n++ {
		kept := fmt.Sprintf(form, n)
		err := os.Link(filepath.Join(dir, name), filepath.Join(dir, kept))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = duplicate(filepath.Join(dir, name), filepath.Join(dir, kept))
		}
		if !errors.Is(err, fs.ErrExist) {
			return kept, err
		}
	}
}

// duplicate copies a file to a name that must be free, durably.
func duplicate(from, to string) error {
	in, err := openRegular(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, atomicfile.Mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Sync(), out.Close())
	if err != nil {
		_ = os.Remove(to) // it is not whole
	}
	return err
}
