package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	errNoTerminal = errors.New("pseudo terminals are not supported on Windows")
	errNoSuspend  = fmt.Errorf("a process tree cannot be suspended on Windows: %w", errors.ErrUnsupported)
)

// Terminals reports whether there are pseudo terminals: not here, so output goes through
// pipes.
const Terminals = false

// terminal does not exist here.
type terminal struct{}

// Resize does nothing: there are no pseudo terminals on Windows.
func (p *Process) Resize() {}

// RestoreTerminal does nothing: there are no interactive commands on Windows.
func RestoreTerminal() {}

func (*terminal) join()  {}
func (*terminal) leave() {}

// job is a tree held together by a job object. Anything that the command starts before it has
// been put into the job is not in it.
type job struct {
	cmd    *exec.Cmd
	handle windows.Handle

	mu     sync.Mutex
	report report
	closed bool
}

// start starts the command. follow follows it to its end.
func (p *Process) start() (follow func()) {
	if p.spec.terminal() {
		return p.fail(codeLacking, fmt.Errorf("start %s: %w", p.spec.Argv[0], errNoTerminal))
	}
	cmd := exec.Command(p.spec.Argv[0], p.spec.Argv[1:]...)
	cmd.Dir, cmd.Env = p.spec.Dir, p.spec.Env
	if p.spec.Stdin != nil {
		cmd.Stdin = p.spec.Stdin
	}
	// Copying continues for this long after the command has ended.
	cmd.WaitDelay = settle
	var one sync.Mutex
	cmd.Stdout = &writer{p: p, to: p.spec.Stdout, one: &one}
	cmd.Stderr = &writer{p: p, to: p.spec.Stderr, one: &one}
	handle, err := newJob(p.spec.KeepBackground)
	if err != nil {
		return p.fail(codeLacking, fmt.Errorf("start %s: job object: %w", p.spec.Argv[0], err))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	j := &job{cmd: cmd, handle: handle}
	p.begin(j)
	if err := j.start(); err != nil {
		p.release()
		windows.CloseHandle(handle)
		return p.fail(startCode(err), err)
	}
	p.id = cmd.Process.Pid
	return func() { p.watch(j) }
}

// start starts the command within the job. An end that was requested before then found nothing
// to end, and is not requested again, so start kills the job itself.
func (j *job) start() error {
	j.mu.Lock()
	err := j.cmd.Start()
	if err == nil {
		j.enter()
	}
	asked := j.report.asked
	j.mu.Unlock()
	if err == nil && asked {
		j.kill()
	}
	return err
}

// startCode returns the exit code of a command that never ran, as shells use it.
func startCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

func newJob(keep bool) (windows.Handle, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil || keep {
		return handle, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return handle, err
}

func (j *job) enter() {
	_ = j.cmd.Process.WithHandle(func(h uintptr) {
		_ = windows.AssignProcessToJobObject(j.handle, windows.Handle(h))
	})
}

func (p *Process) watch(j *job) {
	err := j.cmd.Wait()
	j.mu.Lock()
	j.report.gone = true
	if state := j.cmd.ProcessState; state != nil {
		j.report.end = &ended{code: state.ExitCode()}
	} else {
		j.report.lost = fmt.Errorf("how it ended could not be learned: %w", err)
	}
	asked := j.report.asked
	j.closed = true
	if !p.spec.KeepBackground || asked {
		_ = windows.TerminateJobObject(j.handle, 1)
		windows.CloseHandle(j.handle)
	} else {
		background.add(keptJob(j.handle))
	}
	r := j.report
	j.mu.Unlock()
	p.release()
	p.finish(r)
}

func (j *job) pid() int { return 0 }

// end sends Ctrl-Break to the command's process group and kills the rest after killAfter. It
// kills at once if there is no console through which to send it, or if end was called before.
func (j *job) end(_ syscall.Signal, killAfter time.Duration) {
	j.mu.Lock()
	again := j.report.asked || j.cmd.Process == nil
	j.report.asked = true
	if !again && !j.closed {
		again = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(j.cmd.Process.Pid)) != nil
	}
	j.mu.Unlock()
	if again {
		j.kill()
		return
	}
	time.AfterFunc(killAfter, j.kill)
}

func (j *job) kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.report.asked = true
		_ = windows.TerminateJobObject(j.handle, 1)
		if j.cmd.Process != nil {
			_ = j.cmd.Process.Kill()
		}
	}
}

func (j *job) suspend() error        { return errNoSuspend }
func (j *job) resume() error         { return errNoSuspend }
func (j *job) notify(syscall.Signal) {}

// keptJob is what a command has left running.
type keptJob windows.Handle

func (k keptJob) end(time.Duration) {
	_ = windows.TerminateJobObject(windows.Handle(k), 1)
	windows.CloseHandle(windows.Handle(k))
}

// writer delivers output, one call at a time.
type writer struct {
	p   *Process
	to  func([]byte)
	one *sync.Mutex
}

func (w *writer) Write(b []byte) (int, error) {
	w.one.Lock()
	defer w.one.Unlock()
	w.p.deliver(w.to, b)
	return len(b), nil
}

// Room returns nil: no limit is known to be too low.
func Room() error { return nil }
