package proc

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/looprun/looprun/internal/eventually"
)

// A process that is stopped stands still until it is continued.
func TestWhatStandsStill(t *testing.T) {
	process := asleep(t).Process
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGSTOP} {
		if err := process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		eventually.Holds(t, sig.String(), func() bool { return StandsStill(process.Pid) == (sig == syscall.SIGSTOP) })
	}
	if StandsStill(0) {
		t.Error("there is no process 0")
	}
}

// A guardian is known by its arguments, which its command cannot change.
func TestGuards(t *testing.T) {
	for name, c := range map[string]struct {
		argument string
		want     bool
	}{"a guardian": {guardianArg, true}, "another program": {"x" + guardianArg, false}} {
		cmd := exec.Command("sh", "-s", c.argument)
		in, err := cmd.StdinPipe() // it waits for its script
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		eventually.Holds(t, "it has its arguments", func() bool { // they come after the start has been reported
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
			return err == nil && len(line) > 0
		})
		if parent, known := Parent(cmd.Process.Pid); !known || parent != os.Getpid() {
			t.Errorf("%s: the parent is %d, %t", name, parent, known)
		}
		if got := Guards(cmd.Process.Pid); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if Guards(os.Getpid()) {
		t.Error("this program guards nothing")
	}
}
