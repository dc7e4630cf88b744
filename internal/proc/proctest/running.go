//go:build unix

// Package proctest is for tests that examine what processes have left.
package proctest

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Running reports whether the process exists and has not ended. A process that has ended
// without being waited for does not count, if /proc shows that.
func Running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
