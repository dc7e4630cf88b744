package proc

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// phase is the state of a guardian's command.
type phase int

const (
	idle     phase = iota // no command
	running               // the command runs, perhaps asked to end
	settling              // the command has ended; the rest may end by itself
	ending                // the rest was sent SIGTERM
	killing               // everything was sent SIGKILL
	keeping               // the rest stays until the sweep
)

// warden is the guardian's side: the parent of one command, and of every descendant whose own
// parent is gone. It is a single thread: it reaps children itself and so never signals a
// number that another process has taken over.
type warden struct {
	*wire
	phase     phase
	pid       int
	pidfd     int // -1 where there is none
	unsaid    int // the process id, of a command of whose start the program has not been told; else 0
	killAfter time.Duration
	foreign   time.Duration
	keep      bool
	children  bool      // there are living children
	deadline  time.Time // of the phase; zero for none
	killAt    time.Time // when everything is sent SIGKILL; zero until an end is asked for
	killedAt  time.Time // when it was
	pause     time.Duration
	broken    bool // it cannot do its work any more
	swept     bool // everything is to be ended, and then the guardian
	report    report

	job       bool          // the command has a terminal of its own, and job control
	outer     int           // the program's terminal, while this is to restore it
	cooked    *unix.Termios // as it is to be left
	suspended bool          // stopped by the program, not from the terminal
	stopped   bool          // stopped from the terminal, and the program told
}

// GuardianMain runs the guardian process. It returns the exit status.
func GuardianMain() int {
	ignoreEndings()
	// Commands are notified of the death of the thread that started them. A locked thread
	// starts no other threads itself, so it is not locked earlier.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 1
	}
	if fd, err := unix.Open("/proc/self/comm", unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
		_, _ = unix.Write(fd, []byte("guardian"))
		unix.Close(fd)
	}
	w := &warden{wire: newWire(0), pidfd: -1}
	for {
		if done := w.turn(); done {
			return 0
		}
		yield()
	}
}

// sayAfter is how long the program may have to wait until it learns that its command was
// started. For most commands that end sooner, it receives everything at once.
const sayAfter = 2 * time.Millisecond

// ignoreEndings makes the guardian outlast the signals that end its program: it ends when the
// program does. Catching the signals instead of ignoring them keeps the default for commands;
// signals that were ignored from the start stay ignored for them.
func ignoreEndings() {
	endings := slices.DeleteFunc([]os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT}, signal.Ignored)
	if len(endings) > 0 { // of none, all would be meant
		signal.Notify(make(chan os.Signal, 1), endings...)
	}
}

// turn waits for the next event and handles it. A guardian that cannot observe or report what
// happens to its command ends everything, including itself; the program then counts the
// command as lost.
func (w *warden) turn() (done bool) {
	fds := [2]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}, {Fd: int32(w.pidfd), Events: unix.POLLIN}}
	if _, err := unix.Poll(fds[:], w.patience()); err != nil && err != unix.EINTR {
		w.broken = true
	}
	if w.unsaid != 0 && fds[1].Revents == 0 {
		w.tell()
	}
	if fds[0].Revents != 0 {
		if err := w.receive(); err != nil || !w.obey() {
			w.broken = true
		}
	}
	if w.phase != idle {
		w.reap()
		done = w.advance()
	}
	if w.broken {
		w.abandon()
	}
	return done || w.broken
}

// patience returns how long to wait for events, in milliseconds; below 0, without end.
func (w *warden) patience() int {
	wait := -time.Millisecond
	switch {
	case w.phase == settling || w.phase == ending || w.phase == killing,
		w.phase == running && w.pidfd < 0:
		w.pause = min(max(2*w.pause, time.Millisecond), 20*time.Millisecond)
		wait = w.pause
	case w.phase == running && w.job:
		wait = 20 * time.Millisecond // pidfds do not tell of stops
	case w.phase != idle:
		wait = time.Second // orphans are to be reaped while a command runs for hours
	}
	if w.unsaid != 0 {
		wait = min(wait, sayAfter)
	}
	if !w.deadline.IsZero() {
		wait = min(wait, max(0, time.Until(w.deadline)+time.Millisecond))
	}
	return int(wait.Milliseconds())
}

// obey carries out the program's requests. It returns false if the connection is no longer
// usable.
func (w *warden) obey() bool {
	for {
		kind, b, ok := w.next()
		if !ok {
			return true
		}
		switch kind {
		case msgSpawn:
			fds := w.fds
			w.fds = nil
			if w.phase != idle {
				return false
			}
			req, err := readSpawn(b, fds)
			if err != nil {
				return false
			}
			err = w.spawn(&req)
			for _, fd := range req.files {
				unix.Close(fd)
			}
			if err != nil {
				return false
			}
		case msgEnd:
			w.tell(newMessage(msgHeard))
			w.end(syscall.Signal(b.num()), time.Duration(b.num()))
		case msgKill:
			w.tell(newMessage(msgHeard))
			w.killNow()
		case msgSuspend:
			w.suspend()
		case msgResume:
			w.resume()
		case msgNotify:
			if w.phase == running {
				_ = unix.Kill(-w.pid, syscall.Signal(b.num()))
			}
		case msgSweep:
			w.sweep(time.Duration(b.num()))
		default:
			return false
		}
		if b.short {
			return false
		}
	}
}

// spawn starts a command and replies. The error is one of the connection.
func (w *warden) spawn(req *request) error {
	pidfd := -1
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL, PidFD: &pidfd}
	if req.terminal != nil {
		if err := w.takeTerminal(req.terminal[0], req.terminal[1]); err != nil {
			return err
		}
		// The guardian leads the session, so that the command's group has a parent in it and
		// can be stopped from the terminal.
		attr.Setsid, attr.Foreground, attr.Ctty = false, true, req.terminal[0]
	}
	pid, err := forkExec(req, attr)
	if err != nil {
		errno, _ := errors.AsType[syscall.Errno](err) // the system's, always
		return w.send(newMessage(msgFailed).num(int64(errno)).seal())
	}
	w.phase, w.pid, w.unsaid, w.pidfd = running, pid, pid, pidfd
	w.killAfter, w.foreign, w.keep, w.report = req.killAfter, req.foreign, req.keep, report{}
	w.deadline, w.killAt, w.killedAt, w.pause = time.Time{}, time.Time{}, time.Time{}, 0
	return nil
}

// reap reaps the children that have ended. Having no children left is normal, unless the
// command itself has not been reaped: its end can then no longer be known.
func (w *warden) reap() {
	options := unix.WNOHANG
	if w.job {
		options |= unix.WUNTRACED
		w.lookForStop()
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, options, nil)
		switch {
		case err != nil:
			w.children = false
			w.broken = w.broken || err != unix.ECHILD || w.pid != 0
			return
		case pid == 0:
			w.children = true
			return
		case pid == w.pid && status.Stopped():
			w.tellStopped()
		case pid == w.pid:
			w.report.end = endOf(status)
			w.pid = 0
			unix.Close(w.pidfd)
			w.pidfd = -1
		}
	}
}
