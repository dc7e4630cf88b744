//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// readSide is FREAD of sys/fcntl.h.
const readSide = 1

// flush discards typed input that was not read.
func (t *Terminal) flush() error {
	return unix.IoctlSetPointerInt(t.fd, unix.TIOCFLUSH, readSide)
}
