package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/internal/eventually"
)

// point is one moment at which a program changes a file: the nth time that this
// call is made for this file. Run ids and random names are left out of the name,
// so that the same moment has the same point in every run.
type point struct {
	call, file string
	nth        int
}

func (p point) String() string { return fmt.Sprintf("%s %d of %s", p.call, p.nth, p.file) }

// fault is a call that fails.
type fault struct {
	point
	err   syscall.Errno
	stays bool // and every later change below the folder fails too
}

// disk stands between a tree of processes and the files below one folder: it
// sees each call that changes one, and lets those fail that it is told to. It is
// a seccomp listener: unlike strace, whose counts are per thread, it counts the
// calls of a program whose threads take turns, and it knows when the last process
// of the tree has gone.
type disk struct {
	root     string
	fault    *fault // nil: only watch
	listener int

	mu     sync.Mutex
	seen   map[point]int // with nth zero
	points []point       // in the order in which they came
	hit    bool
	over   chan struct{} // closed when no process of the tree is left
	err    error
}

// watchedCalls are the calls that change a file, and which argument says which:
// a file descriptor, or, at -1-n, the path in argument n.
var watchedCalls = map[int32]struct {
	name string
	arg  int
}{
	unix.SYS_WRITE: {"write", 0}, unix.SYS_PWRITE64: {"pwrite", 0}, unix.SYS_FSYNC: {"fsync", 0}, unix.SYS_FDATASYNC: {"fdatasync", 0},
	unix.SYS_FTRUNCATE: {"ftruncate", 0}, unix.SYS_FALLOCATE: {"fallocate", 0},
	unix.SYS_OPENAT: {"open", -2}, unix.SYS_MKDIRAT: {"mkdir", -2}, unix.SYS_UNLINKAT: {"unlink", -2}, unix.SYS_RENAMEAT: {"rename", -4}, unix.SYS_RENAMEAT2: {"rename", -4},
}

// start starts the program behind the disk.
func (d *disk) start(t *testing.T, s *started) {
	t.Helper()
	d.seen, d.over = map[point]int{}, make(chan struct{})
	began := make(chan error)
	go onOwnThread(func() {
		var err error
		if d.listener, err = listen(slices.Collect(maps.Keys(watchedCalls))); err != nil {
			began <- fmt.Errorf("%w: %w", errNoListener, err)
			return
		}
		go func() {
			defer close(d.over)
			d.err = serve(d.listener, d.decide)
		}()
		began <- s.Start()
	})
	if err := <-began; err != nil {
		if errors.Is(err, errNoListener) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

var errNoListener = errors.New("system calls cannot be watched here")

// onOwnThread runs f on a thread that ends with it, so that a filter which f puts
// there, and which what f starts inherits, is nobody else's.
func onOwnThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() {
		f()
		return // still locked, so that the thread ends
	}
	// The first thread of a program never ends; while it is taken it is no other's.
	done := make(chan struct{})
	go onOwnThread(func() {
		defer close(done)
		f()
	})
	<-done
	runtime.UnlockOSThread()
}

// listen puts a filter on the current thread and returns who is asked about each
// of the calls.
func listen(calls []int32) (int, error) {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}}
	for _, nr := range calls {
		left := len(calls) - len(filter) + 1
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: uint8(left), K: uint32(nr)})
	}
	filter = append(
		filter,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0x7fff0000}, // allow
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
	)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// request and response are struct seccomp_notif and seccomp_notif_resp.
type request struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// serve answers until the last process with the filter has gone: with what decide
// says, or, where that is zero, with the call itself.
func serve(listener int, decide func(*request) syscall.Errno) error {
	defer unix.Close(listener)
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return err
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			if fds[0].Revents&unix.POLLHUP != 0 {
				return nil
			}
			continue
		}
		var r request
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&r))); errno != 0 {
			continue // the thread was killed meanwhile
		}
		a := response{id: r.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno := decide(&r); errno != 0 {
			a.flags, a.err = 0, -int32(errno)
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a))) // the thread may be gone
	}
}

var (
	runIDs    = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{4}`)
	tempNames = regexp.MustCompile(`\.[0-9a-z]+\.tmp$`)
)

// decide says how the call ends; zero: as it does.
func (d *disk) decide(r *request) syscall.Errno {
	call := watchedCalls[r.nr]
	if call.name == "open" && r.args[2]&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT) == 0 {
		return 0
	}
	file := ""
	if call.arg >= 0 {
		file, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", r.pid, int32(r.args[call.arg])))
	} else {
		file = pathAt(r.pid, r.args[-1-call.arg])
	}
	name, err := filepath.Rel(d.root, file)
	if err != nil || !filepath.IsLocal(name) {
		return 0
	}
	key := point{call: call.name, file: tempNames.ReplaceAllString(runIDs.ReplaceAllString(name, "RUN"), ".*.tmp")}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[key]++
	at := key
	at.nth = d.seen[key]
	d.points = append(d.points, at)
	if d.fault == nil || d.fault.point != at && !(d.fault.stays && d.hit) {
		return 0
	}
	d.hit = true
	return d.fault.err
}

// pathAt is the text at that address of the process.
func pathAt(pid uint32, address uint64) string {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, 4096)
	n, _ := f.ReadAt(b, int64(address)) // less, where the next page is not there
	text, _, _ := bytes.Cut(b[:n], []byte{0})
	return string(text)
}

// empty waits until no process of the tree is left.
func (d *disk) empty(t *testing.T) {
	t.Helper()
	select {
	case <-d.over:
		if d.err != nil {
			t.Fatal(d.err)
		}
	case <-time.After(eventually.Patience):
		t.Errorf("processes of the run are left:\n%s", filtered())
	}
}

// filtered are the threads that have a filter.
func filtered() string {
	var b strings.Builder
	files, _ := filepath.Glob("/proc/[0-9]*/task/*/status") // the pattern is good
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte("\nSeccomp:\t2")) {
			fmt.Fprintf(&b, "%s\n%.60s\n", file, text)
		}
	}
	return b.String()
}
