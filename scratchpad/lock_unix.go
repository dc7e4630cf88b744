//go:build unix && !linux

package scratchpad

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// lock tries to lock the open file; it returns false if somebody else holds the lock. A
// process that only queries the lock holds it for a moment, so lock retries a few times.
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
