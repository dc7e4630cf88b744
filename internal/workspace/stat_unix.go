//go:build unix

package workspace

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// noWaiting keeps opening a file from following a link, and from blocking on a pipe that has
// replaced it.
const noWaiting = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// statOf does not follow links.
func statOf(name string) (stat, error) {
	var u unix.Stat_t
	var err error
	for err = unix.Lstat(name, &u); err == unix.EINTR; {
		err = unix.Lstat(name, &u)
	}
	if err != nil {
		return stat{}, &os.PathError{Op: "lstat", Path: name, Err: err}
	}
	return stat{
		mode: modeOf(uint32(u.Mode)), size: u.Size,
		mtime: unix.TimespecToNsec(u.Mtim), ctime: unix.TimespecToNsec(u.Ctim),
		dev: uint64(u.Dev), ino: uint64(u.Ino),
	}, nil
}

func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFIFO:
		m |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		m |= fs.ModeSocket
	default:
		m |= fs.ModeDevice
	}
	return m
}
