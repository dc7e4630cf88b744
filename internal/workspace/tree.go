package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Tree examines one work tree repeatedly, and caches what it has read. Its methods are safe
// for concurrent use.
type Tree struct {
	dir     string   // absolute, links resolved
	exclude []string // absolute
	own     []fs.FileInfo

	mu     sync.Mutex
	repo   *repository // nil: none was found yet, or no longer
	walked *contents   // what a walk without git has read
}

// Open prepares to examine the work tree that the directory belongs to. The files and
// directories named by exclude, relative to it or absolute, are skipped; they need not exist.
// Open examines nothing yet. It returns an error if the directory does not exist.
func Open(dir string, exclude ...string) (*Tree, error) {
	fail := func(err error) (*Tree, error) { return nil, fmt.Errorf("work tree %s: %w", dir, err) }
	full, err := filepath.Abs(dir)
	if err != nil {
		return fail(err)
	}
	if full, err = filepath.EvalSymlinks(full); err != nil {
		return fail(err)
	}
	if info, err := os.Stat(full); err != nil {
		return fail(err)
	} else if !info.IsDir() {
		return fail(errors.New("it is not a directory"))
	}
	t := &Tree{dir: full}
	for _, e := range exclude {
		if !filepath.IsAbs(e) {
			e = filepath.Join(full, e)
		}
		t.exclude = append(t.exclude, resolve(e))
	}
	return t, nil
}

// Ignore skips these open files, under whatever name they have in the tree: they grow as the
// caller writes to them. Only regular files are skipped.
func (t *Tree) Ignore(files ...*os.File) {
	for _, f := range files {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			t.own = append(t.own, info)
		}
	}
}

// resolve follows the links in the part of the path that exists.
func resolve(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent, name := filepath.Split(path)
	if parent = filepath.Clean(parent); parent == path {
		return path
	}
	return filepath.Join(resolve(parent), name)
}

// Fingerprint examines the work tree. If there is an error the fingerprint is the zero value,
// unknown: [ErrTooManyFiles], the end of the context, a failing git. Give the context a limit,
// since a network file system may be slow.
//
// If the tree is changed meanwhile, the fingerprint is of an intermediate state, and the next
// one differs.
func (t *Tree) Fingerprint(ctx context.Context) (Fingerprint, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, err := t.look(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return Fingerprint{}, fmt.Errorf("fingerprint of %s: %w", t.dir, err)
	}
	return f, nil
}

func (t *Tree) look(ctx context.Context) (Fingerprint, error) {
	if t.repo == nil { // ask again: the command may have made one
		repo, err := findRepository(ctx, t.dir)
		if err != nil {
			return Fingerprint{}, err
		}
		t.repo = repo
	}
	left := MaxFiles
	if t.repo == nil {
		return t.walk(ctx, &left)
	}
	t.walked = nil
	t.repo.skip, t.repo.files.own = t.skipBelow(t.repo.root), t.own
	s, commit, err := t.repo.whole(ctx, &left)
	if err != nil {
		t.repo = nil // it may be gone
		return Fingerprint{}, err
	}
	return Fingerprint{Content: s.digest(), Commit: commit, Git: true}, nil
}

func (t *Tree) walk(ctx context.Context, left *int) (Fingerprint, error) {
	if t.walked == nil {
		t.walked = newContents(t.dir)
		t.walked.own = t.own
	}
	s, err := walkFiles(ctx, t.walked, t.skipBelow(t.dir), left)
	if err != nil {
		return Fingerprint{}, err
	}
	return Fingerprint{Content: s.digest()}, nil
}

// skip lists the paths to skip, with slashes and relative to a root.
type skip []string

// skipBelow returns the excluded paths below the root.
func (t *Tree) skipBelow(root string) skip {
	var s skip
	for _, e := range t.exclude {
		if rel, err := filepath.Rel(root, e); err == nil && filepath.IsLocal(rel) && rel != "." {
			s = append(s, filepath.ToSlash(rel))
		}
	}
	return s
}

// below returns the part of s that concerns a directory, relative to it.
func (s skip) below(dir string) skip {
	var sub skip
	for _, e := range s {
		if rest, ok := strings.CutPrefix(e, dir+"/"); ok {
			sub = append(sub, rest)
		}
	}
	return sub
}

// covers reports whether a path is skipped: looprun's own files change with every iteration,
// whatever the command does, and may even be committed.
func (s skip) covers(path string) bool {
	for _, e := range s {
		if rest, ok := strings.CutPrefix(path, e); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	if !strings.Contains(path, ".looprun") && !strings.Contains(path, ".git") {
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == ".looprun" || name == ".git" {
			return true
		}
	}
	return false
}
