package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// walkFiles returns the sum over all files below the root of the contents, for use without a
// git that reports the differences.
func walkFiles(ctx context.Context, files *contents, s skip, left *int) (sum, error) {
	var d sum
	files.begin()
	err := filepath.WalkDir(files.root, func(name string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, relErr := filepath.Rel(files.root, name)
		if relErr != nil {
			return relErr
		}
		path := filepath.ToSlash(rel)
		switch {
		case rel != "." && s.covers(path):
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil && rel == ".":
			return err
		case err != nil: // a directory that cannot be read, or is gone by now
			if info, statErr := os.Lstat(name); statErr == nil {
				d.add(path, modeOther, fmt.Sprintf("unreadable %d", info.ModTime().UnixNano()))
			}
			return nil
		case e.IsDir():
			return nil
		}
		if *left--; *left < 0 {
			return fmt.Errorf("%w: more than %d, and there is no git to say which matter; use a git repository with a .gitignore, or work in a smaller directory", ErrTooManyFiles, MaxFiles)
		}
		files.addTo(&d, path, modeFound)
		return nil
	})
	if err != nil {
		return 0, err
	}
	files.end()
	return d, nil
}
