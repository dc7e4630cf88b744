package proc

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// abandonGrace is how long a guardian whose program has died goes on trying to
// end what is left.
const abandonGrace = 30 * time.Second

// advance goes on to the next phase where it is time to.
func (w *warden) advance() (done bool) {
	late := !w.deadline.IsZero() && !time.Now().Before(w.deadline)
	switch {
	case w.phase == running && !w.report.exited:
		if late {
			w.killNow()
		}
	case w.phase == running:
		w.ended()
	case w.phase == keeping:
		return !w.children
	case !w.children:
		w.gone(0)
	case w.phase == settling && late:
		w.terminateRest()
	case w.phase == ending && late:
		w.killNow()
	case w.phase == killing:
		if left := w.signalAll(unix.SIGKILL, true); late {
			w.gone(left)
		}
	}
	return w.swept && w.phase == idle
}

// ended is called once, when the command itself has ended.
func (w *warden) ended() {
	w.deadline, w.pause = time.Time{}, 0
	switch {
	case !w.children:
		w.gone(0)
	case w.keep && !w.report.asked:
		w.phase = keeping
		w.report.leftover = w.count()
		w.tell(w.exitMessage(), w.goneMessage())
	default:
		w.phase = settling
		w.deadline = time.Now().Add(settle)
		if !w.killAt.IsZero() && w.killAt.Before(w.deadline) {
			w.deadline = w.killAt
		}
		w.tell(w.exitMessage())
	}
}

// terminateRest asks what has outlived the command to end.
func (w *warden) terminateRest() {
	w.phase, w.pause = ending, 0
	if w.killAt.IsZero() {
		w.killAt = time.Now().Add(w.killAfter)
	}
	w.deadline = w.killAt
	w.report.leftover = w.signalAll(unix.SIGTERM, true)
}

// gone reports that the tree is no more, but for survivors.
func (w *warden) gone(survivors int) {
	w.report.survivors = survivors
	if !w.report.exited { // the command itself cannot be ended
		w.report.code, w.report.signal = 128+int(unix.SIGKILL), unix.SIGKILL
	}
	if w.told {
		w.tell(w.goneMessage())
	} else {
		w.tell(w.exitMessage(), w.goneMessage())
	}
	w.phase, w.pid, w.deadline = idle, 0, time.Time{}
	w.cooked = nil // the program does it
}

func (w *warden) exitMessage() message {
	w.told = true
	return w.report.exitMessage()
}

func (w *warden) goneMessage() message {
	return newMessage(msgGone).num(int64(w.report.leftover)).num(int64(w.report.survivors))
}

// tell sends messages in one write, behind the news that the command was started
// where that has not been told. That the program does not listen any more
// is noticed when the connection is read.
func (w *warden) tell(messages ...message) {
	var b []byte
	if w.unsaid != 0 {
		b = newMessage(msgStarted).num(int64(w.unsaid)).seal()
		w.unsaid = 0
	}
	for _, m := range messages {
		b = append(b, m.seal()...)
	}
	_ = w.send(b)
}

// end asks the whole tree to end. Where the command itself has ended, what is
// left is not asked again.
func (w *warden) end(sig syscall.Signal, killAfter time.Duration) {
	switch w.phase {
	case settling, ending:
		w.killNow()
	case running:
		if w.reap(); w.report.exited {
			return // before it was asked to
		}
		w.report.asked = true
		if w.killAt.IsZero() {
			w.killAt = time.Now().Add(killAfter)
			w.deadline = w.killAt
		}
		w.signalAll(sig, true)
	}
}

func (w *warden) killNow() {
	if w.phase == running {
		if w.reap(); w.report.exited {
			w.ended()
		} else {
			w.report.asked = true
		}
	}
	if w.phase != running && w.phase != settling && w.phase != ending {
		return
	}
	n := w.signalAll(unix.SIGKILL, false)
	if w.phase == settling {
		w.report.leftover = n
	}
	w.phase, w.pause = killing, 0
	w.deadline = time.Now().Add(killGrace)
}

// sweep ends what was kept, and then the guardian.
func (w *warden) sweep(killAfter time.Duration) {
	w.swept = true
	if w.phase == keeping {
		w.killAfter = killAfter
		w.terminateRest()
	}
}

// abandon ends everything at once: the program is gone.
func (w *warden) abandon() {
	w.restoreTerminal()
	for end := time.Now().Add(abandonGrace); time.Now().Before(end); {
		w.reap()
		if !w.children {
			return
		}
		w.signalAll(unix.SIGKILL, false)
		time.Sleep(time.Millisecond)
	}
}
