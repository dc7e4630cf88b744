package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/looprun/looprun/internal/git"
)

// Whole makes a checkpoint of a work tree that [AddTree] created from the mirror at the commit
// base, unless the last checkpoint already has all of it, and returns the commit. runDir holds
// the files of the run with that id, which the caller has locked. An error describes what is
// in no commit; the tree must not be removed then.
func Whole(ctx context.Context, mirror, tree, base, runDir, id string) (commit string, err error) {
	if !belongs(ctx, tree, mirror) {
		return "", fmt.Errorf("%s is no longer a work tree of %s", tree, mirror)
	}
	k, err := Open(ctx, tree, runDir, id)
	if err != nil {
		return "", err
	}
	if commit, err = k.Save(ctx, "End"); err != nil {
		return "", err
	}
	now, err := files(ctx, tree, commit)
	if err != nil {
		return "", err
	}
	had, err := files(ctx, tree, base)
	if err != nil {
		return "", err
	}
	var lost []string
	for name, f := range now {
		if f.mode == modeNested && (f != had[name] || !untouched(ctx, k.file(name))) {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		return "", errors.New("no commit here has the files of a nested repository: " + list(lost))
	}
	return commit, nil
}

// belongs reports whether a folder is the top of a work tree of the mirror. git alone would
// accept any repository that happens to contain the folder.
func belongs(ctx context.Context, tree, mirror string) bool {
	top, _ := Top(ctx, tree) // empty where git says nothing: that is no folder
	common, _ := git.Run(ctx, tree, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	return same(top, tree) && same(filepath.FromSlash(common), mirror)
}

func same(a, b string) bool {
	x, _ := os.Stat(a) // nil is the same as nothing
	y, _ := os.Stat(b)
	return os.SameFile(x, y)
}

// untouched reports whether a nested repository has no files, or only those of its commit.
func untouched(ctx context.Context, dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); errors.Is(err, os.ErrNotExist) {
		return true // git would add files that are not those of a repository
	}
	changed, err := git.Run(ctx, dir, nil, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
	return err == nil && changed == ""
}
