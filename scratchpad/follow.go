package scratchpad

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/looprun/looprun/core"
)

// Follower reads a journal while it is being written. Close it in the end.
type Follower struct {
	file *os.File
	r    *bufio.Reader
	p    player
}

// Follow begins at the first event of a run.
func Follow(dir string) (*Follower, error) {
	file, err := openRegular(filepath.Join(dir, journalName))
	if err != nil {
		return nil, err
	}
	return &Follower{file: file, r: bufio.NewReaderSize(file, blockSize), p: player{dir: dir, line: 1, next: 1}}, nil
}

// Next calls f for each event that was written since the last call, and returns
// how many there were. What is being written at this moment is left for the next
// call. The errors are those of [Replay], that of f, and one where the journal
// is not in its place any more.
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

// Close ends the following.
func (w *Follower) Close() error { return w.file.Close() }
