package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// descendsFrom reports whether a process is a descendant of another. One that
// cannot be looked at is not: its user could do all that it does otherwise.
func descendsFrom(pid, ancestor int) bool {
	for range 1000 { // a chain cannot be longer; a changing one ends somewhere
		if pid <= 1 {
			return false
		}
		parent, ok := parentOf(pid)
		if !ok {
			return false
		}
		if parent == ancestor {
			return true
		}
		pid = parent
	}
	return false
}

func parentOf(pid int) (int, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name of the command stands in parentheses and can hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
