package session

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// originsKnown says that the system tells where an answer comes from, so that
// nobody has to bring a token.
const originsKnown = true

// originOf says whether a process is a descendant of another. It is known here,
// since what the command leaves behind stays a descendant of the guardian. A
// process that has no number is of an outer PID namespace, so it is no
// descendant; one that has gone may have been one.
func originOf(pid, ancestor int) origin {
	for range 1000 { // a chain cannot be longer; a changing one ends somewhere
		if pid <= 1 {
			return originOutside
		}
		parent, ok := parentOf(pid)
		if !ok {
			return originUnknown
		}
		if parent == ancestor {
			return originInside
		}
		pid = parent
	}
	return originUnknown
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
