//go:build unix

package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func mkfifo(name string) bool { return unix.Mkfifo(name, 0o600) == nil }

// asOther runs a test again as a user who cannot read everything.
func asOther(t *testing.T, name string) {
	t.Helper()
	const nobody = 65534
	dir := filepath.Join(t.TempDir(), "tmp")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.Chown(dir, nobody, nobody))
	for p := filepath.Dir(dir); len(p) > len(os.TempDir()); p = filepath.Dir(p) {
		if info := must2(os.Stat(p)); info.Mode().Perm()&0o001 == 0 {
			must(t, os.Chmod(p, info.Mode().Perm()|0o011))
		}
	}
	self := filepath.Join(dir, "test")
	must(t, os.WriteFile(self, must2(os.ReadFile(must2(os.Executable()))), 0o755))
	cmd := exec.Command(self, "-test.run=^"+name+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
