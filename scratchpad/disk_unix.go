//go:build unix

package scratchpad

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// gone reports whether the open file has been removed.
func gone(f *os.File) bool {
	removed, _, _ := extent(f)
	return removed
}

// extent reports whether the open file was removed, whether its name now belongs to another
// file or to none, and its size; -1 means unknown.
func extent(f *os.File) (removed, moved bool, size int64) {
	var st, named unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return false, false, -1
	}
	err := unix.Lstat(f.Name(), &named)
	moved = err == unix.ENOENT || err == unix.ENOTDIR || err == nil && (named.Ino != st.Ino || named.Dev != st.Dev)
	return st.Nlink == 0, moved, st.Size
}

// diskFull reports whether the error means that the disk, or a quota, is full.
func diskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
