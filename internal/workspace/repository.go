package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/internal/git"
)

// repository is one git work tree.
type repository struct {
	root   string
	files  *contents
	skip   skip
	nested map[string]*repository // submodules and other repositories, by path

	commit string // base is of its files
	base   sum
}

func newRepository(root string) *repository {
	return &repository{root: root, files: newContents(root), nested: map[string]*repository{}}
}

// whole returns the sum over all files, and the commit.
func (r *repository) whole(ctx context.Context, left *int) (sum, string, error) {
	delta, commit, err := r.delta(ctx, left)
	if err != nil {
		return 0, "", err
	}
	if err := r.rebase(ctx, commit); err != nil {
		return 0, "", err
	}
	return r.base + delta, commit, nil
}

// rebase makes base the sum over the files of the commit.
func (r *repository) rebase(ctx context.Context, commit string) error {
	if commit == r.commit {
		return nil
	}
	var base sum
	if commit != "" {
		err := git.Records(ctx, r.root, func(record string) error {
			meta, path, ok := strings.Cut(record, "\t")
			fields := strings.Fields(meta) // mode, type, object
			if !ok || len(fields) != 3 {
				return unexpected("ls-tree", record)
			}
			if !r.skip.covers(path) {
				base.add(path, fields[0], fields[2])
			}
			return nil
		}, "ls-tree", "-r", "-z", "--full-tree", commit)
		if err != nil {
			return err
		}
	}
	r.commit, r.base = commit, base
	return nil
}

// delta returns what the work tree has added to the commit, minus what it has removed, and the
// commit.
func (r *repository) delta(ctx context.Context, left *int) (d sum, commit string, err error) {
	r.files.begin()
	seen := map[string]*repository{}
	err = git.Records(ctx, r.root, func(record string) error {
		if id, ok := strings.CutPrefix(record, "# branch.oid "); ok && id != "(initial)" {
			commit = id
		}
		c, err := parseChange(record)
		if err == nil && c.path != "" && !r.skip.covers(strings.TrimSuffix(c.path, "/")) {
			err = r.addChange(ctx, &d, c, seen, left)
		}
		return err
	}, "status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return 0, "", err
	}
	r.files.end()
	r.nested = seen
	return d, commit, nil
}

// addChange replaces what was committed with the current state.
func (r *repository) addChange(ctx context.Context, d *sum, c change, seen map[string]*repository, left *int) error {
	if *left--; *left < 0 {
		return fmt.Errorf("%w: more than %d differ from the last commit; ignore or commit those that are not worked on", ErrTooManyFiles, MaxFiles)
	}
	d.remove(c.path, c.oldMode, c.oldObject)
	switch c.mode {
	case modeAbsent:
		return nil
	case modeRepository:
		return r.addNested(ctx, d, strings.TrimSuffix(c.path, "/"), seen, left)
	}
	r.files.addTo(d, c.path, c.mode)
	return nil
}

// addNested adds a nested repository: its commit, and the differences from that. If there are
// none, it is what the outer repository has committed.
func (r *repository) addNested(ctx context.Context, d *sum, path string, seen map[string]*repository, left *int) error {
	dir := filepath.Join(r.root, filepath.FromSlash(path))
	sub := r.nested[path]
	if sub == nil {
		var err error
		if sub, err = findRepository(ctx, dir); err != nil {
			return err
		}
		if sub == nil || !samePath(sub.root, dir) {
			// It only looks like a repository; git skips it and finds ours.
			files := newContents(dir)
			files.own = r.files.own
			s, err := walkFiles(ctx, files, r.skip.below(path), left)
			if err == nil {
				d.add(path, modeRepository, s.digest().String())
			}
			return err
		}
	}
	sub.skip, sub.files.own = r.skip.below(path), r.files.own
	inner, commit, err := sub.delta(ctx, left)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if inner != 0 {
		commit += " " + inner.digest().String()
	}
	seen[path] = sub
	d.add(path, modeRepository, commit)
	return nil
}

func samePath(a, b string) bool { return resolve(a) == resolve(b) }

func unexpected(command, record string) error {
	return fmt.Errorf("git %s printed what is not understood: %q", command, record[:min(len(record), 200)])
}
