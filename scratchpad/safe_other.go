//go:build !unix

package scratchpad

import (
	"io"
	"io/fs"
	"os"
	"time"
)

// modesHold says that the modes of files mean something here.
const modesHold = false

const (
	noWaiting = 0
	readFlags = 0
)

const nowhere = -1

// glimpse is a regular file that is open for one look.
type glimpse struct {
	file
	f *os.File
}

func (l *Look) openGlimpse(name string) (glimpse, error) {
	f, err := openPlain(l.path(name), os.O_RDONLY|readFlags)
	if err != nil {
		return glimpse{}, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return glimpse{}, err
	}
	return glimpse{file{name: name, size: info.Size(), changed: info.ModTime()}, f}, nil
}

func (g glimpse) readAt(b []byte, offset int64) (int, error) {
	n, err := g.f.ReadAt(b, offset)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (g glimpse) handle() uintptr { return g.f.Fd() }

func (g glimpse) close() { _ = g.f.Close() } // nothing was written

// files is nothing here: what the system has for it is no faster than a walk.
func (l *Look) files() ([]file, bool) { return nil, false }

// foreign is false: the access lists of the user's folders hold others off.
func foreign(fs.FileInfo) bool { return false }
