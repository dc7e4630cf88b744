package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/internal/eventually"
)

const (
	notAGuardian  = "PROC_TEST_NOT_A_GUARDIAN"
	goneDirectory = "PROC_TEST_GONE_DIRECTORY"
	fewFiles      = "PROC_TEST_FEW_FILES"
	noGuardians   = "PROC_TEST_NO_GUARDIANS"
	phases        = "PROC_TEST_PHASES"
	signalled     = "PROC_TEST_SIGNALLED"
	counts        = "PROC_TEST_COUNTS"
)

func init() {
	otherPrograms[notAGuardian] = func(string) int { fmt.Print("a program"); return 0 }
	otherPrograms[goneDirectory] = inGoneDirectory
	otherPrograms[fewFiles] = withFewFiles
	otherPrograms[noGuardians] = withoutGuardians
	otherPrograms[phases] = goThroughPhases
	otherPrograms[signalled] = signalsOnce
	otherPrograms[counts] = saysEachSignal
}

// withGuardians skips a test where there are none.
func withGuardians(t *testing.T) {
	t.Helper()
	if os.Getenv(groupOnly) != "" {
		t.Skip("it is about guardians")
	}
}

// guardianOf returns the guardian of a command.
func guardianOf(p *Process) *guarded { return p.tree.(*guarded) }

// other is the test binary as another program, which is killed where it would hang.
func other(t *testing.T, name, value string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.WaitDelay = append(os.Environ(), name+"="+value), time.Second
	return cmd
}

// A program is a guardian only with the argument of one and a socket on its standard input.
func TestWhatIsNoGuardian(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	socket := os.NewFile(uintptr(pair[1]), "socket")
	defer socket.Close()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	internet, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer internet.Close()
	for name, c := range map[string]struct {
		arg   string
		stdin *os.File
	}{
		"no standard input":  {guardianArg, nil},
		"a TCP socket":       {guardianArg, internet},
		"a further argument": {"x", socket},
	} {
		cmd := other(t, notAGuardian, "1")
		cmd.Args = append(cmd.Args, c.arg)
		if c.stdin != nil {
			cmd.Stdin = c.stdin
		}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "a program" {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
}

// asleep is a process that ends only by a signal.
func asleep(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", nonce())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// A guardian that hangs up before it has said whether the command was started may have started
// it: the command is lost, and not started again.
func TestACommandIsNotStartedTwice(t *testing.T) {
	withGuardians(t)
	run(t, Spec{Argv: sh("exit 0")})
	for name, said := range map[string][]byte{
		"nothing": nil, "half": newMessage(msgStarted).seal(), "something else": newMessage('?').num(1).seal(), "what nobody knows": {0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pair, err := connection(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			g := &guardian{wire: newWire(pair[0]), pid: asleep(t).Process.Pid}
			g.giveBack()
			go func() {
				_, _ = unix.Read(pair[1], make([]byte, 1<<20))
				_ = newWire(pair[1]).send(said)
				unix.Close(pair[1])
			}()
			file := filepath.Join(t.TempDir(), "ran")
			e := run(t, Spec{Argv: sh("echo >" + file)})
			if _, err := os.Stat(file); err == nil || e.Cause != Lost || !errors.Is(e.Lost, errLost) || len(said) > 3 && !errors.Is(e.Lost, errBadMessage) {
				t.Errorf("%+v; the command has run: %v", e, err == nil)
			}
		})
	}
}

// A guardian that was killed before the request arrived is replaced, but not without end, and a
// program that cannot be one starts none.
func TestAProgramWithoutGuardians(t *testing.T) {
	for name, c := range map[string]struct {
		env, die, want string
		started        int
	}{
		"the first two die": {"", "2", "exited 3", 3},
		"all die":           {"", "9", "start /bin/sh: " + errHungUp.Error() + ": ", guardianTries},
		"it cannot be one":  {groupOnly + "=1", "9", "exited 3", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := other(t, noGuardians, c.die)
			cmd.Dir, cmd.Env = dir, append(cmd.Env, c.env)
			out, err := cmd.CombinedOutput()
			if started, _ := filepath.Glob(filepath.Join(dir, "guardian*")); err != nil || !strings.HasPrefix(string(out), c.want) || len(started) != c.started {
				t.Errorf("%v, %s, want %s; %d guardians, want %d", err, out, c.want, len(started), c.started)
			}
		})
	}
}

// withoutGuardians is a program that ends at once where it is one of the first guardians that it
// starts. Its request is longer than a connection holds, so that sending it fails then.
func withoutGuardians(die string) int {
	if len(os.Args) > 1 {
		f, err := os.CreateTemp("", "guardian")
		if err != nil {
			return 1
		}
		f.Close()
		started, _ := filepath.Glob("guardian*")
		if n, _ := strconv.Atoi(die); len(started) <= n {
			return 1
		}
		return GuardianMain()
	}
	os.Setenv(groupOnly, "1") // its guardians are not found out before they are counted
	os.Setenv("TMPDIR", ".")
	long := slices.Repeat([]string{"LONG=" + strings.Repeat("x", 64<<10)}, 16)
	p := Start(Spec{Argv: sh("exit 3"), Env: long})
	if e := p.Wait(); e.StartErr != nil {
		fmt.Print(e.StartErr)
	} else {
		fmt.Print(e.Cause, " ", e.Code)
	}
	return 0
}

// A guardian that hears is left alone for a while, and so is one whose answer has not been read:
// its watcher only continues it. After that it is killed.
func TestGuardianThatHearsIsWatched(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ read, killed bool }{"read": {true, true}, "unread": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pair, err := connection(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(pair[0])
			defer unix.Close(pair[1])
			g := &guarded{guardian: &guardian{wire: newWire(pair[0]), pid: asleep(t).Process.Pid}, released: make(chan struct{})}
			if err := newWire(pair[1]).send(newMessage(msgHeard).seal()); err != nil {
				t.Fatal(err)
			}
			if c.read {
				g.receive(new(report))
			}
			released, over := make(chan struct{}), make(chan bool)
			go func() {
				g.watch(released)
				close(over)
			}()
			pid, killed, n := g.guardian.pid, false, 0
			for most := 2 * hearTicks; !killed && (n < most || c.killed && n < 5*most); n++ {
				eventually.Holds(t, "it stands still", func() bool {
					now := state(pid)
					killed = now == 'Z'
					_ = unix.Kill(pid, unix.SIGSTOP)
					return now == 'T' || killed
				})
				eventually.Holds(t, "a tick continues it", func() bool { return state(pid) != 'T' })
			}
			close(released)
			<-over
			if killed != c.killed || n < hearTicks+2 {
				t.Errorf("killed: %v, after it was continued %d times", killed, n)
			}
		})
	}
}

// A guardian ends when its program has hung up, and when what it kept has been swept or has ended.
func TestGuardianEnds(t *testing.T) {
	null, err := nullDevice()
	if err != nil {
		t.Fatal(err)
	}
	n := nonce()
	keep := func(t *testing.T, g *guardian) {
		t.Helper()
		req := request{path: "/bin/sh", dir: "/", argv: sh("sleep " + n + " & exit 0"), files: [3]int{null, null, null}, killAfter: killGrace, foreign: killGrace, keep: true}
		if _, err := g.spawn(&req); err != nil {
			t.Fatal(err)
		}
		var r report
		p := &guarded{guardian: g, released: make(chan struct{})}
		for p.known(&r); !r.gone; p.receive(&r) { // it may have come with the news of the start
			if readable, err := waitReadable(g.fd, eventually.Patience); !readable {
				t.Fatalf("it says nothing: %v", err)
			}
		}
		if r.leftover != 1 {
			t.Fatalf("%+v", r)
		}
	}
	for name, end := range map[string]func(*testing.T, *guardian) error{
		"hung up": func(_ *testing.T, g *guardian) error {
			g.hangUp()
			return nil
		},
		"swept": func(t *testing.T, g *guardian) error {
			keep(t, g)
			return g.say(newMessage(msgSweep).num(int64(killGrace)))
		},
		"keeps nothing": func(t *testing.T, g *guardian) error {
			keep(t, g)
			started(t, n, 1)
			return signalProcess(sleeping(n)[0], unix.SIGTERM)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := startGuardian()
			if err != nil {
				t.Fatal(err)
			}
			if err := end(t, g); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := waitFor(g.pid)
				ended <- err
			}()
			if err := eventually.Receive(t, "it ends", ended); err != nil {
				t.Error(err)
			}
			g.forget()
			g.hangUp()
			gone(t, n)
		})
	}
}

// A guardian lets what outlives a command have its time, then asks it to end, then kills it and
// whatever comes after, and in the end says what has survived. A command that has ended by itself
// was not asked to.
func TestGuardianGoesThroughItsPhases(t *testing.T) {
	const want = "settling: 2, file size limit exceeded, 0\nsettling, late: 3, terminated, 0\n" +
		"ending: 3, file size limit exceeded, 0\nending, late: 4, killed, 0\n" +
		"killing: 4, killed, 0\nkilling, late: 0, file size limit exceeded, 1\nkilling, late, gone: 0, killed, 0\n" +
		"asked to end: false\nkilled: false\nleft: 1, killed\n"
	if out, err := other(t, phases, "1").CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("%v, %s", err, out)
	}
}

// A guardian without a command waits until something is asked of it. One with a command wakes for
// what no descriptor tells it, and when something is due.
func TestHowLongAGuardianWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		soon, past := time.Now().Add(7*time.Millisecond), time.Now().Add(-time.Hour)
		for name, c := range map[string]struct {
			warden
			want int
		}{
			"no command":               {warden{pidfd: -1}, -1},
			"runs":                     {warden{phase: running}, 1000},
			"runs, not yet said":       {warden{phase: running, unsaid: 1}, 2},
			"runs, due soon":           {warden{phase: running, deadline: soon}, 8},
			"runs, due":                {warden{phase: running, deadline: past}, 0},
			"runs, on a terminal":      {warden{phase: running, job: true}, 20},
			"runs, no descriptor":      {warden{phase: running, pidfd: -1}, 1},
			"settling, at first":       {warden{phase: settling}, 1},
			"ending, later":            {warden{phase: ending, pause: 3 * time.Millisecond}, 6},
			"killing, later":           {warden{phase: killing, pause: time.Hour}, 20},
			"kept, once on a terminal": {warden{phase: keeping, job: true}, 1000},
		} {
			if got := c.patience(); got != c.want {
				t.Errorf("%s: %d ms, want %d", name, got, c.want)
			}
		}
	})
}

// goThroughPhases is the guardian of one process after the other. It says its phase, by which
// signal the process has ended (its own, which comes last, or the guardian's), and how many survive.
func goThroughPhases(string) int {
	pair, err := connection(startPatience)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	start := func(argv ...string) (*exec.Cmd, *warden) {
		cmd := exec.Command(argv[0], argv[1:]...)
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		now := time.Now()
		return cmd, &warden{wire: newWire(pair[0]), pidfd: -1, killAfter: time.Hour, children: true, killedAt: now, deadline: now.Add(time.Hour)}
	}
	ended := func(cmd *exec.Cmd) { // it is not reaped
		if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	for _, c := range []struct {
		name       string
		phase      phase
		late, gone bool
	}{
		{"settling", settling, false, false},
		{"settling, late", settling, true, false},
		{"ending", ending, false, false},
		{"ending, late", ending, true, false},
		{"killing", killing, false, false},
		{"killing, late", killing, true, false},
		{"killing, late, gone", killing, true, true},
	} {
		cmd, w := start("sleep", nonce())
		w.phase = c.phase
		if c.late {
			w.deadline = time.Time{}.Add(1)
		}
		by := "killed"
		if c.gone {
			_ = cmd.Process.Kill()
			ended(cmd)
		}
		w.advance()
		if !c.gone {
			_ = cmd.Process.Signal(unix.SIGXFSZ)
			_ = cmd.Wait()
			by = cmd.ProcessState.Sys().(syscall.WaitStatus).Signal().String()
		}
		fmt.Printf("%s: %d, %s, %d\n", c.name, w.phase, by, len(w.report.survivors))
	}
	for _, kill := range []bool{false, true} {
		cmd, w := start("true")
		w.phase, w.pid = running, cmd.Process.Pid
		ended(cmd)
		name := "asked to end"
		if kill {
			name = "killed"
			w.killNow()
		} else {
			w.end(unix.SIGTERM, time.Hour)
		}
		fmt.Printf("%s: %v\n", name, w.report.asked)
	}
	cmd, w := start("sleep", nonce())
	w.phase = settling
	w.end(unix.SIGTERM, time.Hour) // only the rest is left: it is killed, and counted
	_ = cmd.Wait()
	fmt.Printf("left: %d, %s\n", w.report.leftover, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
	return 0
}

// A signal to all reaches a process of the command's group once: a second one may mean more to it.
func TestASignalComesOnce(t *testing.T) {
	for _, whose := range []string{"its group", "another group"} {
		if out, err := other(t, signalled, whose).CombinedOutput(); err != nil || string(out) != "50" {
			t.Errorf("%s: %v, %s of 50", whose, err, out)
		}
	}
}

// signalsOnce is the guardian of a program that says each signal that it gets, and prints how many
// those were.
func signalsOnce(whose string) int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), signalled+"=", counts+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		fmt.Println(err)
		return 1
	}
	said, w := make([]byte, 1), new(warden)
	if whose == "its group" {
		w.pid = cmd.Process.Pid
	}
	for n := range 51 { // the first is that it is ready
		if n > 0 {
			w.signalAll(unix.SIGTERM)
		}
		if _, err := io.ReadFull(out, said); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	in.Close()
	rest, err := io.ReadAll(out)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Print(50 + len(rest))
	return 0
}

func saysEachSignal(string) int {
	told := make(chan os.Signal, 100)
	signal.Notify(told, unix.SIGTERM)
	fmt.Print("!")
	go func() {
		for range told {
			fmt.Print("!")
		}
	}()
	_, _ = io.ReadAll(os.Stdin)
	return 0
}

// Orphans are waited for until they are gone, and no longer.
func TestOrphansAreNotWaitedForInVain(t *testing.T) {
	cmd := exec.Command("sleep", nonce())
	if setuid := os.Getenv(othersOrphan); setuid != "" {
		cmd = exec.Command(setuid)
		cmd.Env = append(os.Environ(), rootSleep+"="+filepath.Join(filepath.Dir(setuid), "over"))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if os.Getenv(othersOrphan) != "" {
		eventually.Holds(t, "it is another user's", func() bool { return unix.Kill(cmd.Process.Pid, 0) == unix.EPERM })
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if endOrphans(); time.Since(begun) >= killGrace {
			t.Error("it waits until its time is over")
		}
	})
	if os.Getenv(othersOrphan) != "" {
		return // nothing ends it
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	returns(t, func() {
		if err := cmd.Wait(); err == nil {
			t.Error("it was not killed")
		}
	})
}

// othersOrphan, in the environment, is a program that runs as root: the orphan of that test.
const othersOrphan = "PROC_TEST_OTHERS_ORPHAN"

// Nor is one of another user, which nothing can end.
func TestOrphansOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	binary, setuid := publicCopy(t), publicCopy(t)
	if err := os.Chmod(setuid, os.ModeSetuid|0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^TestOrphansAreNotWaitedForInVain$")
	cmd.Env, cmd.Dir = append(os.Environ(), othersOrphan+"="+setuid), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err := os.WriteFile(filepath.Join(filepath.Dir(setuid), "over"), nil, 0o644); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A wait for something to read ends when it is there, and when its time is over.
func TestAWaitToReadEnds(t *testing.T) {
	r, w, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(r)
	defer unix.Close(w)
	for _, want := range []bool{false, true} {
		said := make(chan bool, 1)
		go func() {
			readable, _ := waitReadable(r, time.Millisecond)
			said <- readable
		}()
		if got := eventually.Receive(t, "the wait is over", said); got != want {
			t.Errorf("it says %v, want %v", got, want)
		}
		if _, err := unix.Write(w, []byte{0}); err != nil {
			t.Fatal(err)
		}
	}
}

// What is said of a guardian that has hung up reaches nobody: its descriptor and its number may be
// somebody else's by now.
func TestAGuardianThatHasHungUp(t *testing.T) {
	withGuardians(t)
	g, err := startGuardian()
	if err != nil {
		t.Fatal(err)
	}
	g.dismiss()
	somebody := asleep(t)
	g.pid = somebody.Process.Pid
	if err := g.say(newMessage(msgKill)); !errors.Is(err, errHungUp) {
		t.Error(err)
	}
	g.strike()
	_ = somebody.Process.Signal(unix.SIGTERM)
	if err := somebody.Wait(); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("somebody else's process has ended with %v", err)
	}
}

// A guardian that does not end when it is dismissed is killed.
func TestAGuardianThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	pair, err := connection(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	cmd := exec.Command("sleep", nonce())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan bool)
	go func() {
		(&guardian{wire: newWire(pair[0]), pid: cmd.Process.Pid}).dismiss()
		over <- true
	}()
	eventually.Receive(t, "it is killed", over)
	if err := cmd.Process.Signal(unix.Signal(0)); err == nil {
		t.Error("it is still there")
	}
}

// A guardian that is to end is killed if it does not, with what it has left. One that hangs up has
// left nothing: nothing is searched for it.
func TestAGuardianThatIsToEnd(t *testing.T) {
	for name, c := range map[string]struct {
		process *exec.Cmd
		hangsUp bool
		ended   string
	}{
		"hangs up":     {exec.Command("true"), true, "signal: terminated"},
		"says nothing": {exec.Command("sleep", nonce()), false, "waitid: no child processes"},
	} {
		t.Run(name, func(t *testing.T) {
			pair, err := connection(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(pair[1])
			if c.hangsUp {
				_ = unix.Shutdown(pair[1], unix.SHUT_WR)
			}
			left := exec.Command("sleep", nonce())
			left.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := errors.Join(c.process.Start(), left.Start()); err != nil {
				t.Fatal(err)
			}
			const once = -killGrace - (extraTicks-1)*tick
			w := newWire(pair[0])
			w.empty = emptyLimit // a long silence is none of a connection that is said to be readable
			returns(t, func() { (&guardian{wire: w, pid: c.process.Process.Pid}).end(once) })
			_ = left.Process.Signal(unix.SIGTERM)
			if err := left.Wait(); err == nil || err.Error() != c.ended {
				t.Errorf("what is left has ended with %v, want %s", err, c.ended)
			}
		})
	}
}

// lastUsed is the guardian that the next command gets.
func lastUsed() *guardian {
	guardians.mu.Lock()
	defer guardians.mu.Unlock()
	return guardians.idle[len(guardians.idle)-1]
}

// A guardian is used again, whatever became of its command. Nobody watches it after that.
func TestGuardiansAreUsedAgain(t *testing.T) {
	withGuardians(t)
	n := nonce()
	for name, c := range map[string]struct {
		spec Spec
		stop bool
	}{
		"has a terminal":        {spec: Spec{Argv: sh("exit 0"), PTY: true}},
		"leaves something":      {spec: Spec{Argv: sh("sleep " + n + " & exit 0")}},
		"could leave something": {spec: Spec{Argv: sh("exit 0"), KeepBackground: true}},
		"is stopped":            {spec: Spec{Argv: sh("(trap '' TERM; exec sleep " + n + ") & exec sleep " + n), KeepBackground: true, KillAfter: 500 * time.Millisecond}, stop: true},
		"cannot start":          {spec: Spec{Argv: sh("exit 0"), Dir: "/no/such/directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, Spec{Argv: sh("exit 0")})
			before := lastUsed()
			p := must(t, c.spec)
			if c.stop {
				started(t, n, 2)
				g := guardianOf(p)
				p.Stop(0)
				await(t, p)
				eventually.Receive(t, "nobody watches its guardian", g.released)
			}
			await(t, p)
			run(t, Spec{Argv: sh("exit 0")})
			if lastUsed() != before {
				t.Error("the next command has another guardian")
			}
			gone(t, n)
		})
	}
}

// Guardians that were killed while they had nothing to do are replaced, however many they are:
// nobody has asked for them.
func TestIdleGuardiansAreKilled(t *testing.T) {
	withGuardians(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []*Process
	for range guardianTries {
		all = append(all, must(t, Spec{Argv: sh("read x"), Stdin: r}))
	}
	w.Close()
	for _, p := range all {
		await(t, p)
	}
	guardians.mu.Lock()
	idle := slices.Clone(guardians.idle)
	guardians.mu.Unlock()
	if len(idle) < guardianTries {
		t.Fatalf("%d are idle", len(idle))
	}
	for _, g := range idle {
		_ = unix.Kill(g.pid, unix.SIGKILL)
		eventually.Holds(t, "it is dead", func() bool {
			fds := []unix.PollFd{{Fd: int32(g.fd)}}
			_, _ = unix.Poll(fds, 0)
			return fds[0].Revents&unix.POLLHUP != 0
		})
	}
	if e := run(t, Spec{Argv: sh("exit 3")}); e.Cause != Exited || e.Code != 3 {
		t.Errorf("the next command: %+v", e)
	}
}

// What is left of a guardian that was killed is ended, and nothing else: not what this program
// started itself, what that has started, or another guardian with its command.
func TestALostGuardianTakesOnlyItsOwn(t *testing.T) {
	withGuardians(t)
	own, below, left := nonce(), nonce(), nonce()
	cmd := exec.Command("sh", "-c", "setsid sleep "+below+" & sleep "+own+" & wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	goesOn := must(t, Spec{Argv: sh("read x; exit 4"), Stdin: r})
	before := children()
	p := must(t, Spec{Argv: sh("setsid sleep " + left + " & exec sleep " + left)})
	started(t, own, 1)
	started(t, below, 1)
	started(t, left, 2)
	_ = unix.Kill(guardianOf(p).guardian.pid, unix.SIGKILL)
	if e := await(t, p); e.Cause != Lost {
		t.Errorf("%+v", e)
	}
	gone(t, left)
	if n := children(); n > before {
		t.Errorf("%d children before, %d after", before, n)
	}
	if len(sleeping(own)) != 1 || len(sleeping(below)) != 1 {
		t.Error("something else was ended")
	}
	w.Close()
	if e := await(t, goesOn); e.Code != 4 {
		t.Errorf("%+v", e)
	}
	for _, n := range []string{own, below} {
		for _, s := range sleeping(n) {
			_ = signalProcess(s, unix.SIGTERM)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A process that has taken the number of another one does not get its signal.
func TestAnotherProcessOfThatNumber(t *testing.T) {
	cmd := asleep(t)
	s, ok := readStat(cmd.Process.Pid, make([]byte, 0, 1024))
	if !ok {
		t.Fatal("it is not there")
	}
	earlier := s
	earlier.started--
	if err := errors.Join(signalProcess(earlier, unix.SIGKILL), signalProcess(s, unix.SIGTERM)); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("it ended with %v", err)
	}
}

// What dies below a command is reaped while the command runs.
func TestOrphansAreReaped(t *testing.T) {
	withGuardians(t)
	n := nonce()
	p := must(t, Spec{Argv: sh("(sleep " + n + " &) ; exec sleep 100000")})
	guardian := guardianOf(p).guardian.pid
	var orphan procStat
	eventually.Holds(t, "the guardian is its parent", func() bool {
		for _, s := range sleeping(n) {
			orphan = s
		}
		return orphan.parent == guardian
	})
	if err := signalProcess(orphan, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "it is reaped", func() bool {
		s, ok := readStat(orphan.pid, make([]byte, 0, 1024))
		return !ok || s.started != orphan.started
	})
}

// Orders that come too late for a command do nothing to what its guardian keeps, or to the
// guardian, and its answer is not the end of what it keeps.
func TestKeptAfterALateOrder(t *testing.T) {
	withGuardians(t)
	dir := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := must(t, Spec{
		Argv: sh("(trap ': >told; exit' TERM; : >ready; while :; do sleep 0.01; done) & until test -e ready; do sleep 0.01; done; read x; exit 0"),
		Dir:  dir, Stdin: r, KeepBackground: true,
	})
	g := guardianOf(p)
	w.Close()
	if e := await(t, p); e.Code != 0 || e.Leftover == 0 {
		t.Fatalf("%+v", e)
	}
	for _, order := range []message{newMessage(msgNotify).num(int64(unix.SIGKILL)), newMessage(msgSuspend), newMessage(msgEnd).num(int64(unix.SIGTERM)).num(0)} {
		if err := g.say(order); err != nil {
			t.Fatal(err)
		}
	}
	if readable, err := waitReadable(g.guardian.fd, eventually.Patience); !readable {
		t.Fatalf("it does not answer: %v", err)
	}
	if err := eachDescendant(childOf(g.guardian.pid), func(s procStat) {
		if s.state == 'T' {
			t.Errorf("%+v stands still", s)
		}
	}); err != nil {
		t.Error(err)
	}
	EndBackground(eventually.Patience)
	if _, err := os.Stat(filepath.Join(dir, "told")); err != nil {
		t.Error(err)
	}
}

// A command that stays open for writing cannot be started, and is not waited for.
func TestAFileThatIsBeingWritten(t *testing.T) {
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Skip(err)
	}
	name := filepath.Join(t.TempDir(), "busy")
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(sleep); err != nil {
		t.Fatal(err)
	}
	if e := run(t, Spec{Argv: []string{name, "0"}}); e.Cause != StartFailed || e.Code != codeNotExecutable {
		t.Errorf("%+v", e)
	}
	synctest.Test(t, func(t *testing.T) { // whose time passes only while the next try is waited for
		time.AfterFunc(5*time.Millisecond, func() { file.Close() })
		pid, err := forkExec(&request{path: name, argv: []string{name, "0"}}, nil)
		if err != nil {
			t.Fatalf("what another program has just written is not started: %v", err)
		}
		_, _ = waitFor(pid)
	})
}

// Output that is watched for its silence is read, even if nobody wants it.
func TestUnwantedOutputIsHeard(t *testing.T) {
	for idle, want := range map[time.Duration]string{0: "/dev/null\n", time.Hour: "pipe:"} {
		var said sink
		run(t, Spec{Argv: sh("readlink /proc/self/fd/3 3>&1 >&2"), Stderr: said.write, IdleTimeout: idle})
		if !strings.HasPrefix(said.String(), want) {
			t.Errorf("with an idle timeout of %v it writes to %s", idle, said.String())
		}
	}
}

// Output that cannot be read after the end may have said anything, too.
func TestTheRestOfTheOutputCannotBeRead(t *testing.T) {
	dir, err := unix.Open("/", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	p := &Process{spec: Spec{Argv: []string{"x"}, Stdout: func([]byte) {}}, done: make(chan struct{})}
	s := &streams{outs: [2]stream{{fd: dir, to: p.spec.Stdout, open: true}, {fd: -1}}}
	g := saying(t, nil)
	g.in = joined((&ended{}).message(false), (&report{}).goneMessage())
	p.begin(g)
	p.pump(s, g)
	if e := await(t, p); e.Cause != Lost || !errors.Is(e.Lost, unix.EISDIR) {
		t.Errorf("%+v", e)
	}
}

// A command runs where its program is, and not where the guardian was started; .. means what is
// above where a link leads. Without its directory a program starts commands as before, and none
// in a directory below.
func TestTheDirectoryIsGone(t *testing.T) {
	dir := t.TempDir()
	if out, err := other(t, goneDirectory, dir).CombinedOutput(); err != nil || strings.ReplaceAll(string(out), dir, "") != "/, /to/, /to/below/, /, /, exited 3, start failed 126" {
		t.Errorf("%v, %s", err, out)
	}
}

func inGoneDirectory(dir string) int {
	below := filepath.Join(dir, "to", "below")
	err := errors.Join(os.MkdirAll(below, 0o700), os.Mkdir(filepath.Join(dir, "below"), 0o700), os.Symlink(filepath.Join(dir, "below"), filepath.Join(dir, "to", "link")), os.Chdir(dir))
	var said []string
	in := func(dir string) {
		Run(Spec{Argv: sh(`printf '%s/' "$(pwd -P)"`), Dir: dir, Stdout: func(b []byte) { said = append(said, string(b)) }}, nil)
	}
	in("") // the guardian was started here
	err = errors.Join(err, os.Chdir("to"))
	in("")
	in("below")
	in("link/..")
	in(dir + "/to/link/..")
	if err = errors.Join(err, os.RemoveAll(filepath.Join(dir, "to"))); err != nil {
		fmt.Println(err)
		return 1
	}
	for _, spec := range []Spec{{Argv: sh("exit 3")}, {Argv: sh("exit 3"), Dir: "below"}} {
		e := Run(spec, nil)
		said = append(said, fmt.Sprint(e.Cause, " ", e.Code))
	}
	fmt.Print(strings.Join(said, ", "))
	return 0
}

// Wherever the descriptors run out, a command runs, or it is said why not; nothing hangs or stays.
func TestFewFiles(t *testing.T) {
	for _, form := range []string{"pipes", "terminal"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			cmd := other(t, fewFiles, form)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func withFewFiles(form string) int {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		fmt.Println(err)
		return 1
	}
	limit := func(n uint64) { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: was.Max}) }
	open := func() int {
		list, _ := os.ReadDir("/proc/self/fd")
		return len(list)
	}
	once := func() Exit {
		defer CloseGuardians()
		return Start(Spec{Argv: sh("exit 3"), PTY: form == "terminal", Stdout: func([]byte) {}}).Wait()
	}
	if e := once(); e.Code != 3 || children() > 0 {
		fmt.Println("with all files:", e)
		return 1
	}
	before := open()
	limit(0)
	_, err := launchGroup(request{path: "/bin/sh", argv: sh("exit 3")})
	if limit(was.Cur); err != unix.EMFILE {
		fmt.Println("a group without a pipe:", err)
		return 1
	}
	for n := uint64(1); ; n++ {
		limit(n)
		e := once()
		limit(was.Cur)
		switch after := open(); {
		case after > before || children() > 0:
			fmt.Println(n, "files:", before, "were open, and now", after, e)
			return 1
		case e.Code == 3 && e.Cause == Exited && n > 30:
			return 0
		case e.Cause == Exited && e.Code != 3 || n > 200:
			fmt.Println(n, "files:", e)
			return 1
		}
	}
}

// The system's line on a process is read as a whole, or it is none.
func TestHalfALine(t *testing.T) {
	const line = "7 (a b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"
	if s, ok := parseStat(7, []byte(line)); !ok || s != (procStat{pid: 7, parent: 1, group: 2, session: 3, state: 'S', started: 19}) {
		t.Errorf("%+v, %v", s, ok)
	}
	for _, bad := range []string{"", line[:20], strings.Replace(line, " 1 ", " x ", 1), strings.Replace(line, " 19 ", " x ", 1)} {
		if s, ok := parseStat(7, []byte(bad)); ok {
			t.Errorf("%q: %+v", bad, s)
		}
	}
}
