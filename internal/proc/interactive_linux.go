package proc

import (
	"errors"

	"golang.org/x/sys/unix"
)

// launchInteractive starts a command below a guardian that leads the session of its terminal,
// so that it can be stopped from there and continued.
func launchInteractive(req request, t *terminal) (watched, error) {
	if !hooked.Load() {
		return launchSession(req)
	}
	if err := req.absolute(); err != nil {
		return nil, err
	}
	g, err := startGuardian()
	if err != nil {
		return nil, err
	}
	err = g.send(newMessage(msgTerminal).seal(), t.slave, t.outer.fd)
	pid := 0
	if err == nil {
		pid, err = g.spawn(&req)
	}
	switch {
	case err == nil:
		return &guarded{guardian: g, id: pid, killAfter: req.killAfter, keep: req.keep, once: true}, nil
	case errors.Is(err, errHungUp):
		g.lost()
		return nil, errLost
	case errors.Is(err, errLost):
		g.lost()
		return nil, err
	}
	g.dismiss()
	return nil, err
}

// takeTerminal makes the pseudo terminal the controlling terminal of the guardian's session,
// and saves the settings to restore on the program's terminal.
func (w *warden) takeTerminal(fds []int) bool {
	if len(fds) != 2 || w.phase != idle {
		return false
	}
	w.job, w.inner, w.outer = true, fds[0], fds[1]
	if err := unix.IoctlSetInt(w.inner, unix.TIOCSCTTY, 0); err != nil {
		return false
	}
	var err error
	w.cooked, err = unix.IoctlGetTermios(w.outer, unix.TCGETS)
	return err == nil
}

// restoreTerminal restores the terminal of a program that was killed before it could do so. A
// terminal that is no longer raw is now used by somebody else.
func (w *warden) restoreTerminal() {
	if w.cooked == nil {
		return
	}
	now, err := unix.IoctlGetTermios(w.outer, unix.TCGETS)
	if err == nil && now.Lflag&(unix.ICANON|unix.ISIG) == 0 && now.Oflag&unix.OPOST == 0 {
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
	if !w.job || w.phase != running || w.suspended || w.stopped {
		return
	}
	buf := make([]byte, 0, 1024)
	if s, ok := readStat(w.pid, buf); !ok || s.state != 'D' {
		return
	}
	_ = eachProcess(func(s procStat) {
		if s.parent == w.pid && s.state == 'T' {
			w.tellStopped()
		}
	})
}
