package workspace

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/internal/git"
)

// findRepository returns the git work tree that the directory belongs to; nil if there is
// none, if there is no git, or if it ignores the directory.
func findRepository(ctx context.Context, dir string) (*repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, nil
	}
	out, err := git.Run(ctx, dir, nil, "rev-parse", "--show-object-format", "--show-toplevel")
	// The name of a directory may contain a line break. A git that is too old for the format
	// prints the option instead, and supports only SHA-1.
	format, root, ok := strings.Cut(out, "\n")
	switch {
	case noWorkTree(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !ok:
		return nil, unexpected("rev-parse", out)
	}
	if root = filepath.FromSlash(root); root != dir {
		_, err := git.Run(ctx, dir, nil, "check-ignore", "-q", ".")
		switch {
		case err == nil: // git would see nothing of what happens here
			return nil, nil
		case git.ExitCode(err) != 1:
			return nil, err
		}
	}
	r := newRepository(root)
	r.files.hash256 = format == "sha256"
	return r, nil
}

// noWorkTree reports whether git's error means that it is not in a work tree. The exit code is
// the same as for all other errors.
func noWorkTree(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "not a git repository") ||
		strings.Contains(err.Error(), "must be run in a work tree"))
}
