//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import "golang.org/x/sys/unix"

// Ours reports whether a terminal that others also use can be drawn on: this process is in its
// foreground, as far as the terminal has job control, and the terminal reads whole lines,
// which prompts, pagers, editors and shells switch off while they use it.
func Ours(fd uintptr) bool {
	state, err := unix.IoctlGetTermios(int(fd), getTermios)
	if err != nil || state.Lflag&unix.ICANON == 0 {
		return false
	}
	group, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // not the controlling one: it has no jobs
}
