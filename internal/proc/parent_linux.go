package proc

import (
	"bytes"
	"os"
	"strconv"
)

// Parent returns the parent of a process.
func Parent(pid int) (parent int, known bool) {
	s, ok := readStat(pid, make([]byte, 0, 1024))
	return s.parent, ok
}

// Guards reports whether a process is the guardian of a command. A command cannot change its
// guardian's arguments.
func Guards(pid int) bool {
	line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return bytes.HasSuffix(line, []byte("\x00"+guardianArg+"\x00"))
}

// StandsStill reports whether the process is known to be stopped.
func StandsStill(pid int) bool {
	s, _ := readStat(pid, make([]byte, 0, 1024))
	return s.state == 'T'
}
