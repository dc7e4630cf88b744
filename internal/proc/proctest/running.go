//go:build unix

// Package proctest is for tests that look at what processes have left.
package proctest

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Running reports whether there is a process of that number that has not ended.
// One that has, and that nobody has waited for, does not count where /proc says so.
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
