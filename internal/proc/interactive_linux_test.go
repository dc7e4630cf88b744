package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/looprun/looprun/internal/eventually"
)

// shellScreen is a shell with job control that has the program as a job.
func shellScreen(t *testing.T, script string) *screen {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash for job control")
	}
	cmd := exec.Command("bash", "--norc", "--noediting", "-i")
	cmd.Env = append(os.Environ(), "PS1=prompt> ", "PROGRAM="+os.Args[0], "SCRIPT="+script)
	s := newScreen(t, cmd)
	s.shows(t, "prompt> ")
	s.press(t, interactiveScript+`="$SCRIPT" "$PROGRAM"`+"\r")
	return s
}

// Ctrl-Z stops the program's whole job, and fg lets it go on.
func TestInteractiveJobControl(t *testing.T) {
	s := shellScreen(t, `echo ready; while read -r x; do echo "got $x"; done`)
	s.ready(t)
	for _, word := range []string{"one", "two", "three"} {
		s.press(t, word+"\r")
		s.shows(t, "got "+word)
		n := strings.Count(s.String(), "Stopped")
		s.press(t, "\x1a")
		eventually.Holds(t, "stopped", func() bool { return strings.Count(s.String(), "Stopped") > n })
		eventually.Holds(t, "the terminal is as it was", s.restored(t))
		s.press(t, "echo shell $((40+2))"+word+"\r")
		s.shows(t, "shell 42"+word)
		s.press(t, "fg\r")
		eventually.Holds(t, "the terminal is raw", func() bool { return !s.restored(t)() })
	}
	s.press(t, "\x04")
	s.shows(t, "ended: exited, code 0")
	s.press(t, "echo back $?\r")
	s.shows(t, "back 0")
}

// A guardian that has had a command's terminal gets no other command.
func TestInteractiveGuardianIsUsedOnce(t *testing.T) {
	withGuardians(t)
	s := interactiveScreen(t, `echo "below $PPID."`)
	s.shows(t, "the next: exited, code 5")
	if below := regexp.MustCompile(`below (\d+)\.`).FindAllStringSubmatch(s.String(), -1); len(below) != 2 || below[0][1] == below[1][1] {
		t.Errorf("%q", below)
	}
}

// In the background the program does not touch the terminal, nor does it hang.
func TestInteractiveBackground(t *testing.T) {
	s := shellScreen(t, `echo ready; while :; do i=$((i+1)); [ $i -lt 20000 ] || { echo tick; i=0; }; done`)
	s.ready(t)
	s.press(t, "\x1a")
	s.shows(t, "Stopped")
	s.press(t, "bg\r")
	n := strings.Count(s.String(), "tick")
	eventually.Holds(t, "it runs", func() bool { return strings.Count(s.String(), "tick") > n+3 })
	if !s.restored(t)() {
		t.Error("the terminal is not the shell's")
	}
	s.press(t, "fg\r")
	eventually.Holds(t, "the terminal is raw", func() bool { return !s.restored(t)() })
	s.press(t, "\x03")
	s.shows(t, "ended: exited, code 130")
	eventually.Holds(t, "the terminal is as it was", s.restored(t))
}

// Kill -9 of the program leaves a usable terminal and no process.
func TestInteractiveProgramIsKilled(t *testing.T) {
	n := nonce()
	s := interactiveScreen(t, "setsid sleep "+n+" & echo ready; exec sleep "+n)
	s.ready(t)
	started(t, n, 2)
	_ = s.cmd.Process.Kill()
	eventually.Holds(t, "nothing is left", func() bool { return len(sleeping(n)) == 0 })
	eventually.Holds(t, "the terminal is as it was", s.restored(t))
}

// orphanStopped, in the environment, makes the test binary the guardian of a command of which
// first an orphan is stopped, and then the command.
const orphanStopped = "PROC_TEST_ORPHAN_STOPPED"

func init() { otherPrograms[orphanStopped] = stopsAnOrphan }

func stopsAnOrphan(string) int {
	pair, err := connection(startPatience)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	w := &warden{wire: newWire(pair[0]), job: true, phase: running, pidfd: -1}
	for _, is := range []string{"orphan", "command"} {
		cmd := exec.Command("sleep", nonce())
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			return 1
		}
		defer func() { _ = cmd.Process.Kill() }()
		_ = cmd.Process.Signal(unix.SIGSTOP)
		if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
			fmt.Println(err)
			return 1
		}
		w.pid = os.Getpid() // none of its children
		if is == "command" {
			w.pid = cmd.Process.Pid
		}
		w.reap()
		fmt.Print(is, " ", w.stopped, ";")
	}
	return 0
}

// That an orphan is stopped is no stop of the command.
func TestInteractiveOrphanIsStopped(t *testing.T) {
	if out, err := other(t, orphanStopped, "1").CombinedOutput(); err != nil || string(out) != "orphan false;command true;" {
		t.Errorf("%v, %s", err, out)
	}
}

// vforkUntil, in the environment, makes the test binary a program whose child
// has not left its vfork before the file of that name exists.
const vforkUntil = "PROC_TEST_VFORK_UNTIL"

func init() {
	if file := os.Getenv(vforkUntil); file != "" {
		runtime.LockOSThread() // an init has the first thread, whose state is the process's
		os.Exit(vforkRunner(file))
	}
}

func vforkRunner(file string) int {
	name, err := unix.BytePtrFromString(file)
	if err != nil {
		return 1
	}
	moment := unix.Timespec{Nsec: 10e6}
	tick := []byte("tick\r\n")
	at := uintptr(unix.AT_FDCWD & (1<<64 - 1))
	fmt.Println("ready")
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_VFORK|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		fmt.Println(errno)
		return 1
	}
	if pid == 0 {
		for {
			_, _, errno := unix.RawSyscall6(unix.SYS_FACCESSAT, at, uintptr(unsafe.Pointer(name)), 0, 0, 0, 0)
			if errno == 0 {
				unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			unix.RawSyscall(unix.SYS_WRITE, 1, uintptr(unsafe.Pointer(&tick[0])), uintptr(len(tick)))
			unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&moment)), 0, 0)
		}
	}
	_, _ = unix.Wait4(int(pid), nil, 0, nil)
	fmt.Println("over")
	return 0
}

// A command that waits for its child to leave a vfork is stopped by Ctrl-Z as
// any other is, although the kernel does not say so.
func TestInteractiveStopInAVfork(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go")
	s := shellScreen(t, "exec env "+interactiveScript+"= "+vforkUntil+"='"+file+"' '"+os.Args[0]+"'")
	s.ready(t)
	for n := range 3 {
		ticks := strings.Count(s.String(), "tick") // the terminal is raw a moment before it goes on
		eventually.Holds(t, "it runs", func() bool { return strings.Count(s.String(), "tick") > ticks })
		s.press(t, "\x1a")
		eventually.Holds(t, "stopped", func() bool { return strings.Count(s.String(), "Stopped") > n })
		eventually.Holds(t, "the terminal is as it was", s.restored(t))
		s.press(t, "fg\r")
		eventually.Holds(t, "the terminal is raw", func() bool { return !s.restored(t)() })
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.shows(t, "over")
	s.shows(t, "ended: exited, code 0")
}

// A command that stops at once is seen to, though the news of it came together with
// that of the start.
func TestInteractiveStopAtTheStart(t *testing.T) {
	s := interactiveScreen(t, `kill -STOP $$; echo went on`)
	s.shows(t, "went on") // nobody can continue this job: it goes on by itself
	s.shows(t, "ended: exited, code 0")
}

// vforked starts a program whose child has not left its vfork before the end of the test.
func vforked(t *testing.T) (pid, child int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "go")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), vforkUntil+"="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid = cmd.Process.Pid
	eventually.Holds(t, "it waits for its child", func() bool {
		_ = eachProcess(func(s procStat) {
			if s.parent == pid {
				child = s.pid
			}
		})
		return child != 0 && state(pid) == 'D'
	})
	t.Cleanup(func() {
		_ = os.WriteFile(file, nil, 0o600)
		_ = unix.Kill(child, unix.SIGKILL)
		_ = cmd.Wait()
	})
	return pid, child
}

// Of a command that waits for its child to leave a vfork, and of no other, the stop of a child
// is its own: not of a shell one of whose jobs is stopped, and not that of another's child.
func TestWhichStopIsTheCommands(t *testing.T) {
	pair, err := connection(startPatience)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	told := newWire(pair[1])
	looks := func(what string, pid int, w *warden, want int) {
		t.Helper()
		w.wire, w.pid = newWire(pair[0]), pid
		w.lookForStop()
		w.lookForStop()
		_ = told.receive()
		n := 0
		for kind, _, ok := told.next(); ok; kind, _, ok = told.next() {
			if kind == msgStopped {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: told of %d stops, want %d", what, n, want)
		}
	}
	stop := func(pid int) {
		t.Helper()
		_ = unix.Kill(pid, unix.SIGSTOP)
		eventually.Holds(t, "it is stopped", func() bool { return state(pid) == 'T' })
	}
	stop(asleep(t).Process.Pid)
	looks("a job is stopped", os.Getpid(), &warden{}, 0)
	pid, child := vforked(t)
	looks("the child runs", pid, &warden{}, 0)
	stop(child)
	looks("the child is stopped", pid, &warden{}, 1)
	looks("by the program", pid, &warden{suspended: true}, 0)
}

// The stop of a command without a terminal of its own is nobody's business.
func TestAStopWithoutATerminal(t *testing.T) {
	if out, err := other(t, stopsItself, "1").CombinedOutput(); err != nil || string(out) != "false true" {
		t.Errorf("%v, %s: told without a terminal, and with one", err, out)
	}
}

// stopsItself, in the environment, makes the test binary the guardian of a stopped process that
// prints whether it tells of that.
const stopsItself = "PROC_TEST_STOPS_ITSELF"

func init() { otherPrograms[stopsItself] = tellsOfAStop }

func tellsOfAStop(string) int {
	pair, err := connection(startPatience)
	if err != nil {
		fmt.Print(err)
		return 1
	}
	cmd := exec.Command("/bin/sh", "-c", "kill -STOP $$")
	if err := cmd.Start(); err != nil {
		fmt.Print(err)
		return 1
	}
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		fmt.Print(err)
		return 1
	}
	w := &warden{wire: newWire(pair[0]), phase: running, pid: cmd.Process.Pid, pidfd: -1}
	w.reap()
	without := w.stopped
	w.job = true
	w.reap()
	fmt.Print(without, w.stopped)
	_ = cmd.Process.Kill()
	return 0
}

// A guardian whose program was killed restores a terminal that is as raw as the program made
// it, and no other: somebody else uses that.
func TestWhichTerminalIsRestored(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	fd := int(slave.Fd())
	settings := func() unix.Termios {
		t.Helper()
		now, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return *now
	}
	cooked := settings()
	w := &warden{outer: fd, cooked: &cooked}
	if _, err := term.MakeRaw(fd); err != nil {
		t.Fatal(err)
	}
	if w.restoreTerminal(); settings() != cooked {
		t.Error("it is still raw")
	}
	keys := cooked
	keys.Lflag &^= unix.ICANON | unix.ISIG | unix.ECHO
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &keys); err != nil {
		t.Fatal(err)
	}
	if w.restoreTerminal(); settings() != keys {
		t.Error("somebody else's settings are lost")
	}
	slave.Close()
	w.restoreTerminal() // of a terminal that is gone nothing can be known
}

// A command that stops itself when it is to end does not stop the program, which then would
// never end it.
func TestInteractiveStopAtTheEnd(t *testing.T) {
	s := shellScreen(t, `trap 'kill -STOP $$' TERM; echo ready; read -r a b c program d </proc/$PPID/stat; kill -TERM "$program"; while :; do sleep 0.01; done`)
	s.shows(t, "ended: stopped, code 137")
	if s.has("Stopped")() {
		t.Error("the program was stopped")
	}
}
