package proc

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"
)

// ErrEnding is returned by Suspend if the tree is already being ended.
var ErrEnding = errors.New("the process tree is being ended")

// errUnseen is why the end of a command that could not be ended is unknown.
var errUnseen = errors.New("it could not be ended, and was left")

// killGrace is how long to wait for a process to end after SIGKILL.
const killGrace = 5 * time.Second

// settle is how long processes that outlive the command may take to end by themselves before
// they are sent SIGTERM: a `tee` at the end of a pipe has to write what it still holds.
const settle = 100 * time.Millisecond

// tree is a started command, with everything that it starts.
type tree interface {
	pid() int
	// end sends sig to all processes, and SIGKILL to the remaining ones after killAfter. If
	// the command itself has ended, it kills immediately.
	end(sig syscall.Signal, killAfter time.Duration)
	kill()
	suspend() error
	resume() error
	// notify sends sig to the command's process group.
	notify(sig syscall.Signal)
}

// report is what a tree reports about its end.
type report struct {
	end       *ended // nil: nobody has said how the command ended
	asked     bool   // an end was asked for before the command ended
	stopped   bool   // the command was stopped from its terminal since the last report
	gone      bool   // there is nothing more to hear
	leftover  int
	survivors []Survivor
	lost      error // why there is nothing more to hear before all was said; else nil
}

// ended is how a command ended. If nobody observed the end there is none, so that missing
// information is never taken for an exit status.
type ended struct {
	code   int
	signal syscall.Signal
}

// lose records that nothing more will be reported, and discards what was reported.
func (r *report) lose(why error) { r.end, r.lost, r.gone = nil, why, true }

// Process is a started command, and its process tree.
type Process struct {
	spec Spec
	id   int
	done chan struct{}

	mu        sync.Mutex
	tree      tree // nil once it is gone
	terminal  *terminal
	clock     stopwatch
	timer     *time.Timer
	suspended bool  // by Suspend
	stopped   bool  // from the terminal, with this program
	waiting   bool  // its clocks stand still while it goes on
	over      bool  // the command has ended
	cause     Cause // why an end was asked for; Exited for none
	stops     int
	output    time.Duration // on clock, of the last output
	busy      bool          // a callback holds output back
	exit      Exit
}

// Start starts a command. If it cannot be started, its Exit has the cause StartFailed.
func Start(spec Spec) *Process {
	p, follow := create(spec)
	go follow()
	return p
}

// Run starts a command and waits for it, as Start and Wait do, without a goroutine of its own.
// started, unless nil, is called with the process before any of its output.
func Run(spec Spec, started func(*Process)) Exit {
	p, follow := create(spec)
	if started != nil {
		started(p)
	}
	follow()
	return p.Wait()
}

// create starts a command. The caller must call follow, which returns when the command has
// ended.
func create(spec Spec) (p *Process, follow func()) {
	p = &Process{spec: spec, done: make(chan struct{})}
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return p, p.fail(codeLacking, errors.New("start: no command given"))
	}
	return p, p.start()
}

// Pid returns the process id of the command; zero if it could not be started.
func (p *Process) Pid() int { return p.id }

// Wait returns when the command has ended, its tree is gone, and all output written until then
// has been delivered. Any number of goroutines may call it.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// Done returns a channel that is closed when Wait would return immediately.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop ends the whole tree: with sig (SIGTERM if it is zero), and with SIGKILL for the rest
// after Spec.KillAfter. A second call kills immediately, as does a first one if the command
// itself has ended and only the rest of its tree is waited for. Stop does not wait.
func (p *Process) Stop(sig syscall.Signal) {
	sig = cmp.Or(sig, syscall.SIGTERM)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree == nil {
		p.ending() // what it has printed may still be on its way
		return
	}
	p.stops++
	if p.stops > 1 {
		p.tree.kill()
		return
	}
	p.endLocked(Stopped, sig)
}

// ending notifies Spec.Ending that the end was requested.
func (p *Process) ending() {
	if p.spec.Ending != nil {
		p.spec.Ending()
	}
}

func (p *Process) endLocked(cause Cause, sig syscall.Signal) {
	p.ending()
	if p.cause == Exited {
		p.cause = cause
	}
	p.suspended, p.stopped = false, false
	p.tree.end(sig, p.spec.killAfter())
}

// Suspend stops the whole tree with SIGSTOP, and with it the clocks of Timeout and
// IdleTimeout. It returns nil if the tree is already stopped or gone.
func (p *Process) Suspend() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree == nil || p.suspended {
		return nil
	}
	if p.cause != Exited {
		return ErrEnding
	}
	if err := p.tree.suspend(); err != nil {
		return err
	}
	p.suspended = true
	p.clock.pause()
	p.terminal.leave()
	return nil
}

// Resume continues a suspended tree and its clocks from where they stopped.
func (p *Process) Resume() error { return p.goOn(&p.suspended) }

// standsStill reports whether the tree must not run, for whatever reason.
func (p *Process) standsStill() bool { return p.suspended || p.stopped }

// goOn removes one reason to stand still. The tree continues when there is none left: a tree
// that is suspended for a question stays so when the shell continues this program.
func (p *Process) goOn(reason *bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree == nil || !*reason {
		return nil
	}
	*reason = false
	if p.standsStill() {
		return nil
	}
	if !p.waiting {
		p.clock.resume()
		p.armLocked()
	}
	p.terminal.join()
	return p.tree.resume()
}

// HoldClocks stops the clocks of Timeout and IdleTimeout while the processes continue: the
// command is waiting for somebody, and that time does not count.
func (p *Process) HoldClocks() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = true
	p.clock.pause()
}

// ReleaseClocks lets them continue from where they stopped.
func (p *Process) ReleaseClocks() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = false
	if !p.standsStill() {
		p.clock.resume()
		p.armLocked()
	}
}

// begin is called once the tree exists, before any output is read.
func (p *Process) begin(t tree) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tree, p.id, p.clock = t, t.pid(), newStopwatch()
	if p.spec.Timeout > 0 || p.spec.IdleTimeout > 0 {
		p.timer = time.AfterFunc(time.Hour, p.tick)
		p.armLocked()
	}
}

// left returns the time until the next limit passes, and which one that is.
func (p *Process) left() (time.Duration, Cause) {
	now := p.clock.elapsed()
	left, cause := time.Duration(-1), Exited
	if p.spec.IdleTimeout > 0 {
		if p.busy {
			p.output = now
		}
		left, cause = max(0, p.output+p.spec.IdleTimeout-now), IdleTimeout
	}
	if p.spec.Timeout > 0 {
		if l := max(0, p.spec.Timeout-now); cause == Exited || l <= left {
			left, cause = l, Timeout
		}
	}
	return left, cause
}

func (p *Process) armLocked() {
	if p.timer != nil {
		left, _ := p.left()
		p.timer.Reset(left)
	}
}

func (p *Process) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.cause != Exited || p.standsStill() || p.waiting { // it is armed again when it goes on
		return
	}
	if left, cause := p.left(); left <= 0 {
		p.endLocked(cause, syscall.SIGTERM)
		return
	}
	p.armLocked()
}

// deliver passes output on and updates the idle clock.
func (p *Process) deliver(to func([]byte), b []byte) {
	p.held(true)
	defer p.held(false)
	if to != nil {
		to(b)
	}
}

func (p *Process) held(busy bool) {
	p.mu.Lock()
	p.busy, p.output = busy, p.clock.elapsed()
	p.mu.Unlock()
}

// commandEnded stops the clocks: the remaining work does not count as the command's time.
func (p *Process) commandEnded() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
}

// release disconnects the tree: from here on nothing is sent to it.
func (p *Process) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tree, p.over = nil, true
	if p.timer != nil {
		p.timer.Stop()
	}
}

// finish publishes the end. The tree has been released.
func (p *Process) finish(r report) {
	p.exit = Exit{Leftover: r.leftover, Survivors: r.survivors}
	p.exit.end(r, p.cause)
	close(p.done)
}

// end records how the command ended; asked is the cause if the end was requested, otherwise
// Exited. An end that nobody observed counts as SIGKILL, so that it is never taken for
// success.
func (e *Exit) end(r report, asked Cause) {
	if r.end != nil {
		e.Code, e.Signal = r.end.code, r.end.signal
		if r.asked {
			e.Cause = asked
		}
		return
	}
	e.Code, e.Signal, e.Cause = 128+int(syscall.SIGKILL), syscall.SIGKILL, asked
	e.Lost = cmp.Or(r.lost, errUnseen)
	if asked == Exited {
		e.Cause = Lost
	}
}

// codeLacking is the exit code of a command that never ran because this program lacks a
// resource.
const codeLacking = 125

// fail publishes that the command never ran. There is nothing to follow.
func (p *Process) fail(code int, err error) (follow func()) {
	if missing := FindShell(); missing != nil && slices.Index(p.spec.Argv, shell) == 0 {
		err = missing
	}
	p.exit = Exit{Code: code, Cause: StartFailed, StartErr: err}
	close(p.done)
	return func() {}
}
