package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program as it is used on Windows, through pipes and without sh.
func TestOnWindows(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"done", []string{"--", "cmd", "/c", "exit 0"}, 0, "done after 1 of 10 iterations"},
		{"stuck", []string{"--", "cmd", "/c", "echo broken& exit 1"}, 111, "loop_detected tripped"},
		{"without sh", []string{"--check", "true", "--", "cmd", "/c", "exit 0"}, 125, "install Git for Windows"},
		{"too long", []string{"--max-errors", "1", "--iteration-timeout", "1s", "--", "looprun", "--delay", "1h", "--", "cmd", "/c", "exit 1"}, 112, "consecutive_errors tripped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "looprun-test-") // Wine before 10 cannot remove it
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("looprun", c.args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "LOOPRUN_STATE_DIR="+filepath.Join(dir, "state"), "PATH="+withoutShell())
			out, err := cmd.CombinedOutput()
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != c.code || !strings.Contains(string(out), c.says) {
				t.Errorf("exit code %d, want %d; want %q in\n%s", code, c.code, c.says, out)
			}
		})
	}
}

// A run whose output nobody reads any more ends.
func TestOnWindowsTheReaderGoes(t *testing.T) {
	dir, err := os.MkdirTemp("", "looprun-test-")
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("looprun", "--max-iterations", "50", "--loop-threshold", "off", "--", "cmd", "/c", "echo here& exit 1")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, w, &bytes.Buffer{}
	cmd.Env = append(os.Environ(), "LOOPRUN_STATE_DIR="+filepath.Join(dir, "state"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 141 {
		t.Errorf("ended with %v, want 141; it said\n%s", err, cmd.Stderr)
	}
}

// withoutShell is PATH without the folders that have a POSIX shell.
func withoutShell() string {
	var kept []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "sh.exe")); err != nil {
			kept = append(kept, dir)
		}
	}
	return strings.Join(kept, string(os.PathListSeparator))
}
