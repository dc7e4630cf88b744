package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// With a read-only root and /tmp, as in a hardened container, the socket is in the run's
// folder. Where the path of that is too long for a socket, the run goes on without one, and
// says what that means.
func TestReadOnlyTemporaryFolder(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "--map-root-user", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces here: %v: %s", err, out)
	}
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for name, long := range map[string]bool{"a short path": false, "a long path": true} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "ro-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			state := filepath.Join(dir, "s")
			if long {
				state = filepath.Join(dir, strings.Repeat("long", 25))
			}
			const script = `mount --bind /tmp /tmp && mount --bind "$1" "$1" &&
mount -o remount,ro,bind /tmp && ! touch /tmp/x 2>/dev/null || exit 9
cd "$1" && exec "$2" --state-dir "$3" --promise DONE --non-interactive -c "$2 signal done"`
			cmd := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", dir, file, state)
			cmd.Env = append(os.Environ(), "TMPDIR=/tmp", "XDG_RUNTIME_DIR=", "HOME="+dir)
			out, err := cmd.CombinedOutput()
			warned := strings.Contains(string(out), "the command cannot ask, signal or reject in this run")
			if long != warned || !long && err != nil || long && cmd.ProcessState.ExitCode() == 125 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
