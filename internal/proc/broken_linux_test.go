package proc

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/internal/eventually"
)

// waitless, in the environment, makes the test binary a guardian that cannot wait for
// its children: wait4 says that there are none.
const waitless = "PROC_TEST_WAITLESS"

func init() { otherPrograms[waitless] = waitlessGuardian }

func waitlessGuardian(string) int {
	runtime.LockOSThread()
	_ = os.Unsetenv(waitless)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_WAIT4},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ECHILD)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil ||
		unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0) != nil {
		return 99
	}
	_ = syscall.Exec("/proc/self/exe", []string{"proc.test", guardianArg}, os.Environ())
	return 98
}

// A guardian that cannot say, or cannot learn, how its command ends, or what it is to do,
// is of no use: it ends the command and itself, instead of being waited for.
func TestGuardianThatCannotDoItsWork(t *testing.T) {
	again := spawnMessage(nil, &request{path: "/bin/sh", dir: "/", argv: sh("exit 0")})
	for _, c := range []struct {
		name, env string
		deaf      bool
		script    string
		then      []byte // is sent behind the request
		fds       int    // come with that
	}{
		{"cannot say", "", true, "exec sleep NONCE", nil, 3},
		{"cannot say that it heard", "", true, "exec sleep NONCE", newMessage(msgEnd).num(int64(unix.SIGCONT)).num(int64(time.Hour)).seal(), 3},
		{"cannot wait", waitless + "=1", false, "sleep NONCE & exit 0", nil, 3},
		{"is told half", "", false, "exec sleep NONCE", newMessage(msgNotify).seal(), 3},
		{"is told something else", "", false, "exec sleep NONCE", newMessage('?').seal(), 3},
		{"is to start another", "", false, "exec sleep NONCE", again, 3},
		{"is to start nothing", "", false, "", newMessage(msgSpawn).seal(), 3},
		{"is given half of what a terminal needs", "", false, "", again, 4},
		{"is given what is no terminal", "", false, "", again, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(pair[0])
			end := os.NewFile(uintptr(pair[1]), "guardian")
			cmd := exec.Command(os.Args[0], guardianArg)
			cmd.Env, cmd.Stdin = append(os.Environ(), c.env), end
			if c.env != "" {
				cmd.Args = cmd.Args[:1]
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			end.Close()
			if c.deaf {
				if err := unix.Shutdown(pair[0], unix.SHUT_RD); err != nil {
					t.Fatal(err)
				}
			}
			n := nonce()
			null, err := nullDevice()
			if err != nil {
				t.Fatal(err)
			}
			req := request{path: "/bin/sh", dir: "/", argv: sh(strings.ReplaceAll(c.script, "NONCE", n)), killAfter: killGrace, foreign: killGrace}
			fds := []int{null, null, null, null, null}
			for i, m := range [][]byte{spawnMessage(nil, &req), c.then} {
				if i == 0 && c.script == "" {
					continue
				}
				come := fds[:3]
				if i == 1 {
					come = fds[:c.fds]
				}
				if err := newWire(pair[0]).send(m, come...); err != nil && !errors.Is(err, errHungUp) {
					t.Fatal(err)
				}
			}
			done := make(chan error, 1)
			go func() { done <- cmd.Wait() }()
			eventually.Receive(t, "it ends", done)
			b := make([]byte, 4096)
			w := newWire(pair[0])
			var r report
			for {
				got, err := unix.Read(pair[0], b)
				if got <= 0 || err != nil {
					break
				}
				w.in = append(w.in, b[:got]...)
			}
			for kind, body, ok := w.next(); ok; kind, body, ok = w.next() {
				switch kind {
				case msgStarted:
				case msgFailed:
					t.Error("it tries to start what it cannot read")
				default:
					_ = r.take(kind, body)
				}
			}
			if r.end != nil || r.gone {
				t.Errorf("it says %+v", r)
			}
			eventually.Holds(t, "nothing is left", func() bool { return len(sleeping(n)) == 0 })
		})
	}
}
