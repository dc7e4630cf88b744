package scratchpad

import (
	"fmt"
	"os"
	"path/filepath"
)

const lockName = "lock"

// acquire takes the lock of a run. It is a lock of the operating system: it is released when
// the process ends, however that happens, and does not rely on process ids, which could be
// reused.
func acquire(name string) (*os.File, error) {
	f, err := openPlain(name, os.O_RDWR|os.O_CREATE|readFlags)
	if err != nil {
		return nil, err
	}
	taken, err := lock(f.Fd())
	switch {
	case err != nil:
		err = fmt.Errorf("%s cannot be locked: %w", name, err)
	case !taken:
		err = fmt.Errorf("%s: %w", filepath.Dir(name), ErrLocked)
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

// Hold prevents every looprun from resuming the run until it is released. It fails with
// [ErrLocked] if one has the run open.
func Hold(dir string) (release func() error, err error) {
	f, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}

// Locked reports whether the run is alive, that is, whether a looprun has it open.
func Locked(dir string) bool {
	f, err := openRegular(filepath.Join(dir, lockName))
	if err != nil {
		return false
	}
	defer f.Close()
	return locked(f.Fd())
}
