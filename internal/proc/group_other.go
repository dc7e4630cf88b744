//go:build unix && !linux

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// groupMembers is 1 where a process group has any members: how many is not
// known.
func groupMembers(id int) int {
	if unix.Kill(-id, 0) == unix.ESRCH {
		return 0
	}
	return 1
}

func launch(req request) (watched, error) {
	return launchGroup(req, &syscall.SysProcAttr{Setsid: true})
}
