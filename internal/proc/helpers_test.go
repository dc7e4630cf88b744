//go:build unix

package proc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

// groupOnly, in the environment, keeps the tests from using a guardian, as in
// a program that does not call IsGuardian.
const groupOnly = "PROC_TEST_GROUP_ONLY"

func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" { // else each guardian takes a second to end
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	if os.Getenv(groupOnly) == "" && IsGuardian() {
		os.Exit(GuardianMain())
	}
	if script := os.Getenv(interactiveScript); script != "" {
		os.Exit(interactiveRunner(script))
	}
	if script := os.Getenv(runnerScript); script != "" {
		os.Exit(runner(script))
	}
	for name, run := range otherPrograms {
		if value := os.Getenv(name); value != "" {
			os.Exit(run(value))
		}
	}
	os.Exit(m.Run())
}

// otherPrograms are what the test binary is with these variables in the environment.
var otherPrograms = map[string]func(value string) int{}

// runnerScript, in the environment, makes the test binary a program that runs
// it as a command and can be killed.
const runnerScript = "PROC_TEST_RUNNER"

func runner(script string) int {
	p := Start(Spec{Argv: sh(script), Stdout: func([]byte) {}})
	return p.Wait().Code
}

// What holds with a guardian holds without one, but for what leaves its
// process group.
func TestGroupOnly(t *testing.T) {
	if os.Getenv(groupOnly) != "" {
		t.Skip("this is that run")
	}
	t.Parallel()
	limit := eventually.Patience
	if torture {
		limit *= 10
	}
	cmd := exec.Command(os.Args[0], "-test.shuffle=on", "-test.skip=Guardian|Interactive",
		fmt.Sprint("-test.short=", testing.Short()), fmt.Sprint("-test.timeout=", limit))
	cmd.Env = append(os.Environ(), groupOnly+"=1")
	cmd.WaitDelay = eventually.Patience // a process that is left may keep the output open
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// sink collects output.
type sink struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sink) write(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Write(b)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *sink) has(text string) func() bool {
	return func() bool { return strings.Contains(s.String(), text) }
}

func sh(script string) []string { return []string{"/bin/sh", "-c", script} }

// must starts a command and waits for it at the end of the test.
func must(t *testing.T, spec Spec) *Process {
	t.Helper()
	p := Start(spec)
	t.Cleanup(func() {
		p.Stop(0)
		p.Stop(0)
		await(t, p)
	})
	return p
}

// await is Wait that fails the test where it would hang.
func await(t *testing.T, p *Process) Exit {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(eventually.Patience):
		t.Fatalf("process %d: Wait hangs", p.Pid())
	}
	return p.Wait()
}

func run(t *testing.T, spec Spec) Exit {
	t.Helper()
	return await(t, must(t, spec))
}

var nonces atomic.Int64

// nonce is a number of seconds for sleep that no other process was started
// with, by which processes are told apart.
func nonce() string {
	return fmt.Sprintf("%d.%d", 100000+os.Getpid(), nonces.Add(1))
}
