package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// modeNested is the mode that git gives to a nested repository.
const modeNested = "160000"

// Restored is the result of [Restore].
type Restored struct {
	Before string   // the checkpoint of the files as they were
	Nested []string // the nested repositories, whose files were not restored
}

// Except names the nested repositories, as the end of a sentence about what was restored.
func (r Restored) Except() string {
	if len(r.Nested) == 0 {
		return ""
	}
	return ", except in nested repositories, which stay as they are: " + list(r.Nested)
}

// LostError means that a restore would overwrite files that are in no commit.
type LostError struct{ Files []string }

func (e *LostError) Error() string {
	return "it would overwrite what is in no commit: " + list(e.Files)
}

// list returns the first few paths, as text.
func list(paths []string) string { return termsafe.Line(plural.First(paths, 10)) }

// Restore changes the files to those of a checkpoint of the run that [Open] describes. It first
// saves a checkpoint of the current files, and afterwards one of the restored files. If it would
// overwrite a file that is not in the first one, it changes nothing and returns a [LostError].
func Restore(ctx context.Context, dir, runDir, id, commit, what string) (r Restored, err error) {
	if err := isCommit(commit); err != nil {
		return r, err
	}
	k, err := Open(ctx, dir, runDir, id)
	if err != nil {
		return r, err
	}
	if r.Before, err = k.Save(ctx, "Before "+what); err != nil {
		return r, err
	}
	within, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	if r.Nested, err = k.safe(within, r.Before, commit); err != nil {
		return r, err
	}
	if _, err = git.Run(within, k.top, k.env(), "read-tree", "--no-recurse-submodules", "-m", "-u", r.Before+"^{tree}", commit+"^{tree}"); err != nil {
		return r, err
	}
	_, err = k.Save(ctx, what)
	return r, err
}

// safe returns a [LostError] if writing the files of a commit would overwrite anything that is
// not in the commit before. It also returns the nested repositories of both.
func (k *Keeper) safe(ctx context.Context, before, commit string) (nested []string, err error) {
	kept, err := files(ctx, k.top, before)
	if err != nil {
		return nil, err
	}
	wanted, err := files(ctx, k.top, commit)
	if err != nil {
		return nil, err
	}
	for _, tree := range []map[string]file{kept, wanted} {
		for name, f := range tree {
			if f.mode == modeNested {
				nested = append(nested, name)
			}
		}
	}
	var lost []string
	lose := func(name string) {
		if f, ok := kept[name]; !ok || f.mode == modeNested {
			lost = append(lost, name)
		}
	}
	for name, f := range wanted {
		if f.mode == modeNested || f == kept[name] {
			continue
		}
		at := ""
		for part := range strings.SplitSeq(name, "/") {
			at = path.Join(at, part)
			info, err := os.Lstat(k.file(at))
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			if at != name && err == nil && info.IsDir() {
				continue
			}
			if err := k.below(at, lose); err != nil {
				return nil, err
			}
			break
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		return nil, &LostError{slices.Compact(lost)}
	}
	slices.Sort(nested)
	return slices.Compact(nested), nil
}

func (k *Keeper) file(name string) string { return filepath.Join(k.top, filepath.FromSlash(name)) }

// below calls lose for a file, or for every file and every nested repository in a folder.
func (k *Keeper) below(dir string, lose func(name string)) error {
	return filepath.WalkDir(k.file(dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(k.top, name) // an empty one is in no commit
		if d.IsDir() {
			if _, err := os.Lstat(filepath.Join(name, ".git")); err != nil {
				return nil
			}
			lose(filepath.ToSlash(rel))
			return fs.SkipDir
		}
		lose(filepath.ToSlash(rel))
		return nil
	})
}

// Nested returns the paths of the nested repositories, such as submodules, in a commit.
func Nested(ctx context.Context, dir, commit string) ([]string, error) {
	all, err := files(ctx, dir, commit)
	var nested []string
	for name, f := range all {
		if f.mode == modeNested {
			nested = append(nested, name)
		}
	}
	slices.Sort(nested)
	return nested, err
}

type file struct{ mode, object string }

// files returns the files of a commit, by path.
func files(ctx context.Context, dir, commit string) (map[string]file, error) {
	out, err := git.Run(ctx, dir, nil, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	all := map[string]file{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		meta, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if len(fields) != 3 {
			continue // an empty tree
		}
		all[name] = file{fields[0], fields[2]}
	}
	return all, nil
}
