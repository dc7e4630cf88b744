package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/internal/eventually"
)

func TestGuardianRequest(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b := newWire(pair[0]), newWire(pair[1])
	defer unix.Close(b.fd)
	want := request{
		path: "/bin/x", dir: "/d", argv: []string{"x", "", strings.Repeat("y", 1<<20)}, env: []string{"A=1", "B="},
		killAfter: time.Minute, keep: true,
	}
	sent := make(chan error, 1)
	go func() {
		err := a.send(spawnMessage(nil, &want), 0, 1, 2)
		unix.Close(a.fd)
		sent <- err
	}()
	for {
		if _, err := waitReadable(b.fd, eventually.Patience); err != nil {
			t.Fatal(err)
		}
		if err := b.receive(); err != nil {
			t.Fatal(err)
		}
		kind, body, ok := b.next()
		if !ok {
			continue
		}
		for _, n := range []int{0, 2, 4, 6} { // descriptors: of some none came where too many are open
			if _, err := readSpawn(body, make([]int, n)); err != errBadMessage {
				t.Errorf("with %d descriptors: %v", n, err)
			}
		}
		got, err := readSpawn(body, b.fds)
		if err != nil || kind != msgSpawn {
			t.Fatal(kind, err)
		}
		for i, fd := range got.files {
			if fd == want.files[i] {
				t.Errorf("descriptor %d is not a new one", i)
			}
			unix.Close(fd)
		}
		got.files = want.files
		if !reflect.DeepEqual(got, want) {
			t.Error("the request has changed on its way")
		}
		break
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if err := b.receive(); err != errHungUp {
		t.Errorf("after the other end was closed: %v", err)
	}
}

// A malformed message is refused; it never makes the guardian fail.
func FuzzGuardianMessage(f *testing.F) {
	f.Add([]byte(spawnMessage(nil, &request{path: "p", argv: []string{"a"}, env: []string{"b"}}))[headerSize:])
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add(append(make([]byte, 32), 0xff, 0xff, 0, 0)) // a list that is not there
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = readSpawn(body{rest: string(b)}, []int{0, 1, 2})
		var r report
		for _, kind := range []byte{msgExited, msgGone} {
			if err := r.take(kind, body{rest: string(b)}); err != nil && (r.end != nil || r.gone) {
				t.Fatal("half a message says how the command ended")
			}
			r = report{}
		}
	})
}

// Half a message is an error, whatever it is about, and says nothing.
func TestHalfAMessage(t *testing.T) {
	whole := (&report{survivors: []Survivor{{Pid: 7, Name: "x"}}}).goneMessage().seal()[headerSize:]
	for name, c := range map[string]struct {
		kind byte
		said []byte
	}{
		"how it ended":     {msgExited, (&ended{code: 3}).message(true).seal()[headerSize : headerSize+23]},
		"nothing is left":  {msgGone, whole[:15]},
		"half a survivor":  {msgGone, whole[:len(whole)-1]},
		"no survivors yet": {msgGone, newMessage(msgGone).num(0).num(1000).seal()[headerSize:]},
	} {
		var r report
		if err := r.take(c.kind, body{rest: string(c.said)}); err != errBadMessage || r.end != nil || r.gone || len(r.survivors) > 0 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
	var r report
	if err := r.take(msgGone, body{rest: string(whole)}); err != nil || !r.gone || len(r.survivors) != 1 {
		t.Errorf("the whole: %v, %+v", err, r)
	}
}

// The name of a process may look like the rest of the line.
func TestGuardianReadsAnyName(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a) Z 1 (b")
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Skip("no /bin/sleep to copy")
	}
	if err := os.WriteFile(name, sleep, 0o700); err != nil {
		t.Fatal(err)
	}
	p := must(t, Spec{Argv: []string{name, "1000"}})
	s, ok := readStat(p.Pid(), make([]byte, 0, 1024))
	if !ok || !s.alive() || s.group != p.Pid() || s.session != p.Pid() || s.started == 0 {
		t.Errorf("%+v", s)
	}
	if _, ok := parseStat(1, []byte("1 (x")); ok {
		t.Error("half a line is no process")
	}
}

// A guardian that does not take what it is told is killed, and not waited for.
func TestGuardianThatDoesNotListen(t *testing.T) {
	t.Parallel()
	pair, err := connection(10 * time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	if limit, err := unix.GetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_SNDTIMEO); err != nil || limit.Nano() == 0 {
		t.Fatalf("it would be waited for for ever: %v, %v", limit, err)
	}
	deaf := exec.Command("sleep", "3600")
	if err := deaf.Start(); err != nil {
		t.Fatal(err)
	}
	g := &guardian{wire: newWire(pair[0]), pid: deaf.Process.Pid}
	told := make(chan error)
	go func() {
		var err error
		for err == nil {
			err = g.say(newMessage(msgNotify).text(strings.Repeat("x", 1<<16)))
		}
		told <- err
	}()
	if err := eventually.Receive(t, "what it does not take is an error", told); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("got %v, want %v", err, unix.EAGAIN)
	}
	_ = deaf.Process.Signal(unix.SIGTERM) // by which it ends where nobody has killed it
	if err := deaf.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the guardian ended with %v", err)
	}
}

// A signal does not cut what a guardian is told: the connection has a time limit, and so the
// system does not begin again by itself.
func TestASignalWhileAMessageIsSent(t *testing.T) {
	t.Parallel()
	pair, err := connection(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	thread, sent, n := make(chan int, 1), make(chan error, 1), 4<<20
	go func() {
		runtime.LockOSThread() // which ends with this
		thread <- unix.Gettid()
		err := newWire(pair[0]).send(make([]byte, n))
		unix.Close(pair[0])
		sent <- err
	}()
	tid := <-thread
	for range 10 {
		eventually.Holds(t, "it waits", func() bool { return state(tid) == 'S' })
		_ = unix.Tgkill(os.Getpid(), tid, unix.SIGURG)
	}
	got, b := 0, make([]byte, 1<<20)
	for {
		k, err := unix.Read(pair[1], b)
		if k <= 0 || err != nil {
			break
		}
		got += k
	}
	if err := <-sent; err != nil || got != n {
		t.Errorf("%d of %d bytes arrive: %v", got, n, err)
	}
}

// A connection that is said to have something and has nothing is of no use after a
// while; one that has something now and then is.
func TestAnEmptyConnection(t *testing.T) {
	t.Parallel()
	pair, err := connection(startPatience)
	if err != nil {
		t.Fatal(err)
	}
	a, b := newWire(pair[0]), newWire(pair[1])
	defer unix.Close(a.fd)
	defer unix.Close(b.fd)
	for range 2 {
		for n := range emptyLimit {
			if err := b.receive(); err != nil {
				t.Fatalf("at time %d: %v", n+1, err)
			}
		}
		if err := a.send(newMessage(msgKill).seal()); err != nil {
			t.Fatal(err)
		}
		if err := b.receive(); err != nil {
			t.Fatal(err)
		}
	}
	for range emptyLimit {
		_ = b.receive() // the last but one
	}
	if err := b.receive(); err != unix.EAGAIN {
		t.Errorf("after %d times in a row: %v, want %v", emptyLimit+1, err, unix.EAGAIN)
	}
}
