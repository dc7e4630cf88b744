package proc

import "golang.org/x/sys/unix"

// bigPipe is the capacity of a pipe once a command has shown that it writes
// much: readers that take 256 KiB at a time then seldom wait for it. Not from
// the start, since what all pipes of a user may hold is limited.
const bigPipe = 1 << 20

func newPipe() (r, w int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, err
	}
	return fds[0], fds[1], nil
}

func growPipe(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, bigPipe) }
