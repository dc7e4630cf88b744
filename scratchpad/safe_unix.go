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
