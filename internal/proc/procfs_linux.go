package proc

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// procStat is the information about a process in /proc.
type procStat struct {
	pid, parent, group, session int
	state                       byte
	started                     uint64 // in clock ticks since boot: with pid, what makes it unique
}

func (s *procStat) alive() bool { return s.state != 'Z' && s.state != 'X' }

// readStat reads /proc/PID/stat into buf. It returns false if there is no such process.
func readStat(pid int, buf []byte) (procStat, bool) {
	name := append(strconv.AppendInt(append(buf[:0], "/proc/"...), int64(pid), 10), "/stat"...)
	fd, err := unix.Open(string(name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return procStat{}, false
	}
	n, _ := unix.Read(fd, buf[:cap(buf)]) // fails for a process that has just gone
	unix.Close(fd)
	return parseStat(pid, buf[:max(n, 0)])
}

// parseStat parses the text of /proc/PID/stat. The name in the second field may itself contain
// spaces and parentheses.
func parseStat(pid int, b []byte) (procStat, bool) {
	const state, parent, group, session, started = 0, 1, 2, 3, 19 // counted after the name
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) <= started {
		return procStat{}, false
	}
	s := procStat{pid: pid, state: f[state][0]}
	for i, to := range map[int]*int{parent: &s.parent, group: &s.group, session: &s.session} {
		n, err := strconv.Atoi(string(f[i]))
		if err != nil {
			return procStat{}, false
		}
		*to = n
	}
	var err error
	s.started, err = strconv.ParseUint(string(f[started]), 10, 64)
	return s, err == nil
}

// eachProcess calls visit for every process while /proc is being read: in numeric order, which
// is mostly the order in which they started.
func eachProcess(visit func(procStat)) error {
	dir, err := os.Open("/proc")
	if err != nil {
		return err
	}
	defer dir.Close()
	buf := make([]byte, 0, 1024)
	for {
		names, err := dir.Readdirnames(128)
		if len(names) == 0 && err != io.EOF {
			return err
		}
		if len(names) == 0 {
			return nil
		}
		for _, name := range names {
			pid, _ := strconv.Atoi(name) // there is no process 0
			if s, ok := readStat(pid, buf); ok {
				visit(s)
			}
		}
	}
}

// eachDescendant calls visit for every living process that descends from one that root
// accepts. It does so as soon as the process is found, so that a process that keeps forking
// and exiting can be caught.
func eachDescendant(root func(procStat) bool, visit func(procStat)) error {
	in := map[int]bool{}
	var rest []procStat
	err := eachProcess(func(s procStat) {
		switch {
		case in[s.parent] || root(s):
			in[s.pid] = true
			if s.alive() {
				visit(s)
			}
		case s.alive():
			rest = append(rest, s)
		}
	})
	// Process numbers wrap around at the limit: a child may come before its parent.
	for found := true; found; {
		found = false
		for i := range rest {
			if s := rest[i]; !in[s.pid] && in[s.parent] {
				in[s.pid], found = true, true
				visit(s)
			}
		}
	}
	return err
}

func childOf(parent int) func(procStat) bool {
	return func(s procStat) bool { return s.parent == parent }
}

// survivor describes a process that cannot be ended. Its user is the one who started it, which
// decides who may signal it.
func survivor(pid int) Survivor {
	s := Survivor{Pid: pid, User: -1}
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range bytes.Lines(text) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		switch string(key) {
		case "Name":
			s.Name = string(bytes.TrimSpace(value))
		case "Uid":
			if of, err := strconv.Atoi(string(bytes.Fields(value)[0])); err == nil {
				s.User = of
			}
		}
	}
	return s
}

// signalProcess sends sig to the process that s describes, and never to another one that has
// since taken its number.
func signalProcess(s procStat, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(s.pid, 0)
	if err != nil {
		if err == unix.ESRCH {
			return nil
		}
		return unix.Kill(s.pid, sig) // an old kernel, or no descriptor left
	}
	defer unix.Close(fd)
	if now, _ := readStat(s.pid, make([]byte, 0, 1024)); now.started != s.started {
		return nil
	}
	if err = unix.PidfdSendSignal(fd, sig, nil, 0); err != nil && err != unix.ESRCH { // perhaps not this way
		err = unix.Kill(s.pid, sig)
	}
	return err
}

// groupMembers returns the living processes in the process group of a session's leader; a group
// of that number in another session is somebody else's.
func groupMembers(id int) (list []Survivor) {
	if unix.Kill(-id, 0) == unix.ESRCH {
		return nil
	}
	if err := eachProcess(func(s procStat) {
		if s.group == id && s.session == id && s.alive() {
			list = append(list, survivor(s.pid))
		}
	}); err != nil {
		return []Survivor{{User: -1}} // there is one at least
	}
	return list
}
