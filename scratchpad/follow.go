package scratchpad

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/looprun/looprun/core"
)

// Follower reads a journal while it is being written. Close it when done.
type Follower struct {
	file *os.File
	r    *bufio.Reader
	p    player
}

// Follow starts at the first event of a run.
func Follow(dir string) (*Follower, error) {
	file, err := openRegular(filepath.Join(dir, journalName))
	if err != nil {
		return nil, err
	}
	return &Follower{file: file, r: bufio.NewReaderSize(file, blockSize), p: player{dir: dir, line: 1, next: 1}}, nil
}

// Next calls f for each event written since the last call, and returns how many there were. It
// leaves a partly written event for the next call. The errors are those of [Replay], that of
// f, and one if the journal is no longer in its place.
func (w *Follower) Next(f func(core.Event) error) (int64, error) {
	before := w.p.tail.Events
	if _, err := w.file.Seek(w.p.tail.Offset, io.SeekStart); err != nil {
		return 0, err
	}
	w.r.Reset(w.file)
	w.p.f, w.p.line, w.p.offset, w.p.broken = f, w.p.next, w.p.tail.Offset, nil
	if err := w.p.read(w.r); err != nil {
		return w.p.tail.Events - before, err
	}
	if gone(w.file) {
		return w.p.tail.Events - before, fmt.Errorf("%s was removed or replaced while it was followed", w.file.Name())
	}
	return w.p.tail.Events - before, nil
}

// Close stops following.
func (w *Follower) Close() error { return w.file.Close() }
