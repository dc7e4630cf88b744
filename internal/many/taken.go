package many

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/git"
)

// takenName is the folder of a plan with a file for each taken result.
const takenName = "taken"

// took records that looprun take took the result of a loop at that commit.
func (p *Plan) took(runID, commit string) error {
	name := filepath.Join(p.dir(), takenName, runID)
	_ = os.MkdirAll(filepath.Dir(name), 0o700)
	return atomicfile.Write(name, []byte(commit+"\n"), true)
}

// result is what a loop made.
type result struct {
	*Loop
	plan *Plan // nil: it is gone
	repo *repository
	// commits holds the commits that its ref points to, in the mirror and in the user's
	// repository, unless one is an ancestor of the other.
	commits []string
	start   string // the commit that its run began from; empty: not known
	// problem is why the tree is not completely in these commits; empty if it is, or does not
	// exist.
	problem string
}

// where returns the repository that has a commit of the result.
func (m *result) where(ctx context.Context, commit string) string {
	if checkpoint.Known(ctx, m.repo.top, commit) {
		return m.repo.top
	}
	return m.repo.mirror
}

// trees returns the trees of commits, and the repository that has the first of them; the tree
// of another one that is not there is empty.
func (m *result) trees(ctx context.Context, commits []string) (in string, trees []string, err error) {
	names := convert.Each(commits, func(commit string) string { return commit + "^{tree}" })
	for _, in = range []string{m.repo.top, m.repo.mirror} {
		if trees, err = git.Objects(ctx, in, names...); err == nil && trees[0] != "" {
			return in, trees, nil
		}
	}
	return "", nil, cmp.Or(err, fmt.Errorf("no commit %s in %s", commits[0], in))
}

// why describes what would be lost with the result; empty if nothing, because nothing was made
// or somebody took it.
func (m *result) why(ctx context.Context, b *branches) string {
	if m.problem != "" {
		return fmt.Sprintf("its result on %s is incomplete: %s; its work tree is %s", checkpoint.Ref(m.RunID), m.problem, m.Tree)
	}
	for _, commit := range m.commits {
		switch taken, err := m.taken(ctx, b, commit); {
		case err != nil:
			return fmt.Sprintf("looprun cannot tell whether somebody took its result: %v", err)
		case !taken:
			return "nobody took its result, " + checkpoint.Ref(m.RunID)
		}
	}
	return ""
}

// taken reports whether the user already has everything in a commit of the result.
func (m *result) taken(ctx context.Context, b *branches, commit string) (bool, error) {
	if m.plan != nil {
		text, _ := os.ReadFile(filepath.Join(m.plan.dir(), takenName, m.RunID))
		if strings.TrimSpace(string(text)) == commit {
			return true, nil
		}
	}
	starts := slices.Compact([]string{m.Base, m.start})
	in, trees, err := m.trees(ctx, append([]string{commit}, starts...))
	if err != nil {
		return false, err
	}
	tree := trees[0]
	if slices.Contains(trees[1:], tree) {
		return true, nil // nothing was made
	}
	since, err := b.since(ctx, m.repo.top, m.Base)
	if err != nil {
		return false, err
	}
	if since.trees[tree] { // as the commit itself has
		return true, nil
	}
	patches, err := since.patches(ctx)
	if err != nil {
		return false, err
	}
	for _, start := range starts {
		text, err := git.Run(ctx, in, nil, append(patchOf("diff"), "--end-of-options", start, commit)...)
		if err == nil && patches[digest(text)] { // one that failed may have printed a part
			return true, nil
		}
	}
	return false, nil
}

// branches caches what is on the branches of repositories.
type branches struct{ known map[[2]string]*branched }

// branched is what the branches of a repository have beyond a commit.
type branched struct {
	top   string
	revs  []string
	trees map[string]bool
	found map[[sha256.Size]byte]bool // nil: not read yet
}

// since returns what the branches of a repository have beyond a commit.
func (b *branches) since(ctx context.Context, top, base string) (*branched, error) {
	key := [2]string{top, base}
	if s := b.known[key]; s != nil {
		return s, nil
	}
	s := &branched{top: top, revs: []string{"--branches"}, trees: map[string]bool{}}
	if checkpoint.Known(ctx, top, base) {
		s.revs = append(s.revs, "--not", base)
	}
	out, err := git.Run(ctx, top, nil, append([]string{"log", "--format=%T"}, s.revs...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		s.trees[strings.TrimSpace(line)] = true
	}
	if b.known == nil {
		b.known = map[[2]string]*branched{}
	}
	b.known[key] = s
	return s, nil
}

// patches returns the digests of the commits' changes.
func (s *branched) patches(ctx context.Context) (map[[sha256.Size]byte]bool, error) {
	if s.found != nil {
		return s.found, nil
	}
	out, err := git.Run(ctx, s.top, nil, append(append(patchOf("log"), "--no-merges", "--no-show-signature", "--format=%x00"), s.revs...)...)
	if err != nil {
		return nil, err
	}
	s.found = map[[sha256.Size]byte]bool{}
	for text := range strings.SplitSeq(out, "\x00") {
		if text = strings.TrimLeft(text, "\n"); text != "" {
			s.found[digest(text)] = true
		}
	}
	return s.found, nil
}

// patchOf returns a git command that prints patches, overriding the configuration for them.
func patchOf(command string) []string {
	return []string{command, "--patch", "--unified=3", "--inter-hunk-context=0", "--binary", "--full-index", "--no-renames", "--ignore-submodules=none", "--no-ext-diff", "--no-textconv", "--no-color"}
}

// digest returns the digest of a patch without its positions, that is, without line numbers
// and file ids. Each changed line and those around it count unchanged; git patch-id ignores
// their blanks.
func digest(patch string) [sha256.Size]byte {
	h := sha256.New()
	for line := range strings.Lines(strings.TrimRight(patch, "\n") + "\n") {
		switch {
		case strings.HasPrefix(line, "@@ "):
			line = "@@\n"
		case strings.HasPrefix(line, "index "):
			continue
		}
		h.Write([]byte(line))
	}
	return [sha256.Size]byte(h.Sum(nil))
}
