package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lost cleans up after a guardian that was killed. The processes that were below it are now
// below this program, which is a subreaper; its commands have died with it.
func (g *guardian) lost() {
	g.strike()
	g.dismiss()
	endOrphans()
}

// endOrphans kills the processes that dead guardians have left: children of this program in
// another session, except for the guardians. Anything else that this program starts stays in
// its own session, which processes started by guardians cannot join.
func endOrphans() {
	self := os.Getpid()
	session, _ := unix.Getsid(0) // its own is known to every process
	orphan := func(s procStat) bool {
		if s.parent != self || s.session == session || guardians.pids[s.pid] {
			return false
		}
		_, _ = unix.Wait4(s.pid, nil, unix.WNOHANG, nil)
		return true
	}
	for end := time.Now().Add(killGrace); time.Now().Before(end); time.Sleep(time.Millisecond) {
		n := 0
		guardians.mu.Lock()
		_ = eachDescendant(orphan, func(s procStat) {
			if signalProcess(s, unix.SIGKILL) != unix.EPERM { // else it stays, whatever is done
				n++
			}
		})
		guardians.mu.Unlock()
		if n == 0 {
			return
		}
	}
}
