package scratchpad

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/looprun/looprun/internal/atomicfile"
)

// inPlace is a small file that is rewritten before each iteration. It stays open and is
// overwritten: some file systems immediately flush a file that replaces another, which takes
// as long as a short iteration.
type inPlace struct {
	file *os.File
	size int64 // of what was written last
}

func (w *inPlace) write(name string, text []byte) error {
	if err := w.stands(name); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(text, 0); err != nil {
		return err
	}
	size := int64(len(text))
	if size < w.size {
		if err := w.file.Truncate(size); err != nil {
			return err
		}
	}
	w.size = size
	return nil
}

// stands recreates the file unless it is the one last written: the name may now be somebody's
// link, and the command may have removed the file.
func (w *inPlace) stands(name string) error {
	if w.file != nil {
		ours, err := w.file.Stat()
		if err != nil {
			return err
		}
		if now, err := os.Lstat(name); err == nil && os.SameFile(ours, now) && now.Size() == w.size {
			return nil
		}
		if err := w.close(); err != nil {
			return err
		}
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var err error
	w.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, atomicfile.Mode)
	return err
}

func (w *inPlace) close() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file, w.size = nil, 0
	return f.Close()
}

// noted caches the notes on a page until the file is replaced or changed.
type noted struct {
	text string
	file fs.FileInfo // as it was when the notes were read; nil: read them again
}

// clockGrain is how coarse file times may be: if a file changed just before it was read, a
// second change might go unnoticed.
const clockGrain = 20 * time.Millisecond

func (n *noted) read(p *page) string {
	now, err := os.Lstat(p.name)
	if err == nil && n.file != nil && os.SameFile(now, n.file) && now.Size() == n.file.Size() && now.ModTime().Equal(n.file.ModTime()) {
		return n.text
	}
	n.text, n.file = p.read(), nil
	if err == nil && time.Since(now.ModTime()) > clockGrain {
		n.file = now
	}
	return n.text
}
