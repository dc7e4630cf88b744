//go:build unix

package proc

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// group is a tree held together only by its session and process group: a process that starts a
// session of its own leaves it.
type group struct {
	id        int
	settle    time.Duration
	killAfter time.Duration
	foreign   time.Duration
	keep      bool
	wake      [2]int // a pipe that is written to when the group is gone

	mu       sync.Mutex
	over     bool // the command has ended
	report   report
	deadline time.Time // of an end that was asked for
}

// launchGroup starts a command that leads its own session: the kernel then does not allow
// stopping an interactive one from the terminal.
func launchGroup(req request) (watched, error) {
	r, w, err := newPipe()
	if err != nil {
		return nil, err
	}
	pid, err := forkExec(&req, &syscall.SysProcAttr{Setsid: true, Setctty: req.terminal != nil})
	if err != nil {
		unix.Close(r)
		unix.Close(w)
		return nil, req.inWords(err)
	}
	g := &group{id: pid, settle: settle, killAfter: req.killAfter, foreign: req.foreign, keep: req.keep, wake: [2]int{r, w}}
	go g.watch()
	return g, nil
}

func (g *group) pid() int { return g.id }
func (g *group) fd() int  { return g.wake[0] }

// watch waits for the command and ends the rest of its group. It closes the pipe last, which
// wakes the pump.
func (g *group) watch() {
	status, err := waitFor(g.id)
	g.mu.Lock()
	if err == nil {
		g.report.end = endOf(status)
	} else {
		g.report.lost = fmt.Errorf("how it ended could not be learned: %w", err)
	}
	g.over = true
	g.mu.Unlock()
	var left []Survivor
	if !g.kept() {
		left = g.endRest()
	}
	g.mu.Lock()
	g.report.gone = true
	g.report.survivors = left
	g.mu.Unlock()
	unix.Close(g.wake[1])
}

// kept reports whether the rest of the group is left alone, and if so adds it to those that
// EndBackground ends.
func (g *group) kept() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.keep || g.report.asked {
		return false
	}
	if g.report.leftover = len(groupMembers(g.id)); g.report.leftover > 0 {
		background.add(keptGroup(g.id))
	}
	return true
}

// endRest ends a group whose leader is gone and returns the processes that survive. The
// group's number is not reused while it has members.
func (g *group) endRest() (left []Survivor) {
	wait := func(until time.Time) {
		for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
			if left = groupMembers(g.id); len(left) == 0 || !time.Now().Before(until) {
				return
			}
			time.Sleep(pause)
		}
	}
	signal := func(sig syscall.Signal) error {
		if len(left) == 0 {
			return unix.ESRCH // the number may be another's now
		}
		return g.signal(sig)
	}
	wait(time.Now().Add(g.settle))
	g.mu.Lock()
	g.report.leftover = len(left)
	if g.deadline.IsZero() {
		g.deadline = time.Now().Add(g.killAfter)
	}
	deadline := g.deadline
	g.mu.Unlock()
	grace := killGrace
	if signal(unix.SIGTERM) == unix.EPERM { // there is none that a signal reaches
		grace = g.foreign
	} else {
		_ = signal(unix.SIGCONT)
		wait(deadline)
		_ = signal(unix.SIGKILL)
	}
	wait(time.Now().Add(grace))
	return left
}

// signal sends nothing once the group is gone: its number may be another's.
func (g *group) signal(sig syscall.Signal) error {
	if g.report.gone {
		return unix.ESRCH
	}
	return unix.Kill(-g.id, sig)
}

func (g *group) end(sig syscall.Signal, killAfter time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		_ = g.signal(unix.SIGKILL)
		return
	}
	g.report.asked = true
	if g.deadline.IsZero() {
		g.deadline = time.Now().Add(killAfter)
		time.AfterFunc(killAfter, g.kill)
	}
	_ = g.signal(sig)
	_ = g.signal(unix.SIGCONT)
}

func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.signal(unix.SIGKILL)
}

func (g *group) suspend() error            { return g.signalLiving(unix.SIGSTOP) }
func (g *group) resume() error             { return g.signalLiving(unix.SIGCONT) }
func (g *group) notify(sig syscall.Signal) { _ = g.signalLiving(sig) }

func (g *group) signalLiving(sig syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return nil
	}
	return unix.Kill(-g.id, sig)
}

func (g *group) known(r *report) { g.receive(r) }

func (g *group) receive(r *report) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*r = g.report
}

func (g *group) abandon(r *report, why error) {
	g.kill()
	for gone := false; !gone; time.Sleep(time.Millisecond) {
		g.mu.Lock()
		gone = g.report.gone
		g.mu.Unlock()
	}
	r.lose(why)
}

func (g *group) release(*report) { unix.Close(g.wake[0]) }

// waitFor waits for the child pid and reaps it. The error means that there is no such child:
// somebody else has reaped it.
func waitFor(pid int) (status unix.WaitStatus, err error) {
	for {
		_, err = unix.Wait4(pid, &status, 0, nil)
		if err != unix.EINTR {
			return status, err
		}
	}
}

func endOf(ws unix.WaitStatus) *ended {
	e := &ended{code: ws.ExitStatus()}
	if ws.Signaled() {
		e.signal = ws.Signal()
		e.code = 128 + int(e.signal)
	}
	return e
}

// keptGroup is a group whose leader has ended and whose other members are kept.
type keptGroup int

func (k keptGroup) end(killAfter time.Duration) {
	if unix.Kill(int(k), 0) != unix.ESRCH {
		return // the group ended and its number has been given away: ours has no leader
	}
	g := &group{id: int(k), settle: settle, killAfter: killAfter, foreign: killGrace}
	g.endRest()
}
