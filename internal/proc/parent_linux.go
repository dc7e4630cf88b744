package proc

// parentOf is the parent of a process.
func parentOf(pid int) (parent int, known bool) {
	s, ok := readStat(pid, make([]byte, 0, 1024))
	return s.parent, ok
}

// StandsStill reports whether the process is seen to be stopped.
func StandsStill(pid int) bool {
	s, ok := readStat(pid, make([]byte, 0, 1024))
	return ok && s.state == 'T'
}
