package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/git"
)

// A tree is whole where a commit of the mirror has all of it. In every other case it stays, and
// the error says why.
func TestWholeOfATree(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, dir string, args ...string) {
		t.Helper()
		if _, err := git.Run(t.Context(), dir, nil, append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "protocol.file.allow=always"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, tree, mirror string)
		want   string // of the error; empty: it is whole
	}{
		"as it was": {func(*testing.T, string, string) {}, ""},
		"a file":    {func(t *testing.T, tree, _ string) { put(t, filepath.Join(tree, "a"), "a") }, ""},
		"a repository that it had, untouched": {func(t *testing.T, tree, _ string) {
			run(t, tree, "clone", "--quiet", filepath.Join(filepath.Dir(tree), "origin", "n"), "n")
		}, ""},
		"a repository that it had, with a file": {func(t *testing.T, tree, _ string) {
			run(t, tree, "clone", "--quiet", filepath.Join(filepath.Dir(tree), "origin", "n"), "n")
			put(t, filepath.Join(tree, "n", "b"), "b")
		}, "nested repository: n"},
		"a repository that it had, with a commit": {func(t *testing.T, tree, _ string) {
			run(t, tree, "clone", "--quiet", filepath.Join(filepath.Dir(tree), "origin", "n"), "n")
			run(t, filepath.Join(tree, "n"), "commit", "--quiet", "--allow-empty", "-m", "two")
		}, "nested repository: n"},
		"a repository that it had, broken": {func(t *testing.T, tree, _ string) {
			run(t, tree, "clone", "--quiet", filepath.Join(filepath.Dir(tree), "origin", "n"), "n")
			put(t, filepath.Join(tree, "n", ".git", "index"), "broken")
		}, "n"},
		"a folder of another tree": {func(t *testing.T, tree, mirror string) {
			other := filepath.Join(filepath.Dir(tree), "other")
			if err := AddTree(t.Context(), mirror, other, "HEAD"); err != nil {
				t.Fatal(err)
			}
			mkdir(t, filepath.Join(other, "d"))
			if err := errors.Join(os.RemoveAll(tree), os.Symlink(filepath.Join(other, "d"), tree)); err != nil {
				t.Skip(err)
			}
		}, "is no longer a work tree"},
		"a new repository": {func(t *testing.T, tree, _ string) {
			run(t, tree, "clone", "--quiet", filepath.Join(filepath.Dir(tree), "origin", "n"), "m")
		}, "nested repository: m"},
		"without .git": {func(t *testing.T, tree, _ string) {
			if err := os.Remove(filepath.Join(tree, ".git")); err != nil {
				t.Fatal(err)
			}
		}, "is no longer a work tree"},
		"without .git, in another repository": {func(t *testing.T, tree, mirror string) {
			if err := os.Remove(filepath.Join(tree, ".git")); err != nil {
				t.Fatal(err)
			}
			run(t, filepath.Dir(tree), "init", "--quiet")
		}, "is no longer a work tree"},
		"a repository of its own": {func(t *testing.T, tree, _ string) {
			if err := os.Remove(filepath.Join(tree, ".git")); err != nil {
				t.Fatal(err)
			}
			run(t, tree, "init", "--quiet")
		}, "is no longer a work tree"},
		"gone": {func(t *testing.T, tree, _ string) {
			if err := os.RemoveAll(tree); err != nil {
				t.Fatal(err)
			}
		}, "is no longer a work tree"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, home := repository(t)
			origin, mirror, tree := filepath.Join(home, "origin"), filepath.Join(home, "mirror.git"), filepath.Join(home, "tree")
			if err := os.Rename(top, origin); err != nil {
				t.Fatal(err)
			}
			mkdir(t, filepath.Join(origin, "n"))
			run(t, filepath.Join(origin, "n"), "init", "--quiet")
			run(t, filepath.Join(origin, "n"), "commit", "--quiet", "--allow-empty", "-m", "nested")
			run(t, origin, "add", "n")
			run(t, origin, "commit", "--quiet", "-m", "two")
			run(t, home, "clone", "--quiet", "--bare", origin, mirror)
			if err := AddTree(t.Context(), mirror, tree, "HEAD"); err != nil {
				t.Fatal(err)
			}
			run(t, tree, "reset", "--quiet", "--hard")
			base, err := Resolve(t.Context(), mirror, "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			c.change(t, tree, mirror)
			commit, err := Whole(t.Context(), mirror, tree, base, t.TempDir(), id)
			if (err == nil) != (c.want == "") || (commit != "") != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %v, want %q", commit, err, c.want)
			}
			if commit != "" && !Known(t.Context(), mirror, commit) {
				t.Errorf("the mirror does not have %s", commit)
			}
		})
	}
}
