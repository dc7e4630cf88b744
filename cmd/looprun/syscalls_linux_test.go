//go:build amd64

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/rounds"
)

// guardedCalls are the system calls by which looprun and its guardian start a
// command, talk to each other, and follow the command to its end. (close is not among
// them: Linux releases the descriptor whatever close returns.)
var guardedCalls = map[int32]string{
	unix.SYS_SENDMSG: "sendmsg", unix.SYS_RECVMSG: "recvmsg", unix.SYS_POLL: "poll", unix.SYS_PPOLL: "ppoll", unix.SYS_READ: "read",
	unix.SYS_WRITE: "write", unix.SYS_OPENAT: "openat", unix.SYS_GETDENTS64: "getdents64", unix.SYS_PIPE2: "pipe2",
	unix.SYS_WAIT4: "wait4", unix.SYS_WAITID: "waitid", unix.SYS_KILL: "kill", unix.SYS_PIDFD_OPEN: "pidfd_open", unix.SYS_PIDFD_SEND_SIGNAL: "pidfd_send_signal",
	unix.SYS_PRCTL: "prctl", unix.SYS_CLONE: "clone", unix.SYS_CLONE3: "clone3", unix.SYS_EXECVE: "execve", unix.SYS_SETSID: "setsid", unix.SYS_DUP3: "dup3",
	unix.SYS_SOCKETPAIR: "socketpair", unix.SYS_SETSOCKOPT: "setsockopt", unix.SYS_FCNTL: "fcntl", unix.SYS_GETPID: "getpid", unix.SYS_READLINKAT: "readlinkat",
	unix.SYS_FUTEX: "futex", unix.SYS_EPOLL_PWAIT: "epoll_pwait", unix.SYS_EPOLL_CTL: "epoll_ctl", unix.SYS_MMAP: "mmap", unix.SYS_PRLIMIT64: "prlimit64",
}

// onFirst are those of them whose first argument is a descriptor.
var onFirst = []int32{
	unix.SYS_SENDMSG, unix.SYS_RECVMSG, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_GETDENTS64, unix.SYS_DUP3,
	unix.SYS_SETSOCKOPT, unix.SYS_FCNTL,
}

// systemCall is a system call of looprun, of its guardian, or of what one of them has just
// forked, and what it is made on: a pipe, say.
type systemCall struct {
	role string
	nr   int32
	on   string
}

func (c systemCall) String() string {
	return strings.TrimSuffix(c.role+"'s "+guardedCalls[c.nr]+" of a "+c.on, " of a ")
}

// failing lets calls of a run fail: the nth of its kind, or, where that is zero, all.
type failing struct {
	systemCall
	nth int
	err syscall.Errno
}

func (f failing) String() string {
	when := "always"
	if f.nth > 0 {
		when = fmt.Sprintf("at time %d", f.nth)
	}
	return fmt.Sprintf("%s is %s, %s", f.systemCall, unix.ErrnoName(f.err), when)
}

// watchedRun is a run whose calls are counted, and fail as they are told to.
type watchedRun struct {
	*started
	fault *failing

	mu   sync.Mutex
	seen map[systemCall]int
	over chan struct{} // closed when no process of the run is left
}

// behind, in the environment, makes the test binary a process that puts a filter on
// itself for these calls, and becomes the program that its arguments name when a
// byte comes on descriptor 3: by then somebody listens.
const behind = "TEST_BEHIND_FILTER"

func init() { otherPrograms[behind] = behindFilter }

func behindFilter(calls string) int {
	runtime.LockOSThread()
	var list []int32
	for text := range strings.SplitSeq(calls, ",") {
		nr, err := strconv.Atoi(text)
		if err != nil {
			return 99
		}
		list = append(list, int32(nr))
	}
	_ = os.Unsetenv(behind)
	env := os.Environ()
	if _, err := listen(list); err != nil {
		return 98
	}
	var b [1]byte
	if n, err := unix.Read(3, b[:]); n != 1 || err != nil {
		return 97
	}
	unix.CloseOnExec(3)
	_ = syscall.Exec(os.Args[1], os.Args[1:], env)
	return 96
}

func (w *watchedRun) start(t *testing.T, calls []int32) {
	t.Helper()
	w.seen, w.over = map[systemCall]int{}, make(chan struct{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, gate, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	var numbers []string
	for _, nr := range calls {
		numbers = append(numbers, strconv.Itoa(int(nr)))
	}
	w.Args = append([]string{self, w.Path}, w.Args[1:]...)
	w.Path = self
	w.Env = append(w.Env, behind+"="+strings.Join(numbers, ","), "GODEBUG=asyncpreemptoff=1")
	w.ExtraFiles = []*os.File{r}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	listener := -1
	eventually.Holds(t, "it has a filter", func() bool {
		listener, err = listenerOf(w.Process.Pid)
		return err != nil || listener >= 0
	})
	if err != nil {
		_ = w.Process.Kill()
		t.Skipf("system calls cannot be watched here: %v", err)
	}
	go func() {
		defer close(w.over)
		_ = serve(listener, w.decide)
	}()
	if _, err := gate.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
}

// listenerOf is the listener that the process has, as a descriptor of ours; -1: it has
// none yet.
func listenerOf(pid int) (int, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	names, err := os.ReadDir(dir)
	if err != nil {
		return -1, errors.New("it has ended")
	}
	for _, name := range names {
		to, _ := os.Readlink(filepath.Join(dir, name.Name()))
		if !strings.Contains(to, "seccomp notify") {
			continue
		}
		fd, err := strconv.Atoi(name.Name())
		if err != nil {
			return -1, err
		}
		process, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return -1, err
		}
		defer unix.Close(process)
		return unix.PidfdGetfd(process, fd, 0)
	}
	return -1, nil
}

// role is whose call it is; empty: somebody else's.
func (w *watchedRun) role(tid uint32) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return ""
	}
	number := func(key string) int {
		_, rest, _ := strings.Cut(string(status), "\n"+key+":")
		text, _, _ := strings.Cut(rest, "\n")
		n, _ := strconv.Atoi(strings.TrimSpace(text)) // 0: it is not there
		return n
	}
	argv, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", tid))
	name, _, _ := strings.Cut(string(argv), "\x00")
	guards := strings.HasSuffix(string(argv), "\x00(guardian)\x00")
	pid, parent, own := number("Tgid"), number("PPid"), w.Process.Pid
	switch {
	case name != w.Args[1] && !guards:
		return ""
	case pid == own:
		return "looprun"
	case parent == own && guards:
		return "the guardian"
	case parent == own:
		return "looprun's child"
	case guards:
		return "the guardian's child"
	}
	return ""
}

// descriptor is what a descriptor of the process is.
func descriptor(tid uint32, fd int32) string {
	to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, fd))
	kind, _, special := strings.Cut(to, ":")
	switch {
	case special:
		return kind
	case strings.HasPrefix(to, "/proc/"), strings.HasPrefix(to, "/dev/"):
		return "file of " + strings.SplitN(to, "/", 3)[1]
	}
	return "file"
}

func (w *watchedRun) decide(r *request) syscall.Errno {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := systemCall{role: w.role(r.pid), nr: r.nr}
	if c.role == "" {
		return 0
	}
	if slices.Contains(onFirst, r.nr) {
		c.on = descriptor(r.pid, int32(r.args[0]))
	}
	w.seen[c]++
	if w.fault == nil || w.fault.systemCall != c || w.fault.nth != 0 && w.fault.nth != w.seen[c] {
		return 0
	}
	return w.fault.err
}

// guardedRuns are a run that is done, and runs that cannot be: a command that leaves something behind that
// does not want to end, and one that has to be ended.
var guardedRuns = map[string][]string{
	"leaves something": {"-c", "echo out; (trap '' TERM; exec setsid sleep 3600) & exit 1"},
	"is done":          {"-c", "true"},
	"is timed out":     {"--iteration-timeout", "200ms", "-c", "echo out; exec sleep 3600"},
}

func guardedRun(t *testing.T, kind string) *watchedRun {
	t.Helper()
	s := ready(t, t.TempDir(), append([]string{"--max-iterations", "1", "--kill-after", "100ms"}, guardedRuns[kind]...)...)
	out, err := os.Create(s.file("out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out.Close()
		b, _ := os.ReadFile(s.file("out"))
		if t.Failed() {
			t.Logf("%s", b)
		}
	})
	s.Cmd.Stdout, s.Cmd.Stderr = out, out
	return &watchedRun{started: s}
}

// TestFailingCalls lets each system call fail that the start of a command, what it
// says and its end depend on, one in each run: at one time, and for good. No run that
// is not done ends with 0 for that, and none hangs.
func TestFailingCalls(t *testing.T) {
	t.Parallel()
	numbers := slices.Sorted(maps.Keys(guardedCalls))
	for _, kind := range []string{"is timed out", "leaves something"} {
		w := guardedRun(t, kind)
		w.start(t, numbers)
		if code := w.ended(t); code != 110 {
			t.Fatalf("%s: without a fault it ended with %d", kind, code)
		}
		w.clean(t)
		var faults []failing
		for c, times := range w.seen {
			faults = append(faults, faultsOf(c, times)...)
		}
		slices.SortFunc(faults, func(a, b failing) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for n, f := range faults {
			if n%rounds.Step(131) != 0 { // of some thousand
				continue
			}
			t.Run(fmt.Sprintf("%s: %s", kind, f), func(t *testing.T) {
				t.Parallel()
				withFailing(t, kind, &f)
			})
		}
	}
}

// A program that cannot read whether its guardian was started would wait for the end
// of one that waits for it.
func TestAGuardianWhoseStartIsHidden(t *testing.T) {
	t.Parallel()
	withFailing(t, "is timed out", &failing{systemCall{"looprun", unix.SYS_READ, "pipe"}, 1, unix.EIO})
}

// A guardian that has nothing left to end does not look for it among all processes of
// the machine: whoever waits for a short run waits for that.
func TestAGuardianWithNothingLeft(t *testing.T) {
	t.Parallel()
	w := guardedRun(t, "is done")
	w.start(t, []int32{unix.SYS_GETDENTS64, unix.SYS_WAIT4})
	if code := w.ended(t); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	w.clean(t)
	waited := 0
	for c, times := range w.seen {
		switch {
		case c.role == "the guardian" && c.nr == unix.SYS_GETDENTS64:
			t.Errorf("%s: %d times", c, times)
		case c.role == "the guardian":
			waited += times
		}
	}
	if waited == 0 {
		t.Error("no guardian was seen")
	}
}

// faultsOf are the faults of a call that a run makes so many times: of all its errors
// the ones that are treated differently somewhere. EINTR is no failure, but a call that
// is to be made again, so it comes once. EAGAIN of a read or write is none either: it
// says that there will be news, for which the Go runtime waits, and there would be none.
func faultsOf(c systemCall, times int) (list []failing) {
	for _, err := range []syscall.Errno{unix.ENOMEM, unix.EPERM, unix.EAGAIN, unix.EPIPE, unix.EIO, unix.ECHILD, unix.EINTR} {
		if err == unix.EAGAIN && (c.nr == unix.SYS_READ || c.nr == unix.SYS_WRITE) {
			continue
		}
		nths := []int{1, 2, times / 2, times}
		if err != unix.EINTR {
			nths = append(nths, 0)
		}
		slices.Sort(nths)
		for _, nth := range slices.Compact(nths) {
			if nth <= times && (nth > 0 || err != unix.EINTR) {
				list = append(list, failing{c, nth, err})
			}
		}
	}
	return list
}

func withFailing(t *testing.T, kind string, f *failing) {
	t.Helper()
	w := guardedRun(t, kind)
	w.fault = f
	began := time.Now()
	w.start(t, []int32{f.nr})
	code := w.ended(t)
	if took := time.Since(began); took > 10*time.Second {
		t.Logf("it took %s and ended with %d", took, code)
	}
	if code == 0 || code == -int(unix.SIGKILL) {
		t.Errorf("it ended with %d, want an end of its own that is not 0", code)
	}
	w.clean(t)
}

// clean ends what could not be ended without the call that failed.
func (w *watchedRun) clean(t *testing.T) {
	t.Helper()
	until(t, "no process of the run is left", func() bool {
		for _, pid := range w.processes() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		select {
		case <-w.over:
			return true
		default:
			return false
		}
	})
}

// processes are those of the run, which have its directory in their environment.
func (w *watchedRun) processes() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is good
	for _, file := range files {
		env, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // the pattern has it
		if err == nil && strings.Contains(string(env), "="+w.file("state")) {
			pids = append(pids, pid)
		}
	}
	return pids
}
