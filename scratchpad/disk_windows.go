package scratchpad

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// gone reports false: the system does not remove open files.
func gone(*os.File) bool { return false }

// extent returns the file's size, or -1 if unknown. The file was neither removed nor moved,
// which the system does not allow while it is open.
func extent(f *os.File) (removed, moved bool, size int64) {
	info, err := f.Stat()
	if err != nil {
		return false, false, -1
	}
	return false, false, info.Size()
}

// diskFull reports whether the error means that the disk is full.
func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
