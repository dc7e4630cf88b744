//go:build unix && !linux

package proc

import (
	"os/exec"
	"strings"
)

func zombie(pid int) bool { return state(pid) == 'Z' }

// stopped is also true of a process that waits for a stopped child to leave a
// vfork.
func stopped(pid int) bool { return state(pid) == 'T' || state(pid) == 'D' }

func state(pid int) byte {
	b, err := exec.Command("ps", "-o", "state=", "-p", itoa(pid)).Output()
	if s := strings.TrimSpace(string(b)); err == nil && s != "" {
		return s[0]
	}
	return 0
}
