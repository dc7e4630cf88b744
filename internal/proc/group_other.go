//go:build unix && !linux

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// groupMembers returns 1 if a process group has any members; their number is unknown.
func groupMembers(id int) int {
	if unix.Kill(-id, 0) == unix.ESRCH {
		return 0
	}
	return 1
}

// roomInMemory returns nil: how much memory is needed is only known for Linux.
func roomInMemory() error { return nil }

func groupSurvivors(id int) []Survivor { return []Survivor{{Pid: id, User: -1}} }

func launch(req request) (watched, error) {
	return launchGroup(req, &syscall.SysProcAttr{Setsid: true})
}
