//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest resident set of the process and of what it waited for, in
// bytes.
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
