// Package git runs git for looprun itself: without hooks, monitors, prompts and pagers, and
// always in the repository of the named folder, whatever the environment says.
package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/termsafe"
)

// settings override what the configuration of a repository or of the user could make git do.
// Filters, such as those of Git LFS, do run: without them a file would be different.
var settings = []string{
	"--no-optional-locks", "--no-pager",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "advice.addEmbeddedRepo=false", "-c", "core.safecrlf=false", "-c", "commit.gpgSign=false",
	"-c", "core.alternateRefsCommand=:", "-c", "status.renames=false", "-c", "status.aheadBehind=false",
}

// Own makes looprun the author of a commit, as variables for [Run].
var Own = []string{
	"GIT_AUTHOR_NAME=looprun", "GIT_AUTHOR_EMAIL=" + ownEmail,
	"GIT_COMMITTER_NAME=looprun", "GIT_COMMITTER_EMAIL=" + ownEmail,
}

const ownEmail = "looprun@localhost"

// Run runs git in a folder, with these additional variables, and returns its output without
// the last line break. The error includes the first lines of git's error output.
func Run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	return run(ctx, dir, env, "", args...)
}

// Objects returns the ids of the objects that names without spaces refer to, in their order;
// an empty one for a name that refers to none. One git answers for all of them.
func Objects(ctx context.Context, dir string, names ...string) ([]string, error) {
	out, err := run(ctx, dir, nil, strings.Join(names, "\n")+"\n", "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, err
	}
	ids := strings.Split(out, "\n")
	if len(ids) != len(names) {
		return nil, fmt.Errorf("git cat-file: %d answers for %d names", len(ids), len(names))
	}
	for i, id := range ids {
		if strings.Contains(id, " ") { // the name, and what is wrong with it
			ids[i] = ""
		}
	}
	return ids, nil
}

func run(ctx context.Context, dir string, env []string, input string, args ...string) (string, error) {
	cmd, said := command(ctx, dir, args)
	cmd.Env = append(cmd.Env, env...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if input != "" {
		cmd.Stdin = strings.NewReader(input)
	}
	err := said.with(ctx, cmd, args[0], cmd.Run())
	return strings.TrimSuffix(out.String(), "\n"), err
}

// Records runs git in a folder and hands over each part of its output that ends in a NUL byte,
// as it comes. An error from each ends git.
func Records(ctx context.Context, dir string, each func(record string) error, args ...string) error {
	child, end := context.WithCancel(ctx)
	defer end()
	cmd, said := command(child, dir, args)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return said.with(ctx, cmd, args[0], err)
	}
	records, record := bufio.NewReader(out), ""
	for {
		if record, err = records.ReadString(0); err != nil {
			break
		}
		if err = each(strings.TrimSuffix(record, "\x00")); err != nil {
			end()
			_ = cmd.Wait()
			return err
		}
	}
	if err := said.with(ctx, cmd, args[0], cmd.Wait()); err != nil {
		return err
	}
	if err != io.EOF || record != "" {
		return fmt.Errorf("the output of git %s ends in the middle of a record: %w", args[0], err)
	}
	return nil
}

func command(ctx context.Context, dir string, args []string) (*exec.Cmd, *complaint) {
	cmd := exec.CommandContext(ctx, "git", append(settings[:len(settings):len(settings)], args...)...)
	cmd.Dir = dir
	cmd.Env = Environ(os.Environ())
	cmd.SysProcAttr = withParent()
	cmd.WaitDelay = time.Second // then the pipes are closed: a child of git may hold them
	said := &complaint{}
	cmd.Stderr = said
	return cmd, said
}

// LastBefore returns the last commit of the checked out branch before a time; empty if there is
// none. Commits have the time in seconds: unsure means that it may be one of just after.
func LastBefore(ctx context.Context, dir string, at time.Time) (commit string, unsure bool, err error) {
	out, err := Run(ctx, dir, nil, "log", "-1", "--no-show-signature", "--first-parent", "--format=%h %ct", "--before="+at.UTC().Format(time.RFC3339), "HEAD")
	commit, second, _ := strings.Cut(out, " ")
	return commit, second == strconv.FormatInt(at.Unix(), 10), err
}

// ChangedFiles counts the files that differ between two commits. An empty to stands for the
// work tree, with its new files.
func ChangedFiles(ctx context.Context, dir, base, to string) (int, error) {
	diff, added := []string{"diff", "--name-only", "-z", "--no-renames", "--end-of-options", base}, ""
	if to != "" {
		diff = append(diff, to)
	} else {
		var err error
		if added, err = Run(ctx, dir, nil, "ls-files", "--others", "--exclude-standard", "-z", "--", ":/"); err != nil {
			return 0, err
		}
	}
	changed, err := Run(ctx, dir, nil, diff...)
	return strings.Count(added+changed, "\x00"), err
}

// Changes counts the commits between two commits, except looprun's own, and the files as
// [ChangedFiles] does.
func Changes(ctx context.Context, dir, base, to string) (commits, files int, err error) {
	if files, err = ChangedFiles(ctx, dir, base, to); err != nil {
		return 0, 0, err
	}
	authors, err := Run(ctx, dir, nil, "log", "--no-show-signature", "--format=%ae", base+".."+to)
	if err != nil {
		return 0, 0, err
	}
	for author := range strings.Lines(authors) {
		if strings.TrimSpace(author) != ownEmail {
			commits++
		}
	}
	return commits, files, nil
}

// goneError is an [fs.ErrNotExist] in words of its own.
type goneError string

func (e goneError) Error() string { return string(e) }

func (goneError) Is(target error) bool { return target == fs.ErrNotExist }

func gone(dir string) bool {
	_, err := os.Stat(dir)
	return dir != "" && errors.Is(err, fs.ErrNotExist)
}

// DiskUsage returns how many bytes the objects of these revisions take in a repository; 0 if
// git cannot determine it.
func DiskUsage(ctx context.Context, dir string, revs []string) int64 {
	out, err := Run(ctx, dir, nil, append([]string{"rev-list", "--objects", "--disk-usage"}, revs...)...)
	if err != nil {
		return 0
	}
	bytes, _ := strconv.ParseInt(out, 10, 64)
	return bytes
}

// ExitCode returns git's exit code; -1 if it did not exit by itself.
func ExitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

// complaint keeps the beginning of git's standard error.
type complaint struct{ bytes.Buffer }

func (c *complaint) Write(b []byte) (int, error) {
	const limit = 2 << 10
	c.Buffer.Write(b[:min(len(b), max(0, limit-c.Len()))])
	return len(b), nil
}

// with returns the error of git's command with the complaint added; nil stays nil.
func (c *complaint) with(ctx context.Context, cmd *exec.Cmd, command string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", command, context.Cause(ctx))
	}
	if err == nil {
		return nil
	}
	if ExitCode(err) < 0 && gone(cmd.Dir) { // the error names git, which is there
		return goneError(fmt.Sprintf("git %s: the folder %s is gone", command, cmd.Dir))
	}
	if text := termsafe.Line(c.String()); text != "" {
		return fmt.Errorf("git %s: %w: %s", command, err, text)
	}
	return fmt.Errorf("git %s: %w", command, err)
}

// kept lists the variables of git that control how it finds a repository and whom it trusts.
// All others could lead to another repository: inside a hook GIT_DIR and GIT_INDEX_FILE are
// set.
var kept = []string{
	"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH",
}

// Remotes is a variable for [Run] that lets git reach repositories on other machines. Without
// it only repositories on this machine can be reached: a configuration that rewrites addresses
// must not choose what is run.
const Remotes = "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh"

// Environ returns an environment for git.
func Environ(own []string) []string {
	var env []string
	for _, v := range own {
		name, _, _ := strings.Cut(v, "=")
		if upper := strings.ToUpper(name); !strings.HasPrefix(upper, "GIT_") || keeps(upper) {
			env = append(env, v)
		}
	}
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=file", "LC_ALL=C", "LANGUAGE=")
}

func keeps(name string) bool {
	for _, k := range kept {
		if name == k || (strings.HasSuffix(k, "_") && strings.HasPrefix(name, k)) {
			return true
		}
	}
	return false
}
