//go:build unix

package atomicfile

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe that nobody reads is no reason to wait.
func TestExportIntoAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Export(name, []byte("x")); err == nil || !strings.Contains(err.Error(), "nobody reads it") {
		t.Error(err)
	}
	read := make(chan string, 1)
	began := make(chan bool)
	go func() {
		r, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Error(err)
		}
		close(began)
		b := make([]byte, 10)
		n, err := r.Read(b)
		for err == io.EOF { // not written yet
			n, err = r.Read(b)
		}
		read <- string(b[:n])
	}()
	<-began
	if err := errors.Join(CheckExport(name), Export(name, []byte("text"))); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "text" {
		t.Errorf("read %q", got)
	}
}

// Where the folder takes no new file, the old one is written over: it may be all
// of a folder that a container was given.
func TestExportIntoAFolderOfSomebodyElse(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	put(t, name, "the old text is longer")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if err := errors.Join(CheckExport(name), Export(name, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	want(t, name, "new")
	for _, name := range []string{filepath.Join(dir, "other")} {
		if err := CheckExport(name); !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// asNobody runs the test as a user for whom modes count.
func asNobody(t *testing.T) {
	t.Helper()
	tmp, err := os.MkdirTemp("", "export")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	program := filepath.Join(tmp, "test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err := errors.Join(err, os.WriteFile(program, b, 0o755), os.Chmod(tmp, 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^"+t.Name()+"$")
	cmd.Dir, cmd.Env = tmp, append(os.Environ(), "TMPDIR="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// /dev/shm is a folder of files, and none of them is a device.
func TestExportReplacesInSharedMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "looprun-")
	if err != nil {
		t.Skip("no /dev/shm here:", err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "result")
	for _, text := range []string{"the first", "second"} {
		if err := Export(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		want(t, name, text)
	}
}
