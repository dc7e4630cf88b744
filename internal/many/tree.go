package many

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/scratchpad"
)

// repository is a user's repository, its bare mirror, and the work trees made of it.
type repository struct {
	top, mirror string
	mu          sync.Mutex // one of our own git calls at a time
}

// repositoryKey returns the name of a repository's folder.
func repositoryKey(top string) string {
	sum := sha256.Sum256([]byte(top))
	return strings.TrimLeft(slug(filepath.Base(top))+"-"+hex.EncodeToString(sum[:6]), "-")
}

func repositoryOf(trees, top string) *repository {
	return &repository{top: top, mirror: filepath.Join(trees, repositoryKey(top), "mirror.git")}
}

// fetch updates the mirror and makes sure that it has those commits.
func (r *repository) fetch(ctx context.Context, id string, commits []string) error {
	home := filepath.Dir(r.mirror)
	_ = os.MkdirAll(home, 0o700)
	release, err := hold(ctx, home)
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	if _, err := os.Stat(r.mirror); err != nil {
		if err := r.clone(ctx); err != nil {
			return err
		}
	}
	for _, of := range []string{"refs/remotes", "refs/bases", "refs/tags"} { // nobody else writes them
		unlock(filepath.Join(r.mirror, filepath.FromSlash(of)))
	}
	checkpoint.ForgetCutTrees(r.mirror)
	r.pack(ctx)
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options", r.top, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"}
	for i, c := range commits { // they stay as long as the trees do
		args = append(args, fmt.Sprintf("+%s:refs/bases/%s/%d", c, id, i))
	}
	_, err = git.Run(ctx, r.mirror, nil, args...)
	return err
}

// pack packs the mirror once it has as many loose objects as would make git itself pack it. A
// failure does no harm.
func (r *repository) pack(ctx context.Context) {
	const most = 6700 / 256 // in one of the folders, as git gc --auto counts them
	if loose, _ := os.ReadDir(filepath.Join(r.mirror, "objects", "17")); len(loose) > most {
		_, _ = git.Run(ctx, r.mirror, nil, "repack", "-d", "--quiet")
	}
}

// dismiss forgets a batch whose runs are gone, and removes the mirror if no other batch needs
// it.
func (r *repository) dismiss(ctx context.Context, batch string) {
	home := filepath.Dir(r.mirror)
	release, err := scratchpad.Hold(home)
	if err != nil {
		return // another batch begins
	}
	defer func() { _ = release() }()
	of, _ := git.Run(ctx, r.mirror, nil, "for-each-ref", "--format=%(refname)", "refs/bases/"+batch)
	for ref := range strings.Lines(of) {
		_, _ = git.Run(ctx, r.mirror, nil, "update-ref", "-d", strings.TrimSpace(ref))
	}
	left, err := git.Run(ctx, r.mirror, nil, "for-each-ref", "--count=1", "refs/looprun", "refs/bases")
	trees, _ := os.ReadDir(filepath.Join(r.mirror, "worktrees"))
	if err != nil || left != "" || len(trees) > 0 {
		return
	}
	gone := filepath.Join(home, "part-gone") // clone removes what a kill leaves of it
	_ = os.Rename(r.mirror, gone)
	_ = os.RemoveAll(gone)
}

// submodules gives a work tree the files of the submodules that the user's repository has.
func (r *repository) submodules(ctx context.Context, l *Loop) error {
	there, _, err := submodules(ctx, r.top, l.Base)
	for _, m := range there {
		if err != nil {
			break
		}
		_, err = git.Run(ctx, l.Tree, nil, "-c", "submodule."+m.name+".url="+m.dir, "submodule", "--quiet", "update", "--init", "--checkout", "--", m.path)
	}
	return err
}

// submodule is a submodule of a commit: dir is its repository on this machine.
type submodule struct{ path, name, dir string }

// submodules returns the submodules of a commit whose repositories the user has, and the paths
// of those that are missing.
func submodules(ctx context.Context, top, commit string) (there []submodule, missing []string, err error) {
	paths, err := checkpoint.Nested(ctx, top, commit)
	if len(paths) == 0 {
		return nil, nil, err
	}
	common, err := git.Run(ctx, top, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, nil, err
	}
	names := map[string]string{}
	// A commit may have nested repositories and no .gitmodules.
	listed, _ := git.Run(ctx, top, nil, "config", "--blob", commit+":.gitmodules", "-z", "--get-regexp", `^submodule\..*\.path$`)
	for entry := range strings.SplitSeq(listed, "\x00") {
		key, path, _ := strings.Cut(entry, "\n")
		names[path] = strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
	}
	for _, path := range paths {
		m := submodule{path: path, name: names[path]}
		m.dir = filepath.Join(filepath.FromSlash(common), "modules", filepath.FromSlash(m.name))
		if _, err := os.Stat(filepath.Join(m.dir, "HEAD")); err != nil || !filepath.IsLocal(m.name) || strings.Contains(m.name, "=") {
			missing = append(missing, path)
			continue
		}
		there = append(there, m)
	}
	return there, missing, nil
}

// unlock removes the locks that a killed git left below a folder.
func unlock(dir string) {
	_ = filepath.WalkDir(dir, func(name string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(name, ".lock") {
			_ = os.Remove(name)
		}
		return nil
	})
}

// clone creates the mirror. It has no remote, so that nothing can be pushed to the user's
// repository by mistake.
func (r *repository) clone(ctx context.Context) error {
	home := filepath.Dir(r.mirror)
	cut, _ := filepath.Glob(filepath.Join(home, "part-*"))
	for _, name := range cut { // a git whose looprun was killed may still write there
		_ = os.RemoveAll(name)
	}
	part, err := os.MkdirTemp(home, "part-")
	if err != nil {
		return err
	}
	if _, err := git.Run(ctx, home, nil, "clone", "--quiet", "--bare", "--no-local", "--template=", "--end-of-options", r.top, part); err != nil {
		return err
	}
	if _, err := git.Run(ctx, part, nil, "remote", "remove", "origin"); err != nil {
		return err
	}
	return os.Rename(part, r.mirror)
}

// hold takes the lock of a folder, waiting until it is free.
func hold(ctx context.Context, dir string) (release func() error, err error) {
	for {
		release, err := scratchpad.Hold(dir)
		if !errors.Is(err, scratchpad.ErrLocked) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// add creates the work tree of a loop, at its last checkpoint or at its base.
func (r *repository) add(ctx context.Context, l *Loop) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.discard(ctx, l.Tree); err != nil { // what is left of one that was cut off
		return err
	}
	at := l.Base
	if last, err := checkpoint.Last(ctx, r.mirror, l.RunID); err != nil {
		return err
	} else if last != "" {
		at = last
	}
	if err := r.place(ctx, l.Tree, at); err != nil {
		return err
	}
	if err := r.submodules(ctx, l); err != nil {
		return err
	}
	if err := r.exclude(l.Copy); err != nil {
		return err
	}
	return copyFiles(r.top, l.Tree, l.Copy)
}

// place creates a work tree with the files of a commit.
func (r *repository) place(ctx context.Context, tree, commit string) error {
	release, err := hold(ctx, filepath.Dir(r.mirror)) // another batch may fetch
	if err != nil {
		return err
	}
	err = checkpoint.AddTree(ctx, r.mirror, tree, commit)
	_ = release()
	if err != nil {
		return err
	}
	_, err = git.Run(ctx, tree, nil, "reset", "--quiet", "--hard")
	return err
}

// exclude keeps copied files out of every commit, since they may be secret.
func (r *repository) exclude(names []string) error {
	name := filepath.Join(r.mirror, "info", "exclude")
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	have := strings.Split(string(text), "\n")
	for _, n := range names {
		line := "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(filepath.ToSlash(filepath.Clean(n)))
		if !slices.Contains(have, line) {
			have = append(have, line)
		}
	}
	_ = os.MkdirAll(filepath.Dir(name), 0o700)
	return atomicfile.Write(name, []byte(strings.TrimLeft(strings.Join(have, "\n"), "\n")+"\n"), false)
}

// copyFiles copies the named files, but never through a link in the repository.
func copyFiles(from, to string, names []string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		if err := copyFile(root, filepath.Join(from, name), name); err != nil {
			return fmt.Errorf("%s cannot be copied: %w", name, err)
		}
	}
	return nil
}

func copyFile(root *os.Root, from, name string) error {
	info, err := os.Stat(from) // opening a pipe would wait
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	_ = root.MkdirAll(filepath.Dir(name), 0o755)
	_ = root.Remove(name)
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// publish fetches the checkpoints of a run into the user's repository, as refs/looprun/ID, and
// returns the commit of the last one; empty if there are none.
func (r *repository) publish(ctx context.Context, runID string) (commit string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ref := checkpoint.Ref(runID)
	if commit, err = checkpoint.Last(ctx, r.mirror, runID); commit == "" {
		return "", err
	}
	checkpoint.Unlock(ctx, r.top, runID)
	if _, err = git.Run(ctx, r.top, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options", r.mirror, "+"+ref+":"+ref); err != nil {
		return "", err
	}
	return commit, nil
}

// whole makes a checkpoint of a loop's tree, unless the last one is already complete. An error
// describes what is in no commit; the tree must stay.
func (r *repository) whole(ctx context.Context, l *Loop, dir string) (commit string, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) { // somebody removed the run
		if dir, err = os.MkdirTemp("", "looprun-"); err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
	}
	release, err := scratchpad.Hold(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = release() }()
	r.mu.Lock()
	defer r.mu.Unlock()
	return checkpoint.Whole(ctx, r.mirror, l.Tree, l.Base, dir, l.RunID)
}

// settle brings everything that a loop made into the user's repository. An error describes
// what is missing there; the loop's tree must stay.
func (r *repository) settle(ctx context.Context, l *Loop, dir string) error {
	whole := ""
	if _, err := os.Lstat(l.Tree); err == nil {
		if whole, err = r.whole(ctx, l, dir); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	commit, err := r.publish(ctx, l.RunID)
	if err == nil && whole != "" && commit != whole {
		err = fmt.Errorf("it has %.12s and not %.12s", commit, whole)
	}
	return err
}

// remove removes a work tree.
func (r *repository) remove(ctx context.Context, tree string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.discard(ctx, tree)
}

func (r *repository) discard(ctx context.Context, tree string) error {
	_ = os.Remove(tree + readySuffix)
	return checkpoint.RemoveTree(ctx, r.mirror, filepath.Dir(filepath.Dir(r.mirror)), tree)
}

// readySuffix marks a tree whose setup has succeeded.
const readySuffix = ".ready"

func ready(tree string) bool {
	_, err := os.Stat(tree + readySuffix)
	_, there := os.Stat(tree)
	return err == nil && there == nil
}

// changes returns the files of a work tree that are not committed, so that no loop sees them.
func changes(ctx context.Context, top string) ([]string, error) {
	out, err := git.Run(ctx, top, nil, "status", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var names []string
	for record := range strings.SplitSeq(out, "\x00") {
		if len(record) > 3 {
			names = append(names, record[3:])
		}
	}
	return names, nil
}
