package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/git"
)

// A tree whose making was cut off keeps nobody from fetching, and the others stay.
func TestATreeThatWasCutOff(t *testing.T) {
	t.Parallel()
	top, home := repository(t)
	mirror := filepath.Join(home, "mirror.git")
	whole, cut := filepath.Join(home, "whole"), filepath.Join(home, "cut")
	if _, err := git.Run(t.Context(), home, nil, "clone", "--quiet", "--bare", top, mirror); err != nil {
		t.Fatal(err)
	}
	for _, tree := range []string{whole, cut} {
		if err := AddTree(t.Context(), mirror, tree, "HEAD"); err != nil {
			t.Fatal(err)
		}
	}
	// So it is left by a kill before git has said where the tree is.
	of := filepath.Join(mirror, "worktrees", "cut")
	put(t, filepath.Join(of, "HEAD"), strings.Repeat("0", 40)+"\n")
	put(t, filepath.Join(of, "locked"), "initializing")
	fetch := func() error {
		_, err := git.Run(t.Context(), mirror, nil, "fetch", "--quiet", top, "+refs/heads/*:refs/remotes/origin/*")
		return err
	}
	if err := fetch(); err == nil {
		t.Log("this git fetches all the same")
	}
	ForgetCutTrees(mirror)
	if err := fetch(); err != nil {
		t.Error(err)
	}
	if _, err := git.Run(t.Context(), whole, nil, "status"); err != nil {
		t.Errorf("the other tree: %v", err)
	}
	if _, err := os.Stat(of); err == nil {
		t.Error("it is still known")
	}
	if err := RemoveTree(t.Context(), mirror, home, cut); err != nil {
		t.Error(err)
	}
	if err := AddTree(t.Context(), mirror, cut, "HEAD"); err != nil {
		t.Errorf("once more: %v", err)
	}
	if err := RemoveTree(t.Context(), mirror, home, whole); err != nil || TreeLeft(whole) || TreeLeft(filepath.Join(mirror, "worktrees", "whole")) {
		t.Errorf("%v, it is left: %t", err, TreeLeft(whole))
	}
	odd := filepath.Join(mirror, "worktrees", "odd", "HEAD") // it cannot be read
	mkdir(t, odd)
	if ForgetCutTrees(mirror); !TreeLeft(odd) {
		t.Error("what cannot be read is removed")
	}
}

// A tree of no mirror is removed without git. That its home and its mirror are gone is no error.
func TestRemoveTreeOfNoMirror(t *testing.T) {
	t.Chdir(t.TempDir())
	home := t.TempDir()
	tree := filepath.Join(home, "batch", "0001-a")
	mkdir(t, tree)
	for of, mirror := range map[string]string{home: "", filepath.Join(home, "gone"): filepath.Join(home, "gone.git")} {
		if err := RemoveTree(t.Context(), mirror, of, tree); err != nil || of == home && TreeLeft(tree) {
			t.Errorf("%s: %v", of, err)
		}
	}
	if err := RemoveTree(t.Context(), "", home, filepath.Join(home, "none", "0001-a")); err != nil {
		t.Errorf("the folder above it is gone: %v", err)
	}
	if err := RemoveTree(t.Context(), "", home, "batch"); err == nil {
		t.Error("it is not said where the tree is")
	}
}

// A loop that puts a link in the place of a folder above its tree has nothing removed
// elsewhere, whether the link leads out of the trees or to another tree.
func TestRemoveTreeBelowALink(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"outside": "../elsewhere", "another batch": "other"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			home := filepath.Join(dir, "trees")
			for _, of := range []string{"batch", "other", "../elsewhere"} {
				mkdir(t, filepath.Join(home, of, "0001-a"))
				put(t, filepath.Join(home, of, "0001-a", "kept"), "kept")
			}
			tree := filepath.Join(home, "batch", "0001-a")
			if err := os.RemoveAll(filepath.Dir(tree)); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, filepath.Dir(tree)); err != nil {
				t.Skip(err)
			}
			if err := RemoveTree(t.Context(), "", home, tree); err == nil {
				t.Error("it says nothing of the link")
			}
			if _, err := os.Stat(filepath.Join(tree, "kept")); err != nil {
				t.Errorf("something was removed through the link: %v", err)
			}
		})
	}
}

// Folders that cannot be written are removed, also where a removal was killed, and a tree that is
// gone is no error. A link's file is not the tree's.
func TestRemoveTreeThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	tree := filepath.Join(home, "batch", "0001-a")
	above := filepath.Dir(tree)
	other := filepath.Join(above, "other")
	for _, name := range []string{tree, filepath.Join(above, removing+"0001-a")} {
		mkdir(t, filepath.Join(name, "cache", "mod"))
		put(t, filepath.Join(name, "cache", "mod", "f"), "f")
		put(t, other, "other")
		if err := os.Symlink("../../other", filepath.Join(name, "cache", "link")); err != nil {
			t.Skip(err)
		}
		for _, dir := range []string{"cache/mod", "cache", ""} {
			if err := os.Chmod(filepath.Join(name, dir), 0o500); err != nil { //nolint:gosec // as a cache of modules is
				t.Fatal(err)
			}
		}
		for _, mode := range []os.FileMode{0o500, 0o700, 0o700} {
			if err := os.Chmod(above, mode); err != nil {
				t.Fatal(err)
			}
			if err := RemoveTree(t.Context(), "", home, tree); (err == nil) != !TreeLeft(tree) || err != nil && mode == 0o700 {
				t.Errorf("%s, the folder above is %o: %v, it is left: %t", name, mode, err, TreeLeft(tree))
			}
		}
		if info, err := os.Stat(other); err != nil || info.Mode().Perm()&0o100 != 0 {
			t.Errorf("the other has another mode now, %v", err)
		}
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}
