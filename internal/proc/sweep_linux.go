package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// suspendRounds is how often what is to be stopped is searched for: a process may start another
// one during the search.
const suspendRounds = 5

// signalRounds is how many searches must find no process before there are considered to be
// none: one that keeps forking and exiting can be missed.
const signalRounds = 3

// census counts the processes that a signal was meant for.
type census struct {
	found   int // processes
	refused int // those of them that this user may not signal
}

// beyond reports whether no signal reaches any of the processes found.
func (c census) beyond() bool { return c.refused == c.found }

// signalAll sends sig to all descendants of the guardian, and SIGCONT, since a stopped process
// ends only when it continues.
func (w *warden) signalAll(sig syscall.Signal) (c census) {
	group := w.pid
	if group > 0 { // all at once, before its members learn of each other's end
		_ = unix.Kill(-group, sig)
		_ = unix.Kill(-group, unix.SIGCONT)
	}
	for range signalRounds {
		err := eachDescendant(childOf(os.Getpid()), func(s procStat) {
			c.found++
			if s.group == group {
				if unix.Kill(s.pid, 0) == unix.EPERM {
					c.refused++
				}
				return
			}
			if signalProcess(s, sig) == unix.EPERM {
				c.refused++
			}
			_ = signalProcess(s, unix.SIGCONT)
		})
		if err != nil && c.found == 0 {
			return census{1, 1} // unknown, but not none
		}
		if c.found > 0 {
			break
		}
	}
	return c
}

// survivors returns the processes that still exist.
func (w *warden) survivors() (list []Survivor) {
	_ = eachDescendant(childOf(os.Getpid()), func(s procStat) { list = append(list, survivor(s.pid)) })
	if w.reap(); len(list) == 0 && w.children { // which /proc does not show
		list = []Survivor{{User: -1}}
	}
	return list
}

func (w *warden) count() (n int) {
	_ = eachDescendant(childOf(os.Getpid()), func(procStat) { n++ })
	return n
}

// suspend stops everything.
func (w *warden) suspend() {
	if w.phase != running {
		return
	}
	w.suspended = true
	_ = unix.Kill(-w.pid, unix.SIGSTOP)
	for range suspendRounds {
		_ = eachDescendant(childOf(os.Getpid()), func(s procStat) { _ = signalProcess(s, unix.SIGSTOP) })
	}
}

func (w *warden) resume() {
	w.signalAll(0) // whatever was suspended, also if the command has ended since
	w.suspended, w.stopped = false, false
}
