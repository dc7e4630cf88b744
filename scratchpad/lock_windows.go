package scratchpad

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the lock of the open file; false: somebody else has it.
func lock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func locked(f *os.File) bool {
	taken, err := lock(f)
	return err == nil && !taken
}
