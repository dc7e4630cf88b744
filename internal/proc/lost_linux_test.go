package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/internal/eventually"
)

// saying is a guardian that says these bytes of a command, and hangs up.
func saying(t *testing.T, said []byte) *guarded {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command("true") // which nobody waits for but who dismisses it
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	if err := newWire(pair[1]).send(said); err != nil {
		t.Fatal(err)
	}
	unix.Close(pair[1])
	return &guarded{guardian: &guardian{wire: newWire(pair[0]), pid: process.Process.Pid}, id: 1, released: make(chan struct{})}
}

// heard is how a command ends of which a guardian says that.
func heard(t *testing.T, said []byte) Exit {
	t.Helper()
	p := &Process{spec: Spec{Argv: []string{"x"}}, done: make(chan struct{})}
	s := &streams{outs: [2]stream{{fd: -1}, {fd: -1}}}
	p.begin(saying(t, said))
	p.pump(s, p.tree.(watched))
	return p.Wait()
}

func joined(messages ...message) (b []byte) {
	for _, m := range messages {
		b = append(b, m.seal()...)
	}
	return b
}

// What a guardian does not say is not an exit code: a command of whose end nothing was
// heard, or half of it, or after which something came that is not a message, is lost.
func TestGuardianThatSaysTooLittle(t *testing.T) {
	exit := func() message { return (&ended{}).message(false) }
	gone := func() message { return (&report{}).goneMessage() }
	all := joined(exit(), gone())
	if e := heard(t, all); e.Code != 0 || e.Cause != Exited || e.Lost != nil {
		t.Fatalf("all was said: %+v", e)
	}
	said := map[string][]byte{
		"nothing": nil, "gone alone": joined(gone()), "stopped": joined(newMessage(msgStopped), gone()),
		"no message": joined(exit(), newMessage('?')), "an empty exit": joined(newMessage(msgExited), gone()),
		"an empty end": joined(exit(), newMessage(msgGone)), "survivors that are not named": joined(exit(), newMessage(msgGone).num(0).num(2)),
		"half an exit": joined(newMessage(msgExited).num(0).num(0), gone()),
	}
	for n := range len(exit().seal()) {
		said[strconv.Itoa(n)+" bytes"] = all[:n]
	}
	for name, b := range said {
		if e := heard(t, b); e.Code != 137 || e.Signal != unix.SIGKILL || e.Cause != Lost || !errors.Is(e.Lost, errLost) && e.Lost != errUnseen {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// The end of a child that somebody else has waited for is not known.
func TestGroupWhoseEndSomebodyElseTook(t *testing.T) {
	process := exec.Command("false")
	if err := process.Run(); err == nil {
		t.Fatal("false is true")
	}
	r, w, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(r)
	g := &group{id: process.Process.Pid, wake: [2]int{r, w}}
	returns(t, g.watch)
	p := &Process{done: make(chan struct{})}
	p.finish(g.report)
	if e := p.Wait(); e.Code != 137 || e.Cause != Lost || !errors.Is(e.Lost, unix.ECHILD) {
		t.Errorf("%+v", e)
	}
}

// Output that cannot be read may have said anything, so its command is lost.
func TestOutputThatCannotBeRead(t *testing.T) {
	n := nonce()
	p := &Process{spec: Spec{Argv: sh("sleep " + n), Stdout: func([]byte) {}}, done: make(chan struct{})}
	req := request{path: "/bin/sh", argv: sh("sleep " + n), killAfter: time.Minute, foreign: time.Minute}
	s, err := p.open(&req)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := launch(req)
	if err != nil {
		t.Fatal(err)
	}
	p.begin(tree)
	started(t, n, 1)
	s.outs[0].fd = -1 // poll passes it over
	dir, err := unix.Open("/", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	s.outs[0].fd = dir // readable, says poll, and read says otherwise
	go p.pump(s, tree)
	if e := await(t, p); e.Code != 137 || e.Cause != Lost || !errors.Is(e.Lost, unix.EISDIR) {
		t.Errorf("%+v", e)
	}
	gone(t, n)
}

// holding are commands that stop their guardian, once and for as long as they live.
var holding = []struct{ name, script string }{
	{"once", "kill -STOP $PPID; exec sleep NONCE"},
	{"and leaves its group", "kill -STOP $PPID; setsid sleep NONCE & sleep NONCE"},
	{"always", "while :; do kill -STOP $PPID; done & setsid sleep NONCE & exec sleep NONCE"},
}

// A guardian that was stopped goes on, and where its command keeps it from that it
// is killed: whatever ends the command, nothing is left.
func TestGuardianIsStopped(t *testing.T) {
	for _, h := range holding {
		t.Run(h.name, func(t *testing.T) {
			n := nonce()
			script := strings.ReplaceAll(h.script, "NONCE", n)
			if e := run(t, Spec{Argv: sh(script), Timeout: 200 * time.Millisecond, KillAfter: 100 * time.Millisecond}); e.Cause != Timeout {
				t.Errorf("timeout: %+v", e)
			}
			gone(t, n)
			p := must(t, Spec{Argv: sh(script), KillAfter: 100 * time.Millisecond})
			started(t, n, 1)
			p.Stop(0)
			if e := await(t, p); e.Cause != Stopped {
				t.Errorf("stop: %+v", e)
			}
			gone(t, n)
		})
	}
}

// One that is stopped while its command ends says how it ended.
func TestGuardianIsStoppedAtTheEnd(t *testing.T) {
	for range kills {
		if e := run(t, Spec{Argv: sh("kill -STOP $PPID; exit 4")}); e.Code != 4 || e.Lost != nil {
			t.Errorf("%+v", e)
		}
	}
	guardians.mu.Lock()
	idle := len(guardians.idle)
	for _, g := range guardians.idle {
		_ = unix.Kill(g.pid, unix.SIGSTOP)
	}
	guardians.mu.Unlock()
	if e := run(t, Spec{Argv: sh("exit 4")}); e.Code != 4 || e.Lost != nil || idle == 0 {
		t.Errorf("of %d idle ones: %+v", idle, e)
	}
}

// One that does not react to what it is told, because somebody traces it, is killed.
func TestGuardianThatDoesNotHear(t *testing.T) {
	n := nonce()
	p := must(t, Spec{Argv: sh("setsid sleep " + n + " & exec sleep " + n), Timeout: time.Hour})
	started(t, n, 2)
	s, ok := readStat(p.Pid(), make([]byte, 0, 1024))
	if !ok {
		t.Fatal("no such process")
	}
	held := make(chan error, 1)
	go holdStill(s.parent, held, p.Done())
	if err := <-held; err != nil {
		t.Skipf("nothing can be traced here: %v", err)
	}
	p.Stop(0)
	if e := await(t, p); e.Cause != Stopped || e.Lost == nil || e.Code != 137 {
		t.Errorf("%+v", e)
	}
	gone(t, n)
}

// holdStill traces all threads of the process until over is closed, so that nothing
// but SIGKILL reaches it. It says when all of them stand still.
func holdStill(pid int, held chan<- error, over <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	traced := map[int]bool{}
	for { // one that was not traced yet may start another
		still := true
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, task := range tasks {
			id, _ := strconv.Atoi(task.Name())
			if !traced[id] {
				err = errors.Join(err, unix.PtraceSeize(id), unix.PtraceInterrupt(id))
			}
			still = still && traced[id] && state(id) == 't'
			traced[id] = true
		}
		if still || err != nil {
			held <- err
			break
		}
		time.Sleep(time.Millisecond) // between two looks
	}
	for id := range traced { // the process is gone when its tracer has seen the ends of them all
		for id != pid {
			var status unix.WaitStatus
			if _, err := unix.Wait4(id, &status, unix.WALL, nil); err != unix.EINTR && !status.Stopped() {
				break
			}
		}
	}
	<-over
}

// Signals that come while an answer is waited for, as they do when somebody stops the
// guardian over and over, are no time that passes.
func TestSignalsAreNoTime(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	g, far := &guardian{wire: newWire(pair[0])}, newWire(pair[1])
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	thread, answered := make(chan int, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread <- unix.Gettid()
		_, _, err := g.answer()
		answered <- err
	}()
	id := <-thread
	for range 4 * startPatience / tick {
		eventually.Holds(t, "it waits", func() bool { return state(id) == 'S' || len(answered) > 0 })
		if err := unix.Tgkill(unix.Getpid(), id, unix.SIGURG); err != nil {
			t.Fatal(err)
		}
	}
	if err := far.send(newMessage(msgStarted).num(1).seal()); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// What could not be ended and writes without end is not read without end.
func TestWhatWritesWithoutEnd(t *testing.T) {
	fd, err := unix.Open("/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	done := make(chan error)
	go func() { done <- new(Process).drain(&stream{fd: fd, open: true}, make([]byte, readSize)) }()
	if err := eventually.Receive(t, "it is read no more", done); err != nil {
		t.Error(err)
	}
}
