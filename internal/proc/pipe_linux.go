package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

func newPipe() (r, w int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, err
	}
	return fds[0], fds[1], nil
}

// growPipe enlarges a pipe to size bytes, unless it already has that much room.
func growPipe(fd, size int) {
	if now, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err == nil && now < size {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, size)
	}
}

// GrowPipe enlarges f, if it is a pipe, to hold everything that Stdout or Stderr is called
// with at a time. It is for a program that passes output on, when a command has shown that it
// writes much: at least [Busy] at a time. Writing then waits for the reader less often. A
// larger pipe is left as it is, and so is a file that is not a pipe or may not grow.
func GrowPipe(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { growPipe(int(fd), readSize) })
}
