package session

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/socket"
)

// Only who is known to be outside of the run may answer. A process that sent its
// answer and has gone could have been anybody.
func TestWhoMayAnswer(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		pid  int
		want origin
	}{
		{"a child", child.Process.Pid, originInside},
		{"a process that has gone", gone.Process.Pid, originUnknown},
		{"the parent", os.Getppid(), originOutside},
		{"a process of an outer namespace", 0, originOutside},
	} {
		if got := originOf(c.pid, os.Getpid()); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if c.want == originOutside {
			continue // the answer would be heard
		}
		if _, err := (&talk{}).answer(t.Context(), socket.Peer{PID: c.pid}, Answered{QuestionID: "x"}); err == nil || !strings.Contains(err.Error(), "own command") {
			t.Errorf("%s may answer: %v", c.name, err)
		}
	}
}
