//go:build unix

package session

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Where looprun is part of a job, as in a script, the shell sees the job stop before
// looprun has, and fg can come before it does: nobody says it a second time.
func TestContinuedBeforeItStops(t *testing.T) {
	const child = "TEST_STANDS_STILL"
	if os.Getenv(child) != "" {
		standStill(nil)
		return
	}
	t.Setenv(child, "1")
	cmd := exec.Command(os.Args[0], "-test.run=^TestContinuedBeforeItStops$")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	if status.Stopped() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatal("it has stopped, and nobody lets it go on")
	}
	if status.ExitStatus() != 0 {
		t.Errorf("ended with %d", status.ExitStatus())
	}
}
