//go:build unix

package proc

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// group is a tree that is held together by its session and process group
// only: a process that starts a session of its own leaves it.
type group struct {
	id        int
	killAfter time.Duration
	keep      bool
	wake      [2]int // a pipe that is written to when the group is gone

	mu       sync.Mutex
	report   report
	deadline time.Time // of an end that was asked for
	timer    *time.Timer
}

func launchGroup(req request, attr *syscall.SysProcAttr) (watched, error) {
	r, w, err := newPipe()
	if err != nil {
		return nil, err
	}
	pid, err := forkExec(&req, attr)
	if err != nil {
		unix.Close(r)
		unix.Close(w)
		return nil, req.inWords(err)
	}
	changePipes()
	g := &group{id: pid, killAfter: req.killAfter, keep: req.keep, wake: [2]int{r, w}}
	go g.watch()
	return g, nil
}

func (g *group) pid() int { return g.id }
func (g *group) fd() int  { return g.wake[0] }

// watch waits for the command and ends what is left of its group. The pipe is
// closed last: that wakes the pump.
func (g *group) watch() {
	status, usage := waitFor(g.id)
	g.mu.Lock()
	g.report.setStatus(status, usage)
	g.mu.Unlock()
	left := 0
	if groupMembers(g.id) > 0 && !g.kept() {
		left = g.endRest()
	}
	g.mu.Lock()
	if g.timer != nil {
		g.timer.Stop()
	}
	g.report.gone = true
	g.report.survivors = left
	g.mu.Unlock()
	unix.Close(g.wake[1])
}

// kept reports whether the rest of the group is left alone, and if so enters
// it among those that EndBackground ends.
func (g *group) kept() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.keep || g.report.asked {
		return false
	}
	g.report.leftover = groupMembers(g.id)
	background.add(keptGroup(g.id))
	return true
}

// endRest ends a group whose leader is gone and reports how many are left in
// the end. Its number is not given to another group while it has members.
func (g *group) endRest() (left int) {
	until := func(t time.Time) bool {
		for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
			if left = groupMembers(g.id); left == 0 {
				return true
			}
			if !time.Now().Before(t) {
				return false
			}
			time.Sleep(pause)
		}
	}
	if until(time.Now().Add(settle)) {
		return 0
	}
	g.mu.Lock()
	g.report.leftover = left
	if g.deadline.IsZero() {
		g.deadline = time.Now().Add(g.killAfter)
	}
	deadline := g.deadline
	g.mu.Unlock()
	g.signal(unix.SIGTERM)
	g.signal(unix.SIGCONT)
	if until(deadline) {
		return 0
	}
	g.signal(unix.SIGKILL)
	until(time.Now().Add(killGrace))
	return left
}

func (g *group) signal(sig syscall.Signal) { _ = unix.Kill(-g.id, sig) }

func (g *group) end(sig syscall.Signal, killAfter time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.report.exited {
		g.signal(unix.SIGKILL)
		return
	}
	g.report.asked = true
	if g.deadline.IsZero() {
		g.deadline = time.Now().Add(killAfter)
		g.timer = time.AfterFunc(killAfter, g.kill)
	}
	g.signal(sig)
	g.signal(unix.SIGCONT)
}

func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.report.exited {
		g.report.asked = true
	}
	if !g.report.gone {
		g.signal(unix.SIGKILL)
	}
}

func (g *group) suspend() error            { return g.signalLiving(unix.SIGSTOP) }
func (g *group) resume() error             { return g.signalLiving(unix.SIGCONT) }
func (g *group) notify(sig syscall.Signal) { _ = g.signalLiving(sig) }

func (g *group) signalLiving(sig syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.report.exited {
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

func (g *group) release(*report) { unix.Close(g.wake[0]) }

// waitFor waits for the child pid and reaps it.
func waitFor(pid int) (unix.WaitStatus, unix.Rusage) {
	var status unix.WaitStatus
	var usage unix.Rusage
	for {
		_, err := unix.Wait4(pid, &status, 0, &usage)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return status, usage
	}
}

func (r *report) setStatus(ws unix.WaitStatus, ru unix.Rusage) {
	r.exited = true
	r.code = ws.ExitStatus()
	if ws.Signaled() {
		r.signal = ws.Signal()
		r.code = 128 + int(r.signal)
	}
	r.user = time.Duration(ru.Utime.Nano())
	r.system = time.Duration(ru.Stime.Nano())
	r.maxRSS = int64(ru.Maxrss) * maxRSSUnit
}

// keptGroup is a group whose leader has ended and whose other members stay.
type keptGroup int

func (k keptGroup) end(killAfter time.Duration) {
	if unix.Kill(int(k), 0) != unix.ESRCH {
		return // the group ended and its number has been given away: ours has no leader
	}
	g := &group{id: int(k), killAfter: killAfter}
	g.endRest()
}
