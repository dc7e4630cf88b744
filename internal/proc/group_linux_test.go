package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// A process that ends by itself once the command has ended gets no SIGTERM and is not counted.
func TestWhatEndsByItselfIsNotLeft(t *testing.T) {
	script := "p=$$; (trap 'echo told; exit' TERM; : >ready; while kill -0 $p 2>/dev/null; do sleep 0.01; done) & until test -e ready; do sleep 0.01; done; exit 3"
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.SysProcAttr = t.TempDir(), &syscall.SysProcAttr{Setsid: true}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = in
	err = cmd.Start()
	in.Close()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(r)
	g := &group{id: cmd.Process.Pid, settle: time.Hour, wake: [2]int{r, w}}
	returns(t, g.watch)
	said, err := io.ReadAll(out)
	if end := g.report.end; end == nil || end.code != 3 || g.report.leftover != 0 || len(said) > 0 || err != nil {
		t.Errorf("%+v, %q, %v", g.report, said, err)
	}
}

// Of a group that is gone nothing is kept: EndBackground would end whoever has its number then.
func TestAGroupThatIsGoneIsNotKept(t *testing.T) {
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	before := len(background.list)
	if g := (&group{id: cmd.Process.Pid, keep: true}); !g.kept() || len(background.list) != before {
		t.Errorf("%d groups are kept", len(background.list)-before)
	}
}

// The number of a group that is gone may be another's, who is left alone. This one's leader is
// not that of its session.
func TestANumberThatIsAnothers(t *testing.T) {
	cmd := exec.Command("cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	id := cmd.Process.Pid
	over, gone := &group{id: id, over: true}, &group{id: id, report: report{gone: true}}
	if err := over.suspend(); err != nil {
		t.Error(err)
	}
	over.notify(unix.SIGTERM)
	gone.kill()
	gone.over = true
	gone.end(unix.SIGKILL, time.Hour)
	keptGroup(id).end(time.Hour)
	returns(t, func() {
		if left := (&group{id: id}).endRest(); left != nil {
			t.Errorf("members of the group that is gone: %v", left)
		}
	})
	if _, err := in.Write([]byte("here\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "here\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// What is left of a command that was asked to end has no more time than the command had.
func TestWhatIsLeftHasNoFurtherTime(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep "+nonce()+" & exit 0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	id := cmd.Process.Pid
	defer func() { _, _ = unix.Wait4(-id, nil, unix.WNOHANG, nil) }() // if it has become a child of this program
	returns(t, func() { (&group{id: id, killAfter: time.Hour, deadline: time.Now()}).endRest() })
	if left := groupMembers(id); len(left) > 0 {
		t.Errorf("%+v", left)
	}
}

// twoGroups, in the environment, makes the test binary a session with two groups.
const twoGroups = "PROC_TEST_TWO_GROUPS"

func init() { otherPrograms[twoGroups] = countsItsGroup }

func countsItsGroup(string) int {
	for _, own := range []bool{false, true} {
		cmd := exec.Command("sleep", nonce())
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: own}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
		}
		defer func() { _ = cmd.Process.Kill() }()
	}
	fmt.Print(len(groupMembers(os.Getpid())), " members")
	return 0
}

// What is in a session's other groups is not in its first.
func TestMembersOfAGroup(t *testing.T) {
	cmd := other(t, twoGroups, "1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "2 members" {
		t.Errorf("%s, %v", out, err)
	}
}

// A group that can no longer be followed is lost only when it is gone.
func TestAbandonWaits(t *testing.T) {
	cmd := exec.Command("sleep", nonce())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		g := &group{id: cmd.Process.Pid}
		var r report
		why, abandoned := errors.New("nobody reads it"), false
		go func() {
			g.abandon(&r, why)
			abandoned = true
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		if abandoned {
			t.Error("it has not waited")
		}
		g.mu.Lock()
		g.report.gone = true
		g.mu.Unlock()
		time.Sleep(time.Second)
		synctest.Wait()
		if !abandoned || !r.gone || !errors.Is(r.lost, why) {
			t.Errorf("%v: %+v", abandoned, r)
		}
	})
	_ = cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != unix.SIGKILL {
		t.Errorf("its processes: %v", ws)
	}
}
