//go:build unix

package hooks

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/looprun/looprun/internal/proc/proctest"
)

// TestNothingOutlivesAHook: neither one that ends nor one that is ended.
func TestNothingOutlivesAHook(t *testing.T) {
	for name, command := range map[string]string{
		"ends":  "sleep 600 & echo $! >pid",
		"hangs": "sleep 600 & echo $! >pid; sleep 600",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.OnTrip = command
			if name == "hangs" {
				b.Timeout = short
			}
			b.observe(tripped)
			b.drained(t)
			pid, err := strconv.Atoi(strings.TrimSpace(b.read(t, "pid")))
			if err != nil {
				t.Fatal(err)
			}
			if proctest.Running(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Errorf("process %d is still running", pid)
			}
		})
	}
}
