package session

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/socket"
)

// Only who is known to be outside of the run may answer. A process that sent its answer and has
// gone could have been anybody.
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
	for name, pid := range map[string]int{"a child": child.Process.Pid, "a process that has gone": gone.Process.Pid} {
		peer := socket.Peer{PID: pid}
		if _, err := (&talk{}).answer(t.Context(), peer, Answered{QuestionID: "x"}); err == nil || !strings.Contains(err.Error(), "own command") {
			t.Errorf("%s may answer: %v", name, err)
		}
		if _, err := (&talk{}).goOn(t.Context(), peer, GoOn{}); err == nil || !strings.Contains(err.Error(), "own command") {
			t.Errorf("%s may let the run go on: %v", name, err)
		}
	}
}
