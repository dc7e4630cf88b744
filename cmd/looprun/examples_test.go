//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// example copies an example, so that running it leaves the original as it is.
func example(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", name))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "fix.sh"), 0o755); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return dir
}

func inExamples(t *testing.T, parts ...string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(append([]string{"..", "..", "examples"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// beginExample starts looprun on a copy of an example. The same files are tested once.
func beginExample(t *testing.T, name string, args ...string) *started {
	t.Helper()
	s := ready(t, example(t, name), args...)
	s.Env = append(s.Env, standIns(t)...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestExamplesTestfix(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests packages again and again")
	}
	t.Parallel()
	s := beginExample(t, "testfix", "--policy", inExamples(t, "ci", "policy.yaml"), "--check", "go test ./...", "--", "./fix.sh")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d, want done", got)
	}
	st := s.state(t)
	if st.Ending.Status != core.StatusDone || st.Iterations != 3 || st.Trips != 0 {
		t.Errorf("%s after %d iterations and %d trips, want done after 3", st.Ending.Status, st.Iterations, st.Trips)
	}
	var failing []int
	for _, d := range st.History {
		failing = append(failing, d.Signature.Failing)
	}
	if len(failing) != 3 || failing[0] != 2 || failing[1] != 1 {
		t.Errorf("failing after each iteration: %v, want 2, 1 and none", failing)
	}
}

func TestExamplesStuck(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests packages again and again")
	}
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"nobody answers", nil, 111},
		{"the policy answers", []string{"--policy", inExamples(t, "ci", "policy.yaml")}, 101},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := append(c.args, "--non-interactive", "--check", "go test ./...", "--", "./fix.sh")
			s := beginExample(t, "stuck", args...)
			if got := s.ended(t); got != c.code {
				t.Errorf("ended with %d, want %d", got, c.code)
			}
			if st := s.state(t); st.Iterations != 3 || st.LastTrip == nil || st.LastTrip.Guard != core.LoopDetected {
				t.Errorf("%d iterations, trip %+v; want loop_detected after 3", st.Iterations, st.LastTrip)
			}
		})
	}
}

func TestExamplesPolicy(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "policy", "check", inExamples(t, "ci", "policy.yaml"))
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
}

func TestExamplesTemplates(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests packages again and again")
	}
	t.Parallel()
	pack := inExamples(t, "templates", "german")
	s := begin(t, t.TempDir(), "template", "check", pack)
	if got := s.ended(t); got != 0 {
		t.Errorf("check ended with %d", got)
	}
	// The question waits, in the words of the pack.
	s = beginExample(t, "stuck", "--templates", pack, "--detached", "defer", "--non-interactive", "--check", "go test ./...", "--", "./fix.sh")
	if got := s.ended(t); got != 102 {
		t.Errorf("ended with %d, want paused", got)
	}
	show := begin(t, s.dir, "show", "--pending")
	if got := show.ended(t); got != 0 {
		t.Errorf("show ended with %d", got)
	}
	if text := show.stdout.String(); !strings.Contains(text, "Wie weiter?") {
		t.Errorf("the question is not the pack's:\n%s", text)
	}
}

func TestExamplesLibrary(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "run", "../../examples/library").CombinedOutput()
	const want = "a fixer that works: done after 3 iterations\na fixer that is stuck: tripped after 3 iterations (loop_detected)\n"
	if err != nil || string(out) != want {
		t.Errorf("printed %q, %v; want %q", out, err, want)
	}
}
