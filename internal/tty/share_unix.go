//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import "golang.org/x/sys/unix"

// Ours reports whether a terminal that others use too can be drawn on: this
// process is in its foreground, as far as it knows jobs, and it takes whole lines,
// which prompts, pagers, editors and shells switch off while they have it.
func Ours(fd uintptr) bool {
	state, err := unix.IoctlGetTermios(int(fd), getTermios)
	if err != nil || state.Lflag&unix.ICANON == 0 {
		return false
	}
	group, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // not the controlling one: it has no jobs
}
