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

// glimpse is a regular file that is open for one look: where thousands are looked at, a
// good part of the work is what makes an [os.File] of each.
type glimpse struct {
	name string
	fd   int
	size int64
}

// openGlimpse opens a file as [openPlain] does.
func openGlimpse(name string, flags int) (glimpse, error) {
	fd, err := unix.Open(name, flags|readFlags|unix.O_CLOEXEC, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(name, flags|readFlags|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return glimpse{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err != nil {
		err = &fs.PathError{Op: "stat", Path: name, Err: err}
	} else if st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = irregular(name)
	}
	g := glimpse{name, fd, st.Size}
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
		return 0, &fs.PathError{Op: "read", Path: g.name, Err: err}
	}
	return n, nil
}

func (g glimpse) handle() uintptr { return uintptr(g.fd) }

func (g glimpse) close() { _ = unix.Close(g.fd) } // nothing was written

// filesIn are the files of a folder that is no link, by their names in it, which takes half
// of what their whole paths do; false: it cannot be read so.
func filesIn(dir string) (files []file, ok bool) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|readFlags|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	var room [pageSize]byte
	var names []string
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
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue // it has just gone
		}
		mode := fs.ModeIrregular
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			mode = 0
		case unix.S_IFDIR:
			mode = fs.ModeDir
		}
		files = append(files, file{name, mode, st.Size, time.Unix(st.Mtim.Unix())})
	}
	return files, true
}

// foreign reports whether somebody else owns it.
func foreign(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(s.Uid) != int64(os.Geteuid())
}

// privateSince is when the file was last changed, its name, owner and mode
// included: the system alone sets that time. False: it is not a regular file of
// this user's that others cannot open.
func privateSince(name string) (changed time.Time, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(name, &st) != nil {
		return changed, false
	}
	ok = st.Mode&unix.S_IFMT == unix.S_IFREG && int64(st.Uid) == int64(os.Geteuid()) && st.Mode&0o077 == 0
	return time.Unix(st.Ctim.Unix()), ok
}
