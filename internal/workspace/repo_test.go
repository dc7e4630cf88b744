package workspace

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repo is a real repository for a test, with the user's configuration shut out.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T, args ...string) repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, and these tests are about git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	r := repo{t, dir}
	r.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

// TestMain shuts the user's configuration of git out.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "looprun-workspace-")
	if err != nil {
		panic(err)
	}
	set := map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "4"}
	for i, kv := range []string{"user.name=n", "user.email=e@example.com", "protocol.file.allow=always", "advice.detachedHead=false"} {
		name, value, _ := strings.Cut(kv, "=")
		set[fmt.Sprint("GIT_CONFIG_KEY_", i)], set[fmt.Sprint("GIT_CONFIG_VALUE_", i)] = name, value
	}
	for name, value := range set {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(home) // a temporary folder
	os.Exit(code)
}

// withFiles has two committed files, one of them in a directory.
func withFiles(t *testing.T) repo {
	t.Helper()
	r := newRepo(t)
	r.write("a.txt", "alpha\n")
	r.write("sub/b.txt", "beta\n")
	r.write(".gitignore", "*.log\nbuild/\n")
	r.commit("first")
	return r
}

func (r repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repo) commit(message string) {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
}

func (r repo) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r repo) write(name, text string) {
	r.t.Helper()
	must(r.t, os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	must(r.t, os.WriteFile(r.path(name), []byte(text), 0o644))
}

func (r repo) remove(name string) {
	r.t.Helper()
	must(r.t, os.RemoveAll(r.path(name)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string, exclude ...string) *Tree {
	t.Helper()
	tree, err := Open(dir, exclude...)
	must(t, err)
	return tree
}

func look(t *testing.T, tree *Tree) Fingerprint {
	t.Helper()
	f, err := tree.Fingerprint(context.Background())
	must(t, err)
	if f.Content == 0 {
		t.Fatal("unknown without an error")
	}
	return f
}

// lookBoth looks with a tree that remembers and with a fresh one: both have to say
// the same.
func lookBoth(t *testing.T, tree *Tree) Fingerprint {
	t.Helper()
	f := look(t, tree)
	if fresh := look(t, open(t, tree.dir, tree.exclude...)); fresh != f {
		t.Fatalf("a tree that remembers says %v, a fresh one %v", f, fresh)
	}
	return f
}

func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	return cmd
}
