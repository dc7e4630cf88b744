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

// roomInMemory is nil: how much is needed is known for Linux only.
func roomInMemory() error { return nil }

func groupSurvivors(id int) []Survivor { return []Survivor{{Pid: id, User: -1}} }

func launch(req request) (watched, error) {
	return launchGroup(req, &syscall.SysProcAttr{Setsid: true})
}
