//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// spawn runs the command false so many times and does nothing else: the floor.
func spawn(n string) error {
	count, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	path, err := exec.LookPath("false")
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}}
	for range count {
		pid, err := syscall.ForkExec(path, []string{"false"}, attr)
		if err != nil {
			return err
		}
		var status syscall.WaitStatus
		for {
			if _, err = syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// peak is the largest resident set of the process and of what it waited for.
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

// writeLog writes a test log of that many bytes, with the noise of real ones.
func writeLog(w io.Writer, size string) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	var block []byte
	for i := 0; len(block) < 1<<20; i++ {
		block = fmt.Appendf(block, "2026-03-%02dT%02d:%02d:%02d.%03dZ INFO worker-%d request id=%08x-1c2b-4d3e-8f90-%012x took %d.%dms status=200 path=/api/v1/items/%d\n",
			i%28+1, i%24, i%60, i*7%60, i%1000, i%16, i*2654435761, i*40503, i%900, i%10, i%50)
		if i%9 == 0 {
			block = fmt.Appendf(block, "=== RUN   TestItems/case_%d\n--- PASS: TestItems/case_%d (0.%02ds)\n", i, i, i%100)
		}
	}
	for n > 0 {
		m, err := w.Write(block[:min(n, len(block))])
		if err != nil {
			return err
		}
		n -= m
	}
	return nil
}
