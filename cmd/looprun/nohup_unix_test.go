//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/looprun/looprun/internal/inputfile"
)

// What was started with nohup does not end by a hang-up.
func TestNohup(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nohup"); err != nil {
		t.Skip("there is no nohup here")
	}
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := exec.Command("nohup", file, "--", "sh", "-c", "echo > here; until test -e go; do sleep 0.05; done; echo > done")
	run.Dir, run.Env = dir, append(os.Environ(), "LOOPRUN_STATE_DIR="+filepath.Join(dir, "state"))
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the command runs", func() bool { return inputfile.IsFile(filepath.Join(dir, "here")) })
	if err := run.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err != nil || !inputfile.IsFile(filepath.Join(dir, "done")) {
		t.Errorf("it ended by %v", err)
	}
}
