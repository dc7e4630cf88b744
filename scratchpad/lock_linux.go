package scratchpad

import (
	"errors"

	"golang.org/x/sys/unix"
)

// lock tries to lock the open file; it returns false if somebody else holds the lock.
func lock(fd uintptr) (bool, error) {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(fd, unix.F_OFD_SETLK, &l)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// locked queries the lock without taking it, so it disturbs nobody.
func locked(fd uintptr) bool {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(fd, unix.F_OFD_GETLK, &l)
	return err == nil && l.Type != unix.F_UNLCK
}
