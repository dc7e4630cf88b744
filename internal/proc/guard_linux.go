package proc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guardianArg is the first argument of a guardian process.
const guardianArg = "(guardian)"

// startPatience is how long a guardian may take to start a command.
const startPatience = 8 * time.Second

// hooked is set once this program is known to act as a guardian when started as one.
var hooked atomic.Bool

// IsGuardian reports whether this process was started as a guardian. A program calls it before
// anything else:
//
//	if proc.IsGuardian() {
//		os.Exit(proc.GuardianMain())
//	}
//
// Calling it allows this package to start guardians, and to make the program a child subreaper
// when it starts the first one.
func IsGuardian() bool {
	if len(os.Args) == 2 && os.Args[1] == guardianArg && isSocket(0) {
		return true
	}
	hooked.Store(true)
	return false
}

func isSocket(fd int) bool {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	return err == nil && domain == unix.AF_UNIX
}

// guardian is the program's view of a guardian process. It has one command at a time, so
// everything below it belongs to that command.
type guardian struct {
	*wire
	pid int
	out []byte // the last request, for the next one

	sending sync.Mutex
	over    bool // the connection is closed
}

// guardians holds all guardian processes of this program.
var guardians struct {
	mu   sync.Mutex
	idle []*guardian
	gone []*guardian // they end, and have not been waited for
	pids map[int]bool
}

var becomeSubreaper = sync.OnceValue(func() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
})

func startGuardian() (*guardian, error) {
	if err := Ready(); err != nil {
		return nil, err
	}
	if err := becomeSubreaper(); err != nil {
		return nil, os.NewSyscallError("prctl", err)
	}
	null, err := nullDevice()
	if err != nil {
		return nil, err
	}
	pair, err := connection(startPatience)
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[1])
	stderr := 2
	if _, err := unix.FcntlInt(2, unix.F_GETFD, 0); err != nil {
		stderr = null
	}
	files := []uintptr{uintptr(pair[1]), uintptr(null), uintptr(stderr)}
	argv := []string{filepath.Base(os.Args[0]), guardianArg}
	// If ForkExec cannot determine whether it has started the process, it waits for the
	// process to end.
	hangUp := time.AfterFunc(startPatience/2, func() { _ = unix.Shutdown(pair[0], unix.SHUT_RDWR) })
	defer hangUp.Stop()
	guardians.mu.Lock()
	defer guardians.mu.Unlock()
	pid, err := syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		// A guardian does one thing at a time; the first of a variable's values counts.
		Env: append([]string{"GOMAXPROCS=1"}, os.Environ()...), Files: files,
		// If the guardian is stopped when the program dies, it must continue in order to end
		// its command.
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGCONT},
	})
	if err != nil {
		unix.Close(pair[0])
		return nil, fmt.Errorf("start guardian: %w", err)
	}
	if guardians.pids == nil {
		guardians.pids = map[int]bool{}
	}
	guardians.pids[pid] = true
	continueStopped()
	return &guardian{wire: newWire(pair[0]), pid: pid}, nil
}

// connection returns the program's end and the guardian's. The program waits at most patience
// for a guardian that does not read its messages.
func connection(patience time.Duration) (pair [2]int, err error) {
	if pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return pair, os.NewSyscallError("socketpair", err)
	}
	limit := unix.NsecToTimeval(int64(patience))
	if err := unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit); err != nil {
		unix.Close(pair[0])
		unix.Close(pair[1])
		return pair, os.NewSyscallError("setsockopt", err)
	}
	return pair, nil
}

// continueStopped continues guardians that somebody stops; the program, as their parent, is
// notified. Code that waits for a guardian need not handle that.
var continueStopped = sync.OnceFunc(func() {
	go func() {
		changed := make(chan os.Signal, 1)
		signal.Notify(changed, unix.SIGCHLD) // which takes time, and the guardian is coming meanwhile
		for ; ; <-changed {                  // one may have been stopped before
			guardians.mu.Lock()
			for pid := range guardians.pids {
				_ = unix.Kill(pid, unix.SIGCONT) // without effect on one that runs
			}
			guardians.mu.Unlock()
		}
	}()
})

// takeGuardian returns an idle guardian, or a fresh one. An idle one may have been killed.
func takeGuardian() (g *guardian, fresh bool, err error) {
	guardians.mu.Lock()
	n := len(guardians.idle)
	if n == 0 {
		guardians.mu.Unlock()
		g, err = startGuardian()
		return g, true, err
	}
	g = guardians.idle[n-1]
	guardians.idle = guardians.idle[:n-1]
	guardians.mu.Unlock()
	return g, false, nil
}

func (g *guardian) giveBack() {
	guardians.mu.Lock()
	guardians.idle = append(guardians.idle, g)
	guardians.mu.Unlock()
}

// dismiss ends a guardian by closing its connection, upon which it ends everything below it,
// and waits for it.
func (g *guardian) dismiss() {
	g.hangUp()
	g.await()
}

func (g *guardian) hangUp() {
	g.sending.Lock()
	defer g.sending.Unlock()
	if !g.over {
		g.over = true
		unix.Close(g.fd)
		_ = unix.Kill(g.pid, unix.SIGCONT) // should somebody have stopped it
	}
}

// await waits for a guardian that was asked to end, and kills one that does not.
func (g *guardian) await() {
	if !ends(g.pid, killGrace) {
		_ = unix.Kill(g.pid, unix.SIGKILL)
		ends(g.pid, killGrace)
	}
	g.forget()
}

// ends reports whether this child ends within that time, and reaps it.
func ends(pid int, in time.Duration) bool {
	end := time.Now().Add(in)
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		_, _ = waitReadable(fd, in)
		unix.Close(fd)
	}
	for ; ; time.Sleep(time.Millisecond) {
		switch got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); {
		case err != nil || got == pid:
			return true
		case !time.Now().Before(end):
			return false
		}
	}
}

// waitReadable waits, up to patience, until the descriptor is readable, and reports whether it
// is. A signal does not end the wait: each time that somebody stops a guardian, this program
// receives one.
func waitReadable(fd int, patience time.Duration) (bool, error) {
	for end := time.Now().Add(patience); ; {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(time.Until(end), 0).Milliseconds())+1)
		if err != unix.EINTR {
			return n > 0, err
		}
	}
}

func (g *guardian) forget() {
	guardians.mu.Lock()
	delete(guardians.pids, g.pid)
	guardians.mu.Unlock()
}

// CloseGuardians ends the idle guardian processes. They end with the program in any case; new
// ones are started when needed.
func CloseGuardians() {
	DismissGuardians()
	guardians.mu.Lock()
	list := guardians.gone
	guardians.gone = nil
	guardians.mu.Unlock()
	for _, g := range list {
		g.await()
	}
}

// DismissGuardians starts what CloseGuardians does: the guardians end while the program does
// something else.
func DismissGuardians() {
	guardians.mu.Lock()
	defer guardians.mu.Unlock()
	for _, g := range guardians.idle {
		g.hangUp()
	}
	guardians.gone = append(guardians.gone, guardians.idle...)
	guardians.idle = nil
}

// say sends the guardian a message. A guardian that cannot be reached is useless, and its
// command must not be left unguarded.
func (g *guardian) say(m message) error {
	g.sending.Lock()
	defer g.sending.Unlock()
	if g.over {
		return errHungUp
	}
	err := g.send(m.seal())
	if err != nil {
		_ = unix.Kill(g.pid, unix.SIGKILL)
	}
	return err
}

// strike kills the guardian. Its connection then closes.
func (g *guardian) strike() {
	g.sending.Lock()
	defer g.sending.Unlock()
	if !g.over {
		_ = unix.Kill(g.pid, unix.SIGKILL)
	}
}

// spawn lets the guardian start a command. A startError describes why the command cannot be
// started, errHungUp means that the guardian was gone before the request, and errLost that the
// outcome is unknown.
func (g *guardian) spawn(req *request) (pid int, err error) {
	g.out = spawnMessage(g.out, req)
	if err := g.send(g.out, append(req.files[:], req.terminal...)...); err != nil {
		return 0, err
	}
	kind, b, err := g.answer()
	switch {
	case errors.Is(err, errHungUp): // it was killed: how is no matter
		return 0, errLost
	case err != nil:
		return 0, fmt.Errorf("%w: %v", errLost, err)
	}
	switch n := b.num(); {
	case b.short:
	case kind == msgStarted:
		return int(n), nil
	case kind == msgFailed:
		return 0, req.inWords(syscall.Errno(n))
	}
	return 0, fmt.Errorf("%w: %w", errLost, errBadMessage)
}

var errNoAnswer = errors.New("it did not answer")

// answer waits for the guardian's answer, in ticks, so that time in which the whole machine
// was suspended does not count. It skips the acknowledgement of an earlier request to end the
// command, sent just as the command ended.
func (g *guardian) answer() (kind byte, b body, err error) {
	for range startPatience / tick {
		for kind, b, ok := g.next(); ok; kind, b, ok = g.next() {
			if kind != msgHeard {
				return kind, b, nil
			}
		}
		if _, err := waitReadable(g.fd, tick); err != nil {
			return 0, body{}, err
		}
		if err := g.receive(); err != nil {
			return 0, body{}, err
		}
	}
	return 0, body{}, errNoAnswer
}
