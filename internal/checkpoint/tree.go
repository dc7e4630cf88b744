package checkpoint

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/looprun/looprun/internal/git"
)

// AddTree makes a work tree of a bare repository, where nothing is yet, with no branch.
func AddTree(ctx context.Context, mirror, tree, commit string) error {
	if err := os.MkdirAll(filepath.Dir(tree), 0o700); err != nil {
		return err
	}
	_, err := git.Run(ctx, mirror, nil, "worktree", "add", "--quiet", "--force", "--force", "--detach", tree, commit)
	return err
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
