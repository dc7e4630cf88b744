package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/signature"
)

const (
	protectMost = 2000     // files
	scriptMost  = 1 << 20  // bytes of a program that can be a script
	copyMost    = 64 << 10 // bytes of a file that is kept, to show what changed
	diffMost    = 16 << 10 // bytes of all differences
)

// protected returns the hashes of the files that must not change: those that --protect names,
// and the script that the check's line starts.
func (s *Session) protected() (map[string]signature.Hash, error) {
	files := map[string]signature.Hash{}
	if name := scriptOf(string(s.opts.Check), s.dir); name != "" {
		files[s.named(name)] = hashOf(name)
	}
	for _, pattern := range s.opts.Protect {
		found := false
		root, match, err := glob(pattern, s.dir)
		if err != nil {
			return nil, config.Usagef("%s %s: %v", config.Flag("protect"), pattern, err)
		}
		err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil || e.IsDir() && e.Name() == ".git":
				return skipDir(e)
			case e.IsDir() || !match.MatchString(filepath.ToSlash(name)):
				return nil
			}
			found = true
			if files[s.named(name)] = hashOf(name); len(files) > protectMost {
				return config.Usagef("%s %s: it matches more than %d files; name fewer", config.Flag("protect"), pattern, protectMost)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, config.Usagef("%s %s: no file has that name in %s; name files that are there", config.Flag("protect"), pattern, s.dir)
		}
	}
	return files, nil
}

func skipDir(e fs.DirEntry) error {
	if e != nil && e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// named returns the display name of a protected file: its path below the run's directory.
func (s *Session) named(name string) string {
	if rel, err := filepath.Rel(s.dir, name); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return name
}

// glob returns the directory to search for a pattern and the expression that paths in it must
// match: * is any text within a name, ** any folders.
func glob(pattern, dir string) (root string, match *regexp.Regexp, err error) {
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(dir, pattern)
	}
	pattern = filepath.ToSlash(filepath.Clean(pattern))
	root = pattern
	for strings.ContainsAny(root, "*?[") {
		root = root[:strings.LastIndexByte(root, '/')]
	}
	root = cmp.Or(root, "/")
	text := regexp.QuoteMeta(pattern)
	for _, r := range [][2]string{{`/\*\*/`, `/(.*/)?`}, {`/\*\*`, `/.*`}, {`\*`, `[^/]*`}, {`\?`, `[^/]`}, {`\[`, `[`}, {`\]`, `]`}} {
		text = strings.ReplaceAll(text, r[0], r[1])
	}
	if match, err = regexp.Compile("^" + text + "(/.*)?$"); err != nil {
		return "", nil, errors.New("it is not a pattern; write a path with *, ** or ?")
	}
	return filepath.FromSlash(root), match, nil
}

// hashOf returns the hash of a file's content and its executable bit. Zero means the file is
// missing or cannot be read.
func hashOf(name string) signature.Hash {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	return signature.Hash(xxhash.Sum64(append(b, byte(info.Mode().Perm()&0o100))))
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"}

// scriptOf returns the script that a shell line starts: its first word, or the file given to a
// shell. It returns the empty string if there is none.
func scriptOf(line, dir string) string {
	if i := strings.IndexAny(line, ";&|<>\n"); i >= 0 {
		line = line[:i]
	}
	words := strings.Fields(line)
	for len(words) > 0 && assigns(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	name, given := words[0], false
	if slices.Contains(shells, filepath.Base(name)) {
		given = true
		rest := words[1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			if strings.Contains(rest[0], "c") && !strings.HasPrefix(rest[0], "--") {
				return ""
			}
			if rest = rest[1:]; len(rest) > 1 && words[len(words)-len(rest)-1] == "-o" {
				rest = rest[1:]
			}
		}
		if len(rest) == 0 {
			return ""
		}
		name = rest[0]
	}
	name = strings.Trim(name, `"'`)
	if !given && !strings.ContainsRune(name, '/') {
		return ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > scriptMost {
		return ""
	}
	if b, err := os.ReadFile(name); err != nil || bytes.IndexByte(b[:min(len(b), 512)], 0) >= 0 {
		return "" // a program, not a script
	}
	return name
}

func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/\"'$")
}

// protect hashes the protected files as the run finds them and copies small ones, so that a
// person can be shown what changed.
func (s *Session) protect() (map[string]signature.Hash, error) {
	if s.opts.Weakened == "off" || s.opts.CheckStep() == nil && len(s.opts.Protect) == 0 {
		return nil, nil //nolint:nilnil // nothing is protected
	}
	files, err := s.protected()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	s.guarded = files
	return files, nil
}

// keepProtected copies the protected files into the run's directory.
func (s *Session) keepProtected(files map[string]signature.Hash) {
	for name, hash := range files {
		full := s.full(name)
		info, err := os.Stat(full)
		if err != nil || info.Size() > copyMost {
			continue
		}
		if b, err := os.ReadFile(full); err == nil && os.MkdirAll(s.protectedDir(), 0o700) == nil {
			_ = os.WriteFile(s.copyOf(hash), b, 0o600) // without it there is no difference to show
		}
	}
}

func (s *Session) protectedDir() string { return filepath.Join(s.run.Dir, "protected") }

func (s *Session) copyOf(hash signature.Hash) string {
	return filepath.Join(s.protectedDir(), hash.String())
}

func (s *Session) full(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// again rehashes the protected files, for a run that a person had paused.
func (s *Session) again(files map[string]signature.Hash) map[string]signature.Hash {
	now := make(map[string]signature.Hash, len(files))
	for name := range files {
		now[name] = hashOf(s.full(name))
	}
	return now
}

// changed lists the protected files that have changed, with a diff.
func (s *Session) changed() (names []string, diff string) {
	for _, name := range slices.Sorted(maps.Keys(s.guarded)) {
		was := s.guarded[name]
		if hashOf(s.full(name)) == was {
			continue
		}
		names = append(names, name)
		if len(diff) < diffMost {
			diff += s.difference(name, was)
		}
	}
	return names, diff[:min(len(diff), diffMost)]
}

// difference returns what changed in a file, if a copy was kept and git can show it.
func (s *Session) difference(name string, was signature.Hash) string {
	if _, err := os.Stat(s.copyOf(was)); err != nil {
		return ""
	}
	now := s.full(name)
	if _, err := os.Stat(now); err != nil {
		return fmt.Sprintf("%s was removed\n", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	text, err := git.Run(ctx, s.dir, nil, "diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--", s.copyOf(was), now)
	if err != nil && git.ExitCode(err) != 1 {
		return ""
	}
	if i := strings.Index(text, "\n@@"); i >= 0 {
		text = text[i+1:]
	}
	return name + ":\n" + text
}
