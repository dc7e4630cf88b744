//go:build unix && !linux

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func newPipe() (r, w int, err error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(fds[:]); err != nil {
		return -1, -1, err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}

func growPipe(int, int) {}
