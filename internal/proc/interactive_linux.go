package proc

import "golang.org/x/sys/unix"

// takeTerminal makes the pseudo terminal the controlling terminal of the guardian's session,
// and saves the settings to restore on the program's terminal.
func (w *warden) takeTerminal(inner, outer int) (err error) {
	w.job, w.outer = true, outer
	if err = unix.IoctlSetInt(inner, unix.TIOCSCTTY, 0); err == nil {
		w.cooked, err = unix.IoctlGetTermios(outer, unix.TCGETS)
	}
	return err
}

// restoreTerminal restores the terminal of a program that was killed before it could do so. A
// terminal that is no longer raw is now used by somebody else; of those that use single keys,
// nearly all leave OPOST on.
func (w *warden) restoreTerminal() {
	if now, err := unix.IoctlGetTermios(w.outer, unix.TCGETS); err == nil && now.Oflag&unix.OPOST == 0 {
		_ = unix.IoctlSetTermios(w.outer, unix.TCSETS, w.cooked)
	}
}

// tellStopped reports that the terminal has stopped the command, once until it is continued.
func (w *warden) tellStopped() {
	if !w.suspended && !w.stopped {
		w.stopped = true
		w.tell(newMessage(msgStopped))
	}
}

// lookForStop finds a stop that the kernel does not report: that of a command that was just
// starting something with vfork. The child is stopped, and the command waits for it in a state
// that a stop does not reach.
func (w *warden) lookForStop() {
	if s, _ := readStat(w.pid, make([]byte, 0, 1024)); s.state != 'D' {
		return
	}
	_ = eachProcess(func(s procStat) {
		if s.parent == w.pid && s.state == 'T' {
			w.tellStopped()
		}
	})
}
