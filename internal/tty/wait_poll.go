//go:build linux || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"time"

	"golang.org/x/sys/unix"
)

// waitFor waits until the terminal can be read or written, the alarm rings, or the time is up;
// a negative timeout waits forever.
func waitFor(fd int, write bool, alarm int, timeout time.Duration) (ready, rung bool, err error) {
	events := int16(unix.POLLIN)
	if write {
		events = unix.POLLOUT
	}
	ms := -1
	if timeout >= 0 {
		ms = int((timeout + time.Millisecond - 1) / time.Millisecond)
	}
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}, {Fd: int32(alarm), Events: unix.POLLIN}}
	_, err = unix.Poll(fds, ms)
	return fds[0].Revents != 0, fds[1].Revents != 0, err
}
