//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// request is what a launcher needs to know about a command.
type request struct {
	path, dir string
	argv, env []string
	files     [3]int // what becomes 0, 1 and 2
	terminal  []int  // the command's own terminal and the program's, of an interactive one; else nil
	killAfter time.Duration
	foreign   time.Duration // how long processes that may not be signalled are waited for
	keep      bool          // leave alone what is there when the command ends by itself
}

// watched is a tree that a pump can wait for.
type watched interface {
	tree
	// fd is readable when receive has something to report.
	fd() int
	// receive updates r without blocking; known does so with what has already been received.
	receive(r *report)
	known(r *report)
	// abandon kills everything, because this program can no longer follow it.
	abandon(r *report, why error)
	// release gives up the tree once it is gone.
	release(r *report)
}

// errLost means that the guardian was killed, or gave up, before it had reported everything.
var errLost = errors.New("the guardian was lost")

// leftGrace is how long processes that this user may not signal are waited for once a command
// has left something that could not be ended: the next commands usually do too.
const leftGrace = 500 * time.Millisecond

var leftBefore atomic.Bool

// nullDevice is open for the life of the program: nearly every command has it as its standard
// input.
var nullDevice = sync.OnceValues(func() (int, error) {
	return unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
})

// start starts the command. follow follows it to its end.
func (p *Process) start() (follow func()) {
	req := request{
		dir: p.spec.Dir, argv: p.spec.Argv, env: p.spec.Env,
		killAfter: p.spec.killAfter(), foreign: killGrace, keep: p.spec.KeepBackground,
	}
	if leftBefore.Load() {
		req.foreign = leftGrace
	}
	if req.env == nil {
		req.env = os.Environ()
	}
	var err error
	if req.path, err = lookPath(req.argv[0], req.dir, req.env); err != nil {
		return p.refuse(err)
	}
	s, err := p.open(&req)
	if err != nil {
		return p.refuse(err)
	}
	t, err := launch(req)
	if err != nil {
		s.close()
		return p.refuse(err)
	}
	p.begin(t)
	return func() { p.pump(s, t) }
}

// refuse turns the reason why the command could not start into its Exit.
func (p *Process) refuse(err error) (follow func()) {
	if se, ok := errors.AsType[*startError](err); ok {
		return p.fail(se.code, se.err)
	}
	if errors.Is(err, errLost) {
		p.finish(report{lost: err})
		return func() {}
	}
	return p.fail(codeLacking, fmt.Errorf("start %s: %w", p.spec.Argv[0], err))
}

// busyRetries is how often to retry a file that is open for writing: a command that another
// one has just written is often closed a moment later.
const busyRetries = 10

// forkExec starts req with attr. Its error describes why it could not.
func forkExec(req *request, attr *syscall.SysProcAttr) (int, error) {
	files := []uintptr{uintptr(req.files[0]), uintptr(req.files[1]), uintptr(req.files[2])}
	pa := &syscall.ProcAttr{Dir: req.dir, Env: req.env, Files: files, Sys: attr}
	for try := 0; ; try++ {
		pid, err := syscall.ForkExec(req.path, req.argv, pa)
		if err == syscall.ETXTBSY && try < busyRetries {
			time.Sleep(time.Duration(try+1) * time.Millisecond)
			continue
		}
		return pid, err
	}
}

// inWords turns the error of a forkExec into one that people can understand.
func (r *request) inWords(err error) error {
	errno, _ := errors.AsType[syscall.Errno](err) // it is no other
	return explain(r.path, r.dir, errno)
}
