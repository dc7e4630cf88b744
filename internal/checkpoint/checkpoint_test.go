package checkpoint

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/git"
)

const id = "20260102-030405-0001"

func repository(t *testing.T) (top, run string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	top, run = t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "--allow-empty", "-m", "one"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = top
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return top, run
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func save(t *testing.T, k *Keeper) string {
	t.Helper()
	commit, err := k.Save(context.Background(), "Iteration")
	if err != nil {
		t.Fatal(err)
	}
	return commit
}

// A git that was killed leaves its locks, which hold nobody up for ever.
func TestLocksThatWereLeft(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	put(t, filepath.Join(run, "checkpoint.index.lock"), "")
	if err := os.MkdirAll(filepath.Join(top, ".git", "refs", "looprun"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(top, ".git", "refs", "looprun", id+".lock")
	put(t, lock, "")
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(top, "a"), "a")
	save(t, k)
	put(t, lock, "")
	if Unlock(t.Context(), top, id); TreeLeft(lock) {
		t.Error("the lock is left")
	}
	other := t.TempDir()
	if Unlock(t.Context(), other, id); !TreeLeft(other) {
		t.Error("a folder that is in no work tree is removed")
	}
}

// looprun may have been killed while it copied the user's index: the copy has no name yet. The
// user's index is needed once: what it has is kept even if git ignores it.
func TestACopyOfTheIndexThatWasCut(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	tree := filepath.Join(run, "tree")
	call := func(args ...string) string {
		t.Helper()
		out, err := git.Run(t.Context(), top, nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	call("worktree", "add", "-q", tree)
	k, err := Open(t.Context(), tree, run, id)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(tree, "a"), "a")
	put(t, filepath.Join(tree, ".gitignore"), "a")
	call("-C", tree, "add", "-f", "a")
	index := call("-C", tree, "rev-parse", "--git-path", "index")
	if err := errors.Join(os.Rename(index, index+".kept"), os.Mkdir(index, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Save(t.Context(), "Iteration"); err == nil || strings.Contains(err.Error(), "git add") {
		t.Errorf("a folder was copied: %v", err)
	}
	if err := errors.Join(os.Remove(index), os.Rename(index+".kept", index)); err != nil {
		t.Fatal(err)
	}
	save(t, k)
	put(t, k.index, "broken")
	if commit, err := k.Save(t.Context(), "Iteration"); err == nil {
		t.Errorf("%s has a broken index", commit)
	}
	put(t, filepath.Join(tree, "b"), "b")
	if got := call("show", save(t, k)+":a"); got != "a" {
		t.Errorf("it has %q", got)
	}
	if err := errors.Join(os.Remove(index), os.Mkdir(index, 0o700)); err != nil {
		t.Fatal(err)
	}
	save(t, k)
}

// A file that was changed in the moment in which git wrote its index looks as before: same
// size, same time. git reads such a file again, because its index is no younger; the copy may
// not be younger either.
func TestAChangeInTheMomentOfTheIndex(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	index, file, moment := filepath.Join(top, ".git", "index"), filepath.Join(top, "a"), time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, text := range []string{"a", "b"} {
		put(t, file, text)
		if err := os.Chtimes(file, moment, moment); err != nil {
			t.Fatal(err)
		}
		if text == "b" {
			break
		}
		for _, args := range [][]string{{"config", "core.trustctime", "false"}, {"add", "a"}} { // no test can set that time
			if _, err := git.Run(t.Context(), top, nil, args...); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(index, moment, moment); err != nil {
			t.Fatal(err)
		}
	}
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := git.Run(t.Context(), top, nil, "show", save(t, k)+":a"); err != nil || got != "b" {
		t.Errorf("the checkpoint has %q, %v", got, err)
	}
}

// Nothing changed is no new checkpoint, also for another process.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(top, "a"), "a")
	first := save(t, k)
	if again := save(t, k); again != first {
		t.Errorf("a second checkpoint %s of the same files", again)
	}
	if k, err = Open(t.Context(), top, run, id); err != nil {
		t.Fatal(err)
	}
	if again := save(t, k); again != first {
		t.Errorf("another process makes a second checkpoint %s", again)
	}
	put(t, filepath.Join(top, "a"), "b")
	if next := save(t, k); next == first {
		t.Error("no checkpoint of what changed")
	}
}

// What a journal of somebody else's has in the place of a commit is no option of git's.
func TestHostileCommits(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	for _, commit := range []string{"", "HEAD", "--output=x", "-x", strings.Repeat("-", 40), strings.Repeat("A", 40)} {
		if _, err := Restore(t.Context(), top, run, id, commit, "x"); err == nil || !strings.Contains(err.Error(), "is not the id of a commit") {
			t.Errorf("restore %q: %v", commit, err)
		}
		if _, err := Diff(t.Context(), top, commit, commit); err == nil || !strings.Contains(err.Error(), "is not the id of a commit") {
			t.Errorf("diff %q: %v", commit, err)
		}
	}
}

// A commit is known by its whole id, of either length, where it is.
func TestWhichCommitsAreKnown(t *testing.T) {
	t.Parallel()
	home, _ := repository(t)
	for _, format := range []string{"sha1", "sha256"} {
		top := filepath.Join(home, format)
		if _, err := git.Run(t.Context(), home, nil, "init", "-q", "--object-format="+format, top); err != nil {
			t.Fatal(err)
		}
		k, err := Open(t.Context(), top, t.TempDir(), id)
		if err != nil {
			t.Fatal(err)
		}
		commit := save(t, k)
		for name, want := range map[string]bool{commit: true, commit[:12]: false, Ref(id): false, "": false, strings.Repeat("0", len(commit)): false} {
			if got := Known(t.Context(), top, name); got != want {
				t.Errorf("%q is known: %t", name, got)
			}
		}
		if text, err := Diff(t.Context(), top, commit, commit); err != nil || text != "" {
			t.Errorf("%q, %v", text, err)
		}
		put(t, filepath.Join(top, "a"), "a\n")
		if text, err := Diff(t.Context(), top, commit, save(t, k)); err != nil || !strings.HasSuffix(text, "\n+a\n") {
			t.Errorf("%q, %v", text, err)
		}
		if _, err := Resolve(t.Context(), top, "HEAD"); err == nil || !strings.Contains(err.Error(), "there is no commit") {
			t.Errorf("a branch without a commit: %v", err)
		}
	}
}

// A ref that leads to a branch of the user's is replaced, and removed, alone.
func TestARefThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	head, err := Resolve(t.Context(), top, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"save":   func() error { _, err := k.Save(t.Context(), "Iteration"); return err },
		"forget": func() error { return Forget(t.Context(), top, id) },
	} {
		if _, err := git.Run(t.Context(), top, nil, "symbolic-ref", Ref(id), "refs/heads/mine"); err != nil {
			t.Fatal(err)
		}
		if _, err := git.Run(t.Context(), top, nil, "update-ref", "refs/heads/mine", head); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(top, "a"), name)
		if err := change(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := Find(t.Context(), top, "refs/heads/mine"); err != nil || now != head {
			t.Errorf("%s: the branch is at %q, %v", name, now, err)
		}
		if last, err := Last(t.Context(), top, id); err != nil || last == head {
			t.Errorf("%s: the last checkpoint is %q, %v", name, last, err)
		}
	}
}

// A checkpoint never replaces one that somebody else has made in the meantime.
func TestRefMovedMeanwhile(t *testing.T) {
	top, run := repository(t)
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(top, "a"), "a")
	first := save(t, k)
	put(t, filepath.Join(top, "a"), "b")
	second := save(t, k)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	wrapper := "#!/bin/sh\ncase \" $* \" in *\" commit-tree \"*) '" + real + "' update-ref " + Ref(id) + " " + first + " ;; esac\nexec '" + real + "' \"$@\"\n"
	put(t, filepath.Join(bin, "git"), wrapper)
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	put(t, filepath.Join(top, "a"), "c")
	if commit, err := k.Save(t.Context(), "Iteration"); err == nil {
		t.Errorf("checkpoint %s replaced %s, which is not the one it began from (%s)", commit, first, second)
	}
	put(t, filepath.Join(top, "a"), "b") // as in the one that the ref has left
	if text, err := git.Run(t.Context(), top, nil, "show", save(t, k)+":a"); err != nil || text != "b" {
		t.Errorf("the next checkpoint has %q, %v", text, err)
	}
}

// A removal that was killed leaves half of a tree under another name, and the next one removes it.
func TestARemovalThatWasKilled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	tree := filepath.Join(home, "batch", "0001-a")
	if err := os.MkdirAll(filepath.Join(filepath.Dir(tree), removing+"0001-a", "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !TreeLeft(tree) {
		t.Error("nothing is left, it says")
	}
	if err := RemoveTree(t.Context(), "", home, tree); err != nil {
		t.Error(err)
	}
	if TreeLeft(tree) {
		t.Error("something is left")
	}
}

// Each checkpoint keeps the one before it, and the user's commits, each once, also in a run that is
// resumed.
func TestWhatACheckpointKeeps(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	call := func(args ...string) string {
		t.Helper()
		out, err := git.Run(t.Context(), top, git.Own, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var k *Keeper
	open := func() {
		t.Helper()
		var err error
		if k, err = Open(t.Context(), top, run, id); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	saved := func(parents ...string) string {
		t.Helper()
		n++
		put(t, filepath.Join(top, "f"), strconv.Itoa(n))
		commit := save(t, k)
		if got := call("log", "-1", "--format=%P", commit); got != strings.Join(parents, " ") {
			t.Errorf("checkpoint %d has the parents %q, want %q", n, got, parents)
		}
		return commit
	}
	head := call("rev-parse", "HEAD")
	open()
	first := saved(head)
	second := saved(first)
	call("commit", "-q", "--allow-empty", "-m", "the user's")
	third := saved(second, call("rev-parse", "HEAD"))
	open()
	fourth := saved(third)
	call("commit", "-q", "--allow-empty", "-m", "between two parts of the run")
	open()
	fifth := saved(fourth, call("rev-parse", "HEAD"))
	call("commit", "-q", "--allow-empty", "-m", "no file has changed")
	n--
	sixth := saved(fifth, call("rev-parse", "HEAD"))
	call("reset", "-q", "--soft", head)
	saved(sixth)
	if !Ancestor(t.Context(), top, head, head) || !Ancestor(t.Context(), top, head, fourth) || Ancestor(t.Context(), top, fourth, head) {
		t.Error("what comes before what is not known")
	}
}

// A branch without a commit can have checkpoints, also in the middle of a run.
func TestCheckpointsWithoutACommit(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	last := save(t, k)
	for n, args := range [][]string{{"update-ref", "-d", "HEAD"}, nil, {"update-ref", "-d", Ref(id)}, nil} {
		if args != nil {
			if _, err := git.Run(t.Context(), top, nil, args...); err != nil {
				t.Fatal(err)
			}
		}
		if n == 2 {
			last = ""
		}
		if n > 0 {
			if k, err = Open(t.Context(), top, run, id); err != nil {
				t.Fatal(err)
			}
		}
		put(t, filepath.Join(top, "f"), strconv.Itoa(n))
		commit := save(t, k)
		if got, err := git.Run(t.Context(), top, nil, "log", "-1", "--format=%P", commit); err != nil || got != last {
			t.Errorf("%d: it has the parents %q, want %q; %v", n, got, last, err)
		}
		last = commit
	}
	if _, err := git.Run(t.Context(), top, nil, "update-ref", "-d", Ref(id)); err != nil {
		t.Fatal(err)
	}
	if again := save(t, k); !Known(t.Context(), top, again) {
		t.Errorf("the last checkpoint was removed, and nothing has changed: it is %q now", again)
	}
}
