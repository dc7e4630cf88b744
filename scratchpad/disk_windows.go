package scratchpad

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// gone reports whether the open file was removed, which the system does not do.
func gone(*os.File) bool { return false }

// diskFull reports whether the error says that the disk is used up.
func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
