//go:build unix && !linux

package scratchpad

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// lock takes the lock of the open file; false: somebody else has it. Somebody
// who only asks has it for a moment, so it is tried again a few times.
func lock(fd uintptr) (bool, error) {
	for range 20 {
		err := unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err == nil, err
		}
		time.Sleep(time.Millisecond)
	}
	return false, nil
}

func locked(fd uintptr) bool {
	return errors.Is(unix.Flock(int(fd), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
