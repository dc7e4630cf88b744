//go:build unix

package assistant

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/proc/proctest"
)

// At each limit everything ends that the command has started.
func TestEndsItsTree(t *testing.T) {
	for name, c := range map[string]struct {
		then, words string
		limit       time.Duration
	}{
		"too long":        {"wait", "took longer than 1s", time.Second},
		"too much output": {"yes", "more than 1 MiB", time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			var seen bytes.Buffer
			r := New(Options{
				Command: "sleep 600 & echo $! >&2; " + c.then, Timeout: c.limit, KillAfter: 100 * time.Millisecond,
				Stderr: func(b []byte) { seen.Write(b) },
			})
			if a, err := r.Respond(t.Context(), trip(), stuck()); err == nil || errors.Is(err, core.ErrNoAnswer) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%+v %v", a, err)
			}
			pids := strings.Fields(seen.String())
			if len(pids) == 0 {
				t.Fatal("nothing was started")
			}
			for _, text := range pids {
				pid, err := strconv.Atoi(text)
				if err != nil {
					t.Fatal(err)
				}
				if proctest.Running(pid) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
					t.Errorf("process %d is still running", pid)
				}
			}
		})
	}
}
