package tty

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// flush discards typed input that was not read.
func (t *Terminal) flush() error {
	return unix.IoctlSetInt(t.fd, unix.TCFLSH, unix.TCIFLUSH)
}
