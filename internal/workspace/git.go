package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/termsafe"
)

// findRepository is the git work tree that the directory belongs to; nil when there
// is none, when there is no git, or when it ignores the directory.
func findRepository(ctx context.Context, dir string) (*repository, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, nil
	}
	var lines []string
	err := git(ctx, dir, '\n', func(line []byte) error {
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
	// The name of a directory may have a line break. A git that is too old for the
	// format prints the option instead, and knows SHA-1 only.
	root := filepath.FromSlash(strings.Join(lines[1:], "\n"))
	if root != dir {
		err := git(ctx, dir, 0, ignoreRecord, "check-ignore", "-q", ".")
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

// noWorkTree reports whether git has said that it is not in a work tree. It says so
// with the same exit code as everything else.
func noWorkTree(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "not a git repository") ||
		strings.Contains(err.Error(), "must be run in a work tree"))
}

func ignoreRecord([]byte) error { return nil }

// settings keep git from what the user's configuration may ask for: starting a
// monitor, and looking for renames and for the distance to another branch.
var settings = []string{
	"--no-optional-locks", "--no-pager",
	"-c", "core.fsmonitor=false", "-c", "status.renames=false", "-c", "status.aheadBehind=false",
}

// maxRecord bounds one record of git's output: a path and some ids.
const maxRecord = 1 << 20

// git runs git in a directory and calls each for every record that it prints. An
// error of each ends git.
func git(ctx context.Context, dir string, end byte, each func([]byte) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(settings[:len(settings):len(settings)], args...)...)
	cmd.Dir = dir
	cmd.Env = environ(os.Environ())
	cmd.WaitDelay = time.Second // then the pipes are closed: a child of git may hold them
	said := &firstBytes{}
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
	if err := cmd.Wait(); failed == nil && err != nil {
		failed = fmt.Errorf("git %s: %w", args[0], err)
		if text := termsafe.Line(said.String()); text != "" {
			failed = fmt.Errorf("git %s: %w: %s", args[0], err, text)
		}
	}
	return failed
}

// firstBytes keeps the beginning of what git complains about.
type firstBytes struct{ bytes.Buffer }

func (f *firstBytes) Write(b []byte) (int, error) {
	const limit = 2 << 10
	f.Buffer.Write(b[:min(len(b), max(0, limit-f.Len()))])
	return len(b), nil
}

// kept are the variables of git that say how to find a repository and whom to
// trust. All others could lead to another one: inside a hook GIT_DIR and
// GIT_INDEX_FILE are set.
var kept = []string{
	"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH",
}

// environ is the environment for git.
func environ(own []string) []string {
	var env []string
	for _, v := range own {
		name, _, _ := strings.Cut(v, "=")
		if upper := strings.ToUpper(name); !strings.HasPrefix(upper, "GIT_") || keeps(upper) {
			env = append(env, v)
		}
	}
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C", "LANGUAGE=")
}

func keeps(name string) bool {
	for _, k := range kept {
		if name == k || (strings.HasSuffix(k, "_") && strings.HasPrefix(name, k)) {
			return true
		}
	}
	return false
}
