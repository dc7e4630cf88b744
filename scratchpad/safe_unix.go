//go:build unix

package scratchpad

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// modesHold says that the modes of files mean something here.
const modesHold = true

const (
	noWaiting = unix.O_NONBLOCK // for a pipe's other end
	readFlags = unix.O_NOFOLLOW | noWaiting
)

// nowhere is the place of a run that is looked for by its whole path.
const nowhere = unix.AT_FDCWD

// glimpse is a regular file that is open for one look: where thousands are looked at, a
// good part of the work is what makes an [os.File] of each.
type glimpse struct {
	file
	fd   int
	look *Look
}

// openGlimpse opens a file of the run for reading, as [openPlain] does.
func (l *Look) openGlimpse(name string) (g glimpse, err error) {
	g.look = l
	for g.fd, err = -1, unix.EINTR; err == unix.EINTR; {
		g.fd, err = unix.Openat(l.at, l.in+"/"+name, unix.O_RDONLY|readFlags|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return g, &fs.PathError{Op: "open", Path: l.path(name), Err: err}
	}
	var st unix.Stat_t
	if err = unix.Fstat(g.fd, &st); err != nil {
		err = &fs.PathError{Op: "stat", Path: l.path(name), Err: err}
	} else if g.file = l.saw(fileOf(name, &st)); g.mode != 0 {
		err = irregular(l.path(name))
	}
	if err != nil {
		g.close()
	}
	return g, err
}

func (g glimpse) readAt(b []byte, offset int64) (int, error) {
	n, err := unix.Pread(g.fd, b, offset)
	for err == unix.EINTR {
		n, err = unix.Pread(g.fd, b, offset)
	}
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: g.look.path(g.name), Err: err}
	}
	return n, nil
}

func (g glimpse) handle() uintptr { return uintptr(g.fd) }

func (g glimpse) close() { _ = unix.Close(g.fd) } // nothing was written

// files are those of a run's folder that is no link, by their names in it, which takes half
// of what their whole paths do; false: it cannot be read so.
func (l *Look) files() (files []file, ok bool) {
	fd, err := unix.Openat(l.at, l.in, unix.O_RDONLY|unix.O_DIRECTORY|readFlags|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	var room [pageSize]byte
	names := make([]string, 0, 16)
	for {
		n, err := unix.ReadDirent(fd, room[:])
		if err != nil {
			return nil, false
		}
		if n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(room[:n], -1, names)
	}
	files = make([]file, 0, len(names))
	for _, name := range names {
		var st unix.Stat_t
		if name == lockName { // it is empty
			continue
		}
		if f := l.was(name); f.name != "" {
			files = append(files, f)
		} else if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil { // it has not just gone
			files = append(files, fileOf(name, &st))
		}
	}
	return files, true
}

func fileOf(name string, st *unix.Stat_t) file {
	mode := fs.ModeIrregular
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		mode = 0
	case unix.S_IFDIR:
		mode = fs.ModeDir
	}
	return file{name, mode, st.Size, time.Unix(st.Mtim.Unix()), uint64(st.Dev), uint64(st.Ino)}
}

// foreign reports whether somebody else owns it.
func foreign(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(s.Uid) != int64(os.Geteuid())
}
