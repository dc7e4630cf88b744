package scratchpad

import (
	"errors"

	"golang.org/x/sys/windows"
)

// lock tries to lock the open file; it returns false if somebody else holds the lock.
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
