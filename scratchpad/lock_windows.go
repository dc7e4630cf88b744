package scratchpad

import (
	"errors"

	"golang.org/x/sys/windows"
)

// lock takes the lock of the open file; false: somebody else has it.
func lock(fd uintptr) (bool, error) {
	err := windows.LockFileEx(windows.Handle(fd), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func locked(fd uintptr) bool {
	taken, err := lock(fd)
	return err == nil && !taken
}
