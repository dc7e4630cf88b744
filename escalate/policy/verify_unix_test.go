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

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/proc/proctest"
)

// At the limit everything ends that the command has started.
func TestVerifyEndsItsTree(t *testing.T) {
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	p := accepting(t, "sleep 600 & echo $! >pid; wait")
	p.Rules[0].VerifyTimeout = time.Second
	if a, err := p.Responder(Options{Dir: dir, KillAfter: 100 * time.Millisecond}).Respond(t.Context(), question(t, core.MaxRuntime), state(core.MaxRuntime)); a.Option != "pause" {
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
	if proctest.Running(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d is still running", pid)
	}
}
