package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// wrapped, in the environment, makes the test binary a program in a PID namespace of its own,
// where a child has a lower number than its parent; few, one that has no descriptor left.
const wrapped, few = "PROC_TEST_WRAPPED", "PROC_TEST_FEW"

func init() { otherPrograms[wrapped], otherPrograms[few] = wrapsAround, signalsWithoutFiles }

// Process numbers wrap around: a child may come before its parent, and is found.
func TestProcessNumbersWrapAround(t *testing.T) {
	cmd := other(t, wrapped, "1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || strings.HasPrefix(string(out), "skip") {
		t.Skip(err, string(out))
	}
	if err != nil || string(out) != "above 500, below 500: 2 processes" {
		t.Errorf("%s, %v", out, err)
	}
}

func wrapsAround(string) int {
	next := "/proc/sys/kernel/ns_last_pid"
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("proc", "/proc", "proc", 0, ""), os.WriteFile(next, []byte("500"), 0)); err != nil {
		fmt.Print("skip: ", err)
		return 0
	}
	cmd := exec.Command("/bin/sh", "-c", "echo 100 >"+next+"; sleep 600 & sleep 0.1 & echo; exec sleep 600")
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		fmt.Print(err)
		return 1
	}
	_, _ = out.Read(make([]byte, 1))
	var pids []int
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		ended := false
		if _ = eachProcess(func(s procStat) { ended = ended || s.state == 'Z' }); ended {
			break
		}
	}
	_ = eachDescendant(childOf(os.Getpid()), func(s procStat) { pids = append(pids, s.pid) })
	for i, pid := range pids {
		if pid > 500 == (i > 0) {
			fmt.Print("in this order: ", pids, "; ")
		}
	}
	fmt.Printf("above 500, below 500: %d processes", len(pids))
	return 0
}

// A process is signalled also where no descriptor is left, and one that is gone is not.
func TestASignalNeedsNoFile(t *testing.T) {
	if out, err := other(t, few, "1").CombinedOutput(); err != nil || string(out) != "killed, gone: <nil>" {
		t.Errorf("%s, %v", out, err)
	}
}

func signalsWithoutFiles(string) int {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		fmt.Print(err)
		return 1
	}
	s, _ := readStat(cmd.Process.Pid, make([]byte, 0, 1024))
	var was unix.Rlimit
	none := unix.Rlimit{Max: 1 << 10}
	if err := errors.Join(unix.Getrlimit(unix.RLIMIT_NOFILE, &was), unix.Setrlimit(unix.RLIMIT_NOFILE, &none)); err != nil {
		fmt.Print(err)
		return 1
	}
	if err := signalProcess(s, unix.SIGKILL); err != nil {
		fmt.Print(err)
		return 1
	}
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: none.Max, Max: none.Max})
	_ = cmd.Wait()
	fmt.Printf("%v, gone: %v", cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(), signalProcess(s, unix.SIGKILL))
	return 0
}

// Only a command that ended by itself, with 0, has done well.
func TestWhatEndsWell(t *testing.T) {
	for e, want := range map[*Exit]bool{{}: true, {Code: 1}: false, {Cause: Stopped}: false, {Code: 127, Cause: StartFailed}: false} {
		if e.Well() != want {
			t.Errorf("%+v: %v", e, e.Well())
		}
	}
}

// The number of a kept group that has ended may be another's: whoever has it is left alone.
func TestANumberThatWasGivenAway(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	keptGroup(cmd.Process.Pid).end(time.Millisecond)
	_ = cmd.Process.Signal(unix.SIGXFSZ)
	_ = cmd.Wait()
	if by := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); by != unix.SIGXFSZ {
		t.Errorf("it was ended by %v", by)
	}
}
