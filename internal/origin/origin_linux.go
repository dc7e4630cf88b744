package origin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"

	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/proc"
)

// Known reports whether this system can identify where requests come from.
const Known = true

// Below reports whether a process descends from one that runs accepts. Processes that a
// command leaves running stay descendants of its guardian. A parent without a number is in an
// outer PID namespace, so the process is not a descendant. A process that has exited may have
// been one.
func Below(pid int, runs func(pid int) bool) Origin {
	for range 1000 { // a chain cannot be longer; a changing one ends somewhere
		if pid <= 1 {
			return Outside
		}
		parent, ok := proc.Parent(pid)
		if !ok {
			return Unknown
		}
		if runs(parent) {
			return Inside
		}
		pid = parent
	}
	return Unknown
}

// Connection returns the origin of the client of a TCP connection on this machine's loopback
// interface. It is Inside if a process that has the client's socket is below a run. A run that
// this process is itself below does not count. It is Unknown if no process of this user is
// found to have the socket: it may be another user's proxy, or a forwarding ssh.
func Connection(client, server netip.AddrPort) Origin {
	inode, ok := socketOf(client, server)
	if !ok {
		return Unknown
	}
	from := Unknown
	for _, pid := range holders(inode) {
		of := Process(pid)
		if of != Outside {
			return of
		}
		from = Outside
	}
	return from
}

// Process returns the origin of a process: Inside if it is below a run. A run that this process
// is itself below does not count.
func Process(pid int) Origin {
	own := map[int]bool{}
	for pid := os.Getpid(); pid > 0; {
		own[pid] = true
		pid, _ = proc.Parent(pid)
	}
	return Below(pid, func(pid int) bool { return !own[pid] && (proc.Guards(pid) || holdsRun(pid)) })
}

// socketOf finds the client's socket in the system's table of connections. It returns the
// inode, if the socket is this user's.
func socketOf(client, server netip.AddrPort) (inode string, ok bool) {
	for _, table := range []struct{ file, prefix string }{
		{"/proc/net/tcp", ""},
		{"/proc/net/tcp6", "0000000000000000" + word([]byte{0, 0, 0xff, 0xff})}, // IPv4 in IPv6
	} {
		text, _ := os.ReadFile(table.file)
		local, remote := tableAddress(table.prefix, client), tableAddress(table.prefix, server)
		for line := range bytes.Lines(text) {
			f := bytes.Fields(line)
			const at, to, uid, inode = 1, 2, 7, 9
			if len(f) <= inode || string(f[at]) != local || string(f[to]) != remote {
				continue
			}
			return string(f[inode]), string(f[uid]) == strconv.Itoa(os.Geteuid())
		}
	}
	return "", false
}

// tableAddress formats an IPv4 address and port as in /proc/net/tcp.
func tableAddress(prefix string, a netip.AddrPort) string {
	ip := a.Addr().Unmap().As4()
	return fmt.Sprintf("%s%s:%04X", prefix, word(ip[:]), a.Port())
}

// word formats four bytes as the system prints them: as one number in its native byte order.
func word(b []byte) string { return fmt.Sprintf("%08X", binary.NativeEndian.Uint32(b)) }

// holders returns the processes that have a socket open, as far as this user can see.
func holders(inode string) []int {
	want := "socket:[" + inode + "]"
	var found []int
	eachDescriptor("/proc/[0-9]*", func(pid int, _, target string) {
		if target == want && (len(found) == 0 || found[len(found)-1] != pid) {
			found = append(found, pid)
		}
	})
	return found
}

// holdsRun reports whether a process has a run open. Such a process is a looprun, even if its
// guardian has just been killed.
func holdsRun(pid int) bool {
	holds := false
	eachDescriptor(fmt.Sprintf("/proc/%d", pid), func(_ int, fd, target string) {
		holds = holds || filepath.Base(target) == "lock" && inputfile.IsFile(filepath.Join(filepath.Dir(target), "journal.jsonl")) && locks(pid, fd)
	})
	return holds
}

// locks reports whether a process holds a write lock on one of its open files.
func locks(pid int, fd string) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, fd))
	return bytes.Contains(text, []byte("OFDLCK")) && bytes.Contains(text, []byte("WRITE"))
}

// eachDescriptor visits the descriptors of processes; pattern matches folders in /proc.
func eachDescriptor(pattern string, visit func(pid int, fd, target string)) {
	processes, _ := filepath.Glob(pattern) // it is well formed
	for _, process := range processes {
		pid, _ := strconv.Atoi(filepath.Base(process))
		files, _ := os.ReadDir(filepath.Join(process, "fd")) // none of another user's, or of one that has gone
		for _, fd := range files {
			target, _ := os.Readlink(filepath.Join(process, "fd", fd.Name()))
			visit(pid, fd.Name(), target)
		}
	}
}

// Admit rejects a process below a guardian, or below a process that has a run open, and one
// that has exited, since it may have been below them.
func Admit(pid int) error {
	if Below(pid, func(pid int) bool { return proc.Guards(pid) || holdsRun(pid) }) != Outside {
		return ErrInside
	}
	return nil
}
