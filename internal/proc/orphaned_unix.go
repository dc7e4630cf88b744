//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// InOrphanedGroup reports whether nobody could continue this program if it were stopped: it is
// the first process of a container or of a terminal, or the process that started it is gone.
// This is POSIX's orphaned process group, in which Ctrl-Z stops nothing, determined along this
// program's own line of parents.
func InOrphanedGroup() bool {
	session, _ := unix.Getsid(0) // its own is known to every process
	group := unix.Getpgrp()
	for parent, known := os.Getppid(), true; known; parent, known = Parent(parent) {
		if s, _ := unix.Getsid(parent); parent == 0 || s != session {
			return true
		}
		if g, err := unix.Getpgid(parent); g != group {
			return err != nil
		}
	}
	return false
}

// JobHead returns the process that a shell watches to see whether this program's job is
// stopped, if that is another process: the program was then started by a script, and nobody
// watches whether it stops itself. Zero means that it is this process, or unknown.
func JobHead() int {
	group, head := unix.Getpgrp(), 0
	for parent, known := os.Getppid(), true; known; parent, known = Parent(parent) {
		if g, _ := unix.Getpgid(parent); g != group {
			return head
		}
		head = parent
	}
	return 0
}
