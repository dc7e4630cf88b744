//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"testing"
)

// The examples of the protocols check themselves; in a session of their own, so
// that nobody who runs the tests is asked.
func TestExamplesProtocols(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts each example some times")
	}
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("../../examples/protocols/run.sh", file)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
