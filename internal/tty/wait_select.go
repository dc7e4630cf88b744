//go:build darwin

package tty

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// waitFor waits until the terminal can be read or written, the alarm rings, or the time is up;
// a negative timeout waits forever. It uses select, because poll does not support terminals on
// this system.
func waitFor(fd int, write bool, alarm int, timeout time.Duration) (ready, rung bool, err error) {
	if max(fd, alarm) >= unix.FD_SETSIZE {
		return false, false, fmt.Errorf("%d files are open; select takes %d", fd, unix.FD_SETSIZE)
	}
	var reads, writes unix.FdSet
	reads.Set(alarm)
	set := &reads
	if write {
		set = &writes
	}
	set.Set(fd)
	var tv *unix.Timeval
	if timeout >= 0 {
		v := unix.NsecToTimeval(int64(timeout + time.Microsecond))
		tv = &v
	}
	if _, err := unix.Select(max(fd, alarm)+1, &reads, &writes, nil, tv); err != nil {
		return false, false, err
	}
	return set.IsSet(fd), reads.IsSet(alarm), nil
}
