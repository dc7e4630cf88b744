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

// growPipe gives a pipe so many bytes of room, unless it has as much.
func growPipe(fd, size int) {
	if now, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err == nil && now < size {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, size)
	}
}

// GrowPipe makes room in the pipe that f may be for all that Stdout or Stderr is
// called with at a time. It is for a program that passes output on, when a command
// has shown that it writes much: at least [Busy] at a time. The reader is waited for
// less often then. A pipe with more room keeps it; what is no pipe, or may not grow,
// is left as it is.
func GrowPipe(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { growPipe(int(fd), readSize) })
}
