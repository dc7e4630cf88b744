//go:build unix

package policy

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun"
)

// At the limit everything ends that the command has started.
func TestVerifyEndsItsTree(t *testing.T) {
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	p := accepting(t, "sleep 600 & echo $! >pid; wait")
	p.VerifyTimeout = time.Second
	if a, err := p.Responder(Options{Dir: dir, KillAfter: 100 * time.Millisecond}).Respond(t.Context(), question(t, looprun.MaxRuntime), state(looprun.MaxRuntime)); a.Option != "pause" {
		t.Fatalf("%+v %v", a, err)
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if running(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d is still running", pid)
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
