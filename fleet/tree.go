package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/git"
)

// The types of errors that say nothing about the loop: errFull is a worker that lacks something,
// errAway a repository that cannot be reached, and errRejected one that takes no push.
const (
	errFull     = "Full"
	errAway     = "Away"
	errRejected = "Rejected"
)

// pushRejected is the exit code of a git push that the repository refused; another means that
// it could not be reached.
const pushRejected = 1

// attempt is how long git may take to fetch from a repository, or push to it.
const attempt = 30 * time.Minute

// minFree is how much disk space must be free for another tree, in bytes.
const minFree = 512 << 20

// checkOut restores the work tree to the checkpoint, in a new folder if there is none; fresh
// reports that. It returns the new latest checkpoint: with it the loop belongs to this worker,
// and a worker that has lost the loop can no longer store another one.
func (w *Worker) checkOut(ctx context.Context, p *place, commit string) (at string, fresh bool, err error) {
	if _, err := os.Stat(w.unready(p)); err == nil {
		if err := w.removeTree(ctx, p.id); err != nil {
			return "", false, err
		}
	}
	_, missing := os.Stat(p.tree)
	if fresh = errors.Is(missing, fs.ErrNotExist); !fresh {
		w.unlock(ctx, p)
	} else if err := errors.Join(w.room(), os.WriteFile(w.unready(p), nil, 0o600)); err != nil {
		return "", false, err
	}
	if p.repo == "" {
		return "", fresh, os.MkdirAll(filepath.Join(p.tree, filepath.FromSlash(p.work.Dir)), 0o700)
	}
	mirror, head, err := w.mirror(ctx, p, commit)
	if err != nil {
		return "", false, err
	}
	if commit == "" {
		commit = head
	} else {
		head = commit + "^1"
	}
	if fresh {
		unlock := w.lockMirror(mirror)
		err = checkpoint.AddTree(ctx, mirror, p.tree, head)
		unlock()
	} else {
		err = run(ctx, p.tree, nil, "checkout", "-q", "--detach", "--force", head)
	}
	for _, args := range [][]string{{"read-tree", "-u", "--reset", commit}, {"clean", "-fdq"}, {"reset", "-q"}} {
		if err == nil {
			err = run(ctx, p.tree, nil, args...)
		}
	}
	if err != nil {
		return "", false, err
	}
	// The same tree on the same commit in the same second must still give a different commit.
	at, err = w.keep(ctx, p, commit+"^{tree}", fmt.Sprintf("looprun %s on %s\n\n%s", p.id, w.Name, rand.Text()))
	if err != nil {
		return "", false, err
	}
	return at, fresh, w.reach(ctx, p, p.tree, "push", "-q", "--force", p.repo, at+":"+checkpoint.Ref(p.id))
}

// unlock removes the locks left by a git that was killed with a worker. The loop is ours, and
// nothing of it is running.
func (w *Worker) unlock(ctx context.Context, p *place) {
	_ = os.Remove(w.index(p) + ".lock")
	if name, err := git.Run(ctx, p.tree, nil, "rev-parse", "--path-format=absolute", "--git-path", "index.lock"); err == nil {
		_ = os.Remove(name)
	}
}

// index returns the index file for the checkpoints of a loop.
func (w *Worker) index(p *place) string {
	return filepath.Join(w.Root, "runs", p.id, "checkpoint.index")
}

// unready returns the file that says that a tree is not set up yet: what is there is removed.
func (w *Worker) unready(p *place) string { return filepath.Join(w.Root, "runs", p.id, "unready") }

// mirror returns the bare copy of the repository that all its work trees share, and the
// fetched commit: the checkpoint, or the loop's starting point.
func (w *Worker) mirror(ctx context.Context, p *place, commit string) (dir, head string, err error) {
	sum := sha256.Sum256([]byte(p.repo))
	dir = filepath.Join(w.Root, "mirrors", hex.EncodeToString(sum[:8])+".git")
	defer w.lockMirror(dir)() // FETCH_HEAD is one for all
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		if err := errors.Join(os.MkdirAll(dir, 0o700), run(ctx, dir, nil, "init", "-q", "--bare")); err != nil {
			return "", "", err
		}
	}
	checkpoint.ForgetCutTrees(dir)
	if commit != "" && run(ctx, dir, nil, "cat-file", "-e", commit+"^{commit}") == nil {
		return dir, commit, nil
	}
	from := cmp.Or(commit, p.work.Ref, "HEAD")
	err = w.reach(ctx, p, dir, "fetch", "-q", "--no-tags", p.repo, from)
	if err != nil && commit != "" { // a server that gives no commits by their hashes
		err = w.reach(ctx, p, dir, "fetch", "-q", "--no-tags", p.repo, "+"+checkpoint.Ref(p.id))
	}
	if err != nil {
		return "", "", err
	}
	head, err = git.Run(ctx, dir, nil, "rev-parse", "--verify", "-q", "FETCH_HEAD^{commit}")
	return dir, head, err
}

// lockMirror locks one mirror, until the returned function is called.
func (w *Worker) lockMirror(dir string) func() {
	m, _ := w.mirrors.LoadOrStore(dir, new(sync.Mutex))
	lock, _ := m.(*sync.Mutex)
	lock.Lock()
	return lock.Unlock
}

// checkpoint makes a commit of the tree, outside every branch.
func (w *Worker) checkpoint(ctx context.Context, p *place, n int) (string, error) {
	if p.repo == "" {
		return "", nil
	}
	index := []string{"GIT_INDEX_FILE=" + w.index(p)}
	if err := run(ctx, p.tree, index, "add", "-A"); err != nil {
		return "", err
	}
	tree, err := git.Run(ctx, p.tree, index, "write-tree")
	if err != nil {
		return "", err
	}
	return w.keep(ctx, p, tree, fmt.Sprintf("looprun %s iteration %d", p.id, n))
}

// push stores a checkpoint in the repository. last is the previous one: if there is a different
// one, the loop has moved to another worker.
func (w *Worker) push(ctx context.Context, p *place, commit, last string) error {
	if p.repo == "" {
		return nil
	}
	return w.reach(ctx, p, p.tree, "push", "-q", "--force-with-lease="+checkpoint.Ref(p.id)+":"+last, p.repo, commit+":"+checkpoint.Ref(p.id))
}

// reach runs a git command that needs the repository of a loop. An error of the repository is
// errAway or errRejected.
func (w *Worker) reach(ctx context.Context, p *place, dir string, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(w.attempt, attempt), errors.New("it took too long"))
	defer cancel()
	err := run(ctx, dir, nil, args...)
	if err == nil || git.ExitCode(err) < 0 && ctx.Err() == nil { // there is no git
		return err
	}
	why := fmt.Sprintf("worker %s cannot reach %s: %v", w.Name, p.repo, err)
	if git.ExitCode(err) == pushRejected {
		return temporal.NewNonRetryableApplicationError(why, errRejected, nil)
	}
	return temporal.NewApplicationError(why, errAway)
}

// keep creates a commit of a tree, on top of the commit that is checked out.
func (w *Worker) keep(ctx context.Context, p *place, tree, message string) (string, error) {
	return git.Run(ctx, p.tree, git.Own, "commit-tree", tree, "-p", "HEAD", "-m", message)
}

// removeTree removes the work tree of a loop. Its checkpoints stay in the repository.
func (w *Worker) removeTree(ctx context.Context, id string) error {
	tree := filepath.Join(w.Root, "trees", id)
	mirror, _ := git.Run(ctx, tree, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if !strings.HasPrefix(mirror, filepath.Join(w.Root, "mirrors")) { // a loop without a repository: this is another one
		mirror = ""
	}
	return checkpoint.RemoveTree(ctx, mirror, w.Root, tree)
}

// sweep removes whatever is older than the retention time.
func (w *Worker) sweep(now time.Time) {
	keep := cmp.Or(max(w.Keep, 0), 72*time.Hour)
	w.mu.Lock()
	for id, used := range w.held { // the loop is gone: it was ended by force, or is elsewhere
		if p := w.places[id]; now.Sub(used) > idle && (p == nil || p.busy.TryLock()) {
			if p != nil {
				p.busy.Unlock()
			}
			delete(w.held, id)
			w.slots.give()
		}
	}
	for id, p := range w.places { // gone elsewhere, or asking: Place opens it again
		if now.Sub(p.used) > time.Hour && p.busy.TryLock() {
			_ = errors.Join(p.host.Close(), p.run.Close())
			delete(w.places, id)
			p.busy.Unlock()
		}
	}
	w.mu.Unlock()
	for _, kind := range []string{"trees", "runs"} {
		entries, _ := os.ReadDir(filepath.Join(w.Root, kind)) // what is not there is swept
		for _, e := range entries {
			info, err := e.Info()
			w.mu.Lock()
			_, placed := w.places[e.Name()]
			w.mu.Unlock()
			if err != nil || placed || now.Sub(info.ModTime()) < keep || strings.HasPrefix(e.Name(), ".") {
				continue
			}
			remove := os.RemoveAll
			if kind == "trees" {
				remove = func(string) error { return w.removeTree(context.Background(), e.Name()) }
			}
			if err := remove(filepath.Join(w.Root, kind, e.Name())); err != nil {
				w.Log.Warn("what is left of a loop stays", "loop", e.Name(), "reason", err)
			}
		}
	}
}

// room returns an error if the disk is nearly full, so that there is no room for another tree.
func (w *Worker) room() error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(w.Root, &s); err != nil {
		return err
	}
	if free := int64(s.Bavail) * int64(s.Bsize); free < minFree { //nolint:unconvert // the types differ by system
		return fmt.Errorf("worker %s has %d MB of its disk left", w.Name, free>>20)
	}
	return nil
}

// run runs git for its effect.
func run(ctx context.Context, dir string, env []string, args ...string) error {
	_, err := git.Run(ctx, dir, append(env, git.Remotes), args...)
	return err
}

// wrong returns an error if git would misinterpret a part of the loop.
func (in Prepare) wrong() error {
	switch {
	case strings.HasPrefix(in.Work.Repo, "-"):
		return fmt.Errorf("%q is not a repository", in.Work.Repo)
	case strings.HasPrefix(in.Work.Ref, "-") || strings.ContainsAny(in.Work.Ref, "+:"):
		return fmt.Errorf("%q is no branch, tag or commit", in.Work.Ref)
	case strings.Trim(in.Commit, "0123456789abcdef") != "":
		return fmt.Errorf("%q is no checkpoint", in.Commit)
	case in.Work.Dir != "" && !filepath.IsLocal(filepath.FromSlash(in.Work.Dir)):
		return fmt.Errorf("%q leads out of the work tree", in.Work.Dir)
	}
	return nil
}
