//go:build unix

package session

import (
	"os"

	"golang.org/x/sys/unix"
)

// piled reports whether a pipe or a file on standard input has something to
// read. It reads nothing.
func piled(f *os.File) bool {
	info, err := f.Stat()
	switch {
	case err != nil:
		return false
	case info.Mode().IsRegular():
		return info.Size() > 0
	case info.Mode()&os.ModeNamedPipe == 0:
		return false
	}
	poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n == 1 && poll[0].Revents&unix.POLLIN != 0
}
