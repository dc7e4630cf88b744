package proc

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// abandonGrace is how long a guardian whose program has died keeps trying to end the remaining
// processes.
const abandonGrace = 30 * time.Second

// advance moves to the next phase when it is due.
func (w *warden) advance() (done bool) {
	late := !w.deadline.IsZero() && !time.Now().Before(w.deadline)
	switch {
	case w.phase == running && w.report.end == nil:
		if late {
			w.killNow()
		}
	case w.phase == running:
		w.ended()
	case w.phase == keeping:
		return !w.children
	case !w.children:
		w.gone(nil)
	case w.phase == settling && late:
		w.terminateRest()
	case w.phase == ending && late:
		w.killNow()
	case late:
		w.gone(w.survivors())
	case w.phase == killing:
		w.killAgain()
	}
	return w.swept && w.phase == idle
}

// ended is called once, when the command itself has ended.
func (w *warden) ended() {
	w.deadline, w.pause = time.Time{}, 0
	switch {
	case !w.children:
		w.gone(nil)
	case w.keep && !w.report.asked:
		w.phase = keeping
		w.report.leftover = w.count()
		w.tell(w.exitMessage(), w.report.goneMessage())
	default:
		w.phase = settling
		w.deadline = time.Now().Add(settle)
		if !w.killAt.IsZero() && w.killAt.Before(w.deadline) {
			w.deadline = w.killAt
		}
		w.tell(w.exitMessage())
	}
}

// terminateRest asks the processes that outlived the command to end.
func (w *warden) terminateRest() {
	w.phase, w.pause = ending, 0
	if w.killAt.IsZero() {
		w.killAt = time.Now().Add(w.killAfter)
	}
	w.deadline = w.killAt
	rest := w.signalAll(unix.SIGTERM)
	if w.report.leftover = rest.found; rest.beyond() {
		w.killNow() // nobody is there who could use the time
	}
}

// gone reports that the tree is gone, except for survivors. If the command is one of them,
// there is no exit to report.
func (w *warden) gone(survivors []Survivor) {
	w.report.survivors = survivors
	if w.report.end == nil {
		w.tell(w.report.goneMessage())
	} else { // the exit may be reported twice
		w.tell(w.exitMessage(), w.report.goneMessage())
	}
	w.phase, w.pid, w.deadline = idle, 0, time.Time{}
	w.outer = -1 // the program restores it
}

func (w *warden) exitMessage() message { return w.report.end.message(w.report.asked) }

// tell sends messages in one write, after the message that the command was started if that is
// still unsent. If sending fails, the warden is broken, since the program would wait for the
// messages.
func (w *warden) tell(messages ...message) {
	var b []byte
	if w.unsaid != 0 {
		b = newMessage(msgStarted).num(int64(w.unsaid)).seal()
		w.unsaid = 0
	}
	for _, m := range messages {
		b = append(b, m.seal()...)
	}
	if w.send(b) != nil {
		w.broken = true
	}
}

// end asks the whole tree to end. If the command itself has ended, the rest is not asked
// again.
func (w *warden) end(sig syscall.Signal, killAfter time.Duration) {
	switch w.phase {
	case settling, ending:
		w.killNow()
	case running:
		if w.reap(); w.report.end != nil {
			return // before it was asked to
		}
		w.report.asked = true
		if w.killAt.IsZero() {
			w.killAt = time.Now().Add(killAfter)
			w.deadline = w.killAt
		}
		if w.signalAll(sig).beyond() {
			w.killNow()
		}
	}
}

func (w *warden) killNow() {
	if w.phase != running && w.phase != settling && w.phase != ending {
		return
	}
	rest := w.signalAll(unix.SIGKILL)
	if w.phase == settling {
		w.report.leftover = rest.found
	}
	w.phase, w.pause, w.killedAt = killing, 0, time.Now()
	w.waitFor(rest)
}

// killAgain kills processes that were started while the rest was being killed.
func (w *warden) killAgain() { w.waitFor(w.signalAll(unix.SIGKILL)) }

// waitFor sets how long the killed processes may take to end.
func (w *warden) waitFor(rest census) {
	grace := killGrace
	if rest.beyond() {
		grace = w.foreign
	}
	w.deadline = w.killedAt.Add(grace)
}

// sweep ends the kept processes, and then the guardian.
func (w *warden) sweep(killAfter time.Duration) {
	w.swept = true
	if w.phase == keeping {
		w.killAfter = killAfter
		w.terminateRest()
	}
}

// abandon ends everything immediately, because the program is gone. Between two commands there
// are usually no processes, so it avoids searching all processes of the machine.
func (w *warden) abandon() {
	w.restoreTerminal()
	if w.phase == idle {
		if w.reap(); !w.children {
			return
		}
	}
	_ = unix.Dup3(1, 2, 0) // whoever reads what the program said need not wait for this
	for end := time.Now().Add(abandonGrace); time.Now().Before(end); {
		rest := w.signalAll(unix.SIGKILL)
		if w.reap(); !w.children {
			return
		}
		pause := time.Millisecond
		if rest.beyond() {
			pause = time.Second // it may start something that is not
		}
		time.Sleep(pause)
	}
}
