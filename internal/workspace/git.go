package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/git"
)

// findRepository returns the git work tree that the directory belongs to; nil if there is
// none, if there is no git, or if it ignores the directory.
func findRepository(ctx context.Context, dir string) (*repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, nil
	}
	var lines []string
	err := eachRecord(ctx, dir, '\n', func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	}, "rev-parse", "--show-object-format", "--show-toplevel")
	switch {
	case noWorkTree(err):
		return nil, nil
	case err != nil:
		return nil, err
	case len(lines) < 2:
		return nil, unexpected("rev-parse", []byte(strings.Join(lines, "\n")))
	}
	// The name of a directory may contain a line break. A git that is too old for the format
	// prints the option instead, and supports only SHA-1.
	root := filepath.FromSlash(strings.Join(lines[1:], "\n"))
	if root != dir {
		err := eachRecord(ctx, dir, 0, ignoreRecord, "check-ignore", "-q", ".")
		var exit *exec.ExitError
		switch {
		case err == nil: // git would see nothing of what happens here
			return nil, nil
		case !errors.As(err, &exit) || exit.ExitCode() != 1:
			return nil, err
		}
	}
	r := newRepository(root)
	r.files.hash256 = lines[0] == "sha256"
	return r, nil
}

// noWorkTree reports whether git's error means that it is not in a work tree. The exit code is
// the same as for all other errors.
func noWorkTree(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "not a git repository") ||
		strings.Contains(err.Error(), "must be run in a work tree"))
}

func ignoreRecord([]byte) error { return nil }

// settings override what the user's configuration could make git do: start a monitor, and look
// for renames and for the distance to another branch.
var settings = []string{
	"--no-optional-locks", "--no-pager",
	"-c", "core.fsmonitor=false", "-c", "status.renames=false", "-c", "status.aheadBehind=false",
}

// maxRecord is the maximum size of one record of git's output, in bytes: a path and some ids.
const maxRecord = 1 << 20

// eachRecord runs git in a directory and calls each for every record that it prints. An error
// from each ends git.
func eachRecord(ctx context.Context, dir string, end byte, each func([]byte) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(settings[:len(settings):len(settings)], args...)...)
	cmd.Dir = dir
	cmd.Env = git.Environ(os.Environ())
	cmd.WaitDelay = time.Second // then the pipes are closed: a child of git may hold them
	said := &git.Complaint{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	records := bufio.NewScanner(out)
	records.Buffer(make([]byte, 64<<10), maxRecord)
	records.Split(func(data []byte, atEnd bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, end); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEnd && len(data) > 0 {
			return 0, nil, errors.New("the output of git ends in the middle of a record")
		}
		return 0, nil, nil
	})
	var failed error
	for failed == nil && records.Scan() {
		failed = each(records.Bytes())
	}
	if failed == nil {
		failed = records.Err()
	}
	if failed != nil {
		cancel()
	}
	if err := cmd.Wait(); failed == nil {
		failed = said.With(args[0], err)
	}
	return failed
}
