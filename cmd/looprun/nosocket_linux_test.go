package main

import (
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where the system has no Unix sockets a run goes on, with a warning, and the
// command cannot talk back.
func TestARunWithoutASocket(t *testing.T) {
	s := ready(t, t.TempDir(), "--max-iterations", "2", "--", "sh", "-c", `[ -z "$LOOPRUN_SOCKET" ] && ! looprun ask --confirm 'Go on?' && exit 1`)
	began := make(chan error)
	go onOwnThread(func() {
		if err := denyUnixSockets(); err != nil {
			t.Log(err)
			began <- errNoListener
			return
		}
		began <- s.Start()
	})
	if err := <-began; err == errNoListener {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	_ = s.Wait()
	if code := s.ProcessState.ExitCode(); code != 110 {
		t.Errorf("exit code %d, want 110", code)
	}
	if want := "the command cannot ask, signal or reject in this run"; !strings.Contains(s.stderr.String(), want) {
		t.Errorf("it does not say %q", want)
	}
}

// denyUnixSockets lets every socket of the current thread, and of what it starts,
// be of a family that the system does not have. Pairs can still be made.
func denyUnixSockets() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_SOCKET},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
}
