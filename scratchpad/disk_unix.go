//go:build unix

package scratchpad

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// gone reports whether the open file was removed.
func gone(f *os.File) bool {
	removed, _ := extent(f)
	return removed
}

// extent says whether the open file was removed, and its size; -1: nobody knows.
func extent(f *os.File) (removed bool, size int64) {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return false, -1
	}
	return st.Nlink == 0, st.Size
}

// diskFull reports whether the error says that the disk, or a quota, is used up.
func diskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
