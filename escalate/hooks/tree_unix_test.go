//go:build unix

package hooks

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
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
			if running(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				t.Errorf("process %d is still running", pid)
			}
		})
	}
}

// running reports whether there is such a process that is more than a corpse
// which nobody has collected yet.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
