//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package user

import "golang.org/x/sys/unix"

const getTermios = unix.TIOCGETA
