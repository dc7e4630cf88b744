package proc

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guarded is a command below a guardian.
type guarded struct {
	*guardian
	id        int
	killAfter time.Duration
	keep      bool
	once      bool // the guardian is for this command only

	heard    atomic.Bool
	watching sync.Once
	released chan struct{} // closed when nothing is asked of the guardian any more
}

// guardianTries is how often to start a guardian for a command. One that was killed at once is
// replaced; a program that cannot be one is found out.
const guardianTries = 3

// launch starts a command below a guardian if this program can be one, and otherwise in a
// session of its own.
func launch(req request) (watched, error) {
	if !hooked.Load() {
		return launchGroup(req)
	}
	if err := req.absolute(); err != nil {
		return nil, err
	}
	for tries := guardianTries; ; {
		g, fresh, err := takeGuardian()
		if err != nil {
			return nil, err
		}
		if fresh {
			tries--
		}
		pid, err := g.spawn(&req)
		t := &guarded{guardian: g, id: pid, killAfter: req.killAfter, keep: req.keep, once: req.terminal != nil, released: make(chan struct{})}
		if _, refused := errors.AsType[*startError](err); refused {
			t.release(new(report))
			return nil, err
		}
		switch {
		case err == nil:
			return t, nil
		case errors.Is(err, errHungUp) && tries > 0:
			g.dismiss() // it had died before: nothing was started
			continue
		}
		g.lost()
		return nil, err
	}
}

// absolute makes the directory independent of the guardian's. A link in it is followed by the
// system, so that what comes after it means the same as without a guardian.
func (r *request) absolute() error {
	if strings.HasPrefix(r.dir, "/") {
		return nil
	}
	here, err := os.Getwd()
	if err != nil {
		if r.dir == "" {
			return nil // the directory is gone; the guardian's is the same
		}
		return &startError{codeNotExecutable, fmt.Errorf("working directory: %w", err)}
	}
	r.dir = here + "/" + r.dir
	return nil
}

func (t *guarded) pid() int { return t.id }
func (t *guarded) fd() int  { return t.guardian.fd }

func (t *guarded) end(sig syscall.Signal, killAfter time.Duration) {
	_ = t.say(newMessage(msgEnd).num(int64(sig)).num(int64(killAfter)))
	t.expect()
}

func (t *guarded) kill() {
	_ = t.say(newMessage(msgKill))
	t.expect()
}
func (t *guarded) suspend() error            { return t.say(newMessage(msgSuspend)) }
func (t *guarded) resume() error             { return t.say(newMessage(msgResume)) }
func (t *guarded) notify(sig syscall.Signal) { _ = t.say(newMessage(msgNotify).num(int64(sig))) }

// A guardian that is asked to end its command acknowledges that immediately, and later reports
// that everything has ended. Both are timed in ticks, so that time in which the whole machine
// was suspended does not count.
const (
	tick       = 250 * time.Millisecond
	hearTicks  = 12
	extraTicks = 8 // past the time in which all should be over
)

// expect starts watching, at the first request to end the command, that it does end.
func (t *guarded) expect() {
	t.watching.Do(func() { go t.watch(t.released) })
}

// watch kills a guardian that does not follow its orders: somebody keeps stopping it, or holds
// it in a debugger. An unread message also counts as a reply.
func (t *guarded) watch(released <-chan struct{}) {
	left := hearTicks
	for heard := false; left > 0; left-- {
		_ = unix.Kill(t.guardian.pid, unix.SIGCONT)
		select {
		case <-released:
			return
		case <-time.After(tick):
		}
		unread := []unix.PollFd{{Fd: int32(t.guardian.fd), Events: unix.POLLIN}}
		if n, _ := unix.Poll(unread, 0); n > 0 {
			left++
		} else if !heard && t.heard.Load() {
			heard, left = true, int((t.killAfter+settle+killGrace)/tick)+extraTicks
		}
	}
	t.strike()
}

func (t *guarded) receive(r *report) {
	err := t.guardian.receive()
	if t.known(r); err == nil {
		return
	}
	t.guardian.lost()
	r.lost, r.gone = errLost, true
}

func (t *guarded) known(r *report) {
	for !r.gone {
		kind, b, ok := t.next()
		if !ok {
			return
		}
		if kind == msgHeard {
			t.heard.Store(true)
		}
		if err := r.take(kind, b); err != nil {
			t.abandon(r, fmt.Errorf("%w: %w", errLost, err))
		}
	}
}

func (t *guarded) abandon(r *report, why error) {
	t.guardian.lost()
	r.lose(why)
}

// release returns the guardian for the next command, unless there is still something below it.
func (t *guarded) release(r *report) {
	close(t.released)
	switch {
	case t.guardian.over: // it has been waited for
	case len(r.survivors) > 0:
		t.hangUp() // it goes on trying for a while
		go func() {
			_, _ = waitFor(t.guardian.pid)
			t.forget()
		}()
	case t.keep && r.leftover > 0 && !r.asked:
		background.add(t.guardian)
	case t.once:
		t.dismiss()
	default:
		t.giveBack()
	}
}

// end ends what this guardian's command left running, and the guardian.
func (g *guardian) end(killAfter time.Duration) {
	_ = g.say(newMessage(msgSweep).num(int64(killAfter)))
	for range int((killAfter+killGrace)/tick) + extraTicks {
		_ = unix.Kill(g.pid, unix.SIGCONT)
		if readable, _ := waitReadable(g.fd, tick); readable && g.receive() != nil {
			g.dismiss()
			return
		}
		g.in = g.in[:0]
	}
	g.lost()
}
