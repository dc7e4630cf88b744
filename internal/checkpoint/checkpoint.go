// Package checkpoint saves the work tree after each iteration, as commits on refs/looprun/ID,
// made with a separate index. It touches no branch, stash or index of the user's, merges
// nothing, and runs no hook.
//
// A checkpoint contains every file that `git add --all` would add: ignored files are neither
// saved nor restored.
package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/git"
)

// Limit is how long one checkpoint may take.
const Limit = 2 * time.Minute

// refPrefix is the prefix of the refs of runs.
const refPrefix = "refs/looprun/"

// Ref returns the ref of a run. runID must have the form of looprun's own ids.
func Ref(runID string) string { return refPrefix + runID }

// Keeper saves and restores the checkpoints of one run.
type Keeper struct {
	top, ref string
	id       string
	index    string    // a file of its own
	lock     string    // of the ref
	kept     [2]string // a checkpoint, and the user's commit that it keeps
}

// Open prepares checkpoints of the git work tree that contains dir, for the run with the given
// id. The run's files are in runDir, and the caller holds its lock. It returns an error if
// there is no work tree.
func Open(ctx context.Context, dir, runDir, id string) (*Keeper, error) {
	top, err := Top(ctx, dir)
	if err != nil {
		return nil, err
	}
	lock, err := gitPath(ctx, top, Ref(id)+".lock")
	if err != nil {
		return nil, err
	}
	return &Keeper{top: top, id: id, ref: Ref(id), index: filepath.Join(runDir, "checkpoint.index"), lock: lock}, nil
}

// Unlock removes the lock that a killed git left on the checkpoints of a run; if it stays,
// git says so. The caller must hold the run, so that no other git of looprun's is using them.
func Unlock(ctx context.Context, dir, runID string) {
	if name, err := gitPath(ctx, dir, Ref(runID)+".lock"); err == nil {
		_ = os.Remove(name)
	}
}

// gitPath returns where git keeps a file of the repository.
func gitPath(ctx context.Context, dir, name string) (string, error) {
	name, err := git.Run(ctx, dir, nil, "rev-parse", "--git-path", name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return name, err
}

// Top returns the top of the git work tree that a folder belongs to.
func Top(ctx context.Context, dir string) (string, error) {
	top, err := git.Run(ctx, dir, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", fmt.Errorf("%s is not in a git work tree: %w", dir, err)
	}
	return filepath.FromSlash(top), nil
}

// Save makes a checkpoint of the current files, and returns its commit, which keeps the last
// checkpoint and the user's commit. If nothing has changed since the last checkpoint, it
// returns that one.
func (k *Keeper) Save(ctx context.Context, message string) (commit string, err error) {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	// The caller holds the run, so a lock must be that of a killed git.
	_ = os.Remove(k.index + ".lock")
	_ = os.Remove(k.lock)
	tree, err := k.add(ctx)
	if err != nil {
		return "", err
	}
	found, err := git.Objects(ctx, k.top, k.ref+"^{commit}", k.ref+"^{tree}", "HEAD^{commit}")
	if err != nil {
		return "", err
	}
	last, head := found[0], found[2]
	if k.kept == [2]string{last, head} || Ancestor(ctx, k.top, head, last) {
		head = "" // the last checkpoint keeps it already
	}
	if tree == found[1] && head == "" {
		return last, nil
	}
	args := []string{"commit-tree", tree, "-m", fmt.Sprintf("%s of run %s", message, k.id)}
	for _, parent := range []string{last, head} {
		if parent != "" {
			args = append(args, "-p", parent)
		}
	}
	if commit, err = git.Run(ctx, k.top, git.Own, args...); err != nil {
		return "", err
	}
	old := cmp.Or(last, strings.Repeat("0", len(commit)))
	if _, err := git.Run(ctx, k.top, nil, "update-ref", "--no-deref", k.ref, commit, old); err != nil {
		return "", err
	}
	k.kept = [2]string{commit, found[2]}
	return commit, nil
}

// add adds all files to the index and returns the tree.
func (k *Keeper) add(ctx context.Context) (string, error) {
	if _, err := os.Stat(k.index); errors.Is(err, fs.ErrNotExist) {
		if err := k.begin(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) { // git makes an empty one
			return "", err
		}
	}
	if _, err := git.Run(ctx, k.top, k.env(), "add", "--all", "--", ":/"); err != nil {
		_ = os.Remove(k.index) // it may be what is wrong; the next one begins anew
		return "", err
	}
	return git.Run(ctx, k.top, k.env(), "write-tree")
}

func (k *Keeper) env() []string { return []string{"GIT_INDEX_FILE=" + k.index} }

// begin creates the index. It starts from the user's index, if there is one, so that git knows
// which files it has already read. The copy gets its name when it is whole: looprun may be
// killed meanwhile.
func (k *Keeper) begin(ctx context.Context) error {
	name, err := gitPath(ctx, k.top, "index")
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	index, err := os.ReadFile(name)
	part := k.index + ".part"
	// git reads again whatever is as young as its index: a younger copy would hide a change.
	if err := errors.Join(err, os.WriteFile(part, index, 0o600), os.Chtimes(part, time.Time{}, info.ModTime())); err != nil {
		return err
	}
	return os.Rename(part, k.index)
}

func Ancestor(ctx context.Context, dir, older, newer string) bool {
	_, err := git.Run(ctx, dir, nil, "merge-base", "--is-ancestor", older, newer)
	return err == nil
}

// Find returns the commit that a name refers to; empty if there is none.
func Find(ctx context.Context, dir, name string) (string, error) {
	commit, err := git.Run(ctx, dir, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if git.ExitCode(err) == 1 {
		return "", nil
	}
	return commit, err
}

// Diff returns the changes from one checkpoint to another, as git shows them.
func Diff(ctx context.Context, dir, from, to string, options ...string) (string, error) {
	if err := errors.Join(isCommit(from), isCommit(to)); err != nil {
		return "", err
	}
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color"}, options...)
	out, err := git.Run(ctx, dir, nil, append(args, "--end-of-options", from, to)...)
	if out != "" {
		out += "\n"
	}
	return out, err
}

// isCommit rejects anything but a full id: a journal may have come from somebody else.
func isCommit(id string) error {
	if len(id) != 40 && len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
		return fmt.Errorf("%q is not the id of a commit", id)
	}
	return nil
}

// Known reports whether the repository that a folder belongs to has the commit.
func Known(ctx context.Context, dir, commit string) bool {
	found, _ := Find(ctx, dir, commit)
	return found != "" && found == commit // it is no other name of one
}

// Last returns the commit of a run's last checkpoint in a folder's repository; empty if it has
// none.
func Last(ctx context.Context, dir, runID string) (string, error) {
	return Find(ctx, dir, Ref(runID))
}

// Resolve returns the commit that a name given by the user refers to.
func Resolve(ctx context.Context, dir, name string) (string, error) {
	commit, err := Find(ctx, dir, name)
	if err == nil && commit == "" {
		err = fmt.Errorf("there is no commit %q in %s", name, dir)
	}
	return commit, err
}

// Forget removes the checkpoints of a run from a folder's repository.
func Forget(ctx context.Context, dir, runID string) error {
	_, err := git.Run(ctx, dir, nil, "update-ref", "--no-deref", "-d", Ref(runID))
	return err
}
