package checkpoint

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"

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

// RemoveTree removes a work tree, also where folders in it cannot be written, as in a cache
// of modules, and one that is not there. An empty mirror says that it is of none.
func RemoveTree(ctx context.Context, mirror, tree string) error {
	err := os.RemoveAll(tree)
	if err != nil {
		_ = filepath.WalkDir(tree, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(name, 0o700) //nolint:gosec // it is to be removed
			}
			return nil
		})
		err = os.RemoveAll(tree)
	}
	if err != nil || mirror == "" {
		return err
	}
	_, err = git.Run(ctx, mirror, nil, "worktree", "prune", "--expire=now")
	return err
}
