//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// InOrphanedGroup reports whether nobody is there who could continue this program
// if it were stopped: it is the first process of a container or of a terminal, or
// what started it is gone. It is POSIX's orphaned process group, in which Ctrl-Z
// stops nothing, seen along this program's own line of parents.
func InOrphanedGroup() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	group := unix.Getpgrp()
	for parent, known := os.Getppid(), true; known; parent, known = Parent(parent) {
		if s, err := unix.Getsid(parent); parent == 0 || err != nil || s != session {
			return true
		}
		if g, err := unix.Getpgid(parent); err != nil || g != group {
			return err != nil
		}
	}
	return false
}

// JobHead is the process by which a shell knows whether this program's job stands still,
// where that is another: the program is then started by a script, and whether it stops itself
// nobody looks at. Zero: it is this one, or the system does not say.
func JobHead() int {
	group, head := unix.Getpgrp(), 0
	for parent, known := os.Getppid(), true; known; parent, known = Parent(parent) {
		if g, err := unix.Getpgid(parent); err != nil || g != group {
			return head
		}
		head = parent
	}
	return 0
}
