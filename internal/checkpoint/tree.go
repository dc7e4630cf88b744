package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/internal/git"
)

// AddTree makes a work tree of a bare repository, where nothing is yet, with no branch and
// without its files, which git reset or read-tree put there. No fetch goes on meanwhile: for a
// moment the tree is at a commit that is none, and a fetch refuses that.
func AddTree(ctx context.Context, mirror, tree, commit string) error {
	if err := os.MkdirAll(filepath.Dir(tree), 0o700); err != nil {
		return err
	}
	_, err := git.Run(ctx, mirror, nil, "worktree", "add", "--quiet", "--force", "--force", "--detach", "--no-checkout", tree, commit)
	return err
}

// ForgetCutTrees takes out of a bare repository the trees whose making a kill cut off, so that
// it can be fetched into again. Nothing is in them yet. No [AddTree] goes on meanwhile.
func ForgetCutTrees(mirror string) {
	heads, _ := filepath.Glob(filepath.Join(mirror, "worktrees", "*", "HEAD"))
	for _, head := range heads {
		if at, err := os.ReadFile(head); err == nil && len(bytes.Trim(at, "0\n")) == 0 {
			_ = os.RemoveAll(filepath.Dir(head))
		}
	}
}

// removing begins the name of a work tree that is being removed: one that a kill left with half
// of its files is not taken for a tree.
const removing = ".removing-"

// TreeLeft reports whether there is anything of a work tree, also what is left of its removal.
func TreeLeft(tree string) bool {
	for _, name := range []string{tree, filepath.Join(filepath.Dir(tree), removing+filepath.Base(tree))} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// RemoveTree removes a work tree below home, also where folders in it cannot be written, as
// in a cache of modules, and one that is not there. It follows no link: where a folder above
// the tree was replaced by one, it removes nothing. An empty mirror says that it is of none.
func RemoveTree(ctx context.Context, mirror, home, tree string) error {
	if err := removeBelow(home, tree); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if mirror == "" {
		return nil
	}
	_, err := git.Run(ctx, mirror, nil, "worktree", "prune", "--expire=now")
	return err
}

// removeBelow removes a folder, and opens each folder on the way to it from the one above.
func removeBelow(home, dir string) error {
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	rel, err := filepath.Rel(home, dir)
	if err != nil {
		return err
	}
	way := strings.Split(rel, string(filepath.Separator))
	last := way[len(way)-1]
	for i, name := range way[:len(way)-1] {
		below, err := root.OpenRoot(name)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(home, filepath.Join(way[:i+1]...)), err)
		}
		there, err := root.Lstat(name)
		found, err2 := below.Stat(".")
		_ = root.Close()
		root = below
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if !os.SameFile(there, found) {
			return fmt.Errorf("%s is a link now: nothing was removed below it", filepath.Join(home, filepath.Join(way[:i+1]...)))
		}
	}
	defer func() { _ = root.Close() }()
	gone := removing + last
	if err := removeAll(root, gone); err != nil { // of an earlier removal
		return err
	}
	if err := root.Rename(last, gone); err != nil {
		return err
	}
	return removeAll(root, gone)
}

// removeAll removes a folder, also where those in it cannot be written.
func removeAll(root *os.Root, dir string) error {
	if root.RemoveAll(dir) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = root.Chmod(name, 0o700) //nolint:gosec // it is to be removed
		}
		return nil
	})
	return root.RemoveAll(dir)
}
