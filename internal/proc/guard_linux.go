package proc

import (
	"fmt"
	"os"
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
const startPatience = 30 * time.Second

// hooked is set when this program is known to become a guardian when it is
// started as one.
var hooked atomic.Bool

// IsGuardian reports whether this process was started to be a guardian. A
// program calls it before anything else:
//
//	if proc.IsGuardian() {
//		os.Exit(proc.GuardianMain())
//	}
//
// That it has been called is what allows this package to start guardians, and
// to make the program a child subreaper when it starts the first one.
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

// guardian is a guardian process as its program sees it. It has one command
// at a time, so that everything below it belongs to that command.
type guardian struct {
	*wire
	pid     int
	sending sync.Mutex
	out     []byte // the last request, for the next one
}

// guardians are all guardian processes of this program.
var guardians struct {
	mu   sync.Mutex
	idle []*guardian
	gone []*guardian // they end, and have not been waited for
	pids map[int]bool
	// coming is closed when the guardian that is being prepared is idle, or could
	// not be started; nil: none is.
	coming chan struct{}
}

var becomeSubreaper = sync.OnceValue(func() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
})

func startGuardian() (*guardian, error) {
	if err := becomeSubreaper(); err != nil {
		return nil, os.NewSyscallError("prctl", err)
	}
	null, err := nullDevice()
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	defer unix.Close(pair[1])
	stderr := 2
	if _, err := unix.FcntlInt(2, unix.F_GETFD, 0); err != nil {
		stderr = null
	}
	files := []uintptr{uintptr(pair[1]), uintptr(null), uintptr(stderr)}
	argv := []string{filepath.Base(os.Args[0]), guardianArg}
	guardians.mu.Lock()
	defer guardians.mu.Unlock()
	pid, err := syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		unix.Close(pair[0])
		return nil, fmt.Errorf("start guardian: %w", err)
	}
	if guardians.pids == nil {
		guardians.pids = map[int]bool{}
	}
	guardians.pids[pid] = true
	return &guardian{wire: newWire(pair[0]), pid: pid}, nil
}

// Prepare starts a guardian in the background, for a program that will soon need
// one: it takes as long to start as the program itself. That it cannot be started
// is said when it is needed.
func Prepare() {
	guardians.mu.Lock()
	defer guardians.mu.Unlock()
	if !hooked.Load() || guardians.coming != nil || len(guardians.idle) > 0 {
		return
	}
	coming := make(chan struct{})
	guardians.coming = coming
	go func() {
		defer close(coming)
		if g, err := startGuardian(); err == nil {
			g.giveBack()
		}
	}()
}

// prepared waits for the guardian that is being prepared.
func prepared() {
	guardians.mu.Lock()
	coming := guardians.coming
	guardians.coming = nil
	guardians.mu.Unlock()
	if coming != nil {
		<-coming
	}
}

// takeGuardian is an idle guardian, or a new one. An idle one may have been killed.
func takeGuardian() (*guardian, error) {
	prepared()
	guardians.mu.Lock()
	n := len(guardians.idle)
	if n == 0 {
		guardians.mu.Unlock()
		return startGuardian()
	}
	g := guardians.idle[n-1]
	guardians.idle = guardians.idle[:n-1]
	guardians.mu.Unlock()
	return g, nil
}

func (g *guardian) giveBack() {
	guardians.mu.Lock()
	guardians.idle = append(guardians.idle, g)
	guardians.mu.Unlock()
}

// dismiss ends a guardian by closing its connection, upon which it ends what
// is left below it, and waits for it.
func (g *guardian) dismiss() {
	g.hangUp()
	waitFor(g.pid)
	g.forget()
}

func (g *guardian) hangUp() {
	unix.Close(g.fd)
	_ = unix.Kill(g.pid, unix.SIGCONT) // should somebody have stopped it
}

func (g *guardian) forget() {
	guardians.mu.Lock()
	delete(guardians.pids, g.pid)
	guardians.mu.Unlock()
}

// CloseGuardians ends the guardian processes that have nothing to do. They end
// with the program in any case; new ones are started when needed.
func CloseGuardians() {
	DismissGuardians()
	closePipes()
	guardians.mu.Lock()
	list := guardians.gone
	guardians.gone = nil
	guardians.mu.Unlock()
	for _, g := range list {
		waitFor(g.pid)
		g.forget()
	}
}

// DismissGuardians is the beginning of CloseGuardians: they end while the program
// does something else.
func DismissGuardians() {
	prepared()
	guardians.mu.Lock()
	defer guardians.mu.Unlock()
	for _, g := range guardians.idle {
		g.hangUp()
	}
	guardians.gone = append(guardians.gone, guardians.idle...)
	guardians.idle = nil
}

func (g *guardian) say(m message) error {
	g.sending.Lock()
	defer g.sending.Unlock()
	return g.send(m.seal())
}

// spawn lets the guardian start a command.
func (g *guardian) spawn(req *request) (pid int, err error) {
	g.out = spawnMessage(g.out, req)
	if err := g.send(g.out, req.files[:]...); err != nil {
		return 0, err
	}
	changePipes()
	kind, b, err := g.answer(startPatience)
	switch {
	case err != nil:
		return 0, errLost
	case kind == msgStarted:
		return int(b.num()), nil
	case kind == msgFailed:
		return 0, req.inWords(syscall.Errno(b.num()))
	}
	return 0, errLost
}

func (g *guardian) answer(patience time.Duration) (kind byte, b body, err error) {
	for end := time.Now().Add(patience); ; {
		if kind, b, ok := g.next(); ok {
			return kind, b, nil
		}
		wait := []unix.PollFd{{Fd: int32(g.fd), Events: unix.POLLIN}}
		if n, _ := unix.Poll(wait, int(time.Until(end).Milliseconds())); n == 0 && !time.Now().Before(end) {
			return 0, body{}, errHungUp
		}
		if err := g.receive(unix.MSG_DONTWAIT); err != nil {
			return 0, body{}, err
		}
	}
}
