package scratchpad

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// gone reports whether the open file was removed, which the system does not do.
func gone(*os.File) bool { return false }

// extent says that the file was neither removed nor moved, which the system does
// not do while it is open, and its size; -1: nobody knows.
func extent(f *os.File) (removed, moved bool, size int64) {
	info, err := f.Stat()
	if err != nil {
		return false, false, -1
	}
	return false, false, info.Size()
}

// diskFull reports whether the error says that the disk is used up.
func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
