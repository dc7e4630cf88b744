package proc

func zombie(pid int) bool { return state(pid) == 'Z' }

// stopped is also true of a process that waits for a stopped child to leave a
// vfork.
func stopped(pid int) bool { return state(pid) == 'T' || state(pid) == 'D' }

func state(pid int) byte {
	s, ok := readStat(pid, make([]byte, 0, 1024))
	if !ok {
		return 0
	}
	return s.state
}
