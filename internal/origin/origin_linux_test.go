package origin

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/internal/eventually"
)

// sleeper starts a process that waits to be killed, with files from descriptor 3 on.
func sleeper(t *testing.T, files ...*os.File) int {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.ExtraFiles = files
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func itself(pid int) bool { return pid == os.Getpid() }

func TestBelow(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		pid  int
		want Origin
	}{
		{"a child", sleeper(t), Inside},
		{"a process that has gone", gone.Process.Pid, Unknown},
		{"the parent", os.Getppid(), Outside},
		{"a process of an outer namespace", 0, Outside},
	} {
		if got := Below(c.pid, itself); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// connected is a loopback connection, and both its addresses as the server sees them.
func connected(t *testing.T, network, address string) (file *os.File, client, server netip.AddrPort) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c, err := net.Dial(network, net.JoinHostPort(address, port))
	if err != nil {
		t.Skip(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); accepted.Close() })
	if file, err = c.(*net.TCPConn).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file, accepted.RemoteAddr().(*net.TCPAddr).AddrPort(), accepted.LocalAddr().(*net.TCPAddr).AddrPort()
}

// The processes that have a socket are found by the addresses of its connection, also where it
// is an IPv6 socket that leads to an IPv4 address.
func TestWhoHasASocket(t *testing.T) {
	file, client, server := connected(t, "tcp4", "127.0.0.1")
	child := sleeper(t, file)
	inode, ok := socketOf(client, server)
	if !ok {
		t.Fatal("the socket is not found")
	}
	if got := holders(inode); len(got) != 2 || got[0] != os.Getpid() && got[1] != os.Getpid() || got[0] != child && got[1] != child {
		t.Errorf("%d and %d have it, and found are %v", os.Getpid(), child, got)
	}
	if from := Connection(client, server); from != Outside {
		t.Errorf("this program's own: %v", from)
	}
	if _, ok := socketOf(server, netip.AddrPortFrom(server.Addr(), 1)); ok {
		t.Error("a socket is found that nobody has")
	}
	if from := Connection(netip.AddrPortFrom(client.Addr(), 1), server); from != Unknown {
		t.Errorf("a client that is not there: %v", from)
	}

	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Close(fd)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	to := &unix.SockaddrInet6{Port: l.Addr().(*net.TCPAddr).Port, Addr: netip.MustParseAddr("::ffff:127.0.0.1").As16()}
	if err := unix.Connect(fd, to); err != nil {
		t.Skip(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if from := Connection(accepted.RemoteAddr().(*net.TCPAddr).AddrPort(), accepted.LocalAddr().(*net.TCPAddr).AddrPort()); from != Outside {
		t.Errorf("over IPv6: %v", from)
	}
}

// A socket that no process has, or another user's, is of unknown origin.
func TestASocketThatNobodyHas(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	c.Close() // the system keeps the connection until the other side ends it
	if from := Connection(accepted.RemoteAddr().(*net.TCPAddr).AddrPort(), accepted.LocalAddr().(*net.TCPAddr).AddrPort()); from != Unknown {
		t.Errorf("a client that has gone: %v", from)
	}
	if os.Geteuid() != 0 {
		return // only root can become somebody else
	}
	file, client, server := connected(t, "tcp4", "127.0.0.1")
	if err := file.Chown(65534, 65534); err != nil {
		t.Skip(err)
	}
	if from := Connection(client, server); from != Unknown {
		t.Errorf("another user's: %v", from)
	}
}

// run returns a file that whoever has it open has a run open by.
func run(t *testing.T) *os.File {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "journal.jsonl"), nil, 0o600), unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: syscall.F_WRLCK})); err != nil {
		t.Fatal(err)
	}
	return f
}

// parent starts a shell with that argument and those files, and a child that has only descriptor 4.
func parent(t *testing.T, argument string, files ...*os.File) (shell, child int) {
	t.Helper()
	cmd := exec.Command("sh", "-s", argument)
	cmd.Stdin, cmd.ExtraFiles = strings.NewReader("sleep 600 3<&- & echo $!; wait"), files
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanln(out, &child); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(child, unix.SIGKILL); _ = cmd.Wait() })
	eventually.Holds(t, "the child is a program of its own", func() bool {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		return strings.HasPrefix(string(line), "sleep")
	})
	return cmd.Process.Pid, child
}

// What a looprun has started is below a run: what its guardian, or whoever has its run open, has
// started. That this program has one open itself does not count where its own commands are meant.
func TestWhoIsBelowARun(t *testing.T) {
	if os.Getenv("LOOPRUN_RUN_ID") != "" {
		t.Skip("this test runs in a run")
	}
	f := run(t)
	looprun, below := parent(t, "x", f)
	f.Close()
	file, client, server := connected(t, "tcp4", "127.0.0.1")
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	guardian, guarded := parent(t, "(guardian)", null, file)
	shell, child := parent(t, "x")
	for name, c := range map[string]struct {
		pid  int
		want Origin
	}{
		"a looprun": {looprun, Outside}, "its command": {below, Inside}, "a guardian": {guardian, Outside}, "its child": {guarded, Inside},
		"a shell": {shell, Outside}, "its program": {child, Outside},
	} {
		if got := Process(c.pid); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if err := Admit(c.pid); (err == nil) != (c.want == Outside) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if from := Connection(client, server); from != Inside {
		t.Errorf("a client that a command has, too: %v", from)
	}
	run(t)
	if from, err := Process(child), Admit(child); from != Outside || err == nil {
		t.Errorf("with a run of this program: %v, %v", from, err)
	}
}

// A process that has a run's lock is a looprun; one that only has the file open, or another lock
// on it, is not.
func TestHoldsARun(t *testing.T) {
	f := run(t)
	locked := func(kind int16) {
		t.Helper()
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind}); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(what string, want bool) {
		t.Helper()
		if holdsRun(os.Getpid()) != want {
			t.Errorf("%s: it has a run: %t", what, !want)
		}
	}
	holds("its lock", true)
	locked(syscall.F_RDLCK)
	holds("a lock to read", false)
	locked(syscall.F_UNLCK)
	holds("an open file", false)
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	holds("a lock of the whole file", false)
	locked(syscall.F_WRLCK)
	journal := filepath.Join(filepath.Dir(f.Name()), "journal.jsonl")
	if err := os.Rename(journal, journal+"s"); err != nil {
		t.Fatal(err)
	}
	holds("a lock beside no journal", false)
	if err := errors.Join(os.Rename(journal+"s", journal), os.Rename(f.Name(), f.Name()+"er")); err != nil {
		t.Fatal(err)
	}
	holds("any lock", false)
}
