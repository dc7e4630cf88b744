//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Three interrupt keys within this time end an interactive command, whatever it does with
// them.
const (
	interruptKeys = 3
	interruptTime = 2 * time.Second
	interruptKey  = 0x03
)

// stopPatience is how long a stop of this program may take to become effective; if nobody
// could continue it, the kernel does not stop it at all.
const stopPatience = 200 * time.Millisecond

var errNoOuter = errors.New("interactive: this program has no terminal")

// outerTerminal is the caller's terminal while an interactive command uses it.
type outerTerminal struct {
	fd   int
	wake [2]int // a pipe that wakes the pump

	mu      sync.Mutex
	saved   *term.State
	joined  bool // raw, and its keys are the command's
	pending []byte
	presses []time.Time
}

// openOuter opens the terminal that an interactive command is joined to.
func openOuter() (*outerTerminal, error) {
	o := &outerTerminal{fd: -1}
	var err error
	if term.IsTerminal(0) {
		o.fd, err = unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	} else {
		o.fd, err = unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoOuter, err)
	}
	if o.saved, err = term.GetState(o.fd); err != nil {
		unix.Close(o.fd)
		return nil, fmt.Errorf("%w: %w", errNoOuter, err)
	}
	if o.wake[0], o.wake[1], err = newPipe(); err != nil {
		unix.Close(o.fd)
		return nil, os.NewSyscallError("pipe", err)
	}
	_ = unix.SetNonblock(o.wake[0], true)
	_ = unix.SetNonblock(o.wake[1], true)
	interactive.mu.Lock()
	defer interactive.mu.Unlock()
	if interactive.all == nil {
		interactive.all = map[*outerTerminal]bool{}
	}
	interactive.all[o] = true
	return o, nil
}

// foreground reports whether this program may change the terminal: in the background, trying
// to would stop it.
func (o *outerTerminal) foreground() bool {
	group, err := unix.IoctlGetInt(o.fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// join makes the terminal raw and sends its keys to the command, if this program is in the
// foreground; otherwise that happens when it is continued there.
func (o *outerTerminal) join() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.joined || !o.foreground() {
		return
	}
	if _, err := term.MakeRaw(o.fd); err == nil {
		o.joined = true
		_, _ = unix.Write(o.wake[1], []byte{0})
	}
}

// leave restores the terminal's settings. Keys typed from now on are not read.
func (o *outerTerminal) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.part()
}

func (o *outerTerminal) part() {
	if !o.joined {
		return
	}
	o.joined = false
	if o.foreground() {
		_ = term.Restore(o.fd, o.saved)
	}
}

func (o *outerTerminal) close() {
	interactive.mu.Lock()
	delete(interactive.all, o)
	interactive.mu.Unlock()
	o.leave()
	unix.Close(o.fd)
	unix.Close(o.wake[0])
	unix.Close(o.wake[1])
}

// events returns what to wait for: keys, unless earlier ones are still undelivered.
func (o *outerTerminal) events() (fd int, master int16) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.pending) > 0:
		return -1, unix.POLLIN | unix.POLLOUT
	case !o.joined:
		return -1, unix.POLLIN
	}
	return o.fd, unix.POLLIN
}

// passKeys passes on the typed keys, and reports whether the interrupt key was typed for the
// third time.
func (o *outerTerminal) passKeys(master int, typed bool) (interrupt bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var drop [16]byte
	_, _ = unix.Read(o.wake[0], drop[:])
	if typed && o.joined && len(o.pending) == 0 {
		buf := make([]byte, 1024)
		n, err := unix.Read(o.fd, buf)
		if n <= 0 {
			if err != unix.EINTR && err != unix.EAGAIN { // it has hung up
				o.part()
			}
			return false
		}
		o.pending = buf[:n]
		interrupt = o.interrupted(o.pending)
	}
	if n, _ := unix.Write(master, o.pending); n > 0 {
		o.pending = o.pending[n:]
	}
	return interrupt
}

func (o *outerTerminal) interrupted(keys []byte) bool {
	now := time.Now()
	for _, k := range keys {
		if k == interruptKey {
			o.presses = append(o.presses, now)
		}
	}
	for len(o.presses) > 0 && now.Sub(o.presses[0]) > interruptTime {
		o.presses = o.presses[1:]
	}
	if len(o.presses) < interruptKeys {
		return false
	}
	o.presses = nil
	return true
}

// keys passes on the typed keys.
func (p *Process) keys(t *terminal, typed bool) {
	if !t.outer.passKeys(t.master, typed) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == Exited {
		p.endLocked(Interrupted, unix.SIGTERM)
	} else {
		p.tree.kill()
	}
}

// stopWithCommand does what a shell expects when the command was stopped from the terminal:
// this program's whole job stops, and when it is continued, so is the command.
func (p *Process) stopWithCommand(t *terminal) {
	p.mu.Lock()
	if p.cause != Exited {
		p.mu.Unlock()
		return
	}
	p.stopped = true
	p.clock.pause()
	p.mu.Unlock()
	t.leave()
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	_ = unix.Kill(0, unix.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(stopPatience):
	}
	signal.Stop(continued)
	_ = p.goOn(&p.stopped)
}

// rejoin takes the terminal when this program has come to the foreground.
func (p *Process) rejoin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.standsStill() {
		p.terminal.join()
	}
}

// patience returns how long to wait for events, in milliseconds. An interactive command's wait
// is limited: not every shell notifies a job that it is in the foreground again.
func (t *terminal) patience() int {
	if t == nil || t.outer == nil {
		return -1
	}
	return 200
}

func (t *terminal) join() {
	if t != nil && t.outer != nil {
		t.outer.join()
	}
}

func (t *terminal) leave() {
	if t != nil && t.outer != nil {
		t.outer.leave()
	}
}

// interactive holds the terminals that may be raw, for RestoreTerminal.
var interactive struct {
	mu  sync.Mutex
	all map[*outerTerminal]bool
}

// RestoreTerminal restores the terminal settings saved before an interactive command started.
// It is for the last moments of a program: a panic, or a signal that ends it. When the command
// ends or is suspended, the settings are restored automatically.
func RestoreTerminal() {
	interactive.mu.Lock()
	defer interactive.mu.Unlock()
	for o := range interactive.all {
		o.leave()
	}
}
