package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// suspendRounds bounds the search for processes that were started while others
// were being stopped.
const suspendRounds = 10

// signalAll sends sig to everything that descends from the guardian, and
// SIGCONT after it with wake, since a stopped process ends only when it goes
// on. It reports how many there were.
func (w *warden) signalAll(sig syscall.Signal, wake bool) (n int) {
	group := w.pid
	if group > 0 { // all at once, before its members learn of each other's end
		_ = unix.Kill(-group, sig)
		if wake {
			_ = unix.Kill(-group, unix.SIGCONT)
		}
	}
	err := eachDescendant(childOf(os.Getpid()), func(s procStat) {
		n++
		if group > 0 && s.group == group {
			return
		}
		_ = signalProcess(s, sig)
		if wake {
			_ = signalProcess(s, unix.SIGCONT)
		}
	})
	if err != nil && n == 0 {
		n = 1 // unknown, but not none
	}
	return n
}

func (w *warden) count() (n int) {
	_ = eachDescendant(childOf(os.Getpid()), func(procStat) { n++ })
	return n
}

// suspend stops everything, again and again until there is nothing new: a
// process may start another one while it is being looked for.
func (w *warden) suspend() {
	if w.phase != running {
		return
	}
	w.suspended = true
	_ = unix.Kill(-w.pid, unix.SIGSTOP)
	type key struct {
		pid     int
		started uint64
	}
	seen := map[key]bool{}
	for range suspendRounds {
		found := false
		_ = eachDescendant(childOf(os.Getpid()), func(s procStat) {
			if k := (key{s.pid, s.started}); !seen[k] {
				seen[k], found = true, true
				_ = signalProcess(s, unix.SIGSTOP)
			}
		})
		if !found {
			return
		}
	}
}

func (w *warden) resume() {
	if w.phase == running {
		w.signalAll(unix.SIGCONT, false)
	}
	w.suspended, w.stopped = false, false
}
