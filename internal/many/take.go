package many

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// Taking puts results on a new branch of the user's repository, one commit for each. It is
// recorded before the branch is created or moved, until all of it is taken: whatever ends it, the
// next looprun take can go on, or back.
type Taking struct {
	Repository string `json:"repository"`
	// Branch is the new branch, Tip the commit that it will point to, and At the one that it
	// points to before; empty: it does not exist.
	Branch string `json:"branch"`
	At     string `json:"at,omitempty"`
	Tip    string `json:"tip"`
	// Left holds the results still to be taken, and Took those already taken.
	Left []Taken `json:"left"`
	Took []Taken `json:"took,omitempty"`
	// Tree is where the person resolves the conflict of the first result in Left, in these
	// files; without files it is resolved.
	Tree  string   `json:"tree,omitempty"`
	Files []string `json:"files,omitempty"`

	removal *Removal
	mirror  *repository
}

// Taken is a result to take.
type Taken struct {
	Name   string   `json:"name"`
	RunID  string   `json:"run_id"`
	Plan   string   `json:"plan"`
	Base   string   `json:"base"`
	Commit string   `json:"commit"`
	Files  []string `json:"files"` // that it changes
}

// ConflictError stops a taking until the person resolves the conflict.
type ConflictError struct {
	Name, Other string // the two that do not fit together; Other is empty for the user's own work
	Tree        string
	Files       []string
}

func (e *ConflictError) Error() string {
	other := "your branch"
	if e.Other != "" {
		other = e.Other
	}
	return fmt.Sprintf("%s and %s change the same lines of %s", e.Name, other, short(e.Files))
}

func short(files []string) string { return termsafe.Line(plural.First(files, 5)) }

func (r *Removal) takingFile() string { return filepath.Join(folder(r.State), "take.json") }

// Stopped returns the taking that was stopped before its end, or nil.
func (r *Removal) Stopped() (*Taking, error) {
	text, err := os.ReadFile(r.takingFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none
	}
	t := &Taking{removal: r}
	if err = errors.Join(err, json.Unmarshal(text, t)); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", r.takingFile(), err)
	}
	l, ok := r.plan(slices.Concat(t.Took, t.Left, []Taken{{}})[0].RunID)
	conflict := t.Tree != "" || len(t.Files) > 0
	if !ok || l.Repository != t.Repository || len(t.Files) > 0 && len(t.Left) == 0 || conflict && filepath.Dir(t.Tree) != filepath.Dir(l.repository().mirror) {
		return nil, fmt.Errorf("%s belongs to a batch that is gone", r.takingFile())
	}
	t.mirror = l.repository()
	return t, nil
}

// Take starts taking the results of the loops with these names or run ids, or, without any, of
// all loops that are done. It reports errors before anything changes.
func (r *Removal) Take(ctx context.Context, names []string, branch string) (*Taking, error) {
	loops, err := r.named(names)
	if err != nil {
		return nil, err
	}
	t := &Taking{removal: r}
	for _, l := range loops {
		dir := filepath.Join(r.State, l.RunID)
		switch {
		case scratchpad.Locked(dir) || scratchpad.Locked(l.dir()):
			return nil, config.Usage(l.Name+" is active", "wait for it, or end it")
		case t.Repository != "" && t.Repository != l.Repository:
			return nil, config.Usage(fmt.Sprintf("the loops work on two repositories, %s and %s", t.Repository, l.Repository), "name those of one")
		}
		t.Repository, t.mirror = l.Repository, l.repository()
		m, err := r.result(ctx, dir)
		if err == nil {
			err = m.settle(ctx, dir)
		}
		if err != nil {
			return nil, err
		}
		why := m.why(ctx, &r.branches)
		switch {
		case m.problem != "":
			return nil, config.Usage(l.Name+": "+why, "remove what is in the way and take it again; or copy what you need, then looprun prune --untaken "+l.RunID)
		case why == "":
			continue // nothing was made, or somebody has it
		}
		if _, err := t.mirror.publish(ctx, l.RunID); err != nil {
			return nil, err
		}
		one := Taken{Name: termsafe.Line(l.Name), RunID: l.RunID, Plan: l.ID, Base: l.Base, Commit: m.commits[0]}
		if one.Files, err = changed(ctx, t.Repository, one.Base, one.Commit); err != nil {
			return nil, err
		}
		t.Left = append(t.Left, one)
	}
	if len(t.Left) == 0 {
		return t, nil
	}
	return t, t.open(ctx, branch)
}

// changed returns the files that differ between two commits.
func changed(ctx context.Context, dir, base, commit string) ([]string, error) {
	out, err := git.Run(ctx, dir, nil, "diff", "--name-only", "-z", "--no-renames", "--end-of-options", base, commit)
	return strings.FieldsFunc(out, func(c rune) bool { return c == 0 }), err
}

// named returns the loops with these names or run ids, in that order.
func (r *Removal) named(names []string) (found []planned, err error) {
	all := r.all()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(l planned) bool {
			return !scratchpad.Summarize(filepath.Join(r.State, l.RunID)).Status.MayExitZero()
		}), nil
	}
	for _, name := range names {
		fits := latest(all, name)
		if len(fits) == 0 {
			fits = slices.DeleteFunc(slices.Clone(all), func(l planned) bool { return !strings.Contains(l.RunID, name) })
		}
		switch {
		case len(fits) == 0:
			return nil, config.Usage(fmt.Sprintf("no loop of looprun many is called %q", name), "looprun list shows the names")
		case len(fits) > 1:
			return nil, ambiguous(name, fits)
		}
		if !slices.ContainsFunc(found, func(l planned) bool { return l.RunID == fits[0].RunID }) {
			found = append(found, fits[0])
		}
	}
	return found, nil
}

// all returns the loops of all plans, in the order of their runs.
func (r *Removal) all() []planned {
	r.plan("")
	return slices.SortedFunc(maps.Values(r.loops), func(a, b planned) int { return strings.Compare(a.RunID, b.RunID) })
}

func ambiguous(name string, fits []planned) error {
	ids := convert.Each(fits, func(l planned) string { return l.RunID })
	return config.Usage(fmt.Sprintf("%q fits %d loops: %s", name, len(fits), short(ids)), "give the id of a run")
}

// latest returns the loops with that name in the latest batch that has one, in the order of
// their runs.
func latest(all []planned, name string) []planned {
	fits := slices.DeleteFunc(slices.Clone(all), func(l planned) bool { return l.Name != name })
	if len(fits) == 0 {
		return nil
	}
	of := fits[len(fits)-1].ID
	return slices.DeleteFunc(fits, func(l planned) bool { return l.ID != of })
}

// Named returns the run id of the loop with that name, in the latest batch that has one; empty
// if no loop has it. It is an error if several loops in that batch do.
func Named(state, name string) (string, error) {
	r := Removal{State: state}
	fits := latest(r.all(), name)
	switch len(fits) {
	case 0:
		return "", nil
	case 1:
		return fits[0].RunID, nil
	}
	return "", ambiguous(name, fits)
}

// open checks that the user's repository is in the required state, and names the branch.
func (t *Taking) open(ctx context.Context, branch string) error {
	changed, err := changes(ctx, t.Repository)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return config.Usage(fmt.Sprintf("%s in %s not committed: %s", plural.Count(len(changed), "change"), t.Repository, short(changed)), "commit or stash them first")
	}
	if t.Tip, err = checkpoint.Resolve(ctx, t.Repository, "HEAD"); err != nil {
		return err
	}
	if t.Branch = branch; branch == "" {
		t.Branch = "looprun/" + t.Left[0].Plan
	}
	if _, err := git.Run(ctx, t.Repository, nil, "check-ref-format", "--branch", t.Branch); err != nil {
		return config.Usage(fmt.Sprintf("--branch: %q is not the name of a branch", t.Branch), "give another name")
	}
	for n := 2; ; n++ {
		there, err := checkpoint.Find(ctx, t.Repository, t.ref())
		switch {
		case err != nil:
			return err
		case there == "":
			return nil
		case branch != "":
			return config.Usage("--branch: there is a branch "+branch, "give another name")
		}
		t.Branch = fmt.Sprintf("looprun/%s-%d", t.Left[0].Plan, n)
	}
}

func (t *Taking) ref() string { return "refs/heads/" + t.Branch }

// Overlaps lists which results change the same files, as [Overlaps] does.
func (t *Taking) Overlaps() []string {
	return overlaps(convert.Each(t.Left, func(one Taken) string { return one.Name }), convert.Each(t.Left, func(one Taken) []string { return one.Files }))
}

// mostLines is how many lines [overlaps] returns.
const mostLines = 20

// overlaps lists which of the named results change the same files, a line for each set of them.
func overlaps(names []string, files [][]string) (lines []string) {
	by := map[string][]int{}
	for i := range files {
		for _, f := range files[i] {
			by[f] = append(by[f], i)
		}
	}
	shared, sets := map[string][]string{}, map[string][]int{}
	for _, f := range slices.Sorted(maps.Keys(by)) {
		if len(by[f]) > 1 {
			set := fmt.Sprint(by[f])
			shared[set], sets[set] = append(shared[set], f), by[f]
		}
	}
	for _, of := range slices.SortedFunc(maps.Values(sets), slices.Compare) {
		if len(lines) == mostLines {
			return append(lines, plural.Count(len(sets)-mostLines, "more set")+" of loops change the same files")
		}
		who := convert.Each(of, func(i int) string { return names[i] })
		last, all := len(who)-1, "both"
		if last > 1 {
			all = "all"
		}
		said := strings.Join(who[:last], ", ") + " and " + who[last]
		if last > 4 {
			said = plural.Count(len(who), "loop") + " (" + plural.First(who, 5) + ")"
		}
		lines = append(lines, termsafe.Line(said+" "+all+" change "+short(shared[fmt.Sprint(of)])))
	}
	return lines
}

// mostCompared is how many loops of a batch [Overlaps] compares.
const mostCompared = 200

// Overlaps lists which loops of a batch change the same files: of that with this folder, or of that
// of the run with this folder, and then those of which the run is one. It goes by their last
// checkpoints, and writes nothing.
func Overlaps(ctx context.Context, dir string) ([]string, error) {
	r, id := Removal{State: filepath.Dir(dir)}, filepath.Base(dir)
	of, one := r.plan(id)
	if !one {
		p, err := Read(r.State, id)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // it is a run of no batch
		} else if err != nil {
			return nil, err
		}
		of.Plan = p
	}
	if len(of.Loops) > mostCompared {
		return nil, fmt.Errorf("its batch has more than %d loops", mostCompared)
	}
	refs := convert.Each(of.Loops, func(l Loop) string { return checkpoint.Ref(l.RunID) })
	names, files, known := make([]string, len(refs)), make([][]string, len(refs)), map[string][]string{}
	own := map[string]bool{}
	for i := range of.Loops {
		l := planned{of.Plan, &of.Loops[i]}
		names[i] = l.Name
		for _, in := range []string{l.repository().mirror, l.Repository} {
			var err error
			commits, ok := known[in]
			if !ok {
				if commits, err = git.Objects(ctx, in, refs...); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, err
				}
				known[in] = commits
			}
			if len(commits) == 0 || commits[i] == "" {
				continue // it has no result there
			}
			if files[i], err = changed(ctx, in, l.Base, commits[i]); err != nil {
				return nil, err
			}
			break
		}
		for j, f := range files[i] {
			if l.Repository != of.Loops[0].Repository {
				files[i][j] = filepath.Join(l.Repository, f)
			}
			own[files[i][j]] = own[files[i][j]] || l.RunID == id
		}
	}
	if one {
		for i := range files {
			files[i] = slices.DeleteFunc(files[i], func(f string) bool { return !own[f] })
		}
	}
	return overlaps(names, files), nil
}

// Run takes the remaining results. At a conflict it stops with a [ConflictError]; the branch
// then has the results before it. The branch is created or moved only at the end.
func (t *Taking) Run(ctx context.Context) error {
	for len(t.Left) > 0 {
		one := t.Left[0]
		tree, files, err := merge(ctx, t.Repository, one.Base, t.Tip, one.Commit)
		if err != nil {
			return err
		}
		if len(files) > 0 {
			return t.stop(ctx, tree, files)
		}
		if err := t.commit(ctx, tree); err != nil {
			return err
		}
	}
	return t.end(ctx)
}

// merge returns the tree of ours with the changes from base to theirs, and the files in which
// both changed the same lines.
func merge(ctx context.Context, dir, base, ours, theirs string) (tree string, files []string, err error) {
	var sides []string // commits on the base: whatever their own history is, only that change counts
	for _, of := range []string{ours, theirs} {
		side, err := git.Run(ctx, dir, git.Own, "commit-tree", of+"^{tree}", "-p", base, "-m", "A side of looprun take")
		if err != nil {
			return "", nil, err
		}
		sides = append(sides, side)
	}
	out, err := git.Run(ctx, dir, nil, "merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", sides[0], sides[1])
	if err != nil && git.ExitCode(err) != 1 {
		return "", nil, fmt.Errorf("%w; looprun take needs git 2.38 or later", err)
	}
	parts := strings.Split(strings.TrimRight(out, "\x00\n"), "\x00")
	return parts[0], parts[1:], nil
}

// commit creates the commit of the first result in Left, from a tree of the repository.
func (t *Taking) commit(ctx context.Context, tree string) error {
	var who []string // the user
	if _, err := git.Run(ctx, t.Repository, nil, "var", "GIT_COMMITTER_IDENT"); err != nil {
		who = git.Own
	}
	one := t.Left[0]
	commit, err := git.Run(ctx, t.Repository, who, "commit-tree", tree, "-p", t.Tip, "-m", one.Name+"\n\nlooprun run "+one.RunID)
	if err != nil {
		return err
	}
	t.Tip, t.Took, t.Left = commit, append(t.Took, one), t.Left[1:]
	return nil
}

// find finds the branch, which has to be where a taking left it, or gone.
func (t *Taking) find(ctx context.Context) error {
	out, err := git.Run(ctx, t.Repository, nil, "for-each-ref", "--format=%(objectname) %(worktreepath)", t.ref())
	at, tree, _ := strings.Cut(out, " ")
	switch {
	case err != nil:
		return err
	case tree != "":
		return config.Usage(fmt.Sprintf("%s is checked out in %s", t.Branch, tree), "check out another branch there, then run this again")
	case at != "" && at != t.At && at != t.Tip:
		return config.Usage(t.Branch+" was moved since", "rename it with git branch -m, so that nothing on it is lost, then run this again")
	}
	t.At = at
	return nil
}

// move creates the branch, or moves it.
func (t *Taking) move(ctx context.Context) error {
	text, _ := json.MarshalIndent(t, "", "  ") // it has only texts
	if err := atomicfile.Write(t.removal.takingFile(), append(text, '\n'), true); err != nil {
		return err
	}
	_, err := git.Run(ctx, t.Repository, nil, "update-ref", "-m", "looprun take", t.ref(), t.Tip, t.At)
	t.At = t.Tip
	return err
}

// stop creates a work tree in which the person resolves a conflict.
func (t *Taking) stop(ctx context.Context, tree string, files []string) error {
	one := t.Left[0]
	e := &ConflictError{Name: one.Name, Files: files}
	for _, before := range slices.Backward(t.Took) {
		if slices.ContainsFunc(files, func(f string) bool { return slices.Contains(before.Files, f) }) {
			e.Other = before.Name
			break
		}
	}
	shown, err := git.Run(ctx, t.Repository, git.Own, "commit-tree", tree, "-p", t.Tip, "-m", "A conflict of looprun take")
	if err != nil {
		return err
	}
	t.Tree, t.Files = filepath.Join(filepath.Dir(t.mirror.mirror), "take-"+one.RunID), files
	e.Tree = t.Tree
	if err := t.mirror.fetch(ctx, "take", []string{shown}); err != nil {
		return err
	}
	_ = t.mirror.remove(ctx, t.Tree) // if it stays, nothing is placed there
	if err := t.mirror.place(ctx, t.Tree, shown); err != nil {
		return err
	}
	if err := t.move(ctx); err != nil {
		return err
	}
	return e
}

// Continue continues a taking that was stopped, after the person has resolved the conflict.
func (t *Taking) Continue(ctx context.Context) error {
	err := t.find(ctx)
	if err == nil && len(t.Files) > 0 {
		err = t.resolve(ctx)
	}
	if err == nil {
		err = t.move(ctx) // what was resolved is kept, whatever comes now
	}
	if err == nil {
		err = t.clear(ctx)
	}
	if err != nil {
		return err
	}
	return t.Run(ctx)
}

// resolve creates the commit of the first result in Left, from what the person resolved.
func (t *Taking) resolve(ctx context.Context) error {
	for _, name := range t.Files {
		text, _ := os.ReadFile(filepath.Join(t.Tree, filepath.FromSlash(name))) // git reads it too
		if bytes.Contains(text, []byte("<<<<<<< ")) && bytes.Contains(text, []byte(">>>>>>> ")) {
			return config.Usage(fmt.Sprintf("%s still has conflict markers", filepath.Join(t.Tree, name)), "choose the right lines and remove the markers, then looprun take --continue")
		}
	}
	if _, err := git.Run(ctx, t.Tree, nil, "add", "--all", "--", ":/"); err != nil {
		return err
	}
	tree, err := git.Run(ctx, t.Tree, nil, "write-tree")
	if err != nil {
		return err
	}
	resolved, err := git.Run(ctx, t.Tree, git.Own, "commit-tree", tree, "-m", "A resolved conflict of looprun take")
	if err != nil {
		return err
	}
	if _, err := git.Run(ctx, t.Repository, nil, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options", t.mirror.mirror, resolved); err != nil {
		return err
	}
	t.Files = nil
	return t.commit(ctx, tree)
}

// Abort removes the branch, unless it was moved since: nothing is taken.
func (t *Taking) Abort(ctx context.Context) error {
	err := t.find(ctx)
	if err == nil {
		err = t.mark(func(Taken) string { return "" })
	}
	if err == nil {
		_, err = git.Run(ctx, t.Repository, nil, "update-ref", "-d", t.ref(), t.At)
	}
	if err != nil {
		return err
	}
	return t.close(ctx)
}

// clear removes the tree of a conflict.
func (t *Taking) clear(ctx context.Context) error {
	if t.Tree == "" {
		return nil
	}
	_, _ = git.Run(ctx, t.mirror.mirror, nil, "update-ref", "-d", "refs/bases/take/0")
	return t.mirror.remove(ctx, t.Tree)
}

// close removes what is kept for the next looprun take.
func (t *Taking) close(ctx context.Context) error {
	return errors.Join(t.clear(ctx), os.Remove(t.removal.takingFile()))
}

// end creates the branch and records what was taken.
func (t *Taking) end(ctx context.Context) error {
	err := t.move(ctx)
	if err == nil {
		err = t.mark(func(one Taken) string { return one.Commit })
	}
	if err != nil {
		return err
	}
	return t.close(ctx)
}

// mark records which commits were taken; an empty one takes back such a record.
func (t *Taking) mark(commit func(Taken) string) error {
	for _, one := range t.Took {
		if l, ok := t.removal.plan(one.RunID); ok {
			if err := l.took(one.RunID, commit(one)); err != nil {
				return err
			}
		}
	}
	return nil
}
