//go:build unix

package scratchpad

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// modesHold reports whether file modes mean something here.
const modesHold = true

const (
	noWaiting = unix.O_NONBLOCK // for a pipe's other end
	readFlags = unix.O_NOFOLLOW | noWaiting
)

// foreign reports whether somebody else owns the file.
func foreign(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(s.Uid) != int64(os.Geteuid())
}
