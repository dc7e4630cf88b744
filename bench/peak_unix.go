//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the largest resident set of the process and of its children, in bytes.
func peak(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss << 10
}
