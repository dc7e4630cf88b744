//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/scratchpad"
)

// started is a looprun that runs as a process of its own.
type started struct {
	*exec.Cmd
	dir    string
	stderr safeBuffer
	stdout safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func begin(t *testing.T, dir string, args ...string) *started {
	t.Helper()
	s := ready(t, dir, args...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// beginJob starts looprun in a process group of its own, as a shell does with a job:
// there is somebody who could continue it when it is stopped.
func beginJob(t *testing.T, dir string, args ...string) *started {
	t.Helper()
	s := ready(t, dir, args...)
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// ready is a looprun that has only to be started.
func ready(t *testing.T, dir string, args ...string) *started {
	t.Helper()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := &started{Cmd: exec.Command(file, args...), dir: dir}
	s.Dir = dir
	s.Env = append(os.Environ(), "LOOPRUN_STATE_DIR="+filepath.Join(dir, "state"), "CI=")
	s.Cmd.Stdout, s.Cmd.Stderr = &s.stdout, &s.stderr
	t.Cleanup(func() {
		if s.Process != nil {
			_ = s.Process.Kill() // it has ended, unless the test failed
		}
		if t.Failed() {
			t.Logf("stdout:\n%s\nstderr:\n%s", s.stdout.String(), s.stderr.String())
		}
	})
	return s
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	eventually.Holds(t, what, holds)
}

func (s *started) file(name string) string { return filepath.Join(s.dir, name) }

func (s *started) has(name string) func() bool {
	return func() bool { return inputfile.IsFile(s.file(name)) }
}

// ended waits and returns how it ended: an exit code, or minus a signal.
func (s *started) ended(t *testing.T) int {
	t.Helper()
	overdue := time.AfterFunc(eventually.Patience, func() { _ = s.Process.Kill() }) // so that a failure does not hang
	defer overdue.Stop()
	err := s.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	ws := s.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return -int(ws.Signal())
	}
	return ws.ExitStatus()
}

func (s *started) state(t *testing.T) *core.State {
	t.Helper()
	dir, err := scratchpad.Find(s.file("state"), "")
	if err != nil {
		t.Fatal(err)
	}
	st, _, err := scratchpad.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// pid is the process id in that file.
func (s *started) pid(t *testing.T, name string) int {
	t.Helper()
	b, err := os.ReadFile(s.file(name))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive reports whether the process with the id in that file is there.
func (s *started) alive(t *testing.T, name string) bool {
	t.Helper()
	return syscall.Kill(s.pid(t, name), 0) == nil
}

// standsStill reports whether the process was stopped by a signal, or waits for
// a child that was stopped before it could start its program.
func standsStill(t *testing.T, pid int) bool {
	t.Helper()
	out, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	if err != nil {
		t.Fatalf("process %d: %v", pid, err)
	}
	return strings.ContainsRune("TD", []rune(strings.TrimSpace(string(out)) + " ")[0])
}

// lines are the words of a file, none when it is not there.
func lines(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

// needs skips the test where a program is not installed.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip("needs " + program)
	}
}

// repositoryIn makes a git repository with one commit.
func repositoryIn(t *testing.T, dir string) {
	t.Helper()
	needs(t, "git")
	c := exec.Command("sh", "-c", "git init -q -b main . && echo zero > steps && git add steps && git -c user.name=n -c user.email=n@example.com commit -q -m one")
	if c.Dir = dir; os.MkdirAll(dir, 0o700) != nil {
		t.Fatal(dir)
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
