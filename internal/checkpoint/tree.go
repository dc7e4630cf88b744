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

// AddTree creates a work tree of a bare repository in a place where nothing exists yet, with
// no branch and without its files, which git reset or read-tree can add. No fetch may run
// meanwhile: for a moment the tree's commit does not exist, and a fetch refuses that.
func AddTree(ctx context.Context, mirror, tree, commit string) error {
	_ = os.MkdirAll(filepath.Dir(tree), 0o700) // git says why it cannot
	_, err := git.Run(ctx, mirror, nil, "worktree", "add", "--quiet", "--force", "--force", "--detach", "--no-checkout", tree, commit)
	return err
}

// ForgetCutTrees removes from a bare repository the trees whose creation was cut off by a
// kill, so that it can be fetched into again. They are still empty. No [AddTree] may run
// meanwhile.
func ForgetCutTrees(mirror string) {
	heads, _ := filepath.Glob(filepath.Join(mirror, "worktrees", "*", "HEAD"))
	for _, head := range heads {
		if at, err := os.ReadFile(head); err == nil && len(bytes.Trim(at, "0\n")) == 0 {
			_ = os.RemoveAll(filepath.Dir(head))
		}
	}
}

// removing is the name prefix of a work tree that is being removed, so that a tree half
// removed by a kill is not taken for a whole one.
const removing = ".removing-"

// TreeLeft reports whether anything remains of a work tree, including an unfinished removal.
func TreeLeft(tree string) bool {
	for _, name := range []string{tree, filepath.Join(filepath.Dir(tree), removing+filepath.Base(tree))} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// RemoveTree removes a work tree below home, including read-only folders such as those of a
// module cache. It follows no link: if a folder above the tree was replaced by one, it removes
// nothing. mirror is empty for a tree without a mirror. A tree or a mirror that does not exist
// is no error.
func RemoveTree(ctx context.Context, mirror, home, tree string) error {
	if err := removeBelow(home, tree); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if mirror == "" {
		return nil
	}
	_, err := git.Run(ctx, mirror, nil, "worktree", "prune", "--expire=now")
	if errors.Is(err, fs.ErrNotExist) { // the mirror is gone, and knows no tree
		return nil
	}
	return err
}

// removeBelow removes a folder, opening each folder on the way to it from its parent.
func removeBelow(home, dir string) error {
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	rel, _ := filepath.Rel(home, dir) // nothing has an empty name
	way := strings.Split(rel, string(filepath.Separator))
	last := way[len(way)-1]
	for i, name := range way[:len(way)-1] {
		below, err := root.OpenRoot(name)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(home, filepath.Join(way[:i+1]...)), err)
		}
		there, _ := root.Lstat(name) // nil is the same as nothing
		found, _ := below.Stat(".")
		_ = root.Close()
		root = below
		if !os.SameFile(there, found) {
			return fmt.Errorf("%s is a link now: nothing was removed below it", filepath.Join(home, filepath.Join(way[:i+1]...)))
		}
	}
	defer func() { _ = root.Close() }()
	gone := removing + last
	_ = removeAll(root, gone) // of an earlier removal
	if err := root.Rename(last, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return removeAll(root, gone)
}

// removeAll removes a folder, even if folders in it are read-only.
func removeAll(root *os.Root, dir string) error {
	_ = root.RemoveAll(dir)
	_ = fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = root.Chmod(name, 0o700) //nolint:gosec // it is to be removed
		}
		return nil
	})
	return root.RemoveAll(dir)
}
