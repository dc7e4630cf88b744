//go:build unix

package scratchpad

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// gone reports whether the open file was removed.
func gone(f *os.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && st.Nlink == 0
}

// diskFull reports whether the error says that the disk, or a quota, is used up.
func diskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
