package proc

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guarded is a command below a guardian.
type guarded struct {
	*guardian
	id   int
	keep bool
	once bool // the guardian is for this command only
}

// launch starts a command below a guardian where this program can be one, and
// in a session of its own where it cannot.
func launch(req request) (watched, error) {
	if !hooked.Load() {
		return launchGroup(req, &syscall.SysProcAttr{Setsid: true})
	}
	if err := req.absolute(); err != nil {
		return nil, err
	}
	for {
		g, err := takeGuardian()
		if err != nil {
			return nil, err
		}
		pid, err := g.spawn(&req)
		switch {
		case err == nil:
			return &guarded{guardian: g, id: pid, keep: req.keep}, nil
		case errors.Is(err, errHungUp):
			g.dismiss() // it had died before: nothing was started
			continue
		case errors.Is(err, errLost):
			g.lost()
			return nil, err
		}
		g.giveBack()
		return nil, err
	}
}

// absolute makes the directory one that does not depend on the guardian's.
func (r *request) absolute() error {
	if filepath.IsAbs(r.dir) {
		return nil
	}
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		if r.dir == "" {
			return nil // the directory is gone; the guardian's is the same
		}
		return &startError{codeNotExecutable, fmt.Errorf("working directory: %w", err)}
	}
	r.dir = dir
	return nil
}

func (t *guarded) pid() int { return t.id }
func (t *guarded) fd() int  { return t.guardian.fd }

func (t *guarded) end(sig syscall.Signal, killAfter time.Duration) {
	_ = t.say(newMessage(msgEnd).num(int64(sig)).num(int64(killAfter)))
}
func (t *guarded) kill()                     { _ = t.say(newMessage(msgKill)) }
func (t *guarded) suspend() error            { return t.say(newMessage(msgSuspend)) }
func (t *guarded) resume() error             { return t.say(newMessage(msgResume)) }
func (t *guarded) notify(sig syscall.Signal) { _ = t.say(newMessage(msgNotify).num(int64(sig))) }

func (t *guarded) receive(r *report) {
	err := t.guardian.receive(unix.MSG_DONTWAIT)
	t.known(r)
	if err != nil && !r.gone {
		t.guardian.lost()
		if !r.exited {
			r.code, r.signal, r.exited = 128+int(unix.SIGKILL), unix.SIGKILL, true
		}
		r.lost, r.gone = true, true
	}
}

func (t *guarded) known(r *report) {
	for {
		kind, b, ok := t.next()
		if !ok {
			break
		}
		switch kind {
		case msgExited:
			r.readExit(b)
		case msgStopped:
			r.stopped = true
		case msgGone:
			r.leftover, r.survivors, r.gone = int(b.num()), int(b.num()), true
		}
	}
}

// release gives the guardian back for the next command, unless it still has
// something below it.
func (t *guarded) release(r *report) {
	switch {
	case r.lost: // it has been waited for
	case r.survivors > 0:
		unix.Close(t.guardian.fd) // it goes on trying for a while
		go func() {
			waitFor(t.guardian.pid)
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

// end ends what the command of this guardian has left behind, and the guardian.
func (g *guardian) end(killAfter time.Duration) {
	_ = g.say(newMessage(msgSweep).num(int64(killAfter)))
	for g.receive(0) == nil {
		g.in = g.in[:0]
	}
	g.dismiss()
}
